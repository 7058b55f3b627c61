//! Tests of snapshots in files and in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Cursor};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use respire_commands::payload;
use respire_rdb::file::{Event, Options, Reader, Step, What};
use respire_store::{
    Config, Effect, Expiry, Freeing, Interest, Observer, Owned, Scope, Store, Ticket,
};

use super::*;

type Contents = BTreeMap<(u32, Vec<u8>), (Vec<u8>, Option<u64>)>;

const LATER: u64 = 1 << 50;

fn store() -> Store {
    Store::new(Config {
        databases: 3,
        shards: 8,
        ..Config::default()
    })
}

fn dump(entry: respire_store::EntryRef<'_>) -> (Vec<u8>, Option<u64>) {
    let bytes = payload::dump(entry.value(), &mut || ());
    (bytes.as_slice().to_vec(), entry.expires_at())
}

fn contents(store: &Store) -> Contents {
    let mut all = Contents::new();
    for db in 0..store.databases() {
        store.view(db, 0).for_each(|key, entry| {
            all.insert((db, key.to_vec()), dump(entry));
        });
    }
    all
}

/// Loads a snapshot into a new store.
fn loaded(file: &[u8]) -> Contents {
    let (store, mut reader) = (store(), Reader::new(file.len() as u64));
    let mut window = file;
    loop {
        let step = reader.step(window).expect("the file is right");
        let Step::Item(event, len) = step else {
            panic!("the file ends too early");
        };
        window = &window[len..];
        match event {
            Event::Entry(entry) => {
                let value = payload::read(entry.type_byte, entry.value, &store);
                let value = value.expect("the value is right");
                store.view(entry.db, 0).update(&entry.key, |slot| {
                    assert!(!slot.exists(), "a key is in the file once");
                    slot.set(value, entry.expires_at.map_or(Expiry::Clear, Expiry::At));
                });
            }
            Event::End { .. } => break,
            _ => (),
        }
    }
    contents(&store)
}

fn options() -> SaveOptions<'static> {
    SaveOptions {
        file: Options {
            chunk_bytes: 4_000,
            ..Options::default()
        },
        is_aof_base: true,
        ..SaveOptions::default()
    }
}

/// Writes a snapshot to memory.
fn saved(store: &Store, options: SaveOptions<'_>) -> (Saved, Vec<u8>) {
    let (stop, progress, mut file) = (AtomicBool::new(false), Progress::default(), Vec::new());
    let cut = store.cut().expect("no cut is running");
    let mut saver = Saver::new(options, &stop, &progress);
    let saved = saver.write(cut, &mut file).expect("memory takes all");
    (saved, file)
}

/// Fills a store with strings of many lengths.
fn fill(store: &Store, keys: u32) {
    for key in 0..keys {
        let value = vec![key as u8; key as usize * 7 % 900];
        let expiry = match key % 3 {
            0 => Expiry::At(LATER + u64::from(key)),
            _ => Expiry::Clear,
        };
        store
            .view(key % 3, 0)
            .update(&key.to_le_bytes(), |slot| slot.set(value, expiry));
    }
}

/// A directory of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("respire-snapshot-{}-{next}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("the temporary directory is writable");
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).expect("it is there");
        let name = |file: io::Result<fs::DirEntry>| file.map(|file| file.file_name());
        let mut names: Vec<String> = files
            .map(|file| name(file).expect("it is listed").to_string_lossy().into())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _is_removed = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn snapshot_loads_as_the_contents_of_the_store() {
    let store = store();
    for keys in [0, 1, 1_000] {
        fill(&store, keys);
        for compression in [false, true] {
            for checksum in [false, true] {
                let mut options = options();
                options.file.compression = compression;
                options.file.checksum = checksum;
                let (saved, file) = saved(&store, options);
                assert_eq!(saved.keys, u64::from(keys));
                assert_eq!(saved.bytes, file.len() as u64);
                assert!(loaded(&file) == contents(&store), "{keys} keys");
                let whole = verify(&mut Cursor::new(file), &mut || ());
                assert_eq!(whole.expect("memory is read"), Ok(()));
            }
        }
    }
}

#[test]
fn expired_keys_are_only_in_the_base_of_a_log() {
    let store = store();
    let mut view = store.view(0, 0);
    view.update(b"over", |slot| slot.set(1, Expiry::At(1_000)));
    view.update(b"not over", |slot| slot.set(2, Expiry::At(1_001)));
    for is_aof_base in [false, true] {
        let options = SaveOptions {
            is_aof_base,
            now_ms: 1_000,
            ..options()
        };
        let (saved, file) = saved(&store, options);
        assert_eq!(saved.keys, 1 + u64::from(is_aof_base));
        let is_there = loaded(&file).contains_key(&(0, b"over".to_vec()));
        assert_eq!(is_there, is_aof_base);
    }
}

