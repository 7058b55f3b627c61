//! Tests that consumers of a stream that come and go get every entry once, on both flavours.

use respire::serve::Flavour;
use respire_testkit::quoting::encode_command;
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link};
use std::collections::BTreeSet;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

const ENTRIES: usize = 2_000;
const CONSUMERS: usize = 20;

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

/// Reads and acknowledges entries until all are added and no more come.
fn consume(address: SocketAddr, name: usize, is_over: &AtomicBool, got: &Mutex<Vec<String>>) {
    let read = format!("XREADGROUP GROUP g {name} COUNT 3 BLOCK 20 STREAMS jobs >");
    loop {
        let mut link = Link::open(address);
        for _ in 0..READS {
            let was_over = is_over.load(Ordering::SeqCst);
            let given = ids(&call(&mut link, &read));
            if given.is_empty() && was_over {
                return;
            }
            for id in given {
                assert_eq!(call(&mut link, &format!("XACK jobs g {id}")), Value::Int(1));
                got.lock().unwrap_or_else(PoisonError::into_inner).push(id);
            }
        }
        // A client that is gone may still be given entries, which then stay pending.
        let mut leaving = TcpStream::connect(address).expect("the server listens");
        let request = encode_command(&words(&read.replace("BLOCK 20", "BLOCK 0")));
        leaving.write_all(&request).expect("the server reads");
    }
}

fn check(flavour: Flavour) {
    let server = FlavourServer::start(flavour);
    let address = server.address();
    let mut link = Link::open(address);
    call(&mut link, "XGROUP CREATE jobs g $ MKSTREAM");
    let (is_over, got) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for name in 0..CONSUMERS {
            let (is_over, got) = (&is_over, &got);
            scope.spawn(move || consume(address, name, is_over, got));
        }
        for number in (0..ENTRIES).step_by(4) {
            // Some are added one by one, some in a transaction.
            let is_alone = number % 8 == 0;
            let exec = |link: &mut Link, line| (!is_alone).then(|| call(link, line));
            exec(&mut link, "MULTI");
            for number in number..number + 4 {
                call(&mut link, &format!("XADD jobs * number {number}"));
            }
            exec(&mut link, "EXEC");
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let got = got.into_inner().unwrap_or_else(PoisonError::into_inner);
    let once: BTreeSet<&String> = got.iter().collect();
    assert_eq!(once.len(), got.len(), "{flavour:?}: no entry comes twice");
    let Value::Array(pending) = call(&mut link, "XPENDING jobs g - + 100000") else {
        panic!("the group exists");
    };
    assert_eq!(
        got.len() + pending.len(),
        ENTRIES,
        "{flavour:?}: no entry is lost"
    );
    assert!(!got.is_empty(), "{flavour:?}: consumers that stay get some");
}

#[test]
fn every_entry_goes_to_one_consumer() {
    Flavour::ALL.iter().copied().for_each(check);
}
