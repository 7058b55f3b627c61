//! Tests that no command holds a shard while it looks at all elements of a large collection, whatever its type.
//!
//! They count elements, not time: `respire_store::with_visits` tells how many are looked at, and the store whether
//! the shard of a key is locked meanwhile.

use crate::key::testing::Client;
use crate::unlocked::tests::with_hook;
use respire_store::{
    End, Expiry, Hash, Kind, List, NewValue, Set, Stream, StreamGroup, StreamId, StringRef, ZSet,
    with_visits,
};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The elements of a large collection: many more than any command may look at under a lock.
const LEN: usize = 10_000;

/// The most elements that a command may look at, or parts that it may free, while a shard is locked. That takes a few
/// tenths of a millisecond.
const LOCKED_ELEMENTS_MAX: usize = 2_000;

const KEYS: [&str; 3] = ["k", "other", "d"];

/// A text of an element, so long that a collection has more than the megabyte that is freed at once.
fn text(number: usize) -> String {
    format!("{number:0120}")
}

/// Makes a value whose elements are these numbers.
type Make = fn(&Client, std::ops::Range<usize>) -> NewValue<'static>;

fn hash(client: &Client, numbers: std::ops::Range<usize>) -> NewValue<'static> {
    let (mut hash, growth) = (
        Hash::default(),
        client.engine().app().store().growth::<Hash>(),
    );
    for number in numbers {
        let text = text(number);
        hash.insert(text.as_bytes(), number.to_string().as_bytes(), &growth);
    }
    hash.into()
}

fn set(client: &Client, numbers: std::ops::Range<usize>) -> NewValue<'static> {
    let (mut set, growth) = (
        Set::default(),
        client.engine().app().store().growth::<Set>(),
    );
    for number in numbers {
        set.insert(text(number).as_bytes(), &growth);
    }
    set.into()
}

fn sorted_set(client: &Client, numbers: std::ops::Range<usize>) -> NewValue<'static> {
    let elements = numbers.map(|number| (text(number), number as f64));
    let growth = client.engine().app().store().growth::<ZSet>();
    ZSet::from_elements(elements.collect(), &growth, &mut || ()).into()
}

fn list(_: &Client, numbers: std::ops::Range<usize>) -> NewValue<'static> {
    let mut list = List::default();
    for number in numbers {
        let text = text(number);
        list.push(End::Right, StringRef::Bytes(text.as_bytes()), List::LIMITS);
    }
    list.into()
}

/// A stream with two groups: in `g` all entries are pending for one consumer, and `h` has read nothing.
fn stream(client: &Client, numbers: std::ops::Range<usize>) -> NewValue<'static> {
    let (mut stream, limits) = (
        Stream::default(),
        client.engine().app().store().limits::<Stream>(),
    );
    stream.add_group(b"g", StreamGroup::new(StreamId::MIN, Some(0)));
    stream.add_group(b"h", StreamGroup::new(StreamId::MIN, Some(0)));
    for number in numbers {
        let text = text(number);
        let id = StreamId {
            ms: 1 + number as u64,
            seq: 0,
        };
        let pairs = [(&b"field"[..], text.as_bytes())];
        stream.add(id, pairs.into_iter(), &limits);
        stream.edit_group(b"g", |group, _| {
            group.see_consumer(b"c", 1);
            group.deliver(id, b"c", 1)
        });
    }
    stream.into()
}

/// Commands that change a stream in steps, or leave what they remove to be freed without the lock. Some follow others
/// that prepare the stream.
const STREAM_CHANGES: &[&str] = &[
    "XREADGROUP GROUP h c STREAMS k >",
    "XREADGROUP GROUP h c COUNT 9000 STREAMS k other > >",
    "XREADGROUP GROUP g c STREAMS k 0",
    "XREADGROUP GROUP g d CLAIM 0 STREAMS k >",
    "XAUTOCLAIM k g d 0 - COUNT 10000",
    "XAUTOCLAIM k g d 0 - COUNT 10000 JUSTID",
    "XGROUP DELCONSUMER k g c",
    "XGROUP DESTROY k g",
    "XTRIM k MAXLEN 10",
    "XTRIM k MINID = 9000",
    "XTRIM k MAXLEN 10 DELREF",
    "XTRIM k MINID = 9000 DELREF",
    "XADD k DELREF MAXLEN 10 * field value",
    // What only `g` needs, what nobody needs, and what nobody has.
    "XGROUP DESTROY k h; XGROUP SETID k g $; XTRIM k MAXLEN 10 ACKED",
    "XGROUP DESTROY k h; XGROUP DESTROY k g; XTRIM k MAXLEN 10 ACKED",
    "XGROUP DESTROY k h; XGROUP DESTROY k g; XADD k ACKED MAXLEN 10 * field value",
];

