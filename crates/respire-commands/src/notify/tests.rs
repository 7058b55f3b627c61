//! The letters of the setting, and what subscribers are sent.

use super::*;
use crate::key::testing::Client;
use std::thread;
use std::time::Duration;

#[test]
fn letters_are_told_in_the_order_and_with_the_gap_of_redis() {
    for (set, told) in [
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
        assert_eq!(Mask::parse(set).map(Mask::letters).as_deref(), Some(told));
    }
    for wrong in ["q", "KEA ", "k", "a", "K\u{e9}"] {
        assert_eq!(Mask::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn store_reports_no_more_than_the_letters_ask_for() {
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

/// A server that publishes these, a subscriber to all of them, and another client.
fn listening(letters: &str) -> (Client, Client) {
    let mut listener = Client::new();
    let mut other = listener.other();
    let setting = format!("CONFIG SET notify-keyspace-events {letters}");
    other.check(&[(&setting, "+OK\r\n")]);
    listener.send("PSUBSCRIBE __key*");
    (listener, other)
}

/// The channels and messages that a subscriber was sent, but for what all channels begin with.
fn heard(listener: &mut Client) -> Vec<String> {
    let sent = listener.poll();
    let parts: Vec<&str> = sent.split("\r\n").collect();
    let messages = parts.chunks_exact(9);
    messages
        .map(|part| format!("{} {}", part[6].trim_start_matches("__key"), part[8]))
        .collect()
}

#[test]
fn both_channels_carry_an_event_keyspace_first() {
    let (mut listener, mut client) = listening("KE$");
    client.send("SELECT 3");
    client.send("SET k v EX 10");
    assert_eq!(heard(&mut listener), ["space@3__:k set", "event@3__:set k"]);
    client.send("CONFIG SET notify-keyspace-events Eg");
    client.send("EXPIRE k 20");
    assert_eq!(heard(&mut listener), ["event@3__:expire k"]);
    client.send("CONFIG SET notify-keyspace-events \"\"");
    client.send("DEL k");
    assert!(heard(&mut listener).is_empty());
}

#[test]
fn keys_that_expire_or_are_evicted_are_told_without_a_command() {
    let (mut listener, mut client) = listening("Exe");
    client.send("SET a 1 PX 10");
    client.send("SET b 1");
    client.advance(Duration::from_millis(10));
    client.tick();
    assert_eq!(heard(&mut listener), ["event@0__:expired a"]);
    client.tune(|tuning| {
        tuning.policy = respire_store::Policy::AllKeysRandom;
        tuning.memory_bytes_max = 1;
    });
    client.tick();
    assert_eq!(heard(&mut listener), ["event@0__:evicted b"]);
}

#[test]
fn transaction_is_told_in_its_order_when_all_of_it_is_done() {
    let (mut listener, mut client) = listening("KA");
    client.send("MULTI");
    for request in [
        "SET b 1",
        "MSET c 1 a 1",
        "RENAME a d",
        "CONFIG SET notify-keyspace-events EA",
    ] {
        client.check(&[(request, "+QUEUED\r\n")]);
    }
    assert!(heard(&mut listener).is_empty());
    client.send("EXEC");
    // The setting is that of the moment when they are published.
    assert_eq!(
        heard(&mut listener),
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
fn events_of_a_key_come_in_the_order_of_its_changes_from_any_thread() {
    let (mut listener, client) = listening("K$g");
    thread::scope(|scope| {
        for thread in 0..4 {
            let mut client = client.other();
            scope.spawn(move || {
                for _ in 0..200 {
                    // Only the first of these finds no key, and only one removes it.
                    client.send(if thread % 2 == 0 {
                        "SETNX k 1"
                    } else {
                        "DEL k"
                    });
                }
            });
        }
    });
    let heard = heard(&mut listener);
    let is_turn = |at: usize| {
        if at.is_multiple_of(2) {
            "space@0__:k set"
        } else {
            "space@0__:k del"
        }
    };
    for (at, event) in heard.iter().enumerate() {
        assert_eq!(event, is_turn(at));
    }
    assert!(heard.len() > 2, "{heard:?}");
}

#[test]
fn event_of_a_class_of_its_own_reaches_the_channels() {
    const REFILL: EventName = EventClass::Generic.event("refill");
    let (mut listener, client) = listening("KEg");
    let mut view = client.engine().app().store().view(1, 0);
    view.update(b"bucket", |slot| slot.event(REFILL));
    assert_eq!(
        heard(&mut listener),
        ["space@1__:bucket refill", "event@1__:refill bucket"]
    );
}