#[test]
fn file_is_replaced_as_a_whole_and_progress_is_told() {
    let (store, folder) = (store(), Folder::new());
    let path = folder.0.join("dump.rdb");
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    for keys in [10, 500] {
        fill(&store, keys);
        let mut steps = 0;
        let mut saver = Saver::new(options(), &stop, &progress).with_pace(|| steps += 1);
        let saved = saver.save_to(&store, &path).expect("it is written");
        drop(saver);
        assert!(steps > 8);
        let file = fs::read(&path).expect("it is there");
        assert!(loaded(&file) == contents(&store));
        assert_eq!(saved.bytes, file.len() as u64);
        assert_eq!(folder.names(), ["dump.rdb"]);
        let told = (progress.keys_done(), progress.keys_total());
        assert_eq!(told, (u64::from(keys), u64::from(keys)));
        assert_eq!(progress.bytes(), saved.bytes);
    }
}

#[test]
fn snapshot_that_is_stopped_leaves_the_former_file_and_the_store_ready_for_another() {
    let (store, folder) = (store(), Folder::new());
    let path = folder.0.join("dump.rdb");
    fill(&store, 700);
    let progress = Progress::default();
    fs::write(&path, b"former").expect("it is writable");
    for stop_at in [1, 2, 15, 40] {
        let (stop, mut steps) = (AtomicBool::new(false), 0);
        let mut saver = Saver::new(options(), &stop, &progress).with_pace(|| {
            steps += 1;
            stop.store(steps >= stop_at, Ordering::Relaxed);
        });
        let result = saver.save_to(&store, &path);
        assert!(matches!(result, Err(SaveError::Stopped)), "{stop_at}");
        drop(saver);
        assert_eq!(fs::read(&path).expect("it is there"), b"former");
        assert_eq!(folder.names(), ["dump.rdb"]);
        assert!(!store.is_cutting());
    }
    let cut = store.cut().expect("the others are over");
    let stop = AtomicBool::new(false);
    let mut saver = Saver::new(options(), &stop, &progress);
    let refused = saver.save_to(&store, &path);
    assert!(matches!(refused, Err(SaveError::Running)));
    assert!(saver.write_to(cut, &path).is_ok());
}

#[test]
fn file_operation_that_fails_is_reported_and_leaves_nothing_behind() {
    let (store, folder) = (store(), Folder::new());
    fill(&store, 300);
    let (stop, progress) = (AtomicBool::new(false), Progress::default());
    let mut saver = Saver::new(options(), &stop, &progress);
    let missing = folder.0.join("missing/dump.rdb");
    let result = saver.save_to(&store, &missing);
    assert!(matches!(result, Err(SaveError::Io { what: "create", .. })));
    // A directory cannot be replaced by a file.
    let folder_there = folder.0.join("dump.rdb");
    fs::create_dir_all(folder_there.join("inner")).expect("it is writable");
    let result = saver.save_to(&store, &folder_there);
    assert!(matches!(result, Err(SaveError::Io { what: "rename", .. })));
    assert_eq!(folder.names(), ["dump.rdb"]);

    struct Full(usize);
    impl Sink for Full {
        fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
            self.0 = self
                .0
                .checked_sub(chunk.len())
                .ok_or(io::ErrorKind::StorageFull)?;
            Ok(())
        }
    }
    for room in [0, 100, 5_000] {
        let cut = store.cut().expect("no cut is running");
        let result = saver.write(cut, &mut Full(room));
        let Err(SaveError::Io {
            what: "write",
            error,
        }) = result
        else {
            panic!("{result:?}");
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

#[test]
fn damage_anywhere_is_found_when_a_snapshot_is_read_back() {
    let store = store();
    fill(&store, 40);
    let mut small = options();
    small.file.chunk_bytes = 1_000;
    let (_, file) = saved(&store, small);
    let check = |file: Vec<u8>| verify(&mut Cursor::new(file), &mut || ()).expect("it is read");
    assert_eq!(check(file.clone()), Ok(()));
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(check(damaged).is_err(), "byte {at}");
        assert!(check(file[..at].to_vec()).is_err(), "cut at {at}");
    }
    let longer = [&file[..], b"\0"].concat();
    assert!(matches!(check(longer), Err(fault) if fault.what == What::Behind(1)));
}

/// An effect that owns its data.
enum Kept {
    Written(u32, Vec<u8>, Owned),
    ExpirySet(u32, Vec<u8>, Option<u64>),
    Removed(u32, Vec<u8>),
    Flushed(u32),
    Swapped(u32, u32),
}

#[derive(Default)]
struct Log(Mutex<Vec<(Ticket, Kept)>>);

impl Observer for Log {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let kept = match effect {
            Effect::Written { db, key, entry } => Kept::Written(db, key.to_vec(), entry.owned()),
            Effect::Changed { .. } => panic!("the log did not ask for steps"),
            Effect::ExpirySet {
                db,
                key,
                expires_at,
            } => Kept::ExpirySet(db, key.to_vec(), expires_at),
            Effect::Removed { db, key, .. } => Kept::Removed(db, key.to_vec()),
            Effect::Flushed { db } => Kept::Flushed(db),
            Effect::Swapped { a, b } => Kept::Swapped(a, b),
        };
        self.0
            .lock()
            .expect("no observer panics")
            .push((ticket, kept));
    }
}

