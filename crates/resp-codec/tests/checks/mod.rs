//! Checks for any input, used by the property tests, by the fuzz targets, and for their corpora.

#![expect(clippy::unwrap_used, reason = "a panic is how a check fails")]
#![allow(dead_code, reason = "no user calls every check")]
#![allow(
    unreachable_pub,
    reason = "the fuzz targets include this file as their own module"
)]

use resp_codec::annotate::{Mode, Prefix, annotate, diagnose};
use resp_codec::{
    Attributed, CommandDecoder, Encoder, Error, Event, EventDecoder, FrameDecoder, Kind, Limits,
    Pairs, Proto, Scalar, Step, Value, Values, binary,
};

/// Limits so small that random input reaches them.
pub const SMALL: Limits = Limits {
    max_bulk: 40,
    max_args: 12,
    max_inline: 24,
    max_depth: 4,
    max_nodes: 40,
    max_frame: 200,
    unauthenticated: false,
};

/// The decoded items, and an error with its offset in the stream or the number of bytes left over.
pub type Run<T> = (Vec<T>, Result<usize, Error>);

/// Drives a decoder over `input`, which arrives in pieces that end at `cuts`.
pub fn run<T>(
    input: &[u8],
    cuts: &[usize],
    mut decode: impl FnMut(&[u8]) -> Result<Step<T>, Error>,
) -> Run<T> {
    let (mut items, mut start) = (Vec::new(), 0);
    for &cut in cuts.iter().chain([&input.len()]) {
        loop {
            match decode(&input[start..cut]) {
                Ok(Step::Ready { item, consumed }) => {
                    items.push(item);
                    start += consumed;
                }
                Ok(Step::NeedMore { consumed, hint }) => {
                    assert!(hint >= 1);
                    start += consumed;
                    break;
                }
                Err(error) => {
                    return (
                        items,
                        Err(Error {
                            offset: start + error.offset,
                            ..error
                        }),
                    );
                }
            }
        }
    }
    (items, Ok(input.len() - start))
}

pub fn map_step<T, U>(step: Step<T>, map: impl FnOnce(T) -> U) -> Step<U> {
    match step {
        Step::Ready { item, consumed } => Step::Ready {
            item: map(item),
            consumed,
        },
        Step::NeedMore { consumed, hint } => Step::NeedMore { consumed, hint },
    }
}

pub fn commands(input: &[u8], limits: Limits, cuts: &[usize]) -> Run<Vec<Vec<u8>>> {
    let mut decoder = CommandDecoder::new(limits);
    run(input, cuts, |buf| {
        let step = decoder.decode(buf)?;
        Ok(map_step(step, |item| {
            item.args().iter().map(<[u8]>::to_vec).collect()
        }))
    })
}

pub fn frames(input: &[u8], limits: Limits, cuts: &[usize]) -> Run<Value> {
    let mut decoder = FrameDecoder::new(limits);
    run(input, cuts, |buf| {
        let step = decoder.decode(buf)?;
        Ok(map_step(step, |frame| {
            assert_eq!(frame.wire().len(), step.consumed());
            frame.to_value()
        }))
    })
}

pub fn requests(input: &[u8], limits: Limits, cuts: &[usize]) -> Run<Vec<Vec<u8>>> {
    let mut decoder = binary::RequestDecoder::new(limits);
    run(input, cuts, |buf| {
        let step = decoder.decode(buf)?;
        Ok(map_step(step, |item| {
            item.args().iter().map(<[u8]>::to_vec).collect()
        }))
    })
}

pub fn tagged(input: &[u8], limits: Limits, cuts: &[usize]) -> Run<Value> {
    let mut decoder = binary::ReplyDecoder::new(limits);
    run(input, cuts, |buf| {
        Ok(map_step(decoder.decode(buf)?, |frame| frame.to_value()))
    })
}

/// An aggregate whose events have begun and not ended.
struct Open {
    kind: Kind,
    values: Vec<Value>,
    /// The attributes of the next value.
    attributes: Vec<Value>,
}

/// Builds values from events, to compare with those that frames give.
struct Assembler {
    around: Vec<Open>,
    blob: Option<(Kind, Vec<u8>)>,
    done: Vec<Value>,
}

