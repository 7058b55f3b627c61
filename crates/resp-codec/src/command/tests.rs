//! Unit tests of the request decoder: accepted and refused requests, limits, splits.

use alloc::vec::Vec;
use alloc::{format, vec};
use std::string::String;

use super::CommandDecoder;
use crate::{Error, ErrorKind, Limits, Step};

type Requests = Vec<Vec<Vec<u8>>>;

/// Decodes `input`, which arrives in pieces that end at `cuts`. Returns the requests, and an error
/// with its offset in the stream or the number of bytes left over.
fn run(input: &[u8], limits: Limits, cuts: &[usize]) -> (Requests, Result<usize, Error>) {
    let mut decoder = CommandDecoder::new(limits);
    let mut requests = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        loop {
            match decoder.decode(&input[start..cut]) {
                Ok(Step::Ready { item, consumed }) => {
                    assert!(consumed > 0);
                    requests.push(item.args().iter().map(<[u8]>::to_vec).collect());
                    start += consumed;
                }
                Ok(Step::NeedMore { consumed, hint }) => {
                    assert!(hint >= 1);
                    start += consumed;
                    break;
                }
                Err(error) => {
                    return (
                        requests,
                        Err(Error {
                            offset: start + error.offset,
                            ..error
                        }),
                    );
                }
            }
        }
    }
    (requests, Ok(input.len() - start))
}

/// Decodes `input` as a whole, and checks that every cut in two and single bytes give the same
/// result.
fn check_with(input: &[u8], limits: Limits) -> (Requests, Result<usize, Error>) {
    let whole = run(input, limits, &[]);
    for cut in 0..input.len() {
        assert_eq!(
            run(input, limits, &[cut]),
            whole,
            "cut at {cut} of {:?}",
            input.escape_ascii()
        );
    }
    let every: Vec<usize> = (0..input.len()).collect();
    assert_eq!(
        run(input, limits, &every),
        whole,
        "byte by byte: {:?}",
        input.escape_ascii()
    );
    whole
}

fn check(input: &[u8]) -> (Requests, Result<usize, Error>) {
    check_with(input, Limits::SERVER)
}

