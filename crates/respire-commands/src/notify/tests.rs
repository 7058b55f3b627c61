//! Tests of the letters of the setting, and of the messages that subscribers receive.

use super::*;
use crate::key::testing::Client;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

#[test]
fn letters_are_shown_in_the_form_of_redis() {
    for (set, shown) in [
        ("", ""),
        ("KEA", "AKE"),
        ("Kn", "nK"),
        ("Em", "Em"),
        ("KEAn", "AKE"),
        ("mAnEK", "AKEm"),
        ("Ag", "A"),
        ("gg", "g"),
        ("xE", "xE"),
        ("ntxe", "xetn"),
        ("ndtexzhsl$KEm", "$lshzxetdnKEm"),
        ("tdxelshzg$KE", "AKE"),
    ] {
        assert_eq!(Mask::parse(set).map(Mask::letters).as_deref(), Some(shown));
    }
    for wrong in ["q", "KEA ", "k", "a", "K\u{e9}"] {
        assert_eq!(Mask::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn store_reports_only_the_selected_classes() {
    let interest = |letters| Mask::parse(letters).expect("known letters").interest();
    for letters in ["", "A", "g$nm", "K", "KE"] {
        assert_eq!(interest(letters), Interest::NONE, "{letters}");
    }
    assert_eq!(interest("Ex"), Interest::LOSSES);
    assert_eq!(interest("Kg"), Interest::EVENTS);
    assert_eq!(interest("Em"), Interest::MISSES);
    assert_eq!(interest("Kn"), Interest::ADDITIONS);
    let all = Interest::LOSSES.with(Interest::EVENTS);
    assert_eq!(interest("KEA"), all);
}

/// Creates a server that publishes these classes; returns a subscriber to all channels and another
/// client.
fn server_and_subscriber(letters: &str) -> (Client, Client) {
    let mut subscriber = Client::new();
    let mut other = subscriber.other();
    let setting = format!("CONFIG SET notify-keyspace-events {letters}");
    other.check(&[(&setting, "+OK\r\n")]);
    subscriber.send("PSUBSCRIBE __key*");
    (subscriber, other)
}

/// The channels and messages that a subscriber received, without the common prefix of the channels.
fn received(subscriber: &mut Client) -> Vec<String> {
    let sent = subscriber.poll();
    let parts: Vec<&str> = sent.split("\r\n").collect();
    let messages = parts.chunks_exact(9);
    messages
        .map(|part| format!("{} {}", part[6].trim_start_matches("__key"), part[8]))
        .collect()
}

#[test]
fn event_is_published_on_the_keyspace_channel_before_the_keyevent_channel() {
    let (mut subscriber, mut client) = server_and_subscriber("KE$");
    client.send("SELECT 3");
    client.send("SET k v EX 10");
    assert_eq!(
        received(&mut subscriber),
        ["space@3__:k set", "event@3__:set k"]
    );
    client.send("CONFIG SET notify-keyspace-events Eg");
    client.send("EXPIRE k 20");
    assert_eq!(received(&mut subscriber), ["event@3__:expire k"]);
    client.send("CONFIG SET notify-keyspace-events \"\"");
    client.send("DEL k");
    assert!(received(&mut subscriber).is_empty());
}

#[test]
fn expired_and_evicted_keys_are_published_without_a_command() {
    let (mut subscriber, mut client) = server_and_subscriber("Exe");
    client.send("SET a 1 PX 10");
    client.send("SET b 1");
    client.advance(Duration::from_millis(10));
    client.tick();
    assert_eq!(received(&mut subscriber), ["event@0__:expired a"]);
    client.tune(|tuning| {
        tuning.policy = respire_store::Policy::AllKeysRandom;
        tuning.memory_bytes_max = 1;
    });
    client.tick();
    assert_eq!(received(&mut subscriber), ["event@0__:evicted b"]);
}

#[test]
fn events_of_a_transaction_are_published_in_order_after_exec() {
    let (mut subscriber, mut client) = server_and_subscriber("KA");
    client.send("MULTI");
    for request in [
        "SET b 1",
        "MSET c 1 a 1",
        "RENAME a d",
        "CONFIG SET notify-keyspace-events EA",
    ] {
        client.check(&[(request, "+QUEUED\r\n")]);
    }
    assert!(received(&mut subscriber).is_empty());
    client.send("EXEC");
    // The setting applies as it is when the events are published.
    assert_eq!(
        received(&mut subscriber),
        [
            "event@0__:set b",
            "event@0__:set c",
            "event@0__:set a",
            "event@0__:rename_from a",
            "event@0__:rename_to d"
        ]
    );
}

#[test]
fn events_of_a_key_are_published_in_order_from_several_threads() {
    const CHANGES: usize = 200;
    let (mut subscriber, client) = server_and_subscriber("K$g");
    let changes = AtomicUsize::new(0);
    thread::scope(|scope| {
        for request in ["SETNX k 1", "DEL k", "SETNX k 1", "DEL k"] {
            let mut client = client.other();
            let changes = &changes;
            scope.spawn(move || {
                // After a DEL only the first SETNX sets the key, and after that only one DEL
                // removes it. So a thread that went on alone would change nothing.
                while changes.load(Ordering::Relaxed) < CHANGES {
                    if client.send(request) == ":1\r\n" {
                        changes.fetch_add(1, Ordering::Relaxed);
                    } else {
                        thread::yield_now();
                    }
                }
            });
        }
    });
    let received = received(&mut subscriber);
    let is_turn = |at: usize| {
        if at.is_multiple_of(2) {
            "space@0__:k set"
        } else {
            "space@0__:k del"
        }
    };
    for (at, event) in received.iter().enumerate() {
        assert_eq!(event, is_turn(at));
    }
    assert_eq!(received.len(), changes.into_inner());
}

#[test]
fn custom_event_is_published() {
    const REFILL: EventName = EventClass::Generic.event("refill");
    let (mut subscriber, client) = server_and_subscriber("KEg");
    let mut view = client.engine().app().store().view(1, 0);
    view.update(b"bucket", |slot| slot.event(REFILL));
    assert_eq!(
        received(&mut subscriber),
        ["space@1__:bucket refill", "event@1__:refill bucket"]
    );
}
