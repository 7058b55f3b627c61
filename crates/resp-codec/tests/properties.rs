//! Property tests for any input: splits change nothing, the decoders agree with each other, and
//! decoding reverses encoding.

mod checks;

use proptest::prelude::*;
use resp_codec::annotate::{Mode, annotate};
use resp_codec::{
    Attributed, Encoder, Error, ErrorKind, FrameDecoder, Limits, NullForm, Pairs, Proto, Value,
    binary, command, command_len, number,
};

use checks::{SMALL, commands, events, frames, requests, tagged, without_empty_attributes};

/// Valid and invalid pieces of the grammar in random order: this reaches deeper than random bytes.
fn random_pieces(pieces: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..4),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

const REPLY_PIECES: &[&[u8]] = &[
    b"+OK\r\n",
    b"-ERR x\r\n",
    b":1\r\n",
    b":-12\r\n",
    b"$1\r\na\r\n",
    b"$0\r\n\r\n",
    b"$12\r\n\r\n0123456789\r\n",
    b"$-1\r\n",
    b"*-1\r\n",
    b"_\r\n",
    b"#t\r\n",
    b",1.5\r\n",
    b",nan\r\n",
    b"(123\r\n",
    b"!2\r\nE!\r\n",
    b"=5\r\ntxt:v\r\n",
    b"*0\r\n",
    b"*1\r\n",
    b"*2\r\n",
    b"*11\r\n",
    b"%1\r\n",
    b"~2\r\n",
    b"|1\r\n",
    b"|0\r\n",
    b">1\r\n",
    b"*?\r\n",
    b"%?\r\n",
    b"~?\r\n",
    b"$?\r\n",
    b";2\r\nab\r\n",
    b";0\r\n",
    b".\r\n",
    b"$",
    b"*",
    b"\r",
    b"\n",
    b"1",
    b"-",
    b"?",
];

const REQUEST_PIECES: &[&[u8]] = &[
    b"*1\r\n",
    b"*2\r\n",
    b"*3\r\n",
    b"*11\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"$1\r\na\r\n",
    b"$3\r\nGET\r\n",
    b"$0\r\n\r\n",
    b"$12\r\n\r\n0123456789\r\n",
    b"\r\n",
    b"\n",
    b"PING\r\n",
    b"SET k 'a b' \"\\x41\"\r\n",
    b" ",
    b"\"",
    b"'",
    b"\\",
    b"$",
    b"*",
    b"\r",
    b"1",
    b"-",
];

const BINARY_PIECES: &[&[u8]] = &[
    b"\x01\x01\0\0\0k",
    b"\x02\0\0\0\0",
    b"\x03\x01\0\0\0k\x02\0\0\0vw",
    b"\x10\x01\0\0\0",
    b"\x04\0\0\0PING",
    b"\x10\0\0\0\0",
    b"\xff",
    b"\0",
    b"\x04",
];

const TAGGED_PIECES: &[&[u8]] = &[
    b"_",
    b"#\x01",
    b":\x01\0\0\0\0\0\0\0",
    b",\0\0\0\0\0\0\xf0\x3f",
    b"$\x01\0\0\0a",
    b"=\x04\0\0\0txtv",
    b"*\x02\0\0\0",
    b"%\x01\0\0\0",
    b"|\x01\0\0\0",
    b"~\0\0\0\0",
    b">\x01\0\0\0",
    b"+\x01\0\0\0p",
    b"(\x01\0\0\x007",
    b"\0",
    b"*",
];

fn input_and_cuts(
    pieces: &'static [&'static [u8]],
) -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    (
        random_pieces(pieces),
        proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    )
        .prop_map(|(input, cuts)| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
            cuts.sort_unstable();
            (input, cuts)
        })
}

