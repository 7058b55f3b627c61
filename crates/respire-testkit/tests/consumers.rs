//! Tests that consumers of a stream that come and go get every entry once, on both flavours: they time out, disconnect
//! while they wait, and are unblocked, and entries are added alone, in transactions and in scripts.

use respire::serve::Flavour;
use respire_testkit::quoting::encode_command;
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Entries that each writer adds.
const ENTRIES: usize = 240;
const CONSUMERS: usize = 200;

/// A consumer leaves after so many reads, and its next connection leaves while it waits.
const READS: usize = 10;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn call(link: &mut Link, line: &str) -> Value {
    link.call(&words(line))
}

/// The IDs of the entries in a reply to `XREADGROUP` of one stream.
fn ids(reply: &Value) -> Vec<String> {
    fn array(value: &Value) -> &[Value] {
        match value {
            Value::Array(elements) => elements,
            _ => &[],
        }
    }
    let entries = array(reply).first().and_then(|stream| array(stream).get(1));
    let entries = entries.map(array).unwrap_or_default();
    let id = |entry: &Value| {
        array(entry)
            .first()
            .and_then(Value::as_bytes)
            .map(<[u8]>::to_vec)
    };
    let text = |id: Vec<u8>| String::from_utf8_lossy(&id).into_owned();
    entries.iter().filter_map(id).map(text).collect()
}

/// What the consumers and those who disturb them share.
#[derive(Default)]
struct Ledger {
    /// Entries that were read and acknowledged.
    got: Mutex<Vec<String>>,
    /// The connections of the consumers, those that are gone too.
    clients: Mutex<Vec<i64>>,
    /// All entries are added.
    is_over: AtomicBool,
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads and acknowledges entries until all are added and no more come.
fn consume(address: SocketAddr, name: usize, ledger: &Ledger) {
    let read = format!("XREADGROUP GROUP g {name} COUNT 3 BLOCK 400 STREAMS jobs >");
    loop {
        let mut link = Link::open(address);
        if let Value::Int(id) = call(&mut link, "CLIENT ID") {
            lock(&ledger.clients).push(id);
        }
        for _ in 0..READS {
            let was_over = ledger.is_over.load(Ordering::SeqCst);
            let given = ids(&call(&mut link, &read));
            if given.is_empty() && was_over {
                return;
            }
            for id in given {
                assert_eq!(call(&mut link, &format!("XACK jobs g {id}")), Value::Int(1));
                lock(&ledger.got).push(id);
            }
        }
        // A client that is gone may still be given entries, which then stay pending.
        let mut leaving = TcpStream::connect(address).expect("the server listens");
        let request = encode_command(&words(&read.replace("BLOCK 400", "BLOCK 0")));
        leaving.write_all(&request).expect("the server reads");
    }
}

/// Adds entries one by one, in transactions, or in scripts, and unblocks a consumer from time to time.
fn add(address: SocketAddr, way: usize, ledger: &Ledger) {
    let mut link = Link::open(address);
    for number in (0..ENTRIES).step_by(4) {
        let each = (number..number + 4).map(|number| format!("XADD jobs * {way} {number}"));
        match way {
            0 => each.for_each(|add| assert!(call(&mut link, &add).as_bytes().is_some())),
            1 => {
                call(&mut link, "MULTI");
                each.for_each(|add| assert!(call(&mut link, &add).as_bytes().is_some()));
                assert!(matches!(call(&mut link, "EXEC"), Value::Array(added) if added.len() == 4));
            }
            _ => {
                let script =
                    "for i = 1, 4 do redis.call('XADD', KEYS[1], '*', 'i', i) end return 4";
                let eval = ["EVAL", script, "1", "jobs"].map(str::to_owned);
                assert_eq!(link.call(&eval), Value::Int(4));
            }
        }
        let consumer = {
            let clients = lock(&ledger.clients);
            clients.get(7 * number % clients.len().max(1)).copied()
        };
        if let Some(id) = consumer {
            call(&mut link, &format!("CLIENT UNBLOCK {id}"));
        }
    }
}

/// The IDs of an array of entries, or of pending entries.
fn first_of_each(reply: &Value) -> Vec<String> {
    let Value::Array(elements) = reply else {
        panic!("an array: {reply:?}");
    };
    let id = |element: &Value| match element {
        Value::Array(parts) => String::from_utf8(parts[0].as_bytes()?.to_vec()).ok(),
        _ => None,
    };
    elements.iter().filter_map(id).collect()
}

fn check(flavour: Flavour) {
    let server = FlavourServer::start(flavour);
    let address = server.address();
    let mut link = Link::open(address);
    call(&mut link, "XGROUP CREATE jobs g $ MKSTREAM");
    let ledger = &Ledger::default();
    thread::scope(|scope| {
        let consumers: Vec<_> = (0..CONSUMERS)
            .map(|name| scope.spawn(move || consume(address, name, ledger)))
            .collect();
        let writers: Vec<_> = (0..3)
            .map(|way| scope.spawn(move || add(address, way, ledger)))
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, ()>| thread.join().is_ok();
        let has_added = writers.into_iter().map(join).fold(true, |all, it| all & it);
        ledger.is_over.store(true, Ordering::SeqCst);
        let have_left = consumers
            .into_iter()
            .map(join)
            .fold(true, |all, it| all & it);
        assert!(has_added && have_left, "{flavour:?}: no thread failed");
    });
    let added: BTreeSet<String> = first_of_each(&call(&mut link, "XRANGE jobs - +"))
        .into_iter()
        .collect();
    assert_eq!(added.len(), 3 * ENTRIES, "{flavour:?}: all are added");
    let mut got = std::mem::take(&mut *lock(&ledger.got));
    assert!(!got.is_empty(), "{flavour:?}: consumers that stay get some");
    // Those that clients did not wait for are pending.
    got.extend(first_of_each(&call(
        &mut link,
        "XPENDING jobs g - + 100000",
    )));
    let once: BTreeSet<String> = got.iter().cloned().collect();
    assert_eq!(once.len(), got.len(), "{flavour:?}: no entry comes twice");
    assert_eq!(once, added, "{flavour:?}: no entry is lost");
}

#[test]
fn every_entry_goes_to_one_consumer() {
    Flavour::ALL.iter().copied().for_each(check);
}
