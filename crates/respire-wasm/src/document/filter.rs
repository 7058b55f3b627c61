//! Finds bytes and frames.

use super::Document;
use super::index::Frame;
use super::tree::Tree;
use crate::names::{command_names, command_number};
use crate::quote::quote;
use crate::tables::{FrameStatus, KINDS, NodeKind};
use respire_engine::glob_match;

/// One condition of a query.
enum Condition {
    Kind(NodeKind),
    Name(u16),
    /// A name that is not a command's, as it is in the request.
    OtherName(Vec<u8>),
    Key(Vec<u8>),
    Status(FrameStatus),
    Longer(usize),
    Shorter(usize),
}

impl Document {
    /// The offsets of `needle` from `from` on; at most `max` of them.
    #[must_use]
    pub fn find(&self, needle: &[u8], from: usize, max: usize) -> Vec<u32> {
        let Some((&first, rest)) = needle.split_first() else {
            return Vec::new();
        };
        let start = from.min(self.bytes.len());
        let hay = &self.bytes[start..];
        let places = hay.iter().enumerate().filter(|(_, byte)| **byte == first);
        let found = places.filter(|(at, _)| hay[at + 1..].starts_with(rest));
        found.take(max).map(|(at, _)| (start + at) as u32).collect()
    }

    /// The frames that match every word of `query`, at most `max`. A word is a command's name, a
    /// type by its byte or name, `key:GLOB` for an argument that the glob matches, `is:bad`,
    /// `is:torn`, `is:blank`, `is:secret`, `bytes>N` or `bytes<N`.
    ///
    /// # Errors
    /// If a word is none of these.
    pub fn filter(&self, query: &str, max: usize) -> Result<Vec<u32>, String> {
        let mut is_secret = false;
        let mut conditions = Vec::new();
        for word in query.split_whitespace() {
            if word == "is:secret" {
                is_secret = true;
            } else {
                conditions.push(condition(word)?);
            }
        }
        let fits = |index: usize, frame: &Frame| {
            (!is_secret || frame.has_secret())
                && conditions
                    .iter()
                    .all(|condition| self.meets(index, frame, condition))
        };
        let frames = self.frames.iter().enumerate();
        let found = frames.filter(|(index, frame)| fits(*index, frame));
        Ok(found.take(max).map(|(index, _)| index as u32).collect())
    }

    fn meets(&self, index: usize, frame: &Frame, condition: &Condition) -> bool {
        let len = frame.end() - frame.start();
        match condition {
            Condition::Kind(kind) => frame.kind() == *kind,
            Condition::Name(name) => frame.name() == Some(*name),
            Condition::Status(status) => frame.status() == *status,
            Condition::Longer(bytes) => len > *bytes,
            Condition::Shorter(bytes) => len < *bytes,
            Condition::OtherName(name) => {
                frame.name().is_none()
                    && self.has_arg(index, |at, arg| at == 0 && arg.eq_ignore_ascii_case(name))
            }
            Condition::Key(glob) => {
                self.has_arg(index, |at, arg| at > 0 && glob_match(glob, arg, false))
            }
        }
    }

    /// Whether `is` is true of an argument of a request.
    fn has_arg(&self, index: usize, is: impl Fn(usize, &[u8]) -> bool) -> bool {
        let found = self.with_tree(index, |tree: &Tree| {
            let mut args =
                (0..tree.nodes.len()).filter(|&node| tree.nodes[node].kind == NodeKind::Arg);
            args.any(|node| {
                let (from, to) = tree.payload(node);
                is(tree.nodes[node].index as usize, &self.bytes[from..to])
            })
        });
        found.unwrap_or(false)
    }
}

/// The most bytes of a query that an error quotes.
const QUOTED_MAX: usize = 64;

fn quoted(text: &str) -> String {
    quote(text.as_bytes(), QUOTED_MAX)
}

fn condition(word: &str) -> Result<Condition, String> {
    let number = |text: &str| {
        let parsed = text.parse();
        parsed.map_err(|_| format!("{} is no number of bytes", quoted(text)))
    };
    if let Some(glob) = word.strip_prefix("key:") {
        return Ok(Condition::Key(glob.as_bytes().to_vec()));
    }
    if let Some(bytes) = word.strip_prefix("bytes>") {
        return Ok(Condition::Longer(number(bytes)?));
    }
    if let Some(bytes) = word.strip_prefix("bytes<") {
        return Ok(Condition::Shorter(number(bytes)?));
    }
    if let Some(status) = word.strip_prefix("is:") {
        return Ok(Condition::Status(match status {
            "whole" => FrameStatus::Whole,
            "bad" => FrameStatus::Bad,
            "torn" => FrameStatus::Torn,
            "blank" => FrameStatus::Blank,
            _ => {
                return Err(format!(
                    "a frame is never {}; try is:bad, is:torn, is:blank or is:secret",
                    quoted(status)
                ));
            }
        }));
    }
    let kind = KINDS
        .iter()
        .position(|kind| kind.letter == word || kind.id.eq_ignore_ascii_case(word));
    if let Some(number) = command_number(word.as_bytes()) {
        return Ok(Condition::Name(number));
    }
    match kind {
        Some(number) => Ok(Condition::Kind(NodeKind::of_type_byte(
            KINDS[number].letter.as_bytes()[0],
        ))),
        None if word
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-_|".contains(&byte)) =>
        {
            Ok(Condition::OtherName(word.as_bytes().to_vec()))
        }
        None => Err(format!(
            "{} is no command, type or condition; there are {} commands, key:GLOB, is:bad, bytes>N",
            quoted(word),
            command_names().len()
        )),
    }
}
