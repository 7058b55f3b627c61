//! Describes the state of a decoder at any offset of a document.

use super::Document;
use super::checkpoints::{Checkpoints, Known};
use super::index::{Decoder, Frame};
use super::tree::{INCOMPLETE, STREAMED, Tree, end};
use crate::tables::NodeKind;
use resp_codec::annotate::{Mode, Role};
use resp_codec::{Error, ErrorKind};
use serde::Serialize;

/// The state of a decoder between two bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The number of bytes it has been given.
    pub offset: u32,
    /// The number of the current frame.
    pub frame: u32,
    /// The current part of the value, or the next one: `between`, `type`, `length`, `lf`, `crlf`,
    /// `payload`, `digits`, `line`, `word`, `field` or `error`.
    pub state: &'static str,
    /// The state in words.
    pub text: String,
    /// The path of the current value.
    pub path: String,
    /// The open values around it, outermost first.
    pub open: Vec<OpenValue>,
    /// The number of bytes that the frame misses at least, as the decoder reports it; 0 between
    /// frames and after an error.
    pub need: u32,
    /// The part of the current length or number that has been read.
    pub number: Option<String>,
    /// The number of missing bytes of the current payload.
    pub payload_left: Option<u32>,
    /// The bytes that may come next, in words.
    pub expected: String,
    /// The bytes that may come next; none after an error.
    pub expected_bytes: Vec<u8>,
}

/// A value that has begun and is not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OpenValue {
    /// Its kind, by number.
    pub kind: u32,
    /// Its kind, by name.
    pub label: &'static str,
    /// Offset of its first byte.
    pub start: u32,
    /// The number of complete values within.
    pub done: u32,
    /// The announced number of values within; none if it is streamed.
    pub of: Option<u32>,
    /// The number of missing values within.
    pub left: Option<u32>,
    /// Its path.
    pub path: String,
}

impl Document {
    /// The state of a decoder that started at this frame and was given the bytes before `offset`.
    /// O(n) in the bytes of the frame for the first call for a frame; then O(n) in at most 64 KiB
    /// of them.
    ///
    /// # Errors
    /// If no byte is decoded, or `offset` is after the decoded bytes.
    pub fn state(&self, offset: usize) -> Result<State, String> {
        let index = self.frame_at(offset);
        let frame = *self.frame(index)?;
        if offset > frame.end() {
            return Err(format!("decoded are only {} bytes", frame.end()));
        }
        let is_over = offset == frame.start() || (offset == frame.end() && !frame.is_torn());
        let good = if is_over {
            &[][..]
        } else {
            &self.bytes[frame.start()..offset]
        };
        let Ok(Known { need, expected }) = self.known(index, good) else {
            return self.failed(index, offset);
        };
        let (open, here) = self.with_tree(index, |tree| {
            if is_over {
                return (Vec::new(), CurrentValue::between());
            }
            let open = tree.open_at(offset, &self.frame_path(index));
            (open, tree.here(&self.bytes, offset))
        })?;
        Ok(State {
            offset: offset as u32,
            frame: index as u32,
            state: here.state,
            text: here.text,
            path: format!("{}{}", self.frame_path(index), here.path),
            open,
            need: if is_over { 0 } else { need as u32 },
            number: here.number,
            payload_left: here.payload_left,
            expected: expected.to_string(),
            expected_bytes: expected.iter().collect(),
        })
    }

    /// The state of a decoder after `good`, the start of this frame.
    fn known(&self, index: usize, good: &[u8]) -> Result<Known, Error> {
        if self.is_too_big(index) {
            Decoder::new(self.mode, self.limits).next(good)?;
        }
        let mut cached = self.checkpoints.borrow_mut();
        let checkpoints = match &mut *cached {
            Some(checkpoints) if checkpoints.frame() == index => checkpoints,
            other => other.insert(Checkpoints::new(index, self.mode, self.limits)),
        };
        checkpoints.state_after(good)
    }

    /// Whether this is a reply above the frame limit, which checkpoints do not detect.
    fn is_too_big(&self, index: usize) -> bool {
        let ends_so = |tree: &Tree| {
            let last = tree.marks.last();
            last.is_some_and(|mark| mark.role == Role::Bad(ErrorKind::FrameTooBig))
        };
        self.mode == Mode::Replies
            && self.frame(index).is_ok_and(Frame::is_bad)
            && self.with_tree(index, ends_so).unwrap_or(false)
    }

    /// The state after an error.
    fn failed(&self, index: usize, offset: usize) -> Result<State, String> {
        Ok(State {
            offset: offset as u32,
            frame: index as u32,
            state: "error",
            text: "behind an error: nothing more is read".to_owned(),
            path: self.frame_path(index),
            open: Vec::new(),
            need: 0,
            number: None,
            payload_left: None,
            expected: String::new(),
            expected_bytes: Vec::new(),
        })
    }
}

/// The properties of the current value.
struct CurrentValue {
    state: &'static str,
    text: String,
    path: String,
    number: Option<String>,
    payload_left: Option<u32>,
}

impl CurrentValue {
    fn between() -> Self {
        Self {
            state: "between",
            text: "between frames".to_owned(),
            path: String::new(),
            number: None,
            payload_left: None,
        }
    }
}

