//! Tests the threads of the log on real files: what the store has is what the file says.

use super::{Begin, Folder, Journal, Kept, Lanes};
use respire_durable::log::{Base, Log, Policy, Settings, Start};
use respire_store::{Config, Expiry, Interest, Scope, Store, View};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// A store with a log in a folder.
struct Kit {
    store: Store,
    journal: Arc<Journal>,
    kept: Arc<Kept>,
    lanes: Lanes,
    dir: tempfile::TempDir,
}

impl Kit {
    fn new(policy: Policy) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::new(Config {
            databases: 4,
            ..Config::default()
        });
        let (journal, kept) = (Arc::new(Journal::new()), Arc::new(Kept::new()));
        store.observe(journal.clone(), Interest::EFFECTS);
        let settings = Settings {
            policy,
            ..Settings::default()
        };
        let lanes = Lanes::start(Begin {
            journal: journal.clone(),
            kept: kept.clone(),
            folder: Folder::new(dir.path().to_owned()),
            log: Log::new(settings, Start::empty()),
            policy,
            buffer_bytes: u64::MAX,
            gates: None,
        });
        Self {
            store,
            journal,
            kept,
            lanes: lanes.expect("threads"),
            dir,
        }
    }

    /// Ends the log, and compares the files with the store.
    fn check(self, files: &[&str]) {
        assert!(self.lanes.stop(PATIENCE));
        let mut state = Replayed::default();
        files
            .iter()
            .for_each(|file| state.load(&self.dir.path().join(file)));
        let mut keys = BTreeMap::new();
        for db in 0..4 {
            let mut view = self.store.view(db, 0);
            for key in (0..100_u32).map(|key| key.to_string().into_bytes()) {
                let text = view.read(&key, |entry| Some(entry?.value().as_string()?.to_vec()));
                keys.extend(text.map(|text| ((db, key), text)));
            }
        }
        assert_eq!(state.keys, keys);
        assert!(!state.in_transaction);
    }
}

/// What the commands of a file make of an empty server.
#[derive(Default)]
struct Replayed {
    keys: BTreeMap<(u32, Vec<u8>), Vec<u8>>,
    transactions: usize,
    in_transaction: bool,
}

impl Replayed {
    fn load(&mut self, path: &Path) {
        let bytes = std::fs::read(path).expect("the file");
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').peekable();
        let mut db = 0;
        while let Some(line) = lines.next() {
            if line.starts_with(b"#") {
                continue;
            }
            let number = |line: &[u8]| {
                let digits = std::str::from_utf8(&line[1..line.len() - 2]).expect("digits");
                digits.parse::<usize>().expect("a number")
            };
            let mut args = Vec::new();
            for _ in 0..number(line) {
                let len = number(lines.next().expect("a header"));
                let text = lines.next().expect("an argument");
                assert_eq!(text.len(), len + 2);
                args.push(text[..len].to_vec());
            }
            let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
            match *args {
                [b"SELECT", number] => {
                    db = std::str::from_utf8(number)
                        .unwrap_or_default()
                        .parse()
                        .expect("a number");
                }
                [b"MULTI"] => {
                    self.in_transaction = true;
                    self.transactions += 1;
                }
                [b"EXEC"] => self.in_transaction = false,
                [b"SET", key, value] => {
                    self.keys.insert((db, key.to_vec()), value.to_vec());
                }
                [b"DEL", key] => {
                    self.keys.remove(&(db, key.to_vec()));
                }
                [b"FLUSHDB"] => self.keys.retain(|(of, _), _| *of != db),
                ref other => panic!("{other:?}"),
            }
        }
    }
}

fn key(rng: &mut fastrand::Rng) -> Vec<u8> {
    rng.u32(..100).to_string().into_bytes()
}

/// Changes single keys, several keys, and databases, in turns and outside of them.
fn change(kit: &Kit, seed: u64, steps: usize) {
    let mut rng = fastrand::Rng::with_seed(seed);
    for step in 0..steps {
        let db = rng.u32(..4);
        let (a, b) = (key(&mut rng), key(&mut rng));
        let is_turn = rng.bool();
        if is_turn {
            kit.journal.enter();
        }
        let value = step as i64;
        match rng.u32(..20) {
            0 => {
                kit.store.view(db, 0).flush(respire_store::Freeing::AtOnce);
            }
            1..=4 => {
                let other = rng.u32(..4);
                let keys = [(db, &*a), (other, &*b)];
                let mut section = kit.store.lock(&Scope::Keys(&keys));
                for (db, key) in keys {
                    let mut view = View::within(&kit.store, db, 0, Some(section.held()));
                    view.update(key, |slot| slot.set(value, Expiry::Clear));
                }
            }
            5..=8 => {
                kit.store.view(db, 0).update(&a, |slot| slot.remove());
            }
            _ => kit
                .store
                .view(db, 0)
                .update(&a, |slot| slot.set(value, Expiry::Clear)),
        }
        if is_turn {
            kit.journal.leave();
        }
    }
}

