//! Unit tests of the binary protocol.

use alloc::vec;
use alloc::vec::Vec;

use super::{
    CALL, ReplyDecoder, RequestDecoder, decode_plain, write_call, write_delete, write_get,
    write_set,
};
use crate::{Attributed, Encoder, Error, ErrorKind, Limits, Proto, Step, Value};

fn requests(
    input: &[u8],
    limits: Limits,
    cuts: &[usize],
) -> (Vec<Vec<Vec<u8>>>, Result<usize, Error>) {
    let mut decoder = RequestDecoder::new(limits);
    let mut requests = Vec::new();
    let mut start = 0;
    for &cut in cuts.iter().chain([&input.len()]) {
        loop {
            match decoder.decode(&input[start..cut]) {
                Ok(Step::Ready { item, consumed }) => {
                    assert_eq!(item.wire(), &input[start..start + consumed]);
                    requests.push(item.args().iter().map(<[u8]>::to_vec).collect());
                    start += consumed;
                }
                Ok(Step::NeedMore { .. }) => break,
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

fn check(input: &[u8], limits: Limits) -> (Vec<Vec<Vec<u8>>>, Result<usize, Error>) {
    let whole = requests(input, limits, &[]);
    for cut in 0..input.len() {
        assert_eq!(requests(input, limits, &[cut]), whole, "cut at {cut}");
    }
    whole
}

#[test]
fn binary_requests_translate_to_commands() {
    let mut input = Vec::new();
    write_set(&mut input, b"hello", b"world");
    write_get(&mut input, b"hello");
    write_delete(&mut input, b"");
    write_call(&mut input, &["PING", "a"]);
    assert_eq!(
        &input[..29],
        b"\x03\x05\0\0\0hello\x05\0\0\0world\x01\x05\0\0\0hello"[..29].as_ref()
    );
    let (requests, end) = check(&input, Limits::SERVER);
    let words = |words: &[&str]| {
        words
            .iter()
            .map(|word| word.as_bytes().to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(end, Ok(0));
    assert_eq!(
        requests,
        [
            words(&["SET", "hello", "world", "GET"]),
            words(&["GET", "hello"]),
            words(&["GETDEL", ""]),
            words(&["PING", "a"])
        ]
    );
}

#[test]
fn request_returns_its_key_and_value() {
    let mut decoder = RequestDecoder::new(Limits::SERVER);
    let request = decoder
        .decode(b"\x03\x01\0\0\0k\x01\0\0\0v")
        .unwrap()
        .ready()
        .unwrap();
    assert_eq!(
        (request.key(), request.value(), request.is_tagged()),
        (Some(&b"k"[..]), Some(&b"v"[..]), false)
    );
    let request = decoder
        .decode(b"\x10\x01\0\0\0\x04\0\0\0PING")
        .unwrap()
        .ready()
        .unwrap();
    assert_eq!(
        (
            request.op(),
            request.key(),
            request.value(),
            request.is_tagged()
        ),
        (CALL, None, None, true)
    );
}

#[test]
fn malformed_requests_are_refused() {
    let kind = |input: &[u8], limits| {
        check(input, limits)
            .1
            .map_err(|error| (error.kind, error.offset))
    };
    assert_eq!(
        kind(b"\x04", Limits::SERVER),
        Err((ErrorKind::UnknownOp(4), 0))
    );
    assert_eq!(
        kind(b"*1\r\n", Limits::SERVER),
        Err((ErrorKind::UnknownOp(b'*'), 0))
    );
    assert_eq!(
        kind(b"\x10\0\0\0\0", Limits::SERVER),
        Err((ErrorKind::InvalidMultibulkLength, 1))
    );
    assert_eq!(
        kind(b"\x10\xff\xff\xff\xff", Limits::SERVER),
        Err((ErrorKind::InvalidMultibulkLength, 1))
    );
    assert_eq!(
        kind(b"\x01\xff\xff\xff\xff", Limits::SERVER),
        Err((ErrorKind::InvalidBulkLength, 1))
    );
    assert_eq!(kind(b"\x01\0\0\0\x20", Limits::SERVER), Ok(5));
    assert_eq!(
        kind(b"\x10\x0b\0\0\0", Limits::UNAUTHENTICATED),
        Err((ErrorKind::UnauthenticatedMultibulkLength, 1))
    );
    assert_eq!(
        kind(b"\x01\x01\x40\0\0", Limits::UNAUTHENTICATED),
        Err((ErrorKind::UnauthenticatedBulkLength, 1))
    );
    let small = Limits {
        max_frame: 7,
        ..Limits::SERVER
    };
    assert_eq!(kind(b"\x01\x02\0\0\0ab", small), Ok(0));
    assert_eq!(
        kind(b"\x01\x03\0\0\0abc", small),
        Err((ErrorKind::FrameTooBig, 1))
    );
}

fn every_kind() -> Value {
    let pairs = || {
        [(Value::from("k"), Value::from(vec![Value::NULL]))]
            .into_iter()
            .collect()
    };
    let values = vec![
        Value::NULL,
        Value::Simple(b"s".to_vec()),
        Value::Error(b"ERR e".to_vec()),
        Value::from(i64::MIN),
        Value::from(""),
        Value::from(true),
        Value::from(false),
        Value::from(f64::NAN),
        Value::BigNumber(b"-12345678901234567890".to_vec()),
        Value::BlobError(b"\r\n".to_vec()),
        Value::Verbatim {
            format: *b"txt",
            text: b"v".to_vec(),
        },
        Value::Map(pairs()),
        Value::Set(vec![Value::from(1), Value::from(1)].into()),
        Value::Attributed(Attributed::new(
            pairs(),
            Value::Attributed(Attributed::new(pairs(), Value::from(1))),
        )),
    ];
    Value::Attributed(Attributed::new(pairs(), Value::from(values)))
}

#[test]
fn tagged_value_of_every_kind_decodes_at_every_split() {
    let wire = every_kind().to_bytes(Proto::Binary);
    for cut in 0..wire.len() {
        let mut decoder = ReplyDecoder::new(Limits::CLIENT);
        assert!(decoder.decode(&wire[..cut]).unwrap().ready().is_none());
        let Step::Ready { item, consumed } = decoder.decode(&wire).unwrap() else {
            panic!("whole")
        };
        assert_eq!((consumed, item.wire()), (wire.len(), &wire[..]));
        assert_eq!(item.to_value().to_bytes(Proto::Binary), wire);
        for child in item.children() {
            let mut again = ReplyDecoder::new(Limits::CLIENT);
            let value = again
                .decode(child.wire())
                .unwrap()
                .ready()
                .unwrap()
                .to_value();
            assert_eq!(value, child.to_value());
        }
    }
}

#[test]
fn malformed_tagged_values_are_refused() {
    let refuses = |input: &[u8], kind: ErrorKind, offset: usize| {
        let whole = ReplyDecoder::new(Limits::CLIENT)
            .decode(input)
            .map(|_| ())
            .unwrap_err();
        assert_eq!(whole, Error { kind, offset }, "{:?}", input.escape_ascii());
        let mut decoder = ReplyDecoder::new(Limits::CLIENT);
        let last =
            (0..=input.len()).find_map(|len| decoder.decode(&input[..len]).map(|_| ()).err());
        assert_eq!(last, Some(whole));
    };
    refuses(b"?", ErrorKind::UnknownTag(b'?'), 0);
    refuses(b"#\x02", ErrorKind::InvalidBoolean, 1);
    refuses(b"$\xff\xff\xff\xff", ErrorKind::InvalidBulkLength, 1);
    refuses(b"=\x02\0\0\0", ErrorKind::InvalidVerbatim, 1);
    refuses(b"(\x02\0\0\x001x", ErrorKind::InvalidBigNumber, 6);
    refuses(b"*\xff\xff\xff\xff", ErrorKind::TooManyNodes, 1);
    refuses(b">\0\0\0\0", ErrorKind::InvalidPush, 1);
    refuses(
        b"*\x01\0\0\0>\x01\0\0\0+\x01\0\0\0a",
        ErrorKind::NestedPush,
        5,
    );
    let deep = b"*\x01\0\0\0".repeat(129);
    refuses(&deep, ErrorKind::TooDeep, 128 * 5);
}

#[test]
fn plain_replies_are_lengths_and_payloads() {
    assert_eq!(
        decode_plain(b"\x03\0\0", &Limits::CLIENT),
        Ok(Step::NeedMore {
            consumed: 0,
            hint: 1
        })
    );
    assert_eq!(
        decode_plain(b"\x03\0\0\0ab", &Limits::CLIENT),
        Ok(Step::NeedMore {
            consumed: 0,
            hint: 1
        })
    );
    assert_eq!(
        decode_plain(b"\0\0\0\0x", &Limits::CLIENT),
        Ok(Step::Ready {
            item: &b""[..],
            consumed: 4
        })
    );
    let error = Error {
        kind: ErrorKind::InvalidBulkLength,
        offset: 0,
    };
    assert_eq!(
        decode_plain(b"\xff\xff\xff\xff", &Limits::CLIENT),
        Err(error)
    );
}

#[test]
fn plain_encoder_counts_replies_it_cannot_express() {
    let mut out = Vec::new();
    let mut encoder = Encoder::new(&mut out, Proto::BinaryPlain);
    encoder.bulk("ab");
    encoder.null();
    encoder.int(12);
    encoder.ok();
    assert_eq!(encoder.error_count(), 0);
    encoder.error("ERR no");
    encoder.array(3);
    assert_eq!(encoder.error_count(), 2);
    assert_eq!(out, b"\x02\0\0\0ab\0\0\0\0\x02\0\0\x0012\x02\0\0\0OK");
}
