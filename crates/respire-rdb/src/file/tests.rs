//! Tests of the writer and the reader together.

use super::*;
use crate::Payload;

/// An entry as a test compares it.
type Found = (u32, Vec<u8>, Option<u64>, Option<Usage>, u8, Vec<u8>);

/// What a reader finds in a file that is given in windows that grow by as little as it asks for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Walk {
    aux: Vec<(Vec<u8>, Vec<u8>)>,
    chunks: Vec<Chunk>,
    sizes: Vec<(u32, u64, u64)>,
    libraries: Vec<Vec<u8>>,
    entries: Vec<Found>,
    checksum: Option<u64>,
    /// The place of the end's checksum.
    end: u64,
}

fn walk(file: &[u8]) -> Result<Walk, Fault> {
    let mut found = Walk::default();
    let mut reader = Reader::new(file.len() as u64);
    let mut window_len = 0;
    loop {
        let rest = &file[reader.offset() as usize..];
        let window = &rest[..window_len];
        let event = match reader.step(window)? {
            Step::More(least) => {
                assert!((window_len + 1..=rest.len()).contains(&least));
                window_len = least;
                continue;
            }
            Step::Item(event, len) => {
                assert!(len <= window_len);
                event
            }
        };
        window_len = 0;
        match event {
            Event::Header(_) | Event::SelectDb(_) | Event::SlotInfo => (),
            Event::Aux { name, text } => found.aux.push((name.to_vec(), text.to_vec())),
            Event::Chunk(chunk) => found.chunks.push(chunk),
            Event::ResizeDb { db, keys, expires } => found.sizes.push((db, keys, expires)),
            Event::Library(code) => found.libraries.push(code.to_vec()),
            Event::Entry(entry) => found.entries.push((
                entry.db,
                entry.key.to_vec(),
                entry.expires_at,
                entry.usage,
                entry.type_byte,
                entry.value.to_vec(),
            )),
            Event::End { checksum } => {
                found.checksum = checksum;
                found.end = reader.offset() - 8;
                return Ok(found);
            }
        }
    }
}

fn string(bytes: &[u8]) -> Vec<u8> {
    let mut payload = Payload::default();
    payload.string(bytes);
    payload.as_slice().to_vec()
}

