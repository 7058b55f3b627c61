//! Compares one request or reply across all protocols: its size in each, and what is lost.

use crate::document::Document;
use crate::tables::Wire;
use crate::words::{Words, encode_words, split_words};
use resp_codec::annotate::{Mark, Mode, Role, annotate};
use resp_codec::binary::{ReplyDecoder, RequestDecoder};
use resp_codec::{Args, CommandDecoder, Encoder, Frame, FrameDecoder, Kind, Limits, Proto, Step};
use serde::Serialize;

/// The most bytes of a form that are returned; its costs count all of its bytes.
const SHOWN_MAX: usize = 64 * 1024;

/// The most losses that are listed one by one.
const LOST_MAX: usize = 100;

/// The same request or reply in several protocols.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// One form per protocol.
    pub wires: Vec<Form>,
}

/// A request or reply in one protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Form {
    /// The number of the protocol.
    pub wire: u32,
    /// The name of the protocol.
    pub label: &'static str,
    /// The bytes, at most 64 KiB.
    pub bytes: Vec<u8>,
    /// The number of bytes without that limit.
    pub total: u32,
    /// What the bytes are used for.
    pub cost: Cost,
    /// The values that this protocol cannot express.
    pub lost: Vec<Loss>,
}

/// What bytes are used for; the fields add up to their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// The content: the bytes of strings, the digits of numbers.
    pub payload: u32,
    /// Type bytes, formats, quotes, blanks, and the marks of streams.
    pub framing: u32,
    /// Lengths and counts.
    pub digits: u32,
    /// Line ends.
    pub crlf: u32,
}

/// A value that a protocol cannot express.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Loss {
    /// The path of the value within its frame, as [`Document::path`] gives it.
    pub path: String,
    /// What it is written as instead.
    pub what: &'static str,
}

impl Document {
    /// Compares a frame across all protocols.
    ///
    /// # Errors
    /// If there is no such frame, or it is not complete.
    pub fn compare(&self, frame: usize) -> Result<Comparison, String> {
        let bytes = self.whole(frame)?;
        let limits = Limits::CLIENT;
        match self.mode_in_force() {
            Mode::Requests => {
                let mut decoder = CommandDecoder::new(limits);
                compare_request(ready(decoder.decode(bytes))?.args())
            }
            Mode::BinaryRequests => {
                let mut decoder = RequestDecoder::new(limits);
                compare_request(ready(decoder.decode(bytes))?.args())
            }
            Mode::Replies => {
                let mut decoder = FrameDecoder::new(limits);
                Ok(compare_reply(&ready(decoder.decode(bytes))?))
            }
            Mode::BinaryReplies => {
                let mut decoder = ReplyDecoder::new(limits);
                Ok(compare_reply(&ready(decoder.decode(bytes))?))
            }
        }
    }
}

/// The result of decoding a complete frame.
fn ready<T>(decoded: Result<Step<T>, resp_codec::Error>) -> Result<T, String> {
    let step = decoded.map_err(|error| error.to_string())?;
    step.ready()
        .ok_or_else(|| "the frame is not whole".to_owned())
}

fn compare_request(args: Args<'_>) -> Result<Comparison, String> {
    compare_words(&args.iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
}

/// Compares the request of a line across all protocols.
///
/// # Errors
/// If the line cannot be split, or has no words.
///
/// ```
/// let compared = respire_wasm::compare_command("SET k v").unwrap();
/// let [resp, _, binary, _, operation] = &compared.wires[..] else { panic!() };
/// assert_eq!((resp.total, binary.total, operation.total), (27, 22, 11));
/// assert_eq!((resp.cost.payload, resp.cost.crlf), (5, 14));
/// ```
pub fn compare_command(line: &str) -> Result<Comparison, String> {
    let Words { words, error, .. } = split_words(line);
    match error {
        Some(error) => Err(error),
        None => compare_words(&words),
    }
}

fn compare_words(words: &[Vec<u8>]) -> Result<Comparison, String> {
    let wires = [Wire::Resp2, Wire::Resp3, Wire::Binary, Wire::Inline];
    let forms = wires.into_iter().map(|wire| {
        let mode = match wire {
            Wire::Binary => Mode::BinaryRequests,
            _ => Mode::Requests,
        };
        Ok(form(wire, mode, encode_words(words, wire)?, Vec::new()))
    });
    let mut wires = forms.collect::<Result<Vec<_>, String>>()?;
    if let Ok(bytes) = encode_words(words, Wire::Operation) {
        let lost = vec![Loss {
            path: String::new(),
            what: reply_of_operation(words),
        }];
        wires.push(form(Wire::Operation, Mode::BinaryRequests, bytes, lost));
    }
    Ok(Comparison { wires })
}

/// What the binary operation replies if its reply differs from that of the request with these
/// words.
fn reply_of_operation(words: &[Vec<u8>]) -> &'static str {
    match words {
        [_, _, _] => "answered with the value before, not with OK",
        [name, _] if name.eq_ignore_ascii_case(b"DEL") => {
            "answered with the value that was removed, not with a count"
        }
        _ => "a key that does not exist is answered like an empty value",
    }
}