/// Values that RESP3 can express.
fn value() -> impl Strategy<Value = Value> {
    let line = proptest::collection::vec(
        any::<u8>().prop_filter("no line end", |byte| !matches!(byte, b'\r' | b'\n')),
        0..6,
    );
    let bytes = proptest::collection::vec(any::<u8>(), 0..120);
    let leaf = prop_oneof![
        proptest::sample::select(&[NullForm::Null, NullForm::Bulk, NullForm::Array])
            .prop_map(Value::Null),
        line.clone().prop_map(Value::Simple),
        line.prop_map(Value::Error),
        any::<i64>().prop_map(Value::Int),
        bytes.clone().prop_map(Value::Bulk),
        any::<bool>().prop_map(Value::Bool),
        any::<f64>().prop_map(Value::Double),
        "-?[1-9][0-9]{0,30}".prop_map(|digits| Value::BigNumber(digits.into_bytes())),
        bytes.clone().prop_map(Value::BlobError),
        (any::<[u8; 3]>(), bytes).prop_map(|(format, text)| Value::Verbatim { format, text }),
    ];
    leaf.prop_recursive(4, 40, 12, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..12);
        let map = proptest::collection::vec((inner.clone(), inner.clone()), 0..6)
            .prop_map(Pairs::from_iter);
        prop_oneof![
            list.clone().prop_map(|values| Value::Array(values.into())),
            list.prop_map(|values| Value::Set(values.into())),
            map.clone().prop_map(Value::Map),
            (map, inner).prop_map(|(attributes, value)| Value::Attributed(Attributed::new(
                attributes, value
            ))),
        ]
    })
}