/// A file of these keys and strings, and the pieces in which it was taken.
fn written(options: Options, keys: &[(KeyHead<'_>, Vec<u8>)]) -> (Vec<u8>, Vec<usize>) {
    let mut writer = Writer::new(options);
    let library = b"#!lua name=l\n".repeat(5);
    writer.begin(&Head {
        redis_version: "7.0.15",
        created_s: 1_700_000_000,
        used_memory: 1 << 40,
        is_aof_base: true,
        replication: Some(Replication {
            id: "0123456789012345678901234567890123456789",
            offset: 77,
            db: 2,
        }),
        databases: &[(0, 5, 1), (9, 100, 0)],
        libraries: &[&library],
    });
    let (mut file, mut pieces) = (Vec::new(), Vec::new());
    for (head, value) in keys {
        writer.entry(*head, |payload| {
            payload.begin(0, value.len());
            payload.string(value);
        });
        while let Some(bytes) = writer.take_chunk() {
            pieces.push(bytes.len());
            file.extend(bytes);
        }
    }
    file.extend(writer.finish());
    (file, pieces)
}

fn key(db: u32, key: &[u8]) -> KeyHead<'_> {
    KeyHead {
        db,
        key,
        ..KeyHead::default()
    }
}

#[test]
fn file_is_read_as_it_was_written() {
    let mut random = random_numbers(7);
    for chunk_bytes in [0, 1, 50, 1_000, 1 << 20] {
        for (compression, checksum) in [(true, true), (false, true), (true, false)] {
            let names: Vec<Vec<u8>> = (0..200_u32)
                .map(|n| format!("key:{n:040}").into_bytes())
                .collect();
            let keys: Vec<_> = names
                .iter()
                .map(|name| {
                    let n = random();
                    let head = KeyHead {
                        db: n % 3,
                        key: name,
                        expires_at: n.is_multiple_of(5).then_some(u64::from(n)),
                        usage: match n % 7 {
                            0 => Some(Usage::IdleSeconds(u64::from(n))),
                            1 => Some(Usage::Frequency(n as u8)),
                            _ => None,
                        },
                    };
                    (head, vec![b'v'; (random() % 300) as usize])
                })
                .collect();
            let options = Options {
                compression,
                checksum,
                chunk_bytes,
            };
            let (file, _) = written(options, &keys);
            let found = walk(&file).unwrap();
            assert_eq!(found.entries.len(), keys.len());
            for ((head, value), entry) in keys.iter().zip(&found.entries) {
                let (db, name, expires_at, usage, type_byte, bytes) = entry;
                assert_eq!(
                    (*db, &name[..], *expires_at),
                    (head.db, head.key, head.expires_at)
                );
                assert_eq!((*usage, *type_byte), (head.usage, 0));
                let text = crate::Reader::new(bytes).string().unwrap().into_bytes();
                assert_eq!(text, *value);
                assert!(compression || bytes.len() >= value.len());
            }
            let sum = Sum::of(&file[..found.end as usize]).crc();
            assert_eq!(found.checksum, checksum.then_some(sum));
            check_chunks(&file, &found, options);
        }
    }
}

/// Checks what stands before the chunks of a file.
fn check_chunks(file: &[u8], found: &Walk, options: Options) {
    let mut reader = Reader::new(file.len() as u64);
    let mut keys = 0;
    let mut seq = 0;
    loop {
        let rest = &file[reader.offset() as usize..];
        let Step::Item(event, _) = reader.step(rest).unwrap() else {
            panic!("the window is the whole file");
        };
        match event {
            Event::Chunk(chunk) => {
                let at = reader.offset() as usize;
                let bytes = &file[at..at + chunk.len as usize];
                assert_eq!(bytes[0], opcode::SELECT_DB);
                let crc = Sum::of(bytes).crc();
                assert_eq!(chunk.crc, if options.checksum { crc } else { 0 });
                assert!(bytes.len() <= options.chunk_bytes || chunk.keys == 1);
                assert_eq!(chunk.seq, seq);
                seq += 1;
                keys += chunk.keys;
                reader.skip_chunk(chunk.len).unwrap();
                assert_eq!(reader.db(), None);
            }
            Event::Entry(_) => panic!("each key is in a chunk"),
            Event::End { .. } => break,
            _ => (),
        }
    }
    assert_eq!(keys, found.entries.len() as u64);
    assert_eq!(seq, found.chunks.len() as u64);
}

#[test]
fn file_begins_with_the_fields_of_redis() {
    let (file, _) = written(Options::default(), &[]);
    let found = walk(&file).unwrap();
    let text = |name: &str| {
        let field = found.aux.iter().find(|(it, _)| it == name.as_bytes());
        String::from_utf8(field.unwrap().1.clone()).unwrap()
    };
    assert!(file.starts_with(b"REDIS0010\xfa\x09redis-ver\x067.0.15\xfa\x0aredis-bits\xc0\x40"));
    assert_eq!(text("ctime"), "1700000000");
    assert_eq!(text("used-mem"), "1099511627776");
    assert_eq!(text("repl-stream-db"), "2");
    assert_eq!(text("repl-id"), "0123456789012345678901234567890123456789");
    assert_eq!(text("repl-offset"), "77");
    assert_eq!(text("aof-base"), "1");
    assert_eq!(found.sizes, [(0, 5, 1), (9, 100, 0)]);
    assert_eq!(found.libraries, [b"#!lua name=l\n".repeat(5)]);
}

#[test]
fn long_value_is_alone_in_its_chunk() {
    let options = Options {
        chunk_bytes: 1_000,
        compression: false,
        checksum: true,
    };
    let value = |len: usize| vec![b'v'; len];
    let keys = [
        (key(0, b"a"), value(100)),
        (key(0, b"b"), value(100)),
        (key(0, b"long"), value(5_000)),
        (key(0, b"c"), value(100)),
        (key(1, b"long"), value(5_000)),
        (key(1, b"d"), value(100)),
    ];
    let (file, pieces) = written(options, &keys);
    let found = walk(&file).unwrap();
    let keys: Vec<u64> = found.chunks.iter().map(|chunk| chunk.keys).collect();
    assert_eq!(keys, [2, 1, 1, 1, 1]);
    // The header, and each chunk as soon as it is complete.
    assert_eq!(pieces.len(), 5);
    let names: Vec<&[u8]> = found.entries.iter().map(|entry| &entry.1[..]).collect();
    assert_eq!(names, [&b"a"[..], b"b", b"long", b"c", b"long", b"d"]);
}

#[test]
fn each_byte_that_is_lost_changed_or_doubled_is_noticed() {
    let keys = [
        (key(0, b"a"), b"1".to_vec()),
        (key(1, b"b"), vec![b'x'; 50]),
    ];
    let options = Options {
        chunk_bytes: 0,
        ..Options::default()
    };
    let (file, _) = written(options, &keys);
    // What a loader must compare: the checksums of chunks and of the file, and that nothing is behind the end.
    let is_whole = |file: &[u8]| {
        walk(file).is_ok_and(|found| {
            let sum = Sum::of(&file[..found.end as usize]).crc();
            found.checksum == Some(sum) && found.end as usize + 8 == file.len()
        })
    };
    assert!(is_whole(&file));
    for at in 0..file.len() {
        let lost = [&file[..at], &file[at + 1..]].concat();
        assert!(!is_whole(&lost) || lost == file, "{at}");
        let doubled = [&file[..at], &file[at..=at], &file[at..]].concat();
        assert!(!is_whole(&doubled) || doubled == file, "{at}");
        assert!(!is_whole(&file[..at]), "{at}");
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[at] ^= 1 << bit;
            assert!(!is_whole(&changed), "{at} {bit}");
        }
    }
}

