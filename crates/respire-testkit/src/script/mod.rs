//! Transcripts: the notation of `scripts/*.resp`.
#![doc = include_str!("../../scripts/README.md")]

mod parse;

pub use parse::ScriptError;

use std::time::Duration;

/// A file of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The file's name without its ending, for messages.
    pub name: String,
    /// What it tests.
    pub cases: Vec<Case>,
}

/// One transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// What it shows.
    pub title: String,
    /// The line it begins at.
    pub line: usize,
    /// The protocols it is played in: 2, 3 or both.
    pub protocols: Vec<u8>,
    /// Where it is played.
    pub only_on: Vec<String>,
    /// Where it is not.
    pub not_on: Vec<String>,
    /// The rows of docs/COMPATIBILITY.md that it refers to.
    pub differences: Vec<String>,
    /// What happens, each with its line.
    pub steps: Vec<(usize, Step)>,
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// From here on this connection is meant.
    Connection(String),
    /// A command line is sent.
    Command(String),
    /// Bytes are sent as they stand.
    Raw(String),
    /// These lines come back, each where its condition holds.
    Expect(Vec<Line>),
    /// Time passes.
    Advance(Duration),
    /// We send no more.
    HalfClose,
    /// The server sends no more, and closes.
    Closed,
}

/// A line that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it is expected.
    pub when: Condition,
    /// What is expected, as it is written in the script.
    pub text: String,
    /// Whether CRLF follows.
    pub is_ended: bool,
}

/// Where a line is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Everywhere.
    Always,
    /// In this version of the protocol.
    Protocol(u8),
    /// Of Respire.
    Respire,
    /// Of Redis.
    Redis,
}

impl Condition {
    /// Whether a line is expected in this protocol of a target with these tags.
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
    /// Whether it is played on a target with these tags.
    #[must_use]
    pub fn runs_on(&self, tags: &[&str]) -> bool {
        let has = |tag: &String| tags.contains(&tag.as_str());
        self.only_on.iter().all(has) && !self.not_on.iter().any(has)
    }
}
