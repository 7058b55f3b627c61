//! Tests on both flavours that no element is lost and none is given out twice while many connections wait for lists
//! and sorted sets, and go, and others write, move and delete these.
//!
//! Nothing depends on who is faster: every element that a reply, a deletion or the end of the test shows is counted.

mod ledger;
mod producer;
mod waiter;

use ledger::{Ledger, elements_of};
use respire::serve::Flavour;
use respire_testkit::reply::Value;
use respire_testkit::target::{FlavourServer, Link};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

const PRODUCERS: usize = 50;
const WAITERS: usize = 200;

/// Each database has these keys; some more have prefixes of their own.
const LISTS: [&str; 6] = ["l0", "l1", "l2", "l3", "l4", "l5"];
const ZSETS: [&str; 3] = ["z0", "z1", "z2"];
const DATABASES: [&str; 2] = ["0", "1"];

/// A list that expires a millisecond after it was written.
const BRIEF: &str = "brief";
/// Lists on which those wait whose connections are cut.
const CUT: [&str; 2] = ["cut0", "cut1"];

/// The time after which a thread counts as stuck. No test that passes waits for it.
const STUCK: Duration = Duration::from_secs(60);

/// A database, and the keys in it that a waiter waits for.
type Waited = (usize, Vec<&'static str>);

/// What all threads share.
struct World {
    address: SocketAddr,
    is_over: AtomicBool,
    /// The ids of the waiters' connections.
    ids: Vec<AtomicI64>,
    /// The database and the keys that each waiter without a timeout waits for.
    waits: Vec<Mutex<Option<Waited>>>,
}

impl World {
    fn new(address: SocketAddr) -> Self {
        Self {
            address,
            is_over: AtomicBool::new(false),
            ids: (0..WAITERS).map(|_| AtomicI64::new(0)).collect(),
            waits: (0..WAITERS).map(|_| Mutex::new(None)).collect(),
        }
    }

    fn open(&self) -> Link {
        let mut link = Link::open(self.address);
        link.set_timeout(STUCK);
        link
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst)
    }
}

/// Hundreds of threads need little room each.
fn spawn<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    run: impl FnOnce() -> T + Send + 's,
) -> ScopedJoinHandle<'s, T> {
    let builder = Builder::new().stack_size(512 << 10);
    builder.spawn_scoped(scope, run).expect("a thread starts")
}

fn join<T>(handle: ScopedJoinHandle<'_, T>) -> T {
    handle
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Ends the wait of a waiter without a timeout. Once nobody writes any more, it waits for a key only while that is
/// absent.
fn release(link: &mut Link, world: &World, number: usize, waiter: &ScopedJoinHandle<'_, Ledger>) {
    let start = Instant::now();
    while !waiter.is_finished() {
        let wait = world.waits[number].lock().expect("no panic").clone();
        if let Some((database, keys)) = wait {
            link.call(&["SELECT", DATABASES[database]]);
            let request: Vec<&str> = ["EXISTS"].into_iter().chain(keys.iter().copied()).collect();
            if link.call(&request) == Value::Int(0) {
                let id = world.ids[number].load(Ordering::SeqCst).to_string();
                link.call(&["CLIENT", "UNBLOCK", &id]);
            }
            assert!(
                start.elapsed() < STUCK,
                "{keys:?} are there, and a waiter sleeps"
            );
        }
        std::thread::yield_now();
    }
}

/// Takes what is left in all databases.
fn drain(link: &mut Link, ledger: &mut Ledger) {
    for database in DATABASES {
        link.call(&["SELECT", database]);
        for key in link.call(&["KEYS", "*"]).into_elements() {
            let key = key.as_bytes().expect("a key").to_vec();
            let is_list = link.call(&[&b"TYPE"[..], &key]) == Value::Simple(b"list".to_vec());
            let read = if is_list { &b"LRANGE"[..] } else { b"ZRANGE" };
            let elements = link.call(&[read, &key, b"0", b"-1"]);
            ledger.found.extend(elements_of(&elements));
        }
    }
}

fn every_element_is_counted(flavour: Flavour) {
    let server = FlavourServer::start(flavour);
    let world = World::new(server.address());
    let mut ledger = Ledger::default();
    std::thread::scope(|scope| {
        let world = &world;
        let waiters: Vec<_> = (0..WAITERS)
            .map(|number| spawn(scope, move || waiter::run(world, number)))
            .collect();
        let producers: Vec<_> = (0..PRODUCERS)
            .map(|number| spawn(scope, move || producer::run(world, number)))
            .collect();
        let mut failed = None;
        for producer in producers {
            match producer.join() {
                Ok(made) => ledger.add(made),
                Err(panic) => failed = Some(panic),
            }
        }
        world.is_over.store(true, Ordering::SeqCst);
        let mut link = world.open();
        for (number, waiter) in waiters.iter().enumerate() {
            release(&mut link, world, number, waiter);
        }
        if let Some(panic) = failed {
            std::panic::resume_unwind(panic);
        }
        waiters
            .into_iter()
            .for_each(|waiter| ledger.add(join(waiter)));
    });
    drain(&mut world.open(), &mut ledger);
    ledger.check();
}

#[test]
fn no_element_is_lost_and_none_comes_twice() {
    Flavour::ALL
        .iter()
        .copied()
        .for_each(every_element_is_counted);
}
