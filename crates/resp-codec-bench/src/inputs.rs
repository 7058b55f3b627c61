//! The inputs of the benches, as the codec's specification lists them.

use resp_codec::{Encoder, Proto, command};

/// Some bytes, and the number of items in them.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name in the report.
    pub name: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The number of requests, elements or nodes, by which a time is divided.
    pub items: u64,
}

/// `SET key value`, repeated, with a value of `value` bytes.
pub fn set(name: &'static str, value: usize, times: u64) -> Input {
    let mut bytes = Vec::new();
    for index in 0..times {
        let key = format!("key:{:06}", index % 1_000_000);
        command(
            &mut bytes,
            &["SET".as_bytes(), key.as_bytes(), &vec![b'x'; value]],
        );
    }
    Input {
        name,
        bytes,
        items: times,
    }
}

/// `GET key`, repeated.
pub fn get() -> Input {
    let mut bytes = Vec::new();
    for index in 0..1000 {
        command(&mut bytes, &["GET", &format!("key:{index:06}")]);
    }
    Input {
        name: "GET",
        bytes,
        items: 1000,
    }
}

/// Twenty thousand requests; the lengths of their names, keys and values have one to three digits.
pub fn random() -> Input {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = |bound: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % bound) as usize
    };
    let mut bytes = Vec::new();
    for _ in 0..20_000 {
        let key = vec![b'k'; 1 + below(40)];
        match below(4) {
            0 => command(&mut bytes, &["GET".as_bytes(), &key]),
            1 => command(
                &mut bytes,
                &["SET".as_bytes(), &key, &vec![b'v'; below(300)]],
            ),
            2 => command(&mut bytes, &["EXPIRE".as_bytes(), &key, b"3600"]),
            _ => command(&mut bytes, &["INCRBY".as_bytes(), &key, b"17"]),
        }
    }
    Input {
        name: "random",
        bytes,
        items: 20_000,
    }
}

/// One array of ten thousand bulk strings.
pub fn array() -> Input {
    let elements: Vec<String> = (0..10_000)
        .map(|index| format!("element:{index:05}"))
        .collect();
    let mut bytes = Vec::new();
    command(&mut bytes, &elements);
    Input {
        name: "array of 10k",
        bytes,
        items: 10_000,
    }
}

/// A hundred replies, each of eight maps of six pairs: 12 900 nodes with the headers.
pub fn nested() -> Input {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, Proto::Resp3);
    let mut items = 0;
    for reply in 0..100 {
        encoder.array(8);
        items += 1;
        for map in 0..8 {
            encoder.map(6);
            items += 13;
            for (pair, field) in ["id", "name", "score", "active", "parent", "state"]
                .into_iter()
                .enumerate()
            {
                encoder.bulk(field);
                match pair {
                    0 => encoder.int(reply * 1000 + map),
                    1 => encoder.bulk(format!("name-{reply}-{map}")),
                    2 => encoder.double(reply as f64 * 1.5),
                    3 => encoder.bool(map % 2 == 0),
                    4 => encoder.null(),
                    _ => encoder.simple("ready"),
                }
            }
        }
    }
    Input {
        name: "nested RESP3",
        bytes,
        items,
    }
}
