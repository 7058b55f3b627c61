//! Tests of the work bound: a decoder examines each byte at most twice, plus 24 bytes per call,
//! however the input is split.

use alloc::vec::Vec;
use core::cell::Cell;

use crate::{CommandDecoder, EventDecoder, FrameDecoder, Limits, Step, command};

std::thread_local! {
    static EXAMINED: Cell<usize> = const { Cell::new(0) };
}

/// Counts examined bytes.
pub(crate) fn examined(bytes: usize) {
    EXAMINED.with(|count| count.set(count.get() + bytes));
}

/// Drives a decoder over `input` in reads of these sizes, and checks the bound after every call.
fn check<T>(name: &str, input: &[u8], sizes: &[usize], mut decode: impl FnMut(&[u8]) -> Step<T>) {
    let (mut start, mut end) = (0, 0);
    let mut sizes = sizes.iter().cycle();
    let mut calls = 0;
    EXAMINED.with(|count| count.set(0));
    while start < input.len() {
        let step = decode(&input[start..end]);
        calls += 1;
        let work = EXAMINED.with(Cell::get);
        assert!(
            work <= 2 * end + 24 * calls,
            "{name}: {work} bytes for {end} in {calls} calls"
        );
        start += step.consumed();
        if let Step::NeedMore { .. } = step {
            let size = *sizes.next().expect("the sizes repeat");
            end += size.min(input.len() - end);
        }
    }
}

const SIZES: &[&[usize]] = &[
    &[1],
    &[2],
    &[3, 1],
    &[5],
    &[7, 1, 1],
    &[8],
    &[13, 64],
    &[1448],
    &[usize::MAX / 2],
];

fn requests() -> Vec<u8> {
    let mut input = Vec::new();
    input.extend_from_slice(b"PING\r\nSET key 'a long quoted value' \"\\x41\\x42\"\r\n\r\n*0\r\n");
    for len in [0, 1, 9, 10, 99, 100, 5000] {
        command(&mut input, &["SET", "key", &"v".repeat(len)]);
    }
    command(
        &mut input,
        &std::vec!["12"; if cfg!(miri) { 30 } else { 1500 }],
    );
    input.extend_from_slice(&b"word ".repeat(if cfg!(miri) { 20 } else { 2000 }));
    input.push(b'\n');
    input
}

fn replies() -> Vec<u8> {
    let mut input = Vec::new();
    input.extend_from_slice(b"*8\r\n:1\r\n:-9223372036854775808\r\n,1.5e300\r\n(12345678901234567890\r\n#t\r\n_\r\n$-1\r\n+");
    input.extend_from_slice(&b"x".repeat(if cfg!(miri) { 30 } else { 3000 }));
    input.extend_from_slice(
        b"\r\n%?\r\n$?\r\n;3\r\nabc\r\n;0\r\n=5\r\ntxt:a\r\n.\r\n|1\r\n+a\r\n+b\r\n-ERR x\r\n",
    );
    let mut list = Vec::new();
    command(
        &mut list,
        &std::vec!["element"; if cfg!(miri) { 30 } else { 1000 }],
    );
    input.extend_from_slice(&list);
    input
}

#[test]
fn decoding_requests_stays_within_the_work_bound() {
    for sizes in SIZES {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        check("requests", &requests(), sizes, |buf| {
            match decoder.decode(buf) {
                Ok(Step::Ready { consumed, .. }) => Step::Ready { item: (), consumed },
                Ok(Step::NeedMore { consumed, hint }) => Step::NeedMore { consumed, hint },
                Err(error) => panic!("{error}"),
            }
        });
    }
}

#[test]
fn decoding_replies_stays_within_the_work_bound() {
    for sizes in SIZES {
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        check("replies", &replies(), sizes, |buf| {
            match decoder.decode(buf) {
                Ok(Step::Ready { consumed, .. }) => Step::Ready { item: (), consumed },
                Ok(Step::NeedMore { consumed, hint }) => Step::NeedMore { consumed, hint },
                Err(error) => panic!("{error}"),
            }
        });
        let mut decoder = EventDecoder::new(Limits::CLIENT);
        check("events", &replies(), sizes, |buf| {
            match decoder.decode(buf) {
                Ok(Step::Ready { consumed, .. }) => Step::Ready { item: (), consumed },
                Ok(Step::NeedMore { consumed, hint }) => Step::NeedMore { consumed, hint },
                Err(error) => panic!("{error}"),
            }
        });
    }
}
