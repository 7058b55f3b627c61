//! What a decoder knows when it has been given so many bytes.

use super::Document;
use super::checkpoints::{Checkpoints, Known};
use super::index::{Decoder, Frame};
use super::tree::{INCOMPLETE, STREAMED, Tree, end};
use crate::tables::NodeKind;
use resp_codec::annotate::{Mode, Role};
use resp_codec::{Error, ErrorKind};
use serde::Serialize;

/// What a decoder knows between two bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// The bytes it has been given.
    pub offset: u32,
    /// The frame at hand.
    pub frame: u32,
    /// `between`, `type`, `length`, `lf`, `crlf`, `payload`, `digits`, `line`, `word`, `field` or
    /// `error`: what it is in the middle of, or what comes next.
    pub state: &'static str,
    /// The same in words.
    pub text: String,
    /// The path of the value at hand.
    pub path: String,
    /// The values around it that are begun and not finished, outermost first.
    pub open: Vec<OpenValue>,
    /// Bytes the frame lacks at least, as the decoder says; 0 between frames and behind an error.
    pub need: u32,
    /// What is there of the length or number at hand.
    pub number: Option<String>,
    /// Bytes of the payload at hand that are missing.
    pub payload_left: Option<u32>,
    /// What may come next, in words.
    pub expected: String,
    /// The bytes that may come next; none behind an error.
    pub expected_bytes: Vec<u8>,
}

/// A value that is begun and not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct OpenValue {
    /// Its kind, by number.
    pub kind: u32,
    /// Its kind, by name.
    pub label: &'static str,
    /// Where it begins.
    pub start: u32,
    /// How many of its values are whole.
    pub done: u32,
    /// How many it announces; none if it is streamed.
    pub of: Option<u32>,
    /// How many are missing.
    pub left: Option<u32>,
    /// Its path.
    pub path: String,
}

impl Document {
    /// What a decoder that began with this frame knows when it has been given the bytes before
    /// `offset`. O(n) in the bytes of the frame the first time it is asked about a frame; then in
    /// 64 KiB of them.
    ///
    /// # Errors
    /// When nothing is decoded, or `offset` lies behind what is.
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
                return (Vec::new(), Here::between());
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

    /// What a decoder knows behind `good`, the start of this frame.
    fn known(&self, index: usize, good: &[u8]) -> Result<Known, Error> {
        if self.is_too_big(index) {
            Decoder::new(self.mode, self.limits).next(good)?;
        }
        let mut cached = self.checkpoints.borrow_mut();
        let checkpoints = match &mut *cached {
            Some(checkpoints) if checkpoints.frame() == index => checkpoints,
            other => other.insert(Checkpoints::new(index, self.mode, self.limits)),
        };
        checkpoints.look(good)
    }

    /// Whether this is a reply that is too big, which checkpoints do not tell.
    fn is_too_big(&self, index: usize) -> bool {
        let ends_so = |tree: &Tree| {
            let last = tree.marks.last();
            last.is_some_and(|mark| mark.role == Role::Bad(ErrorKind::FrameTooBig))
        };
        self.mode == Mode::Replies
            && self.frame(index).is_ok_and(Frame::is_bad)
            && self.with_tree(index, ends_so).unwrap_or(false)
    }

    /// The state behind an error.
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

/// What is known of the value at hand.
struct Here {
    state: &'static str,
    text: String,
    path: String,
    number: Option<String>,
    payload_left: Option<u32>,
}

impl Here {
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
    /// The values that are begun and not finished at `offset`, outermost first.
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

    /// What is known of the value at hand at `offset`, which has a byte of the frame before it.
    fn here(&self, bytes: &[u8], offset: usize) -> Here {
        let Some(mark) = self.mark_at(offset - 1) else {
            return Here::between();
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
        Here {
            state,
            text: describe(state, node.kind, &path),
            path,
            number: number.filter(|number| !number.is_empty()),
            payload_left,
        }
    }

    /// Whether a node is a length and so many bytes.
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

    /// The digits of a node's length or number that lie before `offset`.
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

/// A state in words.
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