/// The items of a file behind its header, as one file.
fn file_of(header: &[u8], items: &[&[u8]]) -> Vec<u8> {
    [header, &items.concat()].concat()
}

fn fault(file: &[u8]) -> Fault {
    walk(file).unwrap_err()
}

#[test]
fn old_versions_have_no_checksum_and_expiries_in_seconds() {
    let file = file_of(
        b"REDIS0002",
        &[
            b"\xfe\x00",
            b"\xfd\x00\xe1\xf5\x05\x00\x01k",
            &string(b"value"),
            b"\xff",
        ],
    );
    let found = walk(&file).unwrap();
    let expected = (
        0,
        b"k".to_vec(),
        Some(100_000_000_000),
        None,
        0,
        string(b"value"),
    );
    assert_eq!(found.entries, [expected]);
    assert_eq!(found.checksum, None);
}

#[test]
fn file_without_a_checksum_has_zeros_there() {
    let file = file_of(b"REDIS0009", &[b"\xff", &[0; 8]]);
    assert_eq!(walk(&file).unwrap().checksum, None);
}

#[test]
fn unknown_parts_are_named_with_their_place() {
    let end = [0xff, 0, 0, 0, 0, 0, 0, 0, 0];
    let at = |items: &[&[u8]]| fault(&file_of(b"REDIS0010", items)).to_string();
    assert_eq!(at(&[&[243], &end]), "at byte 9: opcode 243 is unknown");
    assert_eq!(at(&[&[246], &end]), "at byte 9: opcode 246 is unknown");
    assert_eq!(
        at(&[b"\xfe\x03", b"\x1a\x01k\x01v", &end]),
        "at byte 11: key \"k\" of database 3, stream of Redis 8 (type 26): values of this type cannot be read"
    );
    assert!(at(&[b"\xf7\x81\0\0\0\0\0\0\0\0", &end]).contains("module type AAAAAAAAA"));
    assert_eq!(
        at(&[b"\xfe\x00\xfc\0\0\0\0\0\0\0\0", &end]),
        "at byte 11: no key follows an expiry or a use of a key"
    );
    assert!(at(&[b"\xfa\x0drespire-chunk\x03len", &end]).contains("chunk is malformed"));
    assert!(
        at(&[b"\xfe\x00\x02\x01k\x80\xff\xff\xff\xff", &end]).contains("a length in it is wrong")
    );
    let headers: [(&[u8], &str); 6] = [
        (b"REDIS0013\xff", "version 13 of REDIS"),
        (b"REDIS0000\xff", "version 0 of REDIS"),
        (b"VALKEY081\xff", "version 81 of VALKEY"),
        (b"REDIS-001\xff", "not a snapshot"),
        (b"*3\r\n$3\r\nSET", "not a snapshot"),
        (b"REDIS", "not a snapshot"),
    ];
    for (header, text) in headers {
        assert!(fault(header).to_string().contains(text));
    }
    let valkey = file_of(b"VALKEY080", &[b"\xfe\x00\x16\x01k\x01", &end]);
    assert!(
        fault(&valkey)
            .to_string()
            .contains("hash with expiring fields of Valkey 9")
    );
}

#[test]
fn key_behind_a_skipped_chunk_needs_a_database() {
    let header = Header {
        magic: Magic::Redis,
        version: 10,
    };
    let mut reader = Reader::within(header, 9, 100, Some(3));
    reader.skip_chunk(50).unwrap();
    assert_eq!((reader.offset(), reader.db()), (59, None));
    let fault = reader.step(b"\x00\x01k\x01v").unwrap_err();
    assert_eq!(
        fault.to_string(),
        "at byte 59: no database was selected before this key"
    );
    assert_eq!(reader.skip_chunk(42), Err(Fault::at(59, What::Cut)));
    assert_eq!(reader.skip_chunk(u64::MAX), Err(Fault::at(59, What::Cut)));
}

/// Random numbers of a seed.
fn random_numbers(seed: u64) -> impl FnMut() -> u32 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    }
}
