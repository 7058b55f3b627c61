//! Feeds hostile inputs to all four decoders: none may panic, hang or take memory for bytes that
//! were not sent, and any split gives the same result.

mod allocator;
mod checks;

use allocator::peak_bytes;
use checks::map_step;
use resp_codec::annotate::{Mode, annotate, diagnose};
use resp_codec::{CommandDecoder, Error, EventDecoder, FrameDecoder, Limits, Step};

/// The most heap bytes of a decoder per byte it was sent: a node takes 16 bytes, the shortest value
/// three, and a growing vector briefly holds three times its length.
const BYTES_PER_BYTE: usize = 16;
/// The most heap bytes on top of that, for any input.
const BYTES_AT_START: usize = 16 * 1024;

fn hostile() -> Vec<Vec<u8>> {
    [
        numbers(),
        deep_nesting(),
        endless_lines(),
        empty_items(),
        misplaced(),
    ]
    .concat()
}

/// Lengths and counts that are invalid, or that overflow when cast, added to or multiplied.
fn numbers() -> Vec<Vec<u8>> {
    let numbers = "-1 -2 -0 +3 03 - 0x10 1e3 3\u{0} 3\r3 \
        2147483647 2147483648 4294967295 4294967296 4294967297 536870912 536870913 1048576 1048577 \
        268435456 268435457 4611686018427387904 9223372036854775806 9223372036854775807 \
        9223372036854775808 18446744073709551614 18446744073709551615 18446744073709551617 \
        -9223372036854775808 -9223372036854775809 99999999999999999999999999";
    let mut inputs = Vec::new();
    for number in numbers.split(' ').chain(["", " 3", "3 "]) {
        for tag in "$*%~>|!=;:(,".chars() {
            inputs.push(format!("{tag}{number}\r\n").into_bytes());
            inputs.push(format!("*1\r\n{tag}{number}\r\nabc\r\n").into_bytes());
            inputs.push(format!("$?\r\n;{number}\r\nabc\r\n").into_bytes());
        }
    }
    inputs
}

/// Deep nesting, which breaks code that recurses while decoding or dropping, and counts announced
/// at every level, which break code that reserves memory for them.
fn deep_nesting() -> Vec<Vec<u8>> {
    let levels = [
        "*1\r\n",
        "%1\r\n+k\r\n",
        "|1\r\n",
        "|1\r\n+k\r\n",
        "~1\r\n",
        "*?\r\n",
        "*2\r\n|1\r\n",
    ];
    let counts = [
        "*65536\r\n",
        "%65536\r\n",
        "*1048576\r\n",
        "*2147483647\r\n",
    ];
    let deep = levels.map(|level| level.repeat(20_000).into_bytes());
    let wide = counts.map(|count| count.repeat(60).into_bytes());
    deep.into_iter().chain(wide).collect()
}

/// Lines without an end, which slow down code that scans again from the start.
fn endless_lines() -> Vec<Vec<u8>> {
    let mut inputs = Vec::new();
    for start in [
        "$", "*", ":", "+", "-", "(", ",", "*1\r\n$", "", "'", "\"\\x", "$?\r\n;",
    ] {
        for piece in ["1", "x", "\\x4", "\r"] {
            let line = piece.repeat(70_000 / piece.len());
            inputs.push([start, &line].concat().into_bytes());
        }
    }
    inputs
}

/// Items without content, which slow down code that limits only the bytes of content.
fn empty_items() -> Vec<Vec<u8>> {
    let items = [
        "*0\r\n",
        "*-1\r\n",
        "\r\n",
        "\n",
        " \r\n",
        "|0\r\n",
        "$0\r\n\r\n",
        "_\r\n",
        "''\r\n",
        "'' ",
    ];
    let mut inputs: Vec<_> = items.map(|item| item.repeat(10_000).into_bytes()).into();
    inputs.push([&b"$?\r\n"[..], &b";1\r\nx\r\n".repeat(10_000)].concat());
    inputs.push([&b"*?\r\n"[..], &b"_\r\n".repeat(10_000)].concat());
    inputs.push([&b"|1\r\n+a\r\n+b\r\n".repeat(10_000)[..], b"+OK\r\n"].concat());
    inputs
}

