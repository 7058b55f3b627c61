//! The operations of `BITFIELD`: computes with integers of any width, and handles overflow at the
//! ends of their ranges.

use super::field::Field;
use crate::errors::{BITFIELD_OVERFLOW, BITFIELD_TYPE};
use crate::options::is_word;
use resp_codec::number::parse_i64;
use respire_engine::Error;

/// How the bits of a field represent a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
}

impl Kind {
    /// The low `bits` of a word as a number.
    fn number(self, word: u64, bits: u32) -> i64 {
        let unused = 64 - bits;
        match self {
            // An unsigned field has at most 63 bits.
            Self::Unsigned => (word << unused >> unused) as i64,
            Self::Signed => (word << unused) as i64 >> unused,
        }
    }

    /// A number given to `SET`, widened for the arithmetic.
    fn widen(self, number: i64) -> i128 {
        match self {
            Self::Signed => i128::from(number),
            Self::Unsigned => i128::from(number as u64),
        }
    }

    /// The smallest and the largest number that a field of this many bits can hold.
    fn range(self, bits: u32) -> (i128, i128) {
        match self {
            Self::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Self::Unsigned => (0, (1 << bits) - 1),
        }
    }
}

/// The treatment of a number that its field cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Get,
    Set(i64, Overflow),
    Increment(i64, Overflow),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) kind: Kind,
    pub(super) field: Field,
    pub(super) action: Action,
}

/// The result of an operation: the reply (`None` is null), and the bits of the field after it if it
/// writes.
pub(super) struct Outcome {
    pub(super) reply: Option<i64>,
    pub(super) after: Option<u64>,
}

impl Operation {
    pub(super) fn is_read(&self) -> bool {
        self.action == Action::Get
    }

    pub(super) fn outcome(&self, bytes: &[u8]) -> Outcome {
        let Self {
            kind,
            field,
            action,
        } = *self;
        let before = kind.number(field.read(bytes), field.bits);
        let (exact, overflow) = match action {
            Action::Get => {
                return Outcome {
                    reply: Some(before),
                    after: None,
                };
            }
            Action::Set(number, overflow) => (kind.widen(number), overflow),
            Action::Increment(by, overflow) => (i128::from(before) + i128::from(by), overflow),
        };
        let mask = u64::MAX >> (64 - field.bits);
        let after = self.fit(exact, overflow).map(|word| word & mask);
        let reply = match action {
            Action::Get | Action::Set(..) => after.map(|_| before),
            Action::Increment(..) => after.map(|word| kind.number(word, field.bits)),
        };
        Outcome { reply, after }
    }

    /// The word whose low bits represent a number, or `None` if the operation fails.
    fn fit(&self, exact: i128, overflow: Overflow) -> Option<u64> {
        let (min, max) = self.kind.range(self.field.bits);
        let is_set = matches!(self.action, Action::Set(..));
        match overflow {
            _ if (min..=max).contains(&exact) => Some(exact as u64),
            Overflow::Wrap => Some(exact as u64),
            Overflow::Fail => None,
            // Redis distinguishes too low from too high by a difference in 64 bits. For numbers
            // this low it overflows, and they count as too high.
            Overflow::Saturate if is_set && max - exact > i128::from(i64::MAX) => Some(max as u64),
            Overflow::Saturate => Some(exact.clamp(min, max) as u64),
        }
    }
}

pub(super) fn parse_overflow(word: &[u8]) -> Result<Overflow, Error> {
    const WORDS: [(&str, Overflow); 3] = [
        ("WRAP", Overflow::Wrap),
        ("SAT", Overflow::Saturate),
        ("FAIL", Overflow::Fail),
    ];
    let found = WORDS.iter().find(|(name, _)| is_word(word, name));
    found
        .map(|(_, overflow)| *overflow)
        .ok_or(BITFIELD_OVERFLOW)
}

/// `i1` to `i64`, `u1` to `u63`: an unsigned number of 64 bits would not fit a reply.
pub(super) fn parse_type(argument: &[u8]) -> Result<(Kind, u32), Error> {
    let (kind, bits, bits_max) = match argument {
        [b'i', bits @ ..] => (Kind::Signed, bits, 64),
        [b'u', bits @ ..] => (Kind::Unsigned, bits, 63),
        _ => return Err(BITFIELD_TYPE),
    };
    match parse_i64(bits) {
        Some(bits) if (1..=bits_max).contains(&bits) => Ok((kind, bits as u32)),
        _ => Err(BITFIELD_TYPE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: &str, action: Action, bytes: &[u8]) -> (Option<i64>, Option<u64>) {
        let (kind, bits) = parse_type(kind.as_bytes()).expect("a type");
        let outcome = Operation {
            kind,
            field: Field { offset: 0, bits },
            action,
        }
        .outcome(bytes);
        (outcome.reply, outcome.after)
    }

    #[test]
    fn type_has_up_to_64_signed_or_63_unsigned_bits() {
        assert_eq!(parse_type(b"i64"), Ok((Kind::Signed, 64)));
        assert_eq!(parse_type(b"u63"), Ok((Kind::Unsigned, 63)));
        for refused in [
            &b"u64"[..],
            b"i65",
            b"i0",
            b"I8",
            b"u",
            b"8",
            b"",
            b"i-1",
            b"i08",
        ] {
            assert_eq!(parse_type(refused), Err(BITFIELD_TYPE), "{refused:?}");
        }
    }

    #[test]
    fn increment_past_the_range_wraps_saturates_or_fails() {
        use Overflow::{Fail, Saturate, Wrap};
        let full = [0xff];
        assert_eq!(
            outcome("u8", Action::Increment(2, Wrap), &full),
            (Some(1), Some(1))
        );
        assert_eq!(
            outcome("u8", Action::Increment(2, Saturate), &full),
            (Some(255), Some(255))
        );
        assert_eq!(
            outcome("u8", Action::Increment(2, Fail), &full),
            (None, None)
        );
        assert_eq!(
            outcome("u8", Action::Increment(-300, Saturate), &full),
            (Some(0), Some(0))
        );
        assert_eq!(
            outcome("i8", Action::Increment(-128, Wrap), &full),
            (Some(127), Some(127))
        );
        assert_eq!(
            outcome("i8", Action::Increment(-128, Saturate), &full),
            (Some(-128), Some(128))
        );
        assert_eq!(
            outcome("i64", Action::Increment(i64::MIN, Wrap), &[0x80]),
            (Some(0), Some(0))
        );
    }

    #[test]
    fn set_replies_with_the_old_number() {
        use Overflow::{Fail, Saturate, Wrap};
        assert_eq!(
            outcome("i8", Action::Set(5, Wrap), &[0xff]),
            (Some(-1), Some(5))
        );
        assert_eq!(
            outcome("u4", Action::Set(-1, Wrap), &[0x30]),
            (Some(3), Some(15))
        );
        assert_eq!(
            outcome("u4", Action::Set(-1, Saturate), &[0x30]),
            (Some(3), Some(15))
        );
        assert_eq!(outcome("u4", Action::Set(16, Fail), &[0x30]), (None, None));
        assert_eq!(
            outcome("i4", Action::Set(-9, Saturate), &[0x30]),
            (Some(3), Some(8))
        );
        assert_eq!(
            outcome("i4", Action::Set(i64::MIN, Saturate), &[0x30]),
            (Some(3), Some(7))
        );
    }
}