fn cases() -> ProptestConfig {
    let cases = if cfg!(miri) { 8 } else { 512 };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn splits_change_no_request((input, cuts) in input_and_cuts(REQUEST_PIECES)) {
        for limits in [Limits::SERVER, SMALL, Limits { unauthenticated: true, ..SMALL }] {
            prop_assert_eq!(commands(&input, limits, &cuts), commands(&input, limits, &[]));
        }
    }

    #[test]
    fn splits_change_no_reply((input, cuts) in input_and_cuts(REPLY_PIECES)) {
        for limits in [Limits::CLIENT, SMALL] {
            prop_assert_eq!(frames(&input, limits, &cuts), frames(&input, limits, &[]));
        }
    }

    #[test]
    fn splits_change_no_binary_request((input, cuts) in input_and_cuts(BINARY_PIECES)) {
        for limits in [Limits::SERVER, SMALL] {
            prop_assert_eq!(requests(&input, limits, &cuts), requests(&input, limits, &[]));
        }
    }

    #[test]
    fn splits_change_no_tagged_value((input, cuts) in input_and_cuts(TAGGED_PIECES)) {
        for limits in [Limits::CLIENT, SMALL] {
            prop_assert_eq!(tagged(&input, limits, &cuts), tagged(&input, limits, &[]));
        }
    }

    #[test]
    fn events_and_frames_agree((input, cuts) in input_and_cuts(REPLY_PIECES)) {
        for limits in [Limits::CLIENT, Limits { max_frame: u32::MAX, ..SMALL }] {
            let (frames, frames_end) = frames(&input, limits, &[]);
            let (events, events_end) = events(&input, limits, &cuts);
            let frames: Vec<_> = frames.iter().map(without_empty_attributes).collect();
            prop_assert_eq!(events, frames);
            prop_assert_eq!(events_end.map(|_| ()), frames_end.map(|_| ()));
        }
    }

    #[test]
    fn annotations_agree_with_the_decoders(
        (replies, requests, binary, tagged_values) in (random_pieces(REPLY_PIECES), random_pieces(REQUEST_PIECES), random_pieces(BINARY_PIECES), random_pieces(TAGGED_PIECES)),
    ) {
        let checks: [(&[u8], Mode, usize, Option<Error>); 4] = [
            { let (items, end) = frames(&replies, SMALL, &[]); (&replies, Mode::Replies, items.len(), end.err()) },
            { let (items, end) = commands(&requests, SMALL, &[]); (&requests, Mode::Requests, items.len(), end.err()) },
            { let (items, end) = self::requests(&binary, SMALL, &[]); (&binary, Mode::BinaryRequests, items.len(), end.err()) },
            { let (items, end) = tagged(&tagged_values, SMALL, &[]); (&tagged_values, Mode::BinaryReplies, items.len(), end.err()) },
        ];
        for (input, mode, count, error) in checks {
            let mut marks = Vec::new();
            let outcome = annotate(input, mode, &SMALL, &mut marks);
            let mut at = 0;
            for mark in &marks {
                prop_assert_eq!(mark.at, at);
                at += mark.len;
            }
            prop_assert_eq!(at as usize, input.len());
            prop_assert_eq!(outcome.error, error);
            prop_assert!(outcome.frames as usize >= count);
            if error.is_none() {
                prop_assert_eq!(outcome.frames as usize, count);
            }
            prop_assert_eq!(resp_codec::annotate::diagnose(input, mode, &SMALL).map(|diagnosis| diagnosis.error), error);
        }
    }

    #[test]
    fn value_round_trips_through_resp3_and_binary(value in value()) {
        let wire = value.to_bytes(Proto::Resp3);
        let (values, end) = frames(&wire, Limits::CLIENT, &[]);
        prop_assert_eq!(end, Ok(0));
        // Consecutive attributes decode as one, and so does an empty one.
        prop_assert_eq!(values.len(), 1);
        prop_assert_eq!(&values[0], &value);
        prop_assert_eq!(values[0].to_bytes(Proto::Resp3), wire);
        let wire = value.to_bytes(Proto::Binary);
        let (values, end) = tagged(&wire, Limits::CLIENT, &[]);
        prop_assert_eq!(end, Ok(0));
        prop_assert_eq!(values[0].to_bytes(Proto::Binary), wire);
    }

    #[test]
    fn frame_and_value_encode_to_the_same_bytes(value in value()) {
        let wire = value.to_bytes(Proto::Resp3);
        let mut decoder = FrameDecoder::new(Limits::CLIENT);
        let frame = decoder.decode(&wire).unwrap().ready().unwrap();
        for proto in [Proto::Resp2, Proto::Binary] {
            let mut out = Vec::new();
            frame.encode(&mut Encoder::new(&mut out, proto));
            prop_assert_eq!(&out, &value.to_bytes(proto));
        }
        let degraded = value.to_bytes(Proto::Resp2);
        prop_assert_eq!(frames(&degraded, Limits::CLIENT, &[]).1, Ok(0));
    }

    #[test]
    fn request_round_trips(args in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 1..20)) {
        let mut wire = Vec::new();
        command(&mut wire, &args);
        prop_assert_eq!(wire.len(), command_len(&args));
        prop_assert_eq!(commands(&wire, Limits::SERVER, &[]), (vec![args.clone()], Ok(0)));
        let mut wire = Vec::new();
        binary::write_call(&mut wire, &args);
        prop_assert_eq!(requests(&wire, Limits::SERVER, &[]), (vec![args], Ok(0)));
    }

    #[test]
    fn integers_are_parsed_as_by_the_standard_library(value in any::<i64>(), text in "[-+0 ]{0,2}[0-9]{0,21}") {
        let mut out = Vec::new();
        number::write_i64(&mut out, value);
        prop_assert_eq!(&out, &value.to_string().into_bytes());
        prop_assert_eq!(number::parse_i64(&out), Some(value));
        let canonical = text.parse::<i64>().ok().filter(|value| value.to_string() == text);
        prop_assert_eq!(number::parse_i64(text.as_bytes()), canonical);
    }

    #[test]
    fn doubles_read_back_as_written(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        prop_assume!(value.is_finite());
        let mut out = Vec::new();
        number::write_f64(&mut out, value);
        let back = number::parse_f64(&out);
        prop_assert_eq!(back.map(f64::to_bits), Some(bits));
    }

    #[test]
    fn error_text_never_splits_a_reply(text in proptest::collection::vec(proptest::sample::select(b"a\r\n+ ".as_slice()), 0..12)) {
        for error in [false, true] {
            let mut out = Vec::new();
            let mut encoder = Encoder::new(&mut out, Proto::Resp2);
            if error { encoder.error(&text) } else { encoder.simple(&text) }
            prop_assert_eq!(frames(&out, Limits::CLIENT, &[]).0.len(), 1);
            prop_assert_eq!(out.iter().filter(|byte| matches!(byte, b'\r' | b'\n')).count(), 2);
        }
    }
}

#[test]
fn failure_is_kept_until_reset() {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    assert!(decoder.decode(b"x").is_err());
    assert_eq!(
        decoder.decode(b"+OK\r\n").unwrap_err().kind,
        ErrorKind::Poisoned
    );
    decoder.reset();
    assert!(decoder.decode(b"+OK\r\n").unwrap().ready().is_some());
}
