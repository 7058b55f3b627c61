//! Unit tests of the reply decoder.

use alloc::vec;
use alloc::vec::Vec;
use std::format;

use super::FrameDecoder;
use crate::{Dialect, Error, ErrorKind, Kind, Limits, NullForm, Step, Value, Values};

type Frames = (Vec<Value>, Result<usize, Error>);

fn run(decoder: &mut FrameDecoder, input: &[u8], cuts: &[usize]) -> Frames {
    let mut values = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        loop {
            match decoder.decode(&input[start..cut]) {
                Ok(Step::Ready { item, consumed }) => {
                    assert_eq!(item.wire(), &input[start..start + consumed]);
                    values.push(item.to_value());
                    start += consumed;
                }
                Ok(Step::NeedMore { consumed, hint }) => {
                    assert!(hint >= 1);
                    start += consumed;
                    break;
                }
                Err(error) => {
                    return (
                        values,
                        Err(Error {
                            offset: start + error.offset,
                            ..error
                        }),
                    );
                }
            }
        }
    }
    (values, Ok(input.len() - start))
}

fn check_with(input: &[u8], decoder: &FrameDecoder) -> Frames {
    let whole = run(&mut decoder.clone(), input, &[]);
    for cut in 0..input.len() {
        assert_eq!(
            run(&mut decoder.clone(), input, &[cut]),
            whole,
            "cut at {cut} of {:?}",
            input.escape_ascii()
        );
    }
    let every: Vec<usize> = (0..input.len()).collect();
    assert_eq!(
        run(&mut decoder.clone(), input, &every),
        whole,
        "byte by byte: {:?}",
        input.escape_ascii()
    );
    whole
}

fn check(input: &[u8]) -> Frames {
    check_with(input, &FrameDecoder::new(Limits::CLIENT))
}