impl Tree {
    /// The open values at `offset`, outermost first.
    fn open_at(&self, offset: usize, frame: &str) -> Vec<OpenValue> {
        let last = self.last_before(offset);
        let chain: Vec<usize> = self.around(last).collect();
        let mut open = Vec::new();
        for (at, &node) in chain.iter().enumerate() {
            let value = &self.nodes[node];
            let is_begun = value.head as usize <= offset && value.holds();
            let is_done = value.end as usize <= offset && !value.has(INCOMPLETE);
            if !is_begun || is_done {
                continue;
            }
            let inner = at.checked_sub(1).map(|inner| &self.nodes[chain[inner]]);
            let done = inner.map_or(0, |inner| {
                let is_whole = inner.end as usize <= offset && !inner.has(INCOMPLETE);
                let counts = !matches!(inner.kind, NodeKind::Attribute | NodeKind::End);
                inner.place + u32::from(is_whole && counts)
            });
            let of = value.values().filter(|_| !value.has(STREAMED));
            open.push(OpenValue {
                kind: value.kind as u32,
                label: value.kind.meaning().label,
                start: value.start,
                done,
                of,
                left: of.map(|of| of.saturating_sub(done)),
                path: format!("{frame}{}", self.node_path(node)),
            });
        }
        open.reverse();
        open
    }

    /// The last node that begins before `offset`.
    fn last_before(&self, offset: usize) -> usize {
        let after = self
            .nodes
            .partition_point(|node| (node.start as usize) < offset);
        after.saturating_sub(1)
    }

    /// The properties of the current value at `offset`, which is after at least one byte of the
    /// frame.
    fn here(&self, bytes: &[u8], offset: usize) -> CurrentValue {
        let Some(mark) = self.mark_at(offset - 1) else {
            return CurrentValue::between();
        };
        let owner = self.owner(mark);
        let node = &self.nodes[owner];
        let role = self.marks[mark].role;
        let is_crlf = end(&self.marks[mark]) - self.marks[mark].at as usize == 2;
        let head = node.head as usize;
        let is_blob = self.is_blob(owner);
        let state = match role {
            Role::Type => match node.kind {
                NodeKind::Simple | NodeKind::Error | NodeKind::Bool => "line",
                NodeKind::Int | NodeKind::Double | NodeKind::BigNumber => "digits",
                NodeKind::Null if !self.has_length(owner) => "crlf",
                _ => "length",
            },
            Role::Crlf if offset == self.marks[mark].at as usize + 1 || !is_crlf => "lf",
            Role::Crlf if is_blob && offset == head && node.count == 0 => "crlf",
            Role::Crlf if is_blob && offset == head => "payload",
            Role::Length if is_blob && offset == head && node.count > 0 => "payload",
            Role::Crlf => "type",
            Role::Length if offset == head => "type",
            Role::Sign if !self.has_length(owner) => "digits",
            Role::Length | Role::Sign | Role::StreamOpen | Role::StreamEnd => "length",
            Role::Digits => "digits",
            Role::Payload if !is_blob => "line",
            Role::Payload | Role::Format | Role::Colon if self.payload_left(owner, offset) == 0 => {
                "crlf"
            }
            Role::Payload | Role::Format | Role::Colon => "payload",
            Role::InlineArg | Role::Space | Role::Quote | Role::Escape => "word",
            Role::Field => "field",
            _ => "error",
        };
        let number =
            matches!(state, "length" | "digits").then(|| self.number(bytes, owner, offset));
        let payload_left =
            (is_blob && matches!(state, "payload")).then(|| self.payload_left(owner, offset));
        let path = self.node_path(owner);
        CurrentValue {
            state,
            text: describe(state, node.kind, &path),
            path,
            number: number.filter(|number| !number.is_empty()),
            payload_left,
        }
    }

    /// Whether a node consists of a length and that many bytes.
    fn is_blob(&self, node: usize) -> bool {
        let kind = self.nodes[node].kind;
        let kinds = [
            NodeKind::Bulk,
            NodeKind::BlobError,
            NodeKind::Verbatim,
            NodeKind::Chunk,
        ];
        let is_sized = kinds.contains(&kind) || kind == NodeKind::Arg;
        is_sized && self.has_length(node) && !self.nodes[node].has(STREAMED)
    }

    fn has_length(&self, node: usize) -> bool {
        self.own_marks(node)
            .iter()
            .any(|mark| mark.role == Role::Length)
    }

    fn payload_left(&self, node: usize, offset: usize) -> u32 {
        let node = &self.nodes[node];
        let have = offset.saturating_sub(node.head as usize);
        node.count
            .saturating_sub(u32::try_from(have).unwrap_or(u32::MAX))
    }

    /// The digits of a node's length or number before `offset`.
    fn number(&self, bytes: &[u8], node: usize, offset: usize) -> String {
        let marks = self.own_marks(node).iter();
        let digits = marks.filter(|mark| {
            matches!(
                mark.role,
                Role::Sign | Role::Length | Role::Digits | Role::StreamOpen
            )
        });
        let text = digits
            .flat_map(|mark| &bytes[mark.at as usize..end(mark).min(offset).max(mark.at as usize)]);
        text.map(|&byte| char::from(byte))
            .filter(char::is_ascii_graphic)
            .collect()
    }
}

/// Describes a state in words.
fn describe(state: &str, kind: NodeKind, path: &str) -> String {
    let label = kind.meaning().label;
    let value = match path.rsplit_once(".arg[") {
        Some((_, index)) => format!("argument {}", index.trim_end_matches(']')),
        None => format!("the {label}"),
    };
    let count = if kind.is_aggregate() {
        "count"
    } else {
        "length"
    };
    match state {
        "type" => "before the type byte of the next value".to_owned(),
        "length" => format!("in the {count} of {value}"),
        "lf" => format!("between CR and LF of {value}"),
        "crlf" => format!("before the line end of {value}"),
        "payload" => format!("in the payload of {value}"),
        "digits" => format!("in the digits of {value}"),
        "line" => format!("in the text of {value}"),
        "word" => "in the words of a line".to_owned(),
        "field" => format!("in the bytes of {value}"),
        _ => "behind an error: nothing more is read".to_owned(),
    }
}