/// Commands that read all or many elements of `k`, and perhaps `other`.
const READS: &[(Make, &[&str])] = &[
    (
        hash,
        &[
            "HGETALL k",
            "HKEYS k",
            "HVALS k",
            "HRANDFIELD k 9000",
            "HRANDFIELD k -9000",
            "HSCAN k 0 COUNT 100",
        ],
    ),
    (
        set,
        &[
            "SMEMBERS k",
            "SUNION k other",
            "SUNION k other d",
            "SINTER k other",
            "SDIFF k other",
            "SINTERCARD 2 k other",
            "SUNIONSTORE d k other",
            "SINTERSTORE d k other",
            "SDIFFSTORE d k other",
            "SRANDMEMBER k 9000",
            "SRANDMEMBER k -9000",
            "SSCAN k 0 COUNT 100",
            "SORT k ALPHA",
            "SORT k ALPHA STORE d",
            "SORT k BY nothing",
            "ZUNIONSTORE d 2 k other",
        ],
    ),
    (
        sorted_set,
        &[
            "ZRANGE k 0 -1",
            "ZRANGE k 0 -1 REV",
            "ZRANGEBYSCORE k -inf +inf WITHSCORES",
            "ZCOUNT k -inf +inf",
            "ZUNION 2 k other",
            "ZINTER 2 k other",
            "ZDIFF 2 k other",
            "ZINTERCARD 2 k other",
            "ZUNIONSTORE d 2 k other",
            "ZINTERSTORE d 2 k other",
            "ZDIFFSTORE d 2 k other",
            "ZRANGESTORE d k 0 -1",
            "ZRANDMEMBER k 9000",
            "ZRANDMEMBER k -9000",
            "ZSCAN k 0 COUNT 100",
            "SORT k ALPHA",
            "GEOSEARCH k FROMLONLAT 0 0 BYRADIUS 40000 km",
            "GEOSEARCHSTORE d k FROMLONLAT 0 0 BYRADIUS 40000 km",
        ],
    ),
    (
        list,
        &[
            "LRANGE k 0 -1",
            "LRANGE k 10 9000",
            "LINDEX k 5000",
            "SORT k ALPHA",
            "SORT k BY nothing DESC LIMIT 0 9000",
        ],
    ),
    (
        stream,
        &[
            "XRANGE k - +",
            "XREVRANGE k + -",
            "XRANGE k 1000 9000 COUNT 7000",
            "XREAD STREAMS k other 0 0",
            "XPENDING k g",
            "XPENDING k g - + 10000",
            "XPENDING k g IDLE 1 - + 5 c",
            "XINFO STREAM k FULL COUNT 0",
            "XINFO GROUPS k",
            "XLEN k",
        ],
    ),
];

/// Commands that read a value of any type.
const READS_OF_ANY: &[&str] = &[
    "DUMP k",
    "COPY k d",
    "DEBUG DIGEST-VALUE k",
    "DEBUG OBJECT k",
    "OBJECT ENCODING k",
    "MEMORY USAGE k",
    "PEXPIRE k 100000",
    "RENAME k other",
    "MOVE other 1",
];

/// Commands that leave nothing of `k`, whatever its type.
const REMOVALS: &[&str] = &[
    "DEL k",
    "SET k string",
    "UNLINK k",
    "RENAME small k",
    "COPY small k REPLACE",
    "PEXPIRE k 0",
    "SUNIONSTORE k none",
    "ZUNIONSTORE k 1 none",
    "BITOP AND k none",
    "FLUSHDB ASYNC",
];

/// A server with a collection in `k`, and another one in `other` that has half of its elements in common.
fn client(make: Make) -> Client {
    let mut client = Client::new();
    client.send("SET small value");
    for (key, numbers) in [("k", 0..LEN), ("other", LEN / 2..LEN / 2 * 3)] {
        let value = make(&client, numbers);
        let store = client.engine().app().store();
        let mut view = store.view(0, 1_700_000_000_000);
        view.update(key.as_bytes(), |slot| slot.set(value, Expiry::Clear));
    }
    client
}

/// Runs `f`. Returns the elements that were looked at while a shard of the keys was locked.
fn locked_elements(client: &mut Client, f: impl FnOnce(&mut Client)) -> usize {
    let (elements, counted) = (Rc::new(Cell::new(0)), client.other());
    let count = Rc::clone(&elements);
    let visit = move |visited: usize| {
        let store = counted.engine().app().store();
        if KEYS.iter().any(|key| store.is_locked(0, key.as_bytes())) {
            count.set(count.get() + visited);
        }
    };
    with_visits(visit, || f(client));
    elements.get()
}

