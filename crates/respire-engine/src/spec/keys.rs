//! The positions of a command's keys.

use crate::ArgList;
use resp_codec::number;

/// The positions of keys among the arguments (the name is argument 0), and how they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// How to find the first key.
    pub begin: KeyBegin,
    /// How to find further keys.
    pub find: KeyFind,
    /// How the keys are used.
    pub flags: &'static [KeyFlag],
    /// Remarks, as `COMMAND INFO` shows them.
    pub notes: &'static str,
}

/// How the keys of a [`KeySpec`] are used, and what they are: the flags of `COMMAND INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFlag {
    /// Read and never changed.
    Ro,
    /// Read and changed.
    Rw,
    /// Overwritten without being read.
    Ow,
    /// Removed without being read.
    Rm,
    /// The value is part of the reply, or is copied elsewhere.
    Access,
    /// The value is changed.
    Update,
    /// Data is added, and existing data is not changed.
    Insert,
    /// Part of the value, or all of it, is removed.
    Delete,
    /// These are not keys, although they are in the place of keys.
    NotKey,
    /// There may be further keys that this spec does not find.
    Incomplete,
    /// The options of a request determine which flags apply.
    VariableFlags,
}

impl KeyFlag {
    /// The name in `COMMAND INFO`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ro => "RO",
            Self::Rw => "RW",
            Self::Ow => "OW",
            Self::Rm => "RM",
            Self::Access => "access",
            Self::Update => "update",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::NotKey => "not_key",
            Self::Incomplete => "incomplete",
            Self::VariableFlags => "variable_flags",
        }
    }
}

/// How to find the first key of a [`KeySpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBegin {
    /// It is this argument.
    Index(i16),
    /// It follows the first such word, searched from argument `from`.
    Keyword {
        /// The word, upper case.
        word: &'static str,
        /// The argument at which the search begins, which is positive.
        from: i16,
    },
    /// It cannot be found from the position alone (`SORT`'s `STORE`).
    Unknown,
}

/// How further keys follow the first key of a [`KeySpec`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFind {
    /// Up to `last` (relative to the first; negative: from the end of the arguments), every `step`-th.
    Range {
        /// The last key, relative to the first, or from the end when negative.
        last: i16,
        /// The distance between keys.
        step: i16,
        /// 0 or 1: no limit; n: only the first 1/n of the remaining arguments.
        limit: i16,
    },
    /// An argument says how many there are: `EVAL`.
    Counted {
        /// The argument with the number, relative to [`KeySpec::begin`].
        count: i16,
        /// The first key, relative to [`KeySpec::begin`].
        first: i16,
        /// The distance between keys.
        step: i16,
    },
    /// They cannot be found from the position alone.
    Unknown,
}

impl KeySpec {
    /// As many keys as argument `index` says, right after it.
    #[must_use]
    pub const fn counted(index: i16) -> Self {
        Self {
            begin: KeyBegin::Index(index),
            find: KeyFind::Counted {
                count: 0,
                first: 1,
                step: 1,
            },
            flags: &[KeyFlag::Ro, KeyFlag::Access],
            notes: "",
        }
    }

    /// The positions of this spec's keys in a request. Empty if the positions, a word, and the number
    /// in an argument do not determine them; `None` if that number is none, or greater than the number of
    /// arguments behind it.
    pub fn find(self, request: ArgList<'_>) -> Option<impl Iterator<Item = usize>> {
        let (begin, count, first, step) = match (self.begin, self.find) {
            (KeyBegin::Index(begin), KeyFind::Counted { count, first, step }) => {
                (begin, count, first, step)
            }
            (KeyBegin::Keyword { word, from }, _) => {
                let words = request.iter().enumerate();
                let mut words = words.skip(from.unsigned_abs() as usize);
                let found = words.find(|(_, arg)| arg.eq_ignore_ascii_case(word.as_bytes()));
                let key = found.map(|(at, _)| at + 1).filter(|at| *at < request.len());
                return Some(Positions::Named(key));
            }
            _ => return Some(Positions::Fixed(self.positions(request.len()))),
        };
        let at = move |offset: i16| usize::try_from(begin + offset).unwrap_or(usize::MAX);
        let number = request.get(at(count)).and_then(number::parse_i64)?;
        let (number, step) = (usize::try_from(number).ok()?, step.unsigned_abs() as usize);
        let keys = (0..number).map(move |key| at(first) + key * step);
        let behind = request.len().saturating_sub(at(first));
        (number.checked_mul(step)? <= behind).then_some(Positions::Counted(keys))
    }

    /// Whether [`KeySpec::find`] finds all of this spec's keys.
    pub(crate) fn is_definite(&self) -> bool {
        match self.begin {
            KeyBegin::Index(_) => self.find != KeyFind::Unknown,
            KeyBegin::Keyword { .. } => matches!(self.find, KeyFind::Range { last: 0, .. }),
            KeyBegin::Unknown => false,
        }
    }

    /// One key, at argument `index`; read-only unless [`KeySpec::flags`] says otherwise.
    #[must_use]
    pub const fn at(index: i16) -> Self {
        Self {
            begin: KeyBegin::Index(index),
            find: KeyFind::Range {
                last: 0,
                step: 1,
                limit: 0,
            },
            flags: &[KeyFlag::Ro, KeyFlag::Access],
            notes: "",
        }
    }

