//! What connections tell whoever looks on.

use super::*;
use crate::tap::{Copy, Gap, Listener, UNDER_WAY_BYTES_MAX, Wanted, What};

fn tapped(bench: Bench) -> (Bench, Tap, Listener) {
    let (tap, listener) = Tap::new();
    (with_tap(bench, &tap), tap, listener)
}

fn with_tap(mut bench: Bench, tap: &Tap) -> Bench {
    bench.connection = bench.connection.with_tap(tap, bench.now);
    bench
}

fn gap(copy: &Copy) -> String {
    match copy.gap {
        None => String::new(),
        Some(Gap { bytes, why }) => format!("{bytes} {why:?}, "),
    }
}

/// Everything that was said, and the last connection's way to be told what is wanted.
fn heard(listener: &Listener) -> (Vec<String>, Option<Arc<Wanted>>) {
    let (mut said, mut last) = (Vec::new(), None);
    while let Some(note) = listener.next(Duration::ZERO) {
        let line = |way: &str, copy: &Copy| {
            let binary = if copy.is_binary { "binary " } else { "" };
            let bytes = copy.bytes.escape_ascii();
            format!("{way} {binary}{}{bytes}", gap(copy))
        };
        said.push(match note.what {
            What::Joined { wanted, .. } => {
                last = Some(wanted);
                "joined".to_owned()
            }
            What::Received(copy) => line("in", &copy),
            What::Sent(copy) => line("out", &copy),
            What::Ended(why) => format!("ended: {why}"),
        });
    }
    assert_eq!(listener.under_way_bytes(), 0);
    (said, last)
}

fn said(listener: &Listener) -> Vec<String> {
    heard(listener).0
}

fn exchange(bench: &mut Bench, bytes: &'static str) -> String {
    let mut io = Script::new([Read::Bytes(bytes)]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    io.heard().to_owned()
}

#[test]
fn nobody_looks_and_nothing_is_said() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    assert_eq!(exchange(&mut bench, "PING\r\n"), "+PONG\r\n");
    drop(bench);
    assert_eq!(said(&listener), [""; 0]);
}

#[test]
fn a_connection_tells_all_it_reads_and_writes_until_its_end() {
    let (tap, listener) = Tap::new();
    listener.begin();
    let mut bench = with_tap(Bench::plain(), &tap);
    let mut io = Script::new([
        Read::Bytes("PI"),
        Read::Bytes("NG\r\nBLOB 3\r\n"),
        Read::End,
    ]);
    io.takes = [4].into();
    assert_eq!(bench.drive_out(&mut io), Pace::Closed);
    drop(bench);
    assert_eq!(
        said(&listener),
        [
            "joined",
            "in PI",
            r"in NG\r\nBLOB 3\r\n",
            "out +PON",
            r"out G\r\n$3\r\nbbb\r\n",
            "ended: closed by peer"
        ]
    );
}

#[test]
fn a_look_that_begins_within_a_request_waits_for_the_next() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    exchange(&mut bench, "*1\r\n$4\r\nPI");
    listener.begin();
    exchange(&mut bench, "N");
    exchange(&mut bench, "G\r\n");
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        said(&listener),
        [
            "joined",
            r"out 0 BeganInTheMiddle, +PONG\r\n",
            r"in 4 BeganInTheMiddle, PING\r\n",
            r"out +PONG\r\n"
        ]
    );
}

#[test]
fn a_look_that_begins_within_a_reply_waits_for_the_next() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    let mut io = Script::new([Read::Bytes("PING\r\n")]);
    io.takes = [3, 0].into();
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    listener.begin();
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        said(&listener),
        [
            "joined",
            r"in 0 BeganInTheMiddle, PING\r\n",
            r"out 4 BeganInTheMiddle, +PONG\r\n"
        ]
    );
}

#[test]
fn what_is_too_much_is_left_out_and_the_peer_is_served_all_the_same() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    listener.begin();
    let blob = 64 * 1024;
    let rounds = UNDER_WAY_BYTES_MAX / blob + 8;
    for _ in 0..rounds {
        assert_eq!(exchange(&mut bench, "BLOB 65536\r\n").len(), blob + 10);
    }
    assert!(listener.under_way_bytes() <= UNDER_WAY_BYTES_MAX);
    let before = said(&listener);
    let replies = before.iter().filter(|said| said.starts_with("out")).count();
    assert!(replies < rounds, "not all could be said");
    exchange(&mut bench, "BLOB 1\r\n");
    let after = said(&listener);
    let lost = (rounds - replies) * (blob + 10);
    assert_eq!(
        after.last().map(|said| &**said),
        Some(&*format!(r"out {lost} TooFast, $1\r\nb\r\n"))
    );
    exchange(&mut bench, "BLOB 1\r\n");
    assert_eq!(said(&listener), [r"in BLOB 1\r\n", r"out $1\r\nb\r\n"]);
}

#[test]
fn what_is_not_wanted_is_left_out_up_to_the_next_border() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    listener.begin();
    exchange(&mut bench, "*1\r\n$4\r\nPI");
    let wanted = heard(&listener).1.expect("it has joined");
    wanted.skip_received();
    exchange(&mut bench, "NG\r\n");
    assert_eq!(said(&listener), [r"out 0 BeganInTheMiddle, +PONG\r\n"]);
    wanted.skip_sent();
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        said(&listener),
        [r"in 4 Unwanted, PING\r\n", r"out 0 Unwanted, +PONG\r\n"]
    );
}

#[test]
fn in_the_binary_protocol_both_directions_begin_together() {
    let call = "\x10\x01\0\0\0\x04\0\0\0PING";
    let (mut bench, _, listener) = tapped(Bench::plain());
    exchange(&mut bench, "\x10\x01\0\0\0\x04\0\0\0PI");
    listener.begin();
    exchange(&mut bench, "NG");
    assert_eq!(said(&listener), ["joined"], "a reply without its request");
    exchange(&mut bench, call);
    let both = said(&listener);
    assert!(
        both[0].starts_with("in binary 2 BeganInTheMiddle, "),
        "{both:?}"
    );
    assert!(
        both[1].starts_with("out binary 9 BeganInTheMiddle, "),
        "{both:?}"
    );
    assert_eq!(both.len(), 2);
}

#[test]
fn those_who_said_nothing_end_all_the_same_and_old_notes_are_forgotten() {
    let (mut bench, tap, listener) = tapped(Bench::plain());
    listener.begin();
    exchange(&mut bench, "PING\r\n");
    listener.end();
    exchange(&mut bench, "PING\r\n");
    listener.begin();
    let other = with_tap(Bench::plain(), &tap);
    listener.end();
    listener.begin();
    drop(other);
    drop(bench);
    assert_eq!(said(&listener), ["ended: cut", "ended: cut"]);
}
