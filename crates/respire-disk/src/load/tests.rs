//! Tests of loading.

mod old;

use super::*;
use respire_commands::payload;
use respire_rdb::Payload;
use respire_rdb::file::{
    Event, Fault, Head, KeyHead, Options as Form, Reader, Step, Sum, Usage, Writer,
};
use respire_store::{
    Config, End, Expiry, Hash, List, NewValue, Policy, Set, Store, StringRef, ZSet,
};

const NOW_MS: u64 = 1_700_000_000_000;

fn store() -> Store {
    Store::new(Config {
        databases: 4,
        shards: 8,
        ..Config::default()
    })
}

fn options(threads: usize) -> Options {
    Options {
        now_ms: NOW_MS,
        threads,
        ..Options::default()
    }
}

/// A key as a test compares it: database, key, expiry, and type byte and value.
type Found = (u32, Vec<u8>, Option<u64>, Vec<u8>);

/// All keys of a store, also those that have expired.
fn contents(store: &Store) -> Vec<Found> {
    let mut found = Vec::new();
    for db in 0..store.databases() {
        let (mut view, mut cursor) = (store.view(db, 0), 0);
        loop {
            cursor = view.scan(cursor, 100, |key, entry| {
                let mut bytes = Payload::default();
                payload::write(entry.value(), &mut bytes, &mut || ());
                found.push((
                    db,
                    key.to_vec(),
                    entry.expires_at(),
                    bytes.as_slice().to_vec(),
                ));
            });
            if cursor == 0 {
                break;
            }
        }
    }
    found.sort();
    found
}

/// A store with values of every type, small and large, in three databases.
fn filled(keys: usize) -> Store {
    let store = store();
    for nth in 0..keys {
        let text = format!("value {nth}").repeat(1 + nth % 7);
        let expiry = match nth % 5 {
            0 => Expiry::At(NOW_MS + nth as u64),
            1 => Expiry::At(1 + nth as u64),
            _ => Expiry::Clear,
        };
        let key = format!("key:{nth}");
        let value = value(&store, nth, text.as_bytes());
        store
            .view((nth % 3) as u32, 0)
            .update(key.as_bytes(), |slot| slot.set(value, expiry));
    }
    store
}

fn value<'t>(store: &Store, nth: usize, text: &'t [u8]) -> NewValue<'t> {
    let len = if nth.is_multiple_of(4) { 300 } else { 3 };
    let names = (0..len).map(|n| format!("element {n}").into_bytes());
    match nth % 6 {
        0 => text.into(),
        1 => (nth as i64 * 1_000_003).into(),
        2 => {
            let mut list = List::default();
            names.for_each(|it| {
                list.push(End::Right, StringRef::Bytes(&it), store.limits::<List>())
            });
            list.into()
        }
        3 => {
            let mut set = Set::default();
            names.for_each(|it| assert!(set.insert(&it, &store.growth::<Set>())));
            set.into()
        }
        4 => {
            let mut hash = Hash::default();
            names.for_each(|it| {
                assert!(hash.insert_until(&it, text, None, &store.growth::<Hash>()))
            });
            hash.into()
        }
        _ => {
            let elements: Vec<_> = names
                .zip(0..)
                .map(|(it, n)| (it, f64::from(n) / 3.0))
                .collect();
            ZSet::from_elements(elements, &store.growth::<ZSet>(), &mut || ()).into()
        }
    }
}

/// A file of a store.
fn saved(store: &Store, form: Form) -> Vec<u8> {
    let mut writer = Writer::new(form);
    let sizes: Vec<_> = (0..store.databases())
        .map(|db| (db, store.len(db) as u64, store.expires_len(db) as u64))
        .collect();
    writer.begin(&Head {
        redis_version: "7.0.15",
        created_s: NOW_MS / 1000,
        databases: &sizes,
        libraries: &[b"#!lua name=one\n", b"#!lua name=two\n"],
        ..Head::default()
    });
    for db in 0..store.databases() {
        let (mut view, mut cursor) = (store.view(db, 0), 0);
        loop {
            cursor = view.scan(cursor, 100, |key, entry| {
                let head = KeyHead {
                    db,
                    key,
                    expires_at: entry.expires_at(),
                    usage: None,
                };
                writer.entry(head, |bytes| {
                    payload::write(entry.value(), bytes, &mut || ())
                });
            });
            if cursor == 0 {
                break;
            }
        }
    }
    let mut file = Vec::new();
    while let Some(bytes) = writer.take_chunk() {
        file.extend(bytes);
    }
    file.extend(writer.finish());
    file
}

