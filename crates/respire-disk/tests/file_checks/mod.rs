//! Checks that no bytes are unsafe as a snapshot file. The tests and the fuzzer share it.

use respire_commands::payload;
use respire_disk::load::{Options, examine, load};
use respire_rdb::Payload;
use respire_rdb::file::{Fault, Head, KeyHead, Options as Form, Reader, Step, What, Writer};
use respire_store::{Config, Store};

/// Takes any bytes as a snapshot file: it is refused, or its keys are the same after they are saved and loaded again;
/// a walk finds the same items however little it sees at once, and all threads agree. The file's checksum is ignored.
pub(crate) fn check_file(data: &[u8]) {
    let mut data = data.to_vec();
    if let Some(checksum) = data.last_chunk_mut::<8>() {
        *checksum = [0; 8];
    }
    check_windows(&data);
    let result = loaded(&data, 1);
    let examined = examine(&&data[..], Options::default(), &mut ());
    match (&result, &examined) {
        (Ok(_), Ok(report)) => assert!(report.end <= data.len() as u64),
        (Err(fault), Ok(_)) => assert!(
            matches!(fault.what, What::Twice | What::Database(_)),
            "{fault}"
        ),
        (Err(fault), Err(other)) => assert!(fault.offset <= other.offset, "{fault} but {other}"),
        (Ok(_), Err(fault)) => panic!("loaded, but examined: {fault}"),
    }
    let Ok(store) = result else {
        return;
    };
    let expected = contents(&store);
    for checksum in [true, false] {
        let form = Form {
            checksum,
            chunk_bytes: 100,
            ..Form::default()
        };
        let again = loaded(&saved(&store, form), 3);
        assert!(again.is_ok_and(|again| contents(&again) == expected));
    }
}

fn loaded(file: &[u8], threads: usize) -> Result<Store, Fault> {
    let store = Store::new(Config {
        databases: 16,
        shards: 2,
        ..Config::default()
    });
    let options = Options {
        threads,
        ..Options::default()
    };
    load(&file, &store, options, &mut ()).map(|_| store)
}

/// A key: database, key, expiry, and type byte and value.
type Found = (u32, Vec<u8>, Option<u64>, Vec<u8>);

fn contents(store: &Store) -> Vec<Found> {
    let mut found = Vec::new();
    for db in 0..store.databases() {
        store.view(db, 0).for_each(|key, entry| {
            let mut bytes = Payload::default();
            payload::write(entry.value(), &mut bytes, &mut || ());
            found.push((
                db,
                key.to_vec(),
                entry.expires_at(),
                bytes.as_slice().to_vec(),
            ));
        });
    }
    found.sort();
    found
}

fn saved(store: &Store, form: Form) -> Vec<u8> {
    let mut writer = Writer::new(form);
    writer.begin(&Head::default());
    for (db, key, expires_at, value) in contents(store) {
        let head = KeyHead {
            db,
            key: &key,
            expires_at,
            usage: None,
        };
        writer.entry(head, |bytes| {
            bytes.begin(value[0], value.len());
            bytes.raw(&value[1..]);
        });
    }
    writer.finish()
}

/// Walks with windows of the whole rest and with as little as is asked for, side by side.
fn check_windows(data: &[u8]) {
    let mut whole = Reader::new(data.len() as u64);
    let mut narrow = whole.clone();
    loop {
        let rest = &data[(whole.offset() as usize).min(data.len())..];
        let expected = whole.step(rest);
        let mut len = 0;
        let found = loop {
            match narrow.step(&rest[..len]) {
                Ok(Step::More(least)) => {
                    assert!(len < least && least <= rest.len());
                    len = least;
                }
                found => break found,
            }
        };
        assert_eq!(found, expected);
        match expected {
            Ok(Step::Item(respire_rdb::file::Event::End { .. }, _)) | Err(_) => return,
            Ok(Step::More(_)) => unreachable!("invariant: the file has no more"),
            Ok(Step::Item(..)) => (),
        }
    }
}