fn compare_reply(reply: &Frame<'_, '_>) -> Comparison {
    let encoded = |proto: Proto| {
        let mut out = Vec::new();
        reply.encode(&mut Encoder::new(&mut out, proto));
        out
    };
    let resp2 = encoded(Proto::Resp2);
    Comparison {
        wires: vec![
            form(Wire::Resp2, Mode::Replies, resp2, losses(reply)),
            form(
                Wire::Resp3,
                Mode::Replies,
                encoded(Proto::Resp3),
                Vec::new(),
            ),
            form(
                Wire::Binary,
                Mode::BinaryReplies,
                encoded(Proto::Binary),
                Vec::new(),
            ),
        ],
    }
}

fn form(wire: Wire, mode: Mode, mut bytes: Vec<u8>, lost: Vec<Loss>) -> Form {
    let (cost, total) = (cost(&bytes, mode), bytes.len() as u32);
    bytes.truncate(SHOWN_MAX);
    Form {
        wire: wire as u32,
        label: wire.label(),
        bytes,
        total,
        cost,
        lost,
    }
}

/// What the bytes of a form are used for, according to the codec's marks.
fn cost(bytes: &[u8], mode: Mode) -> Cost {
    let mut marks = Vec::new();
    annotate(bytes, mode, &Limits::CLIENT, &mut marks);
    let mut cost = Cost::default();
    for (at, mark) in marks.iter().enumerate() {
        let next: Option<&Mark> = marks.get(at + 1);
        let slot = match mark.role {
            Role::Payload | Role::Digits | Role::InlineArg | Role::Escape | Role::Field => {
                &mut cost.payload
            }
            Role::Length => &mut cost.digits,
            Role::Sign if next.is_some_and(|next| next.role == Role::Length) => &mut cost.digits,
            Role::Sign => &mut cost.payload,
            Role::Crlf => &mut cost.crlf,
            _ => &mut cost.framing,
        };
        *slot += mark.len;
    }
    cost
}

/// The values of a reply that RESP2 cannot express.
fn losses(reply: &Frame<'_, '_>) -> Vec<Loss> {
    let mut lost = Vec::new();
    // Walked with an explicit stack: a reply may be deeply nested.
    let mut stack = vec![(*reply, String::new())];
    while let Some((value, path)) = stack.pop() {
        if lost.len() >= LOST_MAX {
            break;
        }
        if value.attributes().is_some() {
            let what = "its attributes are dropped";
            lost.push(Loss {
                path: path.clone(),
                what,
            });
        }
        if let Some(what) = loss(&value) {
            lost.push(Loss {
                path: path.clone(),
                what,
            });
        }
        let children = value.children().enumerate().map(|(index, child)| {
            let step = match value.kind() {
                Kind::Map if index % 2 == 0 => format!("[{}].key", index / 2),
                Kind::Map => format!("[{}].value", index / 2),
                _ => format!("[{index}]"),
            };
            (child, format!("{path}{step}"))
        });
        let children: Vec<_> = children.take(LOST_MAX).collect();
        stack.extend(children.into_iter().rev());
    }
    lost
}