/// The same file without chunks, as another program writes it.
fn foreign(file: &[u8]) -> Vec<u8> {
    let mut reader = Reader::new(file.len() as u64);
    let mut out = Vec::new();
    loop {
        let at = reader.offset() as usize;
        let Step::Item(event, len) = reader.step(&file[at..]).unwrap() else {
            panic!("the file is whole");
        };
        match event {
            Event::Chunk(_) => (),
            Event::End { .. } => {
                out.push(0xff);
                let crc = Sum::of(&out).crc();
                out.extend(crc.to_le_bytes());
                return out;
            }
            _ => out.extend(&file[at..at + len]),
        }
    }
}

/// A file with these bytes between header and end.
fn file_of(items: &[&[u8]]) -> Vec<u8> {
    let mut file = [b"REDIS0010", &items.concat()[..], b"\xff"].concat();
    let crc = Sum::of(&file).crc();
    file.extend(crc.to_le_bytes());
    file
}

fn loaded(file: &[u8], options: Options) -> Result<(Store, Report), Fault> {
    let store = store();
    let report = load(&file, &store, options, &mut ())?;
    Ok((store, report))
}

const SMALL_CHUNKS: Form = Form {
    compression: true,
    checksum: true,
    chunk_bytes: 2_000,
};

#[test]
fn file_is_loaded_as_it_was_saved() {
    let store = filled(500);
    let expected = contents(&store);
    let ours = saved(&store, SMALL_CHUNKS);
    let theirs = foreign(&ours);
    for (file, has_chunks) in [(&ours, true), (&theirs, false)] {
        for threads in [1, 2, 5] {
            let (again, report) = loaded(file, options(threads)).unwrap();
            assert!(contents(&again) == expected, "{threads} threads");
            assert_eq!((report.keys, report.expiring_keys), (500, 200));
            assert_eq!((report.libraries, report.has_checksum), (2, true));
            assert_eq!(report.chunks > 10, has_chunks);
            assert_eq!(report.end, file.len() as u64);
            assert_eq!(report.written_by.as_deref(), Some("7.0.15"));
            assert_eq!(report.created_s, Some(NOW_MS / 1000));
            assert_eq!(examine(&&file[..], options(threads), &mut ()), Ok(report));
        }
    }
}

#[test]
fn expired_keys_are_left_out_if_asked() {
    let store = filled(100);
    let file = saved(&store, SMALL_CHUNKS);
    let dropping = Options {
        drops_expired: true,
        ..options(1)
    };
    let (again, report) = loaded(&file, dropping).unwrap();
    // Key 0 expires now.
    assert_eq!((report.keys, report.expired_keys), (100, 21));
    let mut expected = contents(&store);
    expected.retain(|(_, _, expires_at, _)| expires_at.is_none_or(|at| at > NOW_MS));
    assert!(contents(&again) == expected);
}

#[test]
fn libraries_and_progress_are_told() {
    #[derive(Default)]
    struct Told {
        libraries: Vec<Vec<u8>>,
        progress: Vec<Progress>,
        refuses: bool,
    }
    impl Follow for Told {
        fn library(&mut self, code: &[u8]) -> Result<(), String> {
            self.libraries.push(code.to_vec());
            if self.refuses {
                Err("no".into())
            } else {
                Ok(())
            }
        }
        fn progress(&mut self, progress: Progress) {
            self.progress.push(progress);
        }
    }
    let file = saved(&filled(200), SMALL_CHUNKS);
    let mut told = Told::default();
    load(&&file[..], &store(), options(2), &mut told).unwrap();
    assert_eq!(told.libraries, [b"#!lua name=one\n", b"#!lua name=two\n"]);
    let last = told.progress.last().unwrap();
    assert_eq!((last.keys, last.total), (200, file.len() as u64));
    assert!(last.bytes < last.total && last.bytes > last.total / 2);
    assert!(told.progress.is_sorted_by_key(|it| (it.bytes, it.keys)));
    told.refuses = true;
    let fault = load(&&file[..], &store(), options(2), &mut told).unwrap_err();
    assert_eq!(fault.what, What::Library("no".into()));
}