impl Assembler {
    fn new() -> Self {
        let root = Open {
            kind: Kind::Array,
            values: Vec::new(),
            attributes: Vec::new(),
        };
        Self {
            around: vec![root],
            blob: None,
            done: Vec::new(),
        }
    }

    fn add(&mut self, value: Value) {
        let open = self.around.last_mut().unwrap();
        let attributes = pairs(std::mem::take(&mut open.attributes));
        let value = if attributes.is_empty() {
            value
        } else {
            Value::Attributed(Attributed::new(attributes, value))
        };
        open.values.push(value);
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Scalar(scalar) => self.add(match scalar {
                Scalar::Simple(text) => Value::Simple(text.to_vec()),
                Scalar::Error(text) => Value::Error(text.to_vec()),
                Scalar::Int(value) => Value::Int(value),
                Scalar::Null(form) => Value::Null(form),
                Scalar::Bool(value) => Value::Bool(value),
                Scalar::Double(value) => Value::Double(value),
                Scalar::BigNumber(digits) => Value::BigNumber(digits.to_vec()),
            }),
            Event::BlobStart { kind, .. } => self.blob = Some((kind, Vec::new())),
            Event::BlobChunk(chunk) => self.blob.as_mut().unwrap().1.extend_from_slice(chunk),
            Event::BlobEnd => {
                let (kind, bytes) = self.blob.take().unwrap();
                self.add(match kind {
                    Kind::Bulk => Value::Bulk(bytes),
                    Kind::BlobError => Value::BlobError(bytes),
                    _ => Value::Verbatim {
                        format: bytes[..3].try_into().unwrap(),
                        text: bytes[4..].to_vec(),
                    },
                });
            }
            Event::Open { kind, .. } => self.around.push(Open {
                kind,
                values: Vec::new(),
                attributes: Vec::new(),
            }),
            Event::Close { kind } => {
                let open = self.around.pop().unwrap();
                assert_eq!(open.kind, kind);
                match kind {
                    Kind::Attribute => self
                        .around
                        .last_mut()
                        .unwrap()
                        .attributes
                        .extend(open.values),
                    Kind::Map => self.add(Value::Map(pairs(open.values))),
                    Kind::Set => self.add(Value::Set(open.values.into())),
                    Kind::Push => self.add(Value::Push(open.values.into())),
                    _ => self.add(Value::Array(open.values.into())),
                }
            }
            Event::FrameEnd => self.done.append(&mut self.around[0].values),
        }
    }
}

pub fn pairs(values: Vec<Value>) -> Pairs {
    let mut values = values.into_iter();
    std::iter::from_fn(|| Some((values.next()?, values.next()?))).collect()
}

pub fn events(input: &[u8], limits: Limits, cuts: &[usize]) -> (Vec<Value>, Result<usize, Error>) {
    let mut decoder = EventDecoder::new(limits);
    let mut assembler = Assembler::new();
    let (_, end) = run(input, cuts, |buf| {
        let step = decoder.decode(buf)?;
        Ok(map_step(step, |event| assembler.event(event)))
    });
    (assembler.done, end)
}

/// Events do not show empty attributes.
pub fn without_empty_attributes(value: &Value) -> Value {
    let list = |values: &[Value]| {
        values
            .iter()
            .map(without_empty_attributes)
            .collect::<Values>()
    };
    match value {
        Value::Array(values) => Value::Array(list(values)),
        Value::Set(values) => Value::Set(list(values)),
        Value::Push(values) => Value::Push(list(values)),
        Value::Map(map) => Value::Map(pairs(list(map.flat()).into_vec())),
        Value::Attributed(attributed) => {
            let value = without_empty_attributes(attributed.value());
            let attributes = attributed.attributes().map(|(key, value)| {
                (
                    without_empty_attributes(key),
                    without_empty_attributes(value),
                )
            });
            let attributes: Pairs = attributes.collect();
            if attributes.is_empty() {
                value
            } else {
                Value::Attributed(Attributed::new(attributes, value))
            }
        }
        other => other.clone(),
    }
}