#[test]
fn file_says_what_several_threads_have_changed() {
    for policy in [Policy::Always, Policy::EverySec, Policy::No] {
        let kit = Kit::new(policy);
        thread::scope(|scope| {
            for seed in 0..4 {
                let kit = &kit;
                scope.spawn(move || change(kit, seed, 2_000));
            }
        });
        kit.check(&["appendonly.aof.1.incr.aof"]);
    }
}

#[test]
fn turn_learns_the_ticket_that_it_has_to_wait_for() {
    let kit = Kit::new(Policy::Always);
    kit.journal.set_notes_reads(true);
    kit.journal.enter();
    kit.store
        .view(0, 0)
        .update(b"1", |slot| slot.set(1, Expiry::Clear));
    let own = kit.journal.leave();
    assert_eq!((own, kit.journal.last()), (1, 1));
    kit.journal.enter();
    kit.journal.note_read(0, b"2");
    assert_eq!(kit.journal.leave(), 0);
    kit.journal.enter();
    kit.journal.note_read(0, b"1");
    assert_eq!(kit.journal.leave(), own);
    let is_kept = |_: &mut super::lanes::State| kit.kept.has(own);
    assert!(kit.lanes.shared.wait_until(PATIENCE, is_kept));
    kit.check(&["appendonly.aof.1.incr.aof"]);
}

#[test]
fn rewrite_begins_a_file_exactly_at_its_cut() {
    let kit = Kit::new(Policy::EverySec);
    let set = |key: &[u8], value: i64| {
        kit.store
            .view(0, 0)
            .update(key, |slot| slot.set(value, Expiry::Clear));
    };
    set(b"1", 1);
    let cut = || {
        // A command for whose keys the cut waits may ask for the figures of the log.
        let _figures = kit.lanes.shared.lock().log.info();
        // Changes behind the cut arrive before the rewrite has begun.
        let ticket = kit.journal.last();
        set(b"1", 2);
        set(b"2", 2);
        Some((ticket, ()))
    };
    let (id, ()) = kit
        .lanes
        .shared
        .begin_rewrite(PATIENCE, cut)
        .expect("a rewrite");
    let base = kit.dir.path().join("temp");
    std::fs::write(&base, "*3\r\n$3\r\nSET\r\n$1\r\n1\r\n$1\r\n1\r\n").expect("a base");
    let finished = kit.lanes.shared.base_finished(
        id,
        Base {
            temporary_name: "temp".to_owned(),
            is_rdb: false,
            bytes: 28,
        },
    );
    assert_eq!(finished, Ok(()));
    let is_over = |state: &mut super::lanes::State| !state.log.info().rewrite_in_progress;
    assert!(kit.lanes.shared.wait_until(PATIENCE, is_over));
    let manifest = std::fs::read_to_string(kit.dir.path().join("appendonly.aof.manifest"));
    let manifest = manifest.expect("a manifest");
    let base = manifest.split(' ').find(|word| word.contains(".base."));
    let base = base.expect("a base").to_owned();
    kit.check(&[&base, "appendonly.aof.2.incr.aof"]);
}

#[test]
fn bytes_that_wait_for_the_thread_are_counted_until_it_has_taken_them() {
    let journal = Arc::new(Journal::new());
    let store = Store::new(Config::default());
    store.observe(journal.clone(), Interest::EFFECTS);
    journal.bound(1 << 20, None);
    let mut order = super::order::Order::new(1);
    let value = vec![b'x'; 1 << 19];
    for _ in 0..2 {
        assert!(!journal.take_over());
        store
            .view(0, 0)
            .update(b"1", |slot| slot.set(&*value, Expiry::Clear));
    }
    assert!(
        journal.take_over(),
        "two halves of a megabyte, with their framing, are too many"
    );
    assert!(journal.waiting_bytes() > 1 << 20);
    let stages = journal.take(Duration::ZERO, &mut Vec::new());
    for stage in stages {
        assert!(order.add(stage).is_none());
    }
    let mut ordered = super::order::Ordered::default();
    order.take(u64::MAX, usize::MAX, &mut ordered, |stage| {
        journal.taken(stage.bytes_len());
    });
    assert_eq!((ordered.last, journal.waiting_bytes()), (2, 0));
}