#[test]
fn damaged_file_is_refused_at_each_byte() {
    let store = store();
    for (db, key) in [(0, "a"), (0, "b"), (2, "c")] {
        let set = |slot: &mut respire_store::Slot<'_>| slot.set(b"value", Expiry::At(NOW_MS + 1));
        store.view(db, NOW_MS).update(key.as_bytes(), set);
    }
    let ours = saved(
        &store,
        Form {
            chunk_bytes: 20,
            ..Form::default()
        },
    );
    let theirs = foreign(&ours);
    for file in [ours, theirs] {
        let is_refused = |file: &[u8]| loaded(file, options(1)).is_err();
        assert!(!is_refused(&file));
        for at in 0..file.len() {
            assert!(is_refused(&file[..at]), "cut at {at}");
            for bit in 0..8 {
                let mut changed = file.clone();
                changed[at] ^= 1 << bit;
                assert!(is_refused(&changed), "{at} {bit}");
            }
            let zeroed = [&file[..at], &[0], &file[at + 1..]].concat();
            assert!(is_refused(&zeroed) || zeroed == file, "{at}");
            let lost = [&file[..at], &file[at + 1..]].concat();
            assert!(is_refused(&lost) || lost == file, "{at}");
            let doubled = [&file[..at], &file[at..=at], &file[at..]].concat();
            assert!(is_refused(&doubled) || doubled == file, "{at}");
        }
        let longer = [&file[..], b"\0"].concat();
        let fault = loaded(&longer, options(1)).unwrap_err();
        assert_eq!(fault, Fault::at(file.len() as u64, What::Behind(1)));
        let may_go_on = Options {
            may_go_on: true,
            ..options(1)
        };
        let (_, report) = loaded(&longer, may_go_on).unwrap();
        assert_eq!(report.end, file.len() as u64);
    }
}

#[test]
fn damaged_chunk_is_named() {
    let mut file = saved(&filled(300), SMALL_CHUNKS);
    let at = file.len() / 2;
    file[at] ^= 1;
    let mut texts = Vec::new();
    for threads in [1, 3, 3, 3] {
        let fault = loaded(&file, options(threads)).unwrap_err();
        assert!(matches!(fault.what, What::ChunkChecksum { .. }), "{fault}");
        assert!(fault.offset <= at as u64 && fault.offset + 5_000 > at as u64);
        texts.push(fault.to_string());
    }
    texts.dedup();
    assert_eq!(texts.len(), 1);
}

#[test]
fn chunks_in_another_order_are_refused() {
    let file = saved(
        &filled(100),
        Form {
            checksum: false,
            ..SMALL_CHUNKS
        },
    );
    let mut reader = Reader::new(file.len() as u64);
    let (mut starts, mut before) = (Vec::new(), 0);
    while let Step::Item(event, _) = reader.step(&file[reader.offset() as usize..]).unwrap() {
        match event {
            Event::Chunk(chunk) => {
                starts.push(before);
                reader.skip_chunk(chunk.len).unwrap();
            }
            Event::End { .. } => break,
            _ => (),
        }
        before = reader.offset() as usize;
    }
    assert!(loaded(&file, options(1)).is_ok());
    let [.., third, fourth, fifth] = starts[..] else {
        panic!("the file has many chunks");
    };
    let lost = [&file[..third], &file[fourth..]].concat();
    let doubled = [&file[..fourth], &file[third..]].concat();
    let exchanged = [
        &file[..third],
        &file[fourth..fifth],
        &file[third..fourth],
        &file[fifth..],
    ]
    .concat();
    for file in [lost, doubled, exchanged] {
        let fault = loaded(&file, options(1)).unwrap_err();
        assert_eq!(
            fault.what,
            What::Chunk("a chunk is not the one that follows")
        );
    }
}

