//! Small changes that mend an error.

use alloc::vec::Vec;

use super::Mode;
use super::bytes::ByteSet;
use super::diagnose::first_error;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// A change of the buffer: `len` bytes at `at` give way to `with`.
///
/// ```
/// use resp_codec::annotate::{Mode, diagnose};
/// use resp_codec::Limits;
/// let diagnosis = diagnose(b"#true\r\n", Mode::Replies, &Limits::CLIENT).unwrap();
/// let fix = &diagnosis.fixes[0];
/// assert_eq!((fix.at, fix.len, fix.why), (1, 4, "true is written t"));
/// assert_eq!(fix.apply(b"#true\r\n"), b"#t\r\n");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// Offset of the first byte that goes.
    pub at: usize,
    /// How many bytes go.
    pub len: usize,
    /// What comes in their place.
    pub with: Vec<u8>,
    /// What was meant, as the end of a sentence that begins with "perhaps".
    pub why: &'static str,
}

impl Fix {
    pub(super) const fn new(at: usize, len: usize, with: Vec<u8>, why: &'static str) -> Self {
        Self { at, len, with, why }
    }

    /// The buffer with the change made.
    ///
    /// ```
    /// use resp_codec::Limits;
    /// use resp_codec::annotate::{Mode, diagnose};
    /// let input = b"$3\r\nhello\r\n";
    /// let diagnosis = diagnose(input, Mode::Replies, &Limits::CLIENT).unwrap();
    /// assert_eq!(diagnosis.fixes[0].apply(input), b"$5\r\nhello\r\n");
    /// ```
    ///
    /// # Panics
    /// Panics if `buf` is shorter than the buffer the fix was found for.
    pub fn apply(&self, buf: &[u8]) -> Vec<u8> {
        [&buf[..self.at], &self.with, &buf[self.at + self.len..]].concat()
    }

    /// How much it changes.
    fn cost(&self) -> usize {
        self.len.max(self.with.len())
    }
}

/// Most fixes worth showing.
const FIXES_MAX: usize = 5;

/// The bytes of context a fix is tried on, behind the error. Keeps the cost of a diagnosis bounded.
pub(super) const TRIED_MAX: usize = 64 * 1024;

/// The longest start of a frame, up to the error, that fixes are tried on.
const FRAME_MAX: usize = 1024 * 1024;

/// Where the error stands.
pub(super) struct Place<'a> {
    pub(super) buf: &'a [u8],
    pub(super) frame: usize,
    pub(super) at: usize,
    pub(super) kind: ErrorKind,
    pub(super) mode: Mode,
}

/// The changes that get decoding past the error: those with a reason first, the smallest of them in
/// front.
pub(super) fn fixes(
    buf: &[u8],
    frame: usize,
    error: Error,
    mode: Mode,
    limits: &Limits,
    expected: &ByteSet,
) -> Vec<Fix> {
    let binary = matches!(mode, Mode::BinaryRequests | Mode::BinaryReplies);
    if binary || error.offset - frame > FRAME_MAX {
        return Vec::new();
    }
    let place = Place {
        buf,
        frame,
        at: error.offset,
        kind: error.kind,
        mode,
    };
    let mut fixes = Vec::new();
    place.lengths(&mut fixes);
    place.line_ends(&mut fixes);
    place.structure(&mut fixes);
    place.misplaced(&mut fixes);
    place.numbers(&mut fixes);
    place.quotes(&mut fixes);
    let mut fixes = by_cost(fixes);
    place.single_bytes(expected, &mut fixes);
    let end = buf.len().min(error.offset.saturating_add(TRIED_MAX));
    fixes.retain(|fix| {
        // What is behind the error counts from the end, which the fix may have moved.
        let tail = end
            .saturating_sub(error.offset + 1)
            .saturating_sub(fix.len.saturating_sub(1));
        let fixed = fix.apply(&buf[..end.max(fix.at + fix.len)]);
        let reached = fixed.len().saturating_sub(tail);
        first_error(&fixed[frame..], mode, limits)
            .is_none_or(|(_, next)| frame + next.offset >= reached)
    });
    let mut seen: Vec<Vec<u8>> = Vec::new();
    fixes.retain(|fix| {
        let fixed = fix.apply(&buf[..end.max(fix.at + fix.len)]);
        let new = !seen.contains(&fixed);
        seen.push(fixed);
        new
    });
    fixes.truncate(FIXES_MAX);
    fixes
}

/// The smallest changes in front; of two of a size, the one that was thought of first. There are a
/// dozen at most, and inserting them takes less code than a sort.
fn by_cost(fixes: Vec<Fix>) -> Vec<Fix> {
    let mut sorted: Vec<Fix> = Vec::with_capacity(fixes.len());
    for fix in fixes {
        let at = sorted.partition_point(|other| other.cost() <= fix.cost());
        sorted.insert(at, fix);
    }
    sorted
}