/// What RESP2 writes instead of a value, if it cannot express it.
fn loss(value: &Frame<'_, '_>) -> Option<&'static str> {
    Some(match value.kind() {
        Kind::Map => "a map becomes a flat array of keys and values",
        Kind::Set => "a set becomes an array",
        Kind::Push => "a push becomes an array, and looks like a reply",
        Kind::Bool => "a boolean becomes the integer 1 or 0",
        Kind::Double => "a double becomes a bulk string",
        Kind::BigNumber => "a big number becomes a bulk string",
        Kind::Verbatim => "a verbatim string becomes a bulk string without its format",
        Kind::BlobError => "a blob error becomes a simple error on one line",
        Kind::Null if value.null_form() == Some(resp_codec::NullForm::Null) => {
            "a null becomes a null bulk string"
        }
        _ if value.is_streamed() => "what was streamed is sent with its size in front",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn compared(bytes: &[u8], mode: u32) -> Comparison {
        let mut document = Document::new(mode, 2).expect("a mode");
        document
            .set_bytes(bytes.to_vec())
            .expect("the bytes are few");
        document.parse(usize::MAX);
        document.compare(0).expect("whole")
    }

    fn check_sums(comparison: &Comparison) {
        for form in &comparison.wires {
            let Cost {
                payload,
                framing,
                digits,
                crlf,
            } = form.cost;
            assert_eq!(payload + framing + digits + crlf, form.total, "{form:?}");
            assert_eq!(form.total as usize, form.bytes.len());
        }
    }

    proptest! {
        #[test]
        fn costs_of_requests_add_up(
            words in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..8), 1..5),
        ) {
            let comparison = compare_words(&words).expect("has words");
            check_sums(&comparison);
            let content: usize = words.iter().map(Vec::len).sum();
            for form in &comparison.wires[..3] {
                prop_assert_eq!(form.cost.payload as usize, content);
            }
        }
    }

    #[test]
    fn comparison_has_costs_and_losses_of_replies() {
        let reply = b"%2\r\n+a\r\n#t\r\n+b\r\n*3\r\n,1.5\r\n_\r\n:-7\r\n";
        let comparison = compared(reply, 1);
        check_sums(&comparison);
        assert_eq!(comparison.wires[1].bytes, reply);
        assert!(comparison.wires[1].lost.is_empty());
        let lost: Vec<_> = comparison.wires[0]
            .lost
            .iter()
            .map(|loss| loss.path.as_str())
            .collect();
        assert_eq!(lost, ["", "[0].value", "[1].value[0]", "[1].value[1]"]);
        let again = compared(&comparison.wires[2].bytes, 3);
        assert_eq!(again.wires[1].bytes, reply);
    }

    #[test]
    fn operations_are_forms_of_their_requests() {
        for (line, bytes, lost) in [
            ("get k", &b"\x01\x01\0\0\0k"[..], "like an empty value"),
            ("DEL k", b"\x02\x01\0\0\0k", "not with a count"),
            ("GETDEL k", b"\x02\x01\0\0\0k", "like an empty value"),
            ("SET k v", b"\x03\x01\0\0\0k\x01\0\0\0v", "not with OK"),
            (
                "SET k v get",
                b"\x03\x01\0\0\0k\x01\0\0\0v",
                "like an empty value",
            ),
        ] {
            let comparison = compare_command(line).expect("has words");
            check_sums(&comparison);
            let [.., operation] = &comparison.wires[..] else {
                panic!("{line}")
            };
            assert_eq!(
                (operation.label, &*operation.bytes),
                ("binary operation", bytes)
            );
            assert!(
                operation.lost[0].what.ends_with(lost),
                "{line}: {operation:?}"
            );
            let again = compared(bytes, 2);
            assert_eq!(again.wires.last().map(|form| &*form.bytes), Some(bytes));
        }
        for line in ["GET", "DEL a b", "SET k v NX", "INCR k"] {
            assert_eq!(compare_command(line).expect("has words").wires.len(), 4);
            assert!(crate::encode_command(line, Wire::Operation).is_err());
        }
    }

    #[test]
    fn attributes_and_streams_are_losses() {
        let comparison = compared(b"|1\r\n+a\r\n:1\r\n*?\r\n$?\r\n;1\r\nx\r\n;0\r\n.\r\n", 1);
        check_sums(&comparison);
        assert_eq!(comparison.wires[0].bytes, b"*1\r\n$1\r\nx\r\n");
        assert_eq!(comparison.wires[0].lost.len(), 3);
        assert!(Document::new(1, 2).expect("a mode").compare(0).is_err());
    }
}