#[track_caller]
fn decodes(input: &[u8], expected: Value) {
    assert_eq!(
        check(input),
        (vec![expected], Ok(0)),
        "{:?}",
        input.escape_ascii()
    );
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
fn scalar_of_every_type_is_decoded() {
    decodes(b"+OK\r\n", Value::Simple(b"OK".to_vec()));
    decodes(b"+\r\n", Value::Simple(Vec::new()));
    decodes(b"+\xff\0\r\n", Value::Simple(vec![0xff, 0]));
    decodes(b"-ERR no\r\n", Value::Error(b"ERR no".to_vec()));
    decodes(b":-9223372036854775808\r\n", Value::Int(i64::MIN));
    decodes(b"$5\r\na\r\nb\0\r\n", Value::from(&b"a\r\nb\0"[..]));
    decodes(b"$0\r\n\r\n", Value::from(""));
    decodes(b"_\r\n", Value::NULL);
    decodes(b"$-1\r\n", Value::Null(NullForm::Bulk));
    decodes(b"*-1\r\n", Value::Null(NullForm::Array));
    decodes(b"#t\r\n", Value::Bool(true));
    decodes(b"#f\r\n", Value::Bool(false));
    decodes(
        b"(-3492890328409238509324850943850943825024385\r\n",
        Value::BigNumber(b"-3492890328409238509324850943850943825024385".to_vec()),
    );
    decodes(b"!3\r\nE\r\n\r\n", Value::BlobError(b"E\r\n".to_vec()));
    decodes(
        b"=4\r\na  :\r\n",
        Value::Verbatim {
            format: *b"a  ",
            text: Vec::new(),
        },
    );
}

#[test]
fn double_of_every_form_is_decoded() {
    for (text, value) in [
        ("0", 0.0),
        ("-0", -0.0),
        ("3", 3.0),
        ("+1.5", 1.5),
        ("1.", 1.0),
        ("01", 1.0),
        ("1e+20", 1e20),
        ("1E-9", 1e-9),
        ("inf", f64::INFINITY),
        ("-inf", f64::NEG_INFINITY),
        ("nan", f64::NAN),
        ("-nan", f64::NAN),
    ] {
        decodes(format!(",{text}\r\n").as_bytes(), Value::Double(value));
    }
    for (text, offset) in [
        ("", 0),
        (".5", 0),
        ("infinity", 0),
        ("+inf", 1),
        ("NaN", 0),
        ("0x10", 1),
        ("1e", 2),
        ("1e+", 3),
        ("1e400", 0),
        ("1 ", 1),
        ("--1", 1),
    ] {
        refuses(
            format!(",{text}\r\n").as_bytes(),
            ErrorKind::InvalidDouble,
            1 + offset,
        );
    }
}

#[test]
fn spec_numbers_are_refused_by_the_canonical_dialect() {
    let strict = FrameDecoder::with_dialect(Limits::CLIENT, Dialect::CANONICAL);
    for (input, kind) in [
        (":+5\r\n", ErrorKind::InvalidInteger),
        (":007\r\n", ErrorKind::InvalidInteger),
        (":-0\r\n", ErrorKind::InvalidInteger),
        (",+1\r\n", ErrorKind::InvalidDouble),
        (",01\r\n", ErrorKind::InvalidDouble),
        ("(+1\r\n", ErrorKind::InvalidBigNumber),
        ("(01\r\n", ErrorKind::InvalidBigNumber),
    ] {
        assert_eq!(
            check_with(input.as_bytes(), &strict)
                .1
                .map_err(|error| error.kind),
            Err(kind),
            "{input:?}"
        );
        assert_eq!(check(input.as_bytes()).1, Ok(0), "{input:?}");
    }
    for input in ["*?\r\n", "$?\r\n", ".\r\n", ";1\r\n"] {
        assert!(check_with(input.as_bytes(), &strict).1.is_err());
    }
    for input in [
        ":0\r\n", ":-5\r\n", ",-0\r\n", ",0.5\r\n", "(0\r\n", "(-12\r\n",
    ] {
        assert_eq!(check_with(input.as_bytes(), &strict).1, Ok(0), "{input:?}");
    }
}

#[test]
fn aggregates_keep_order_and_duplicates() {
    decodes(b"*0\r\n", Value::Array(Values::default()));
    decodes(
        b"~3\r\n:1\r\n:1\r\n*0\r\n",
        Value::Set(
            vec![
                Value::from(1),
                Value::from(1),
                Value::Array(Values::default()),
            ]
            .into(),
        ),
    );
    let map = [
        (Value::Array(Values::default()), Value::from(1)),
        (Value::from(2), Value::NULL),
        (Value::from(2), Value::NULL),
    ];
    decodes(
        b"%3\r\n*0\r\n:1\r\n:2\r\n_\r\n:2\r\n_\r\n",
        Value::Map(map.into_iter().collect()),
    );
    decodes(
        b">2\r\n+message\r\n:1\r\n",
        Value::Push(vec![Value::Simple(b"message".to_vec()), Value::from(1)].into()),
    );
}

#[test]
fn streamed_values_are_assembled() {
    decodes(
        b"$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n",
        Value::from("Hello"),
    );
    decodes(b"$?\r\n;0\r\n", Value::from(""));
    decodes(
        b"*?\r\n:1\r\n*?\r\n.\r\n$?\r\n;1\r\na\r\n;0\r\n.\r\n",
        Value::from(vec![
            Value::from(1),
            Value::Array(Values::default()),
            Value::from("a"),
        ]),
    );
    decodes(
        b"%?\r\n:1\r\n:2\r\n.\r\n",
        Value::Map([(Value::from(1), Value::from(2))].into_iter().collect()),
    );
    refuses(b"%?\r\n:1\r\n.\r\n", ErrorKind::OddMap, 8);
    refuses(b".\r\n", ErrorKind::StrayEnd, 0);
    refuses(b"*1\r\n.\r\n", ErrorKind::StrayEnd, 4);
    refuses(b"*?\r\n|1\r\n:1\r\n:2\r\n.\r\n", ErrorKind::StrayEnd, 16);
    refuses(b";1\r\na\r\n", ErrorKind::StrayChunk, 0);
    refuses(b"$?\r\n$1\r\n", ErrorKind::ExpectedChunk, 4);
    refuses(b"$?\r\n.\r\n", ErrorKind::ExpectedChunk, 4);
    refuses(b"$?\r\n|1\r\n", ErrorKind::ExpectedChunk, 4);
    refuses(b"|?\r\n", ErrorKind::InvalidMultibulkLength, 1);
    refuses(b">?\r\n", ErrorKind::InvalidMultibulkLength, 1);
}

#[test]
fn attributes_belong_to_the_value_after_them() {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    let input = b"|1\r\n+a\r\n:1\r\n|1\r\n+b\r\n:2\r\n>1\r\n+x\r\n";
    let frame = decoder.decode(input).unwrap().ready().unwrap();
    assert!(frame.is_push());
    let keys: Vec<_> = frame
        .attributes()
        .unwrap()
        .map(|(key, value)| (key.str().unwrap(), value.int().unwrap()))
        .collect();
    assert_eq!(keys, [("a", 1), ("b", 2)]);
    let input = b"*2\r\n|0\r\n$-1\r\n:5\r\n";
    let frame = decoder.decode(input).unwrap().ready().unwrap();
    let elements: Vec<_> = frame.children().collect();
    assert_eq!(frame.len(), 2);
    assert!(elements[0].is_null() && elements[0].attributes().is_some());
    assert!(elements[1].attributes().is_none());
    assert_eq!(check(input).1, Ok(0));
}

#[test]
fn push_is_refused_within_a_value_and_without_a_name() {
    refuses(b"*1\r\n>1\r\n+a\r\n", ErrorKind::NestedPush, 4);
    refuses(b"|1\r\n+a\r\n>1\r\n", ErrorKind::NestedPush, 8);
    refuses(b">0\r\n", ErrorKind::InvalidPush, 1);
    refuses(b">1\r\n:1\r\n", ErrorKind::InvalidPush, 4);
    assert_eq!(check(b">1\r\n|1\r\n:1\r\n:2\r\n$1\r\na\r\n").1, Ok(0));
}

#[test]
fn malformed_lines_are_refused_at_their_byte() {
    refuses(b"+a\nb\r\n", ErrorKind::InvalidLine, 2);
    refuses(b"+a\rb\r\n", ErrorKind::InvalidLine, 3);
    refuses(b"_x\r\n", ErrorKind::InvalidLine, 1);
    refuses(b"#T\r\n", ErrorKind::InvalidBoolean, 1);
    refuses(b"#tt\r\n", ErrorKind::InvalidBoolean, 2);
    refuses(b":\r\n", ErrorKind::InvalidInteger, 1);
    refuses(b":-\r\n", ErrorKind::InvalidInteger, 2);
    refuses(b":9223372036854775808\r\n", ErrorKind::InvalidInteger, 1);
    refuses(b"(\r\n", ErrorKind::InvalidBigNumber, 1);
    refuses(b"(12a3\r\n", ErrorKind::InvalidBigNumber, 3);
    refuses(b"X", ErrorKind::UnknownType(b'X'), 0);
    refuses(b"*1\r\nPING\r\n", ErrorKind::UnknownType(b'P'), 4);
    refuses(b"=3\r\ntxt\r\n", ErrorKind::InvalidVerbatim, 1);
    refuses(b"=50\r\ntxtX", ErrorKind::InvalidVerbatim, 8);
    refuses(b"=5\r\ntxtXa\r\n", ErrorKind::InvalidVerbatim, 7);
}

#[test]
fn malformed_lengths_are_refused_at_their_byte() {
    for (input, offset) in [
        ("$-2\r\n", 1),
        ("$-0\r\n", 3),
        ("$+3\r\n", 1),
        ("$03\r\n", 2),
        ("$ 3\r\n", 1),
        ("!-1\r\n", 1),
        ("=-1\r\n", 1),
        ("$18446744073709551615\r\n", 1),
        ("$3\r\nabcd", 7),
        ("!?\r\n", 1),
    ] {
        refuses(input.as_bytes(), ErrorKind::InvalidBulkLength, offset);
    }
    for (input, offset) in [
        ("*-2\r\n", 1),
        ("%-1\r\n", 1),
        ("~-1\r\n", 1),
        (">-1\r\n", 1),
        ("|-1\r\n", 1),
        ("*01\r\n", 2),
        ("*\r\n", 1),
    ] {
        refuses(input.as_bytes(), ErrorKind::InvalidMultibulkLength, offset);
    }
    for input in [
        "*9223372036854775807\r\n",
        "%9223372036854775807\r\n",
        "*1\r\n*268435456\r\n",
        "*4294967296\r\n",
    ] {
        assert_eq!(
            check(input.as_bytes()).1.map_err(|error| error.kind),
            Err(ErrorKind::TooManyNodes),
            "{input:?}"
        );
    }
}

#[test]
fn input_at_a_limit_passes_and_above_it_fails() {
    let with = |limits: Limits, input: &str| {
        check_with(input.as_bytes(), &FrameDecoder::new(limits))
            .1
            .map_err(|error| (error.kind, error.offset))
    };
    let depth = Limits {
        max_depth: 3,
        ..Limits::CLIENT
    };
    assert_eq!(with(depth, "*1\r\n*1\r\n*1\r\n:1\r\n"), Ok(0));
    assert_eq!(with(depth, "*1\r\n*1\r\n*1\r\n*0\r\n"), Ok(0));
    assert_eq!(
        with(depth, "*1\r\n*1\r\n*1\r\n*1\r\n"),
        Err((ErrorKind::TooDeep, 12))
    );
    assert_eq!(
        with(depth, "*1\r\n*1\r\n*1\r\n$?\r\n"),
        Err((ErrorKind::TooDeep, 12))
    );
    let nodes = Limits {
        max_nodes: 3,
        ..Limits::CLIENT
    };
    assert_eq!(with(nodes, "*2\r\n:1\r\n:2\r\n"), Ok(0));
    assert_eq!(with(nodes, "*3\r\n"), Err((ErrorKind::TooManyNodes, 1)));
    assert_eq!(
        with(nodes, "*?\r\n:1\r\n:1\r\n:1\r\n"),
        Err((ErrorKind::TooManyNodes, 12))
    );
    let line = Limits {
        max_inline: 3,
        ..Limits::CLIENT
    };
    assert_eq!(with(line, "+abc\r\n"), Ok(0));
    assert_eq!(with(line, "+abcd\r\n"), Err((ErrorKind::LineTooBig, 4)));
    assert_eq!(with(line, "+abcd"), Err((ErrorKind::LineTooBig, 4)));
    let frame = Limits {
        max_frame: 11,
        ..Limits::CLIENT
    };
    assert_eq!(with(frame, "*1\r\n$1\r\na\r\n"), Ok(0));
    assert_eq!(
        with(frame, "*1\r\n$2\r\nab\r\n"),
        Err((ErrorKind::FrameTooBig, 8))
    );
    let bulk = Limits {
        max_bulk: 2,
        ..Limits::CLIENT
    };
    assert_eq!(
        with(bulk, "$3\r\nabc\r\n"),
        Err((ErrorKind::InvalidBulkLength, 1))
    );
}

#[test]
fn deep_nesting_is_refused_unless_the_limit_allows_it() {
    let deep = if cfg!(miri) {
        300
    } else {
        usize::from(u16::MAX)
    };
    let input = "*1\r\n".repeat(deep);
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    assert_eq!(
        decoder.decode(input.as_bytes()).unwrap_err().kind,
        ErrorKind::TooDeep
    );
    let mut decoder = FrameDecoder::new(Limits {
        max_depth: u16::MAX,
        ..Limits::CLIENT
    });
    let input = "*1\r\n".repeat(deep) + ":1\r\n";
    let frame = decoder.decode(input.as_bytes()).unwrap().ready().unwrap();
    let value = frame.to_value();
    assert_eq!(value.to_bytes(crate::Proto::Resp2), input.as_bytes());
}

#[test]
fn verbatim_format_is_separate_from_the_text() {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    let frame = decoder
        .decode(b"=6\r\nmkd:#a\r\n")
        .unwrap()
        .ready()
        .unwrap();
    assert_eq!(
        (frame.kind(), frame.verbatim_format(), frame.str()),
        (Kind::Verbatim, Some(*b"mkd"), Some("#a"))
    );
}

#[test]
fn announced_counts_reserve_no_memory() {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    let _ = decoder
        .decode("*1000000\r\n".repeat(60).as_bytes())
        .unwrap();
    assert!(decoder.nodes.capacity() <= 64);
}