/// Splits the rest of `data` as its first byte says.
pub fn cuts(data: &[u8]) -> (&[u8], Vec<usize>) {
    let Some((&seed, input)) = data.split_first() else {
        return (data, Vec::new());
    };
    let mut state = u32::from(seed) * 0x9e37 + 1;
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < input.len() {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        at += 1 + (state % (1 + u32::from(seed) % 64)) as usize;
        cuts.push(at.min(input.len()));
    }
    (input, cuts)
}

/// Checks requests: splits change nothing, and annotations agree.
pub fn check_commands(data: &[u8]) {
    let (input, cuts) = cuts(data);
    for limits in [
        Limits::SERVER,
        SMALL,
        Limits {
            unauthenticated: true,
            ..SMALL
        },
    ] {
        let whole = commands(input, limits, &[]);
        assert_eq!(commands(input, limits, &cuts), whole);
        check_marks(input, Mode::Requests, &limits, whole.1.err());
    }
}

/// Checks an inline request: one line, with any words.
pub fn check_inline(data: &[u8]) {
    let mut line: Vec<u8> = data.iter().copied().filter(|&byte| byte != b'\n').collect();
    if line.first() == Some(&b'*') {
        line.insert(0, b' ');
    }
    line.push(b'\n');
    let (requests, end) = commands(&line, Limits::SERVER, &[]);
    assert_eq!(
        commands(&line, Limits::SERVER, &[line.len() / 2]),
        (requests.clone(), end)
    );
    assert!(requests.len() <= 1);
    if let (Some(args), Ok(left)) = (requests.first(), end) {
        assert_eq!(left, 0);
        // If the words are quoted and sent again, they stay the same.
        let quoted: Vec<String> = args
            .iter()
            .map(|arg| {
                format!(
                    "\"{}\"",
                    arg.iter()
                        .map(|byte| format!("\\x{byte:02x}"))
                        .collect::<String>()
                )
            })
            .collect();
        let again = format!("{}\n", quoted.join(" "));
        if again.len() < 60_000 {
            assert_eq!(
                commands(again.as_bytes(), Limits::SERVER, &[]),
                (requests.clone(), Ok(0))
            );
        }
    }
}

/// Checks replies: splits change nothing, and owned values encode to bytes that decode to them.
pub fn check_frames(data: &[u8]) {
    let (input, cuts) = cuts(data);
    for limits in [Limits::CLIENT, SMALL] {
        let whole = frames(input, limits, &[]);
        assert_eq!(frames(input, limits, &cuts), whole);
        for value in &whole.0 {
            let wire = value.to_bytes(Proto::Resp3);
            let (again, end) = frames(&wire, Limits::CLIENT, &[]);
            assert_eq!(
                (again.as_slice(), end),
                (std::slice::from_ref(value), Ok(0))
            );
            assert_eq!(
                frames(&value.to_bytes(Proto::Resp2), Limits::CLIENT, &[]).1,
                Ok(0)
            );
            assert!(value.clone() == *value);
        }
    }
}

/// Checks that events describe the same values as frames.
pub fn check_events(data: &[u8]) {
    let (input, cuts) = cuts(data);
    for limits in [
        Limits::CLIENT,
        Limits {
            max_frame: u32::MAX,
            ..SMALL
        },
    ] {
        let (frames, frames_end) = frames(input, limits, &[]);
        let (events, events_end) = events(input, limits, &cuts);
        let frames: Vec<_> = frames.iter().map(without_empty_attributes).collect();
        assert_eq!(events, frames);
        assert_eq!(events_end.map(|_| ()), frames_end.map(|_| ()));
    }
}

/// Checks that marks cover any input and agree with the decoders, that diagnoses report their error
/// and fixes apply, and that a decoder cloned on the way gives the same answers as a new one.
pub fn check_annotate(data: &[u8]) {
    for (mode, error) in in_every_mode(data) {
        check_marks(data, mode, &SMALL, error);
        check_diagnosis(data, mode, &SMALL, error);
        check_prefix(data, mode, SMALL);
    }
}

/// The same with a diagnosis in only one mode, which the bytes select: a diagnosis tries hundreds
/// of inputs, which would slow down a fuzzer.
pub fn check_annotate_once(data: &[u8]) {
    let pick = data.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) % 4;
    for (index, (mode, error)) in in_every_mode(data).into_iter().enumerate() {
        check_marks(data, mode, &SMALL, error);
        if index == usize::from(pick) {
            check_diagnosis(data, mode, &SMALL, error);
            check_prefix(data, mode, SMALL);
        }
    }
}

