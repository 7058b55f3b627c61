//! The state that the request decoder keeps between reads.

/// How far the current request is decoded. Offsets count from its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) phase: Phase,
    /// Offset of the next token: a header, a payload, or the unread part of an inline request.
    pub(super) at: usize,
    /// Length of the payload at `at`, if its header has been read.
    pub(super) bulk: Option<u32>,
    /// The number of arguments still to decode, the current one included.
    pub(super) left: u32,
    /// The number of complete arguments.
    pub(super) filled: usize,
    /// The buffer must have this length before it is worth scanning again.
    pub(super) need: usize,
    /// The buffer length at which the current token ends, as far as is known.
    pub(super) goal: usize,
    /// Buffer length at the last scan.
    pub(super) seen: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Start,
    Multibulk,
    Inline,
    Failed,
}

impl Progress {
    pub(super) const START: Self = Self {
        phase: Phase::Start,
        at: 0,
        bulk: None,
        left: 0,
        filled: 0,
        need: 1,
        goal: 1,
        seen: 0,
    };
}

/// The position of the fast path: in front of the payload at `at`.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) left: u32,
    pub(super) filled: usize,
}

/// The result of one scan of the buffer.
pub(super) enum Scan {
    /// A request of `filled` arguments ends here.
    Done { end: usize, filled: usize },
    /// An empty request ends here.
    Empty(usize),
    /// The buffer must have length `need` before it is worth scanning again, and length `goal` to
    /// complete the token.
    Short { need: usize, goal: usize },
}

impl Scan {
    /// The scan can continue after one more byte.
    pub(super) const fn next(have: usize) -> Self {
        Scan::Short {
            need: have + 1,
            goal: have + 1,
        }
    }
}