#[test]
fn no_command_reads_a_large_collection_under_a_lock() {
    let mut found = Vec::new();
    for (make, requests) in READS {
        let mut client = client(*make);
        for request in requests.iter().chain(READS_OF_ANY) {
            client.send("DEL d");
            let elements = locked_elements(&mut client, |client| {
                let reply = client.send(request);
                assert!(!reply.starts_with('-'), "{request}: {reply}");
            });
            if elements > LOCKED_ELEMENTS_MAX {
                found.push((*request, elements));
            }
        }
    }
    assert!(found.is_empty(), "elements read under a lock: {found:?}");
}

/// Runs `f`. Returns the most elements that were looked at before the shards of the keys were free again. Commands tell
/// when they have released them.
fn elements_of_a_step(client: &mut Client, f: impl FnOnce(&mut Client)) -> usize {
    let (of_step, most) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(0)));
    let (counted, count) = (client.other(), Rc::clone(&of_step));
    let is_locked = move || {
        let store = counted.engine().app().store();
        KEYS.iter().any(|key| store.is_locked(0, key.as_bytes()))
    };
    let is_locked = Rc::new(is_locked);
    let (locked, ended, largest) = (Rc::clone(&is_locked), Rc::clone(&of_step), Rc::clone(&most));
    let visit = move |visited: usize| {
        if locked() {
            count.set(count.get() + visited);
        }
    };
    let step_ended = move || {
        assert!(!is_locked(), "long work holds no key");
        largest.set(largest.get().max(ended.take()));
    };
    with_hook(step_ended, || with_visits(visit, || f(client)));
    most.get().max(of_step.get())
}

#[test]
fn no_command_changes_a_large_stream_in_one_step() {
    let mut found = Vec::new();
    for request in STREAM_CHANGES {
        let mut client = client(stream);
        let elements = elements_of_a_step(&mut client, |client| {
            for request in request.split("; ") {
                let reply = client.send_for_output(request);
                assert!(
                    reply.first().first().is_some_and(|it| *it != b'-'),
                    "{request}"
                );
            }
        });
        if elements > LOCKED_ELEMENTS_MAX {
            found.push((*request, elements));
        }
    }
    assert!(found.is_empty(), "elements in a step: {found:?}");
}

#[test]
fn no_removal_frees_a_large_collection_under_a_lock_or_at_once() {
    let mut found = Vec::new();
    for (type_number, (make, _)) in READS.iter().enumerate() {
        // All ways lead to the same queue, so it is enough to try each type with some of them.
        let requests = if type_number == 0 {
            REMOVALS
        } else {
            &REMOVALS[..2]
        };
        for request in requests {
            let mut client = client(*make);
            let elements = locked_elements(&mut client, |client| {
                let reply = client.send(request);
                assert!(!reply.starts_with('-'), "{request}: {reply}");
            });
            let pending = client.engine().app().store().memory().pending_keys;
            if elements > LOCKED_ELEMENTS_MAX || pending == 0 {
                found.push((*request, elements, pending));
            }
        }
    }
    assert!(found.is_empty(), "elements, queued keys: {found:?}");
}

#[test]
fn expiry_of_a_large_collection_frees_it_in_steps() {
    for (make, _) in READS {
        let mut client = client(*make);
        client.check(&[("PEXPIRE k 10", ":1\r\n")]);
        client.advance(Duration::from_millis(20));
        let elements = locked_elements(&mut client, |client| {
            client.check(&[("EXISTS k", ":0\r\n"), ("TYPE k", "+none\r\n")]);
            client.tick();
        });
        assert!(elements <= LOCKED_ELEMENTS_MAX, "{elements}");
    }
}

#[test]
fn collection_looked_at_under_a_lock_is_noticed() {
    let mut client = client(set);
    client.send("MULTI");
    client.send("SMEMBERS k");
    let elements = locked_elements(&mut client, |client| {
        client.send_for_output("EXEC");
    });
    assert_eq!(elements, 0, "a stream is read after EXEC");
    let elements = locked_elements(&mut client, |client| {
        let store = client.engine().app().store();
        let mut view = store.view(0, 1_700_000_000_000);
        view.read(b"k", |entry| {
            let set = entry.map(|entry| entry.typed::<Set>().expect("a set"));
            set.into_iter()
                .for_each(|set| respire_store::Elements::for_each(set, &mut |_| ()));
        });
    });
    assert_eq!(elements, LEN);
}