/// The error of each mode's decoder.
fn in_every_mode(data: &[u8]) -> [(Mode, Option<Error>); 4] {
    [
        (Mode::Replies, frames(data, SMALL, &[]).1.err()),
        (Mode::Requests, commands(data, SMALL, &[]).1.err()),
        (Mode::BinaryRequests, requests(data, SMALL, &[]).1.err()),
        (Mode::BinaryReplies, tagged(data, SMALL, &[]).1.err()),
    ]
}

fn check_marks(input: &[u8], mode: Mode, limits: &Limits, error: Option<Error>) {
    let mut marks = Vec::new();
    let outcome = annotate(input, mode, limits, &mut marks);
    let mut at = 0;
    for mark in &marks {
        assert_eq!(mark.at, at);
        at += mark.len;
    }
    assert_eq!(at as usize, input.len());
    assert_eq!(outcome.error, error);
}

fn check_diagnosis(input: &[u8], mode: Mode, limits: &Limits, error: Option<Error>) {
    let diagnosis = diagnose(input, mode, limits);
    assert_eq!(diagnosis.as_ref().map(|diagnosis| diagnosis.error), error);
    if let (Some(diagnosis), Some(error)) = (diagnosis, error) {
        assert!(!input.get(error.offset).is_some_and(
            |&byte| diagnosis.expected.contains(byte) && diagnosis.expected.len() == 1
        ));
        assert!(diagnosis.fixes.iter().all(|fix| fix.apply(input) != input));
        assert!(diagnosis.to_string().len() < 4096);
    }
}

/// Checks that a decoder cloned at every cut gives the same answers as one from the start.
fn check_prefix(data: &[u8], mode: Mode, limits: Limits) {
    let (input, cuts) = cuts(data);
    let mut kept = Prefix::new(mode, limits);
    let mut torn = None;
    for end in cuts {
        let start = &input[..end];
        let mut fresh = Prefix::new(mode, limits);
        kept = kept.clone();
        let lacking = kept.advance(start);
        assert_eq!(lacking, fresh.advance(start));
        if !matches!(lacking, Ok(1..)) {
            break;
        }
        torn = Some((start, kept.clone(), fresh));
    }
    if let Some((start, kept, fresh)) = torn {
        assert_eq!(kept.expected(start), fresh.expected(start));
    }
}

/// Checks the decoders of the binary protocol, for requests and for replies.
pub fn check_binary(data: &[u8]) {
    let (input, cuts) = cuts(data);
    for limits in [Limits::SERVER, SMALL] {
        assert_eq!(requests(input, limits, &cuts), requests(input, limits, &[]));
        let whole = tagged(input, limits, &[]);
        assert_eq!(tagged(input, limits, &cuts), whole);
        for value in &whole.0 {
            let wire = value.to_bytes(Proto::Binary);
            let (again, end) = tagged(&wire, Limits::CLIENT, &[]);
            assert_eq!(end, Ok(0));
            assert_eq!(again[0].to_bytes(Proto::Binary), wire);
        }
    }
}

/// Checks that a value that RESP3 can express round-trips through every protocol that can express
/// it.
pub fn check_round_trip(value: &Value) {
    let wire = value.to_bytes(Proto::Resp3);
    let (values, end) = frames(&wire, Limits::CLIENT, &[]);
    assert_eq!(
        (values.as_slice(), end),
        (std::slice::from_ref(value), Ok(0))
    );
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    let frame = decoder.decode(&wire).unwrap().ready().unwrap();
    for proto in [Proto::Resp2, Proto::Binary] {
        let mut out = Vec::new();
        frame.encode(&mut Encoder::new(&mut out, proto));
        assert_eq!(out, value.to_bytes(proto));
    }
    let binary = value.to_bytes(Proto::Binary);
    let (values, end) = tagged(&binary, Limits::CLIENT, &[]);
    assert_eq!(end, Ok(0));
    assert_eq!(values[0].to_bytes(Proto::Binary), binary);
}