impl Kept {
    fn apply(self, store: &Store) {
        match self {
            Kept::Written(db, key, owned) => store.view(db, 0).update(&key, |slot| slot.put(owned)),
            Kept::ExpirySet(db, key, at) => {
                assert!(store.view(db, 0).update(&key, |slot| slot.set_expiry(at)));
            }
            Kept::Removed(db, key) => drop(store.view(db, 0).update(&key, |slot| slot.remove())),
            Kept::Flushed(db) => drop(store.view(db, 0).flush(Freeing::AtOnce)),
            Kept::Swapped(a, b) => store.view(a, 0).swap(a, b),
        }
    }
}

/// Does a change that `rng` chooses.
fn change(store: &Store, rng: &mut fastrand::Rng) {
    let (db, key, other) = (rng.u32(..3), rng.u16(..400), rng.u16(..400));
    let (key, other) = (key.to_le_bytes(), other.to_le_bytes());
    let mut view = store.view(db, 0);
    match rng.u32(..400) {
        0 => view.swap(db, rng.u32(..3)),
        1 => drop(view.flush(Freeing::InSteps)),
        2..40 => drop(view.update(&key, |slot| slot.remove())),
        40..80 => view.locked(&Scope::Keys(&[(db, &key), (0, &other)]), |view| {
            if let Some(owned) = view.update(&key, |slot| slot.take()) {
                view.in_db(0).update(&other, |slot| slot.put(owned));
            }
        }),
        80..120 => {
            let at = Some(LATER + rng.u64(..1_000));
            view.update(&key, |slot| slot.set_expiry(at));
        }
        120..200 => view.update(&key, |slot| {
            slot.edit_string(|bytes| bytes.resize(rng.usize(..30_000), rng.u8(..)));
        }),
        200..260 => view.update_many([&key[..], &other].into_iter(), |_, slot| {
            slot.set(i64::from(rng.u32(..)), Expiry::Clear);
        }),
        _ => view.update(&key, |slot| {
            slot.set(vec![b'v'; rng.usize(..200)], Expiry::Keep);
        }),
    }
}

#[test]
fn snapshot_written_while_threads_write_has_the_state_at_its_ticket() {
    let (live, copy, log) = (store(), store(), Arc::new(Log::default()));
    live.observe(Arc::clone(&log) as _, Interest::EFFECTS);
    let running = AtomicUsize::new(2);
    let mut snapshots = Vec::new();
    thread::scope(|scope| {
        for seed in 0..2 {
            let (live, running) = (&live, &running);
            scope.spawn(move || {
                let mut rng = fastrand::Rng::with_seed(seed);
                (0..6_000).for_each(|_| change(live, &mut rng));
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while running.load(Ordering::Relaxed) > 0 {
            snapshots.push(saved(&live, options()));
        }
    });
    assert!(snapshots.len() > 2, "{}", snapshots.len());
    let mut effects = core::mem::take(&mut *log.0.lock().expect("no observer panics"));
    effects.sort_by_key(|(ticket, _)| *ticket);
    let mut effects = effects.into_iter().peekable();
    for (saved, file) in snapshots {
        while let Some((_, effect)) = effects.next_if(|effect| effect.0 <= saved.ticket) {
            effect.apply(&copy);
        }
        let is_whole = verify(&mut Cursor::new(&file), &mut || ()).expect("it is read");
        assert_eq!(is_whole, Ok(()));
        assert!(loaded(&file) == contents(&copy), "after {:?}", saved.ticket);
    }
}