/// Values at places where the grammar forbids them.
fn misplaced() -> Vec<Vec<u8>> {
    const REPLIES: &[&[u8]] = &[
        b"*1\r\n.\r\n",
        b"%?\r\n+a\r\n.\r\n",
        b"|1\r\n+a\r\n+b\r\n.\r\n",
        b".\r\n",
        b";3\r\nabc\r\n",
        b"$?\r\n+a\r\n",
        b"$?\r\n;0\r\n\r\n",
        b"*1\r\n>1\r\n+a\r\n",
        b">1\r\n:1\r\n",
        b">0\r\n",
        b"=3\r\nabc\r\n",
        b"=4\r\nabcd\r\n",
        b"#T\r\n",
        b"#true\r\n",
        b"_x\r\n",
        b",\r\n",
        b",1e999\r\n",
        b",nan(1)\r\n",
        b",infinity\r\n",
        b"(12a\r\n",
        b"(\r\n",
        b"+a\nb\r\n",
        b"+a\rb\r\n",
        b"$3\r\nabcd\r\n",
        b"$3\r\nabcX\n",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"\x7f",
        &[0xff; 100],
        &[0; 100],
    ];
    const REQUESTS: &[&[u8]] = &[
        b"*1\n$4\nPING\n",
        b"*1\r\n:5\r\n",
        b"*1\r\n*1\r\n",
        b"*1\r\n\xff",
        b"*1\r\n\x01",
        b"*1\rX",
        b"*1\r\n$4\rXPING\r\n",
        b"*1\r\n$4\r\nPINGXX",
        b"*1\r\n$4\r\nPINGPONG\r\n",
        b"PING\0\r\n",
        b"\"a\"b\r\n",
        b"a\"b\"c\r\n",
        b"'a\\\\'\r\n",
        b"\"\\x4\r\n",
        b"  \r\n*1\r\n$4\r\nPING\r\n",
    ];
    [REPLIES, REQUESTS]
        .concat()
        .into_iter()
        .map(<[u8]>::to_vec)
        .collect()
}

fn show(input: &[u8]) -> String {
    let start = &input[..input.len().min(60)];
    format!("{} ({} bytes)", start.escape_ascii(), input.len())
}

/// Where each read ends: all at once, byte by byte, and in network segments.
fn reads(input: &[u8]) -> [Vec<usize>; 3] {
    let each = |size: usize| {
        (1..)
            .map(|n| n * size)
            .take_while(|&cut| cut < input.len())
            .collect()
    };
    [Vec::new(), each(1), each(1448)]
}

/// The first error with its offset in the stream; or the number of bytes left over.
fn verdict(
    input: &[u8],
    cuts: &[usize],
    decode: impl FnMut(&[u8]) -> Result<Step<()>, Error>,
) -> Result<usize, Error> {
    let mut end = Ok(0);
    let most = input.len() * BYTES_PER_BYTE + BYTES_AT_START;
    let peak = peak_bytes(|| end = checks::run(input, cuts, decode).1);
    assert!(peak <= most, "{peak} bytes held for {}", show(input));
    end
}

#[test]
fn hostile_requests_do_no_harm() {
    for input in hostile() {
        for limits in [Limits::SERVER, Limits::UNAUTHENTICATED, checks::SMALL] {
            let verdicts = reads(&input).map(|cuts| {
                let mut decoder = CommandDecoder::new(limits);
                verdict(&input, &cuts, |buf| {
                    Ok(map_step(decoder.decode(buf)?, drop))
                })
            });
            assert_eq!(verdicts, [verdicts[0]; 3], "{}", show(&input));
            let outcome = annotate(&input, Mode::Requests, &limits, &mut Vec::new());
            assert_eq!(outcome.error, verdicts[0].err(), "{}", show(&input));
        }
    }
}

#[test]
fn hostile_replies_do_no_harm() {
    let deep = Limits {
        max_depth: u16::MAX,
        ..Limits::CLIENT
    };
    for input in hostile() {
        for limits in [Limits::CLIENT, deep, checks::SMALL] {
            let frames = reads(&input).map(|cuts| {
                let mut decoder = FrameDecoder::new(limits);
                verdict(&input, &cuts, |buf| {
                    Ok(map_step(decoder.decode(buf)?, drop))
                })
            });
            assert_eq!(frames, [frames[0]; 3], "{}", show(&input));
            let outcome = annotate(&input, Mode::Replies, &limits, &mut Vec::new());
            assert_eq!(outcome.error, frames[0].err(), "{}", show(&input));

            // The frame limit does not apply to events.
            let limits = Limits {
                max_frame: u32::MAX,
                ..limits
            };
            let mut decoder = FrameDecoder::new(limits);
            let frame = verdict(&input, &[], |buf| Ok(map_step(decoder.decode(buf)?, drop)));
            let events = reads(&input).map(|cuts| {
                let mut decoder = EventDecoder::new(limits);
                verdict(&input, &cuts, |buf| {
                    Ok(map_step(decoder.decode(buf)?, drop))
                })
            });
            assert_eq!(
                events.map(Result::err),
                [frame.err(); 3],
                "{}",
                show(&input)
            );
        }
    }
}

#[test]
fn diagnosis_of_hostile_input_is_short() {
    for input in hostile() {
        for (mode, limits) in [
            (Mode::Requests, Limits::SERVER),
            (Mode::Replies, Limits::CLIENT),
        ] {
            if let Some(diagnosis) = diagnose(&input, mode, &limits) {
                assert!(diagnosis.to_string().len() < 4096, "{}", show(&input));
            }
        }
    }
}