fn words(requests: &[&[&str]]) -> Requests {
    let owned = |words: &&[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect();
    requests.iter().map(owned).collect()
}

#[track_caller]
fn accepts(input: &str, expected: &[&[&str]]) {
    assert_eq!(check(input.as_bytes()), (words(expected), Ok(0)));
}

#[track_caller]
fn waits(input: &[u8], left: usize) {
    assert_eq!(check(input).1, Ok(left));
}

#[track_caller]
fn refuses(input: &[u8], kind: ErrorKind, offset: usize) {
    assert_eq!(
        check(input).1,
        Err(Error { kind, offset }),
        "{:?}",
        input.escape_ascii()
    );
}

#[test]
fn request_of_bulks_is_decoded() {
    accepts("*1\r\n$4\r\nPING\r\n", &[&["PING"]]);
    accepts(
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n",
        &[&["SET", "k", ""]],
    );
    accepts(
        "*2\r\n$3\r\nGET\r\n$10\r\n0123456789\r\n",
        &[&["GET", "0123456789"]],
    );
    accepts(
        "*2\r\n$4\r\nECHO\r\n$4\r\n\r\n\r\n\r\n",
        &[&["ECHO", "\r\n\r\n"]],
    );
    accepts("*1\r\n$0\r\n\r\n", &[&[""]]);
}

#[test]
fn pipelined_requests_are_decoded_in_order() {
    accepts(
        "*1\r\n$1\r\na\r\nb c\r\n*1\r\n$1\r\nd\r\n",
        &[&["a"], &["b", "c"], &["d"]],
    );
}

#[test]
fn lengths_of_every_width_are_decoded() {
    for len in [
        9,
        10,
        11,
        99,
        100,
        101,
        999,
        1000,
        if cfg!(miri) { 2000 } else { 70_000 },
    ] {
        let payload = "x".repeat(len);
        let input = format!("*3\r\n${len}\r\n{payload}\r\n$1\r\na\r\n${len}\r\n{payload}\r\n");
        let expected = words(&[&[&payload, "a", &payload]]);
        for cuts in [
            vec![],
            vec![5],
            vec![input.len() / 2],
            vec![input.len() - 1],
        ] {
            assert_eq!(
                run(input.as_bytes(), Limits::SERVER, &cuts),
                (expected.clone(), Ok(0))
            );
        }
    }
}

#[test]
fn argument_counts_of_every_width_are_decoded() {
    for count in [1, 2, 9, 10, 11, 100, if cfg!(miri) { 101 } else { 3000 }] {
        let input = format!("*{count}\r\n{}", "$1\r\nx\r\n".repeat(count));
        let expected = words(&[&vec!["x"; count]]);
        for cuts in [vec![], vec![2], vec![6], vec![input.len() - 1]] {
            assert_eq!(
                run(input.as_bytes(), Limits::SERVER, &cuts),
                (expected.clone(), Ok(0))
            );
        }
    }
}

#[test]
fn empty_request_is_consumed_silently() {
    for empty in [
        "*0\r\n",
        "*-1\r\n",
        "*-10\r\n",
        "*-9223372036854775808\r\n",
        "\r\n",
        "\n",
        "  \r\n",
        "\t\n",
    ] {
        accepts(&format!("{empty}{empty}*1\r\n$4\r\nPING\r\n"), &[&["PING"]]);
        waits(format!("{empty}*1\r\n").as_bytes(), 4);
    }
}

#[test]
fn malformed_count_is_refused_at_its_byte() {
    let kind = ErrorKind::InvalidMultibulkLength;
    for (input, offset) in [
        ("*\r\n", 1),
        ("*+1\r\n", 1),
        ("*01\r\n", 2),
        ("*-0\r\n", 3),
        ("* 1\r\n", 1),
        ("*1 \r\n", 2),
        ("*abc\r\n", 1),
        ("*-\r\n", 2),
        ("*--1\r\n", 2),
        ("*1048577\r\n", 1),
        ("*2147483648\r\n", 1),
        ("*99999999999999999999", 1),
        ("*-9223372036854775809\r", 2),
        ("*1\n$4\r\n", 2),
        ("*1\rX", 3),
        ("*\0", 1),
    ] {
        refuses(input.as_bytes(), kind, offset);
    }
}

#[test]
fn count_at_the_limit_is_accepted() {
    waits(b"*1048576\r\n", 10);
    let limits = Limits {
        max_args: i32::MAX as u32,
        ..Limits::SERVER
    };
    assert_eq!(check_with(b"*2147483647\r\n", limits).1, Ok(13));
}

#[test]
fn malformed_bulk_length_is_refused_at_its_byte() {
    for (input, offset) in [
        ("$\r\n", 1),
        ("$-1\r\n", 1),
        ("$-10\r\n", 1),
        ("$+4\r\n", 1),
        ("$04\r\n", 2),
        ("$-0\r\n", 3),
        ("$blabla\r\n", 1),
        ("$536870913\r\n", 1),
        ("$9223372036854775807\r\n", 1),
        ("$9223372036854775808\r\n", 1),
        ("$99999999999999999999", 1),
        ("$4\rX", 3),
        ("$4\n", 2),
    ] {
        refuses(
            format!("*1\r\n{input}").as_bytes(),
            ErrorKind::InvalidBulkLength,
            4 + offset,
        );
        let second = format!("*2\r\n$1\r\nx\r\n{input}");
        refuses(second.as_bytes(), ErrorKind::InvalidBulkLength, 11 + offset);
    }
    waits(b"*1\r\n$536870912\r\n", 16);
}

#[test]
fn payload_without_crlf_is_refused() {
    refuses(b"*1\r\n$4\r\nPINGXX", ErrorKind::InvalidBulkLength, 12);
    refuses(b"*1\r\n$4\r\nPINGX", ErrorKind::InvalidBulkLength, 12);
    refuses(b"*1\r\n$4\r\nPING\rX", ErrorKind::InvalidBulkLength, 13);
    refuses(
        b"*2\r\n$4\r\nPINGPONG\r\n$1\r\n",
        ErrorKind::InvalidBulkLength,
        12,
    );
}

#[test]
fn element_other_than_bulk_is_refused() {
    for (byte, input) in [
        (b'f', "foo"),
        (b'+', "+PING"),
        (b':', ":5"),
        (b'*', "*1\r\n"),
        (1, "\x01"),
        (b'\r', "\r"),
    ] {
        refuses(
            format!("*1\r\n{input}").as_bytes(),
            ErrorKind::ExpectedBulk(byte),
            4,
        );
    }
    refuses(b"*1\r\n\xff", ErrorKind::ExpectedBulk(0xff), 4);
}

#[test]
fn limits_before_auth_have_their_own_error_texts() {
    let check = |input: &str| {
        check_with(input.as_bytes(), Limits::UNAUTHENTICATED)
            .1
            .map_err(|error| error.kind)
    };
    assert_eq!(check("*10\r\n"), Ok(5));
    assert_eq!(
        check("*11\r\n"),
        Err(ErrorKind::UnauthenticatedMultibulkLength)
    );
    assert_eq!(
        check("*2147483648\r\n"),
        Err(ErrorKind::InvalidMultibulkLength)
    );
    assert_eq!(check("*1\r\n$16384\r\n"), Ok(12));
    assert_eq!(
        check("*1\r\n$16385\r\n"),
        Err(ErrorKind::UnauthenticatedBulkLength)
    );
    assert_eq!(
        check("*1\r\n$536870913\r\n"),
        Err(ErrorKind::InvalidBulkLength)
    );
}

#[test]
fn limits_below_two_digits_hold_on_the_fast_path() {
    let limits = Limits {
        max_bulk: 3,
        max_args: 2,
        ..Limits::SERVER
    };
    let kind = |input: &[u8]| check_with(input, limits).1.map_err(|error| error.kind);
    assert_eq!(
        kind(b"*3\r\n$1\r\na\r\n"),
        Err(ErrorKind::InvalidMultibulkLength)
    );
    assert_eq!(
        kind(b"*1\r\n$4\r\nPING\r\n"),
        Err(ErrorKind::InvalidBulkLength)
    );
    assert_eq!(
        kind(b"*2\r\n$1\r\na\r\n$4\r\nPING\r\n"),
        Err(ErrorKind::InvalidBulkLength)
    );
    assert_eq!(kind(b"*2\r\n$1\r\na\r\n$3\r\nPIN\r\n"), Ok(0));
}

#[test]
fn request_above_the_frame_limit_is_refused_at_the_payload_that_exceeds_it() {
    let input = b"*3\r\n$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n";
    for max_frame in 0..input.len() {
        let limits = Limits {
            max_frame: max_frame as u32,
            ..Limits::SERVER
        };
        let offset = [8, 15, 22]
            .into_iter()
            .find(|at| at + 3 > max_frame)
            .unwrap();
        let error = Error {
            kind: ErrorKind::FrameTooBig,
            offset,
        };
        assert_eq!(check_with(input, limits).1, Err(error), "limit {max_frame}");
    }
    let limits = Limits {
        max_frame: input.len() as u32,
        ..Limits::SERVER
    };
    assert_eq!(check_with(input, limits).1, Ok(0));
}

#[test]
fn inline_limit_is_the_same_for_complete_and_incomplete_lines() {
    let limits = Limits {
        max_inline: 8,
        ..Limits::SERVER
    };
    assert_eq!(check_with(b"12345678", limits).1, Ok(8));
    assert_eq!(check_with(b"12345678\n", limits).1, Ok(0));
    let error = Error {
        kind: ErrorKind::InlineTooBig,
        offset: 8,
    };
    assert_eq!(check_with(b"123456789", limits).1, Err(error));
    assert_eq!(check_with(b"123456789\n", limits).1, Err(error));
}

#[test]
fn inline_words_split_as_in_redis() {
    let check = |line: &str, expected: &[&str]| {
        for end in ["\n", "\r\n"] {
            accepts(&format!("{line}{end}"), &[expected]);
        }
    };
    check("PING", &["PING"]);
    check("  SET \t k\t v  ", &["SET", "k", "v"]);
    check("a\x0bb", &["a\x0bb"]);
    check("\x0b\x0ca b", &["a", "b"]);
    check("ECHO a\rb", &["ECHO", "a", "b"]);
    check("a\0b", &["a\0b"]);
    check(
        r#"ECHO "a\n\r\t\b\a\x41\xzz\q\"""#,
        &["ECHO", "a\n\r\t\x08\x07Axzzq\""],
    );
    check(r#"ECHO "\x4""#, &["ECHO", "x4"]);
    check(r"ECHO 'a\n\'b'", &["ECHO", r"a\n'b"]);
    check(r#"a"b c""#, &["ab c"]);
    check(r#"ECHO """#, &["ECHO", ""]);
    check("\"\"", &[""]);
    check(r"a\nb", &[r"a\nb"]);
}

#[test]
fn unbalanced_quotes_are_refused_at_the_quote() {
    for (line, offset) in [
        ("ECHO \"a", 5),
        ("ECHO 'a", 5),
        ("\"a\"b", 3),
        ("a\"b\"c", 4),
        ("'a\\'", 0),
        ("'a'\"b\"", 3),
        ("\"\\", 0),
    ] {
        refuses(
            format!("{line}\r\n").as_bytes(),
            ErrorKind::UnbalancedQuotes,
            offset,
        );
    }
}

#[test]
fn failed_decoder_stays_failed_until_reset() {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    assert!(decoder.decode(b"*x").is_err());
    assert_eq!(
        decoder.decode(b"PING\r\n").unwrap_err().kind,
        ErrorKind::Poisoned
    );
    decoder.reset();
    assert!(decoder.decode(b"PING\r\n").unwrap().ready().is_some());
}

#[test]
fn call_without_enough_new_bytes_does_not_scan() {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    let input = b"*2\r\n$3\r\nGET\r\n$100\r\nab";
    let step = decoder.decode(input).unwrap();
    assert!(matches!(
        step,
        Step::NeedMore {
            consumed: 0,
            hint: 100
        }
    ));
    // The framing has been overwritten: only the length is examined.
    let step = decoder.decode(&[0; 22]).unwrap();
    assert!(matches!(
        step,
        Step::NeedMore {
            consumed: 0,
            hint: 99
        }
    ));
}

#[test]
fn short_request_after_one_with_a_split_count_is_decoded_at_once() {
    // Found by fuzzing: the length to wait for was kept after the request it belonged to.
    let input = b"*1\r\n$4\r\nPING\r\n%\n";
    for cut in 1..5 {
        assert_eq!(
            run(input, Limits::SERVER, &[cut, input.len() - 2]).0.len(),
            2,
            "cut at {cut}"
        );
    }
}

#[test]
fn name_word_is_upper_cased_and_padded() {
    for (name, expected) in [
        ("get", "GET"),
        ("ExPireTime", "EXPIRETI"),
        ("a-b.c_d", "A-B.C_D"),
        ("", ""),
    ] {
        let mut word = [0; 8];
        word[..expected.len()].copy_from_slice(expected.as_bytes());
        for input in [
            format!("*1\r\n${}\r\n{name}\r\n", name.len()),
            format!("\"{name}\"\r\n"),
            format!("{name} x\r\n"),
        ] {
            let mut decoder = CommandDecoder::new(Limits::SERVER);
            let Step::Ready { item, .. } = decoder.decode(input.as_bytes()).unwrap() else {
                continue;
            };
            if item.name() == name.as_bytes() {
                assert_eq!(item.name_upper8(), u64::from_le_bytes(word), "{input:?}");
            }
        }
    }
}

#[test]
fn slots_grow_with_arguments_not_with_announced_counts() {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    let _ = decoder.decode(b"*1000000\r\n$1\r\nx\r\n").unwrap();
    assert!(decoder.allocated() <= 16 * 8);
    decoder.reset();
    decoder.shrink();
    assert_eq!(decoder.allocated(), 0);
}

#[test]
fn error_replies_match_redis() {
    let text = |kind: ErrorKind| {
        let mut out = Vec::new();
        kind.reply(&mut out);
        String::from_utf8(out).unwrap()
    };
    let check = |kind, expected: &str| {
        assert_eq!(text(kind), format!("-ERR Protocol error: {expected}\r\n"))
    };
    check(
        ErrorKind::InvalidMultibulkLength,
        "invalid multibulk length",
    );
    check(ErrorKind::InvalidBulkLength, "invalid bulk length");
    check(
        ErrorKind::UnauthenticatedMultibulkLength,
        "unauthenticated multibulk length",
    );
    check(
        ErrorKind::UnauthenticatedBulkLength,
        "unauthenticated bulk length",
    );
    check(ErrorKind::ExpectedBulk(b'f'), "expected '$', got 'f'");
    check(ErrorKind::ExpectedBulk(b'\n'), "expected '$', got ' '");
    check(ErrorKind::InlineTooBig, "too big inline request");
    check(ErrorKind::UnbalancedQuotes, "unbalanced quotes in request");
}