    /// Keys from argument `index` up to `last` (relative; -1: the end), every `step`-th.
    #[must_use]
    pub const fn range(index: i16, last: i16, step: i16) -> Self {
        Self {
            begin: KeyBegin::Index(index),
            find: KeyFind::Range {
                last,
                step,
                limit: 0,
            },
            flags: &[KeyFlag::Ro, KeyFlag::Access],
            notes: "",
        }
    }

    /// Replaces the flags.
    #[must_use]
    pub const fn flags(self, flags: &'static [KeyFlag]) -> Self {
        Self { flags, ..self }
    }

    /// Sets the flags for keys that are read and changed.
    #[must_use]
    pub const fn update(self) -> Self {
        self.flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])
    }

    /// Sets the remarks.
    #[must_use]
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    /// Whether they are keys, and not names that clusters treat as keys: shard channels.
    #[must_use]
    pub fn are_keys(self) -> bool {
        !self.flags.contains(&KeyFlag::NotKey)
    }

    /// The argument that is the only key, if every request has just that one.
    pub(crate) fn only(self) -> Option<usize> {
        let KeyFind::Range {
            last: 0, limit: 0, ..
        } = self.find
        else {
            return None;
        };
        match self.begin {
            KeyBegin::Index(index) if !self.flags.contains(&KeyFlag::Incomplete) => {
                usize::try_from(index).ok()
            }
            _ => None,
        }
    }

    /// The positions of this spec's keys in a request of `count` arguments (including the name).
    /// Empty if the position alone does not determine them.
    pub fn positions(self, count: usize) -> impl Iterator<Item = usize> {
        let (first, last, step) = match (self.begin, self.find) {
            (KeyBegin::Index(first), KeyFind::Range { last, step, .. })
                if first > 0 && step > 0 =>
            {
                let first = first.unsigned_abs() as usize;
                let back = last.unsigned_abs() as usize;
                let last = if last >= 0 {
                    first + back
                } else {
                    count.saturating_sub(back)
                };
                (
                    first,
                    last.min(count.saturating_sub(1)),
                    step.unsigned_abs() as usize,
                )
            }
            _ => (1, 0, 1),
        };
        (first..=last).step_by(step)
    }
}

/// Positions that are found in one of three ways.
enum Positions<F, C> {
    Fixed(F),
    Named(Option<usize>),
    Counted(C),
}

impl<F: Iterator<Item = usize>, C: Iterator<Item = usize>> Iterator for Positions<F, C> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Fixed(positions) => positions.next(),
            Self::Named(position) => position.take(),
            Self::Counted(positions) => positions.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_positions_follow_range_and_step() {
        assert_eq!(KeySpec::at(1).positions(3).collect::<Vec<_>>(), [1]);
        assert_eq!(
            KeySpec::range(1, -1, 1).positions(4).collect::<Vec<_>>(),
            [1, 2, 3]
        );
        assert_eq!(
            KeySpec::range(1, -1, 2).positions(5).collect::<Vec<_>>(),
            [1, 3]
        );
        assert_eq!(
            KeySpec::range(1, 1, 1).positions(3).collect::<Vec<_>>(),
            [1, 2]
        );
        assert_eq!(KeySpec::at(2).positions(2).count(), 0);
    }

    #[test]
    fn named_key_follows_the_first_such_word_behind_the_fixed_arguments() {
        let spec = KeySpec {
            begin: KeyBegin::Keyword {
                word: "STORE",
                from: 2,
            },
            ..KeySpec::at(1)
        };
        let found = |request: &str| {
            let (mut spans, mut at) = (Vec::new(), 0);
            for word in request.split(' ') {
                spans.push(resp_codec::Span::new(at, word.len() as u32));
                at += word.len() as u32 + 1;
            }
            let request = ArgList::new(request.as_bytes(), &[], &spans);
            let positions = spec.find(request).expect("always known");
            positions.collect::<Vec<_>>()
        };
        assert_eq!(found("c store a STORE b store d"), [4]);
        assert_eq!(found("c store a b"), []);
        assert_eq!(found("c store a store"), []);
    }

    #[test]
    fn counted_keys_are_as_many_as_their_argument_says() {
        let words = ["eval", "", "2", "a", "b", "c"].map(str::as_bytes);
        let found = |number: &'static [u8]| {
            let mut bytes = Vec::new();
            let spans = words.map(|word| {
                let word = if word == b"2" { number } else { word };
                let at = bytes.len() as u32;
                bytes.extend_from_slice(word);
                resp_codec::Span::new(at, word.len() as u32)
            });
            let found = KeySpec::counted(2).find(ArgList::new(&bytes, &[], &spans));
            found.map(Iterator::collect::<Vec<_>>)
        };
        assert_eq!(found(b"2"), Some(vec![3, 4]));
        assert_eq!(found(b"0"), Some(vec![]));
        for wrong in [&b"4"[..], b"-1", b"x", b"9223372036854775807"] {
            assert_eq!(found(wrong), None);
        }
    }
}
