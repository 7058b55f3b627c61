//! Suggested fixes: small changes to the buffer that remove an error.

use alloc::vec::Vec;

use super::Mode;
use super::bytes::ByteSet;
use super::diagnose::first_error;
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

/// A change to the buffer: `with` replaces the `len` bytes at `at`.
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
    /// Offset of the first byte to remove.
    pub at: usize,
    /// The number of bytes to remove.
    pub len: usize,
    /// The bytes to insert in their place.
    pub with: Vec<u8>,
    /// What the sender probably meant, as the end of a sentence that begins with "perhaps".
    pub why: &'static str,
}

impl Fix {
    pub(super) const fn new(at: usize, len: usize, with: Vec<u8>, why: &'static str) -> Self {
        Self { at, len, with, why }
    }

    /// A copy of the buffer with the change made.
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
    /// Panics if `buf` is shorter than the buffer of the diagnosis.
    pub fn apply(&self, buf: &[u8]) -> Vec<u8> {
        [&buf[..self.at], &self.with, &buf[self.at + self.len..]].concat()
    }

    /// The number of bytes removed and inserted.
    fn cost(&self) -> usize {
        self.len.max(self.with.len())
    }
}

/// The most fixes in one diagnosis.
const FIXES_MAX: usize = 5;

/// How many bytes after the error are decoded to try a fix. Bounds the cost of a diagnosis.
pub(super) const TRIED_MAX: usize = 64 * 1024;

/// The longest start of a frame, up to the error, for which fixes are tried.
const FRAME_MAX: usize = 1024 * 1024;

/// The buffer, with the position and kind of the error.
pub(super) struct Place<'a> {
    pub(super) buf: &'a [u8],
    pub(super) frame: usize,
    pub(super) at: usize,
    pub(super) kind: ErrorKind,
    pub(super) mode: Mode,
}

/// The changes that let decoding continue past the error: first those with a reason, from the
/// smallest to the largest.
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
        // Count the bytes after the error from the end: the fix may have moved the rest.
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

/// Orders fixes by size; of two fixes of one size, the one found first comes first. There are at
/// most a dozen, and inserting them takes less code than a sort.
fn by_cost(fixes: Vec<Fix>) -> Vec<Fix> {
    let mut sorted: Vec<Fix> = Vec::with_capacity(fixes.len());
    for fix in fixes {
        let at = sorted.partition_point(|other| other.cost() <= fix.cost());
        sorted.insert(at, fix);
    }
    sorted
}
