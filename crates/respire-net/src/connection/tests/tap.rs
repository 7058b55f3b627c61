//! Tests of the copies that connections send to a tap.

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

/// All notes as text, and the last connection's way to be told which copies are not wanted.
fn notes(listener: &Listener) -> (Vec<String>, Option<Arc<Wanted>>) {
    let (mut texts, mut last) = (Vec::new(), None);
    while let Some(note) = listener.next(Duration::ZERO) {
        let line = |way: &str, copy: &Copy| {
            let binary = if copy.is_binary { "binary " } else { "" };
            let bytes = copy.bytes.escape_ascii();
            format!("{way} {binary}{}{bytes}", gap(copy))
        };
        texts.push(match note.what {
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
    (texts, last)
}

fn notes_text(listener: &Listener) -> Vec<String> {
    notes(listener).0
}

fn exchange(bench: &mut Bench, bytes: &'static str) -> String {
    let mut io = Script::new([Read::Bytes(bytes)]);
    assert_eq!(bench.drive_out(&mut io), Pace::Wait);
    io.heard().to_owned()
}

#[test]
fn no_notes_without_a_capture() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    assert_eq!(exchange(&mut bench, "PING\r\n"), "+PONG\r\n");
    drop(bench);
    assert_eq!(notes_text(&listener), [""; 0]);
}

#[test]
fn tap_copies_all_reads_and_writes_until_the_end() {
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
        notes_text(&listener),
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
fn capture_begun_within_a_request_starts_at_the_next() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    exchange(&mut bench, "*1\r\n$4\r\nPI");
    listener.begin();
    exchange(&mut bench, "N");
    exchange(&mut bench, "G\r\n");
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        notes_text(&listener),
        [
            "joined",
            r"out 0 BeganInTheMiddle, +PONG\r\n",
            r"in 4 BeganInTheMiddle, PING\r\n",
            r"out +PONG\r\n"
        ]
    );
}

#[test]
fn capture_begun_within_a_reply_starts_at_the_next() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    let mut io = Script::new([Read::Bytes("PING\r\n")]);
    io.takes = [3, 0].into();
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    listener.begin();
    assert_eq!(bench.drive(&mut io), Pace::Wait);
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        notes_text(&listener),
        [
            "joined",
            r"in 0 BeganInTheMiddle, PING\r\n",
            r"out 4 BeganInTheMiddle, +PONG\r\n"
        ]
    );
}

#[test]
fn full_tap_drops_copies_and_the_peer_is_still_served() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    listener.begin();
    let blob = 64 * 1024;
    let rounds = UNDER_WAY_BYTES_MAX / blob + 8;
    for _ in 0..rounds {
        assert_eq!(exchange(&mut bench, "BLOB 65536\r\n").len(), blob + 10);
    }
    assert!(listener.under_way_bytes() <= UNDER_WAY_BYTES_MAX);
    let before = notes_text(&listener);
    let replies = before.iter().filter(|note| note.starts_with("out")).count();
    assert!(replies < rounds, "some copies must be dropped");
    exchange(&mut bench, "BLOB 1\r\n");
    let after = notes_text(&listener);
    let lost = (rounds - replies) * (blob + 10);
    assert_eq!(
        after.last().map(|note| &**note),
        Some(&*format!(r"out {lost} TooFast, $1\r\nb\r\n"))
    );
    exchange(&mut bench, "BLOB 1\r\n");
    assert_eq!(
        notes_text(&listener),
        [r"in BLOB 1\r\n", r"out $1\r\nb\r\n"]
    );
}

#[test]
fn unwanted_copies_are_left_out_up_to_the_next_frame() {
    let (mut bench, _, listener) = tapped(Bench::plain());
    listener.begin();
    exchange(&mut bench, "*1\r\n$4\r\nPI");
    let wanted = notes(&listener).1.expect("it has joined");
    wanted.skip_received();
    exchange(&mut bench, "NG\r\n");
    assert_eq!(
        notes_text(&listener),
        [r"out 0 BeganInTheMiddle, +PONG\r\n"]
    );
    wanted.skip_sent();
    exchange(&mut bench, "PING\r\n");
    assert_eq!(
        notes_text(&listener),
        [r"in 4 Unwanted, PING\r\n", r"out 0 Unwanted, +PONG\r\n"]
    );
}

#[test]
fn binary_protocol_copies_begin_with_a_request() {
    let call = "\x10\x01\0\0\0\x04\0\0\0PING";
    let (mut bench, _, listener) = tapped(Bench::plain());
    exchange(&mut bench, "\x10\x01\0\0\0\x04\0\0\0PI");
    listener.begin();
    exchange(&mut bench, "NG");
    assert_eq!(
        notes_text(&listener),
        ["joined"],
        "a reply without its request"
    );
    exchange(&mut bench, call);
    let both = notes_text(&listener);
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
fn silent_connections_report_their_end_and_old_notes_are_dropped() {
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
    assert_eq!(notes_text(&listener), ["ended: cut", "ended: cut"]);
}
