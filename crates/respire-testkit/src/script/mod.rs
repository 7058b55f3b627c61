//! Transcripts: the notation of `scripts/*.resp`.
#![doc = include_str!("../../scripts/README.md")]

mod parse;

pub use parse::ScriptError;

use std::time::Duration;

/// A file with cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file's name without its extension, for messages.
    pub name: String,
    /// The cases of the file.
    pub cases: Vec<Case>,
}

/// One transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The title, which says what the case shows.
    pub title: String,
    /// The number of its first line.
    pub line: usize,
    /// The protocols it is played in: 2, 3 or both.
    pub protocols: Vec<u8>,
    /// The tags it is only played on.
    pub only_on: Vec<String>,
    /// The tags it is not played on.
    pub not_on: Vec<String>,
    /// The rows of docs/COMPATIBILITY.md that it refers to.
    pub differences: Vec<String>,
    /// The steps, each with the number of its line.
    pub steps: Vec<(usize, Step)>,
}

/// One step of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The following steps use this connection.
    Connection(String),
    /// Sends a command line.
    Command(String),
    /// Sends these bytes unchanged.
    Raw(String),
    /// Expects these lines, each if its condition holds.
    Expect(Vec<Line>),
    /// Lets time pass.
    Advance(Duration),
    /// Closes our sending direction.
    HalfClose,
    /// Expects that the server sends no more, and closes.
    Closed,
}

/// An expected line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The condition under which it is expected.
    pub when: Condition,
    /// The expected text, as written in the script.
    pub text: String,
    /// Whether CRLF follows.
    pub is_ended: bool,
}

/// The condition under which a line is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Always.
    Always,
    /// In this version of the protocol.
    Protocol(u8),
    /// On Respire.
    Respire,
    /// On Redis.
    Redis,
}

impl Condition {
    /// Whether the line is expected in this protocol on a target with these tags.
    #[must_use]
    pub fn holds(self, protocol: u8, tags: &[&str]) -> bool {
        match self {
            Self::Always => true,
            Self::Protocol(version) => version == protocol,
            Self::Respire => tags.contains(&"respire"),
            Self::Redis => tags.contains(&"redis"),
        }
    }
}

impl Case {
    /// Whether the case is played on a target with these tags.
    #[must_use]
    pub fn runs_on(&self, tags: &[&str]) -> bool {
        let has = |tag: &String| tags.contains(&tag.as_str());
        self.only_on.iter().all(has) && !self.not_on.iter().any(has)
    }
}
