//! Files of old versions, in which collections had other forms.

use super::*;

/// A string as it lies in a file.
fn text(bytes: &[u8]) -> Vec<u8> {
    let mut payload = Payload::default();
    payload.string(bytes);
    payload.as_slice().to_vec()
}

/// A ziplist of short texts.
fn ziplist(entries: &[&[u8]]) -> Vec<u8> {
    let (mut body, mut tail, mut before) = (Vec::new(), 10, 0);
    for entry in entries {
        tail = 10 + body.len();
        body.push(before);
        body.push(entry.len() as u8);
        body.extend_from_slice(entry);
        before = (10 + body.len() - tail) as u8;
    }
    body.push(0xff);
    let mut bytes = (10 + body.len() as u32).to_le_bytes().to_vec();
    bytes.extend((tail as u32).to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A file of an old version: the types that it has had at some time, and which of them mean the same.
fn old_file(version: u16) -> (Vec<u8>, Vec<(&'static str, &'static str)>) {
    let list = ziplist(&[b"a", b"bc"]);
    let nodes = [
        &[2][..],
        &text(&ziplist(&[b"a"])),
        &text(&ziplist(&[b"bc"])),
    ]
    .concat();
    let score = 1.5_f64.to_le_bytes();
    let ints = b"\x02\0\0\0\x02\0\0\0\x05\0\x07\0";
    let keys: [(&str, u8, Vec<u8>); 11] = [
        ("list", 1, b"\x02\x01a\x02bc".to_vec()),
        ("list of a ziplist", 10, text(&list)),
        ("list of ziplists", 14, nodes),
        ("set", 2, b"\x02\xc0\x05\xc0\x07".to_vec()),
        ("set of integers", 11, text(ints)),
        ("hash", 4, b"\x01\x03foo\x03bar".to_vec()),
        ("hash of a zipmap", 9, text(b"\x01\x03foo\x03\x00bar\xff")),
        ("hash of a ziplist", 13, text(&ziplist(&[b"foo", b"bar"]))),
        ("sorted set", 5, [b"\x01\x01m", &score[..]].concat()),
        ("sorted set of texts", 3, b"\x01\x01m\x031.5".to_vec()),
        (
            "sorted set of a ziplist",
            12,
            text(&ziplist(&[b"m", b"1.5"])),
        ),
    ];
    let mut file = format!("REDIS{version:04}\u{0}").into_bytes();
    file.pop();
    // The first versions had neither fields with information nor sizes.
    if version >= 7 {
        file.extend(b"\xfa\x03ver\x013\xfe\x03\xfb\x0d\x02");
    } else {
        file.extend(b"\xfe\x03");
    }
    for (name, type_byte, value) in keys {
        file.push(type_byte);
        file.extend(text(name.as_bytes()));
        file.extend(value);
    }
    file.extend(b"\xfd\x00\xe1\xf5\x7f\x00\x03old\x01v");
    file.extend(b"\xfc\x00\x00\x00\x00\x01\x00\x00\x00\x00\x03new\x01v");
    file.push(0xff);
    if version >= 5 {
        let crc = Sum::of(&file).crc();
        file.extend(crc.to_le_bytes());
    }
    let same = [
        ("list", "list of a ziplist"),
        ("list", "list of ziplists"),
        ("set", "set of integers"),
        ("hash", "hash of a zipmap"),
        ("hash", "hash of a ziplist"),
        ("sorted set", "sorted set of texts"),
        ("sorted set", "sorted set of a ziplist"),
    ];
    (file, same.to_vec())
}

#[test]
fn files_of_old_versions_are_loaded() {
    for version in 1..=12 {
        let (file, same) = old_file(version);
        let (store, report) = loaded(&file, options(1)).unwrap();
        assert_eq!((report.keys, store.len(3)), (13, 13));
        assert_eq!(report.has_checksum, version >= 5);
        let found = contents(&store);
        let of = |name: &str| {
            let key = found.iter().find(|(_, key, ..)| key == name.as_bytes());
            key.unwrap_or_else(|| panic!("{name} is there"))
        };
        for (name, other) in same {
            assert_eq!(of(name).3, of(other).3, "{other}");
        }
        assert_eq!(
            of("list").3,
            b"\x12\x01\x02\x0e\x0e\0\0\0\x02\0\x81a\x02\x82bc\x03\xff"
        );
        assert_eq!(of("old").2, Some(0x7ff5_e100 * 1000));
        assert_eq!(of("new").2, Some(1 << 32));
    }
}
