//! Where the keys of a command stand.

/// Where keys stand among the arguments (the name is argument 0), and what is done to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// Where the first key is looked for.
    pub begin: KeyBegin,
    /// How further keys follow it.
    pub find: KeyFind,
    /// What is done to them.
    pub flags: &'static [KeyFlag],
    /// Remarks, as `COMMAND INFO` shows them.
    pub notes: &'static str,
}

/// What is done to the keys of a [`KeySpec`], and what they are: the flags of `COMMAND INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFlag {
    /// Read, and never changed.
    Ro,
    /// Read, and changed.
    Rw,
    /// Overwritten, whatever was there.
    Ow,
    /// Removed, whatever was there.
    Rm,
    /// The value is part of the reply, or of what is written elsewhere.
    Access,
    /// The value is changed.
    Update,
    /// Something is added, and nothing changed.
    Insert,
    /// Something of the value, or all of it, is removed.
    Delete,
    /// They are no keys, though they stand where keys do.
    NotKey,
    /// There may be further keys that this does not find.
    Incomplete,
    /// The options of a request decide which flags hold.
    VariableFlags,
}

impl KeyFlag {
    /// The name `COMMAND INFO` gives.
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

/// Where the first key of a [`KeySpec`] is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyBegin {
    /// At this argument.
    Index(i16),
    /// After this word, searched from argument `from` (negative: from the end, backwards).
    Keyword {
        /// The word, upper case.
        word: &'static str,
        /// Where the search begins.
        from: i16,
    },
    /// Not to be told from the position alone (`SORT`'s `STORE`).
    Unknown,
}

/// How keys follow the first one of a [`KeySpec`].
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
    /// Not to be told from the position alone.
    Unknown,
}

impl KeySpec {
    /// One key, at argument `index`, read only unless said otherwise by [`KeySpec::flags`].
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

    /// The same keys, with these flags.
    #[must_use]
    pub const fn flags(self, flags: &'static [KeyFlag]) -> Self {
        Self { flags, ..self }
    }

    /// The same keys, read and changed.
    #[must_use]
    pub const fn update(self) -> Self {
        self.flags(&[KeyFlag::Rw, KeyFlag::Access, KeyFlag::Update])
    }

    /// The same keys, with a remark.
    #[must_use]
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }

    /// Whether they are keys, and not names of another kind that stand where keys do for the sake of
    /// clusters: shard channels.
    #[must_use]
    pub fn are_keys(self) -> bool {
        !self.flags.contains(&KeyFlag::NotKey)
    }

    /// The positions of this spec's keys in a request of `count` arguments (the name included);
    /// none where they cannot be told from the position alone.
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
}