#[test]
fn parts_that_cannot_be_loaded_are_named() {
    let cases: [(&[&[u8]], &str); 7] = [
        (
            &[
                b"\xfe\x01",
                b"\x00\x01a\x01x",
                b"\x00\x01b\x01x",
                b"\x00\x01a\x01y",
            ],
            "at byte 21: key \"a\" of database 1, string (type 0): the key is in the file twice",
        ),
        (
            &[b"\xfe\x04", b"\x00\x01a\x01x"],
            "at byte 11: there is no database 4",
        ),
        (
            &[b"\xfe\x00", b"\x0b\x01s\x03abc"],
            "at byte 11: key \"s\" of database 0, set as intset (type 11): the value is malformed",
        ),
        (
            &[b"\xfe\x00", b"\x07\x01m\x81\0\0\0\0\0\0\0\0"],
            "at byte 11: key \"m\" of database 0, module value (type 7): \
             the value is of the module type AAAAAAAAA, and there are no modules",
        ),
        (
            &[b"\xfe\x00", b"\xf7\x81\0\0\0\0\0\0\0\0"],
            "at byte 11: data of the module type AAAAAAAAA, and there are no modules",
        ),
        (
            &[b"\xfe\x00", b"\xf6\x01\x01"],
            "at byte 11: opcode 246 is unknown",
        ),
        (
            &[b"\xfe\x00\x02\x01k\x90"],
            "at byte 11: key \"k\" of database 0, set (type 2): no length begins with byte 144",
        ),
    ];
    for (items, text) in cases {
        let file = file_of(items);
        for threads in [1, 2] {
            let fault = loaded(&file, options(threads)).unwrap_err();
            assert_eq!(fault.to_string(), text);
        }
    }
}

#[test]
fn empty_collections_of_old_servers_are_left_out() {
    let file = file_of(&[
        b"\x02\x01a\0",
        b"\x04\x01b\0",
        b"\x12\x01c\0",
        b"\x00\x01d\x01x",
    ]);
    let (store, report) = loaded(&file, options(1)).unwrap();
    assert_eq!((report.keys, report.empty_keys, store.len(0)), (4, 3, 1));
}

#[test]
fn databases_may_alternate_and_values_be_large() {
    let store = store();
    let large: Vec<u8> = (0..3_000_000_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for nth in 0..200_u32 {
        let value = if nth == 77 { &large[..] } else { b"small" };
        store
            .view(nth % 4, 0)
            .update(&nth.to_le_bytes(), |slot| slot.set(value, Expiry::Clear));
    }
    let mut writer = Writer::new(Form::default());
    writer.begin(&Head::default());
    for nth in 0..200_u32 {
        let db = nth % 4;
        store.view(db, 0).read(&nth.to_le_bytes(), |entry| {
            let key = nth.to_le_bytes();
            let head = KeyHead {
                db,
                key: &key,
                ..KeyHead::default()
            };
            let value = entry.unwrap().value();
            writer.entry(head, |bytes| payload::write(value, bytes, &mut || ()));
        });
    }
    let ours = writer.finish();
    for file in [foreign(&ours), ours] {
        let (again, report) = loaded(&file, options(3)).unwrap();
        assert!(contents(&again) == contents(&store));
        assert_eq!(report.keys, 200);
    }
}

#[test]
fn earlier_use_is_loaded_as_the_policy_requires() {
    let mut writer = Writer::new(Form::default());
    writer.begin(&Head::default());
    for (key, usage) in [
        ("idle", Usage::IdleSeconds(50)),
        ("often", Usage::Frequency(200)),
    ] {
        let head = KeyHead {
            key: key.as_bytes(),
            usage: Some(usage),
            ..KeyHead::default()
        };
        writer.entry(head, |bytes| {
            bytes.begin(0, 1);
            bytes.string(b"v");
        });
    }
    let file = writer.finish();
    for (policy, expected) in [
        (Policy::AllKeysLru, (50_000, 0)),
        (Policy::AllKeysLfu, (0, 200)),
    ] {
        let store = store();
        store.set_max_memory(0, policy, 5);
        load(&&file[..], &store, options(1), &mut ()).unwrap();
        let mut view = store.view(0, NOW_MS);
        let idle = view.peek(b"idle", |entry| entry.unwrap().idle_ms(NOW_MS));
        let often = view.peek(b"often", |entry| entry.unwrap().freq(NOW_MS));
        assert_eq!((idle, often), expected);
    }
}

#[test]
fn sizes_that_the_file_cannot_have_reserve_little() {
    let many = [&[0xfb, 0x81][..], &u64::MAX.to_be_bytes(), &[0]].concat();
    let file = file_of(&[&many, b"\xfe\x01", &many, b"\x00\x01a\x01x"]);
    let (store, _) = loaded(&file, options(1)).unwrap();
    assert!(store.memory().overhead < 4_000, "{:?}", store.memory());
}
