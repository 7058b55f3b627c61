//! What the decoder of requests keeps between reads.

/// How far the current request has come. Offsets count from its first byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    pub(super) phase: Phase,
    /// The token to look at next: a header, a payload, or the unread part of an inline request.
    pub(super) at: usize,
    /// Length of the payload at `at`, if its header was read.
    pub(super) bulk: Option<u32>,
    /// Arguments still to come, the current one included.
    pub(super) left: u32,
    /// Arguments complete.
    pub(super) filled: usize,
    /// Buffer length below which another look is useless.
    pub(super) need: usize,
    /// Buffer length the current token ends at, as far as is known.
    pub(super) goal: usize,
    /// Buffer length at the last look.
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

/// Where the fast path stands: in front of the payload at `at`.
#[derive(Clone, Copy)]
pub(super) struct Cursor {
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) left: u32,
    pub(super) filled: usize,
}

/// Where one look at the buffer ended.
pub(super) enum Look {
    /// A request of so many arguments ends here.
    Done { end: usize, filled: usize },
    /// An empty request ends here.
    Empty(usize),
    /// The buffer must have length `need` before it is worth another look, and `goal` to complete
    /// the token.
    Short { need: usize, goal: usize },
}

impl Look {
    /// One more byte may decide.
    pub(super) const fn next(have: usize) -> Self {
        Look::Short {
            need: have + 1,
            goal: have + 1,
        }
    }
}
