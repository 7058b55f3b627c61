//! The parts of a string that an edit wrote.

use core::ops::Range;

use crate::types::{Span, Step};

/// The parts of a string that an edit wrote. All other bytes are as before, and new ones before a part are zeros.
pub(crate) enum Parts {
    /// They are not known.
    All,
    One(Range<usize>),
    Several(Vec<Range<usize>>),
}

/// Shorter strings are always told as a whole.
const LONG_BYTES_MIN: usize = 1024;
/// Longer ones are not compared.
const COMPARED_BYTES_MAX: usize = 64 << 10;
/// The most parts that are told, and the bytes between two at which they are not told as one.
const PARTS_MAX: usize = 8;
const GAP_MIN: usize = 32;

impl Parts {
    /// Returns the steps that write the parts of a string that had the first length and has the second one; `None` if it
    /// is better told as a whole. The texts lie in the string.
    pub(super) fn steps(&self, before: usize, now: usize) -> Option<Vec<Step<Span>>> {
        let parts = match self {
            Parts::All => return None,
            Parts::One(part) => core::slice::from_ref(part),
            Parts::Several(parts) => parts,
        };
        let end = parts.last()?.end;
        if before < LONG_BYTES_MIN || now < before || (now > before && end != now) {
            return None;
        }
        let step = |part: &Range<usize>| {
            let bytes = Span::new(part.start, part.len())?;
            (part.start <= part.end && part.end <= now).then_some(match part.start == before {
                true => Step::Appended { bytes },
                false => Step::Overwritten {
                    at: part.start as u64,
                    bytes,
                },
            })
        };
        parts.iter().map(step).collect()
    }
}

/// The bytes of a string before an edit that does not tell which of them it writes.
pub(super) struct Before(Vec<u8>);

impl Before {
    /// Keeps the bytes; `None` if the string is short, or so long that it is not worth it.
    #[cold]
    pub(super) fn of(bytes: &[u8]) -> Option<Before> {
        let is_compared = (LONG_BYTES_MIN..=COMPARED_BYTES_MAX).contains(&bytes.len());
        is_compared.then(|| Before(bytes.to_vec()))
    }

    /// Returns the parts that differ now.
    #[cold]
    pub(super) fn compare(self, now: &[u8]) -> Parts {
        if self.0.len() != now.len() {
            return Parts::All;
        }
        let mut parts: Vec<Range<usize>> = Vec::new();
        let pairs = self.0.iter().zip(now).enumerate();
        for (at, _) in pairs.filter(|(_, (before, now))| before != now) {
            let len = parts.len();
            match parts.last_mut() {
                Some(last) if at - last.end < GAP_MIN => last.end = at + 1,
                _ if len == PARTS_MAX => return Parts::All,
                _ => parts.push(at..at + 1),
            }
        }
        Parts::Several(parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(changed: &[usize], len: usize) -> Parts {
        let before = vec![0; len];
        let mut now = before.clone();
        changed.iter().for_each(|at| now[*at] = 1);
        Before(before).compare(&now)
    }

    #[test]
    fn bytes_that_changed_are_told_as_few_parts() {
        let Parts::Several(near) = parts(&[0, 5, 500, 1999], 2000) else {
            panic!("they are known");
        };
        assert_eq!(near, [0..6, 500..501, 1999..2000]);
        let far: Vec<usize> = (0..2000).step_by(100).collect();
        assert!(matches!(parts(&far, 2000), Parts::All));
        assert!(Before::of(&[0; 1000]).is_none() && Before::of(&[0; 1024]).is_some());
    }

    #[test]
    fn parts_that_leave_bytes_unknown_are_told_as_a_whole() {
        let told = |part: Range<usize>, before, now| Parts::One(part).steps(before, now).is_some();
        assert!(told(5..9, 2000, 2000) && told(2000..2005, 2000, 2005));
        assert!(told(1990..2005, 2000, 2005) && told(3000..3001, 2000, 3001));
        assert!(!told(5..9, 500, 500) && !told(5..9, 2000, 1999));
        assert!(!told(5..9, 2000, 2005) && !told(5..2006, 2000, 2005));
        assert!(Parts::Several(Vec::new()).steps(2000, 2000).is_none());
    }
}
