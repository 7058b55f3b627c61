//! Parses the arguments of a command: a cursor over its options, and the options that several
//! commands share.

use crate::errors::{NOT_AN_INTEGER, SYNTAX, invalid_expire};
use resp_codec::number::parse_i64;
use respire_engine::{ArgList, Error};

/// Calls of commands on elements with at most this many arguments take about the same short time
/// ([`Spec::constant_args`](respire_engine::Spec)).
pub(crate) const FEW_ARGS: u8 = 8;

/// A cursor over the arguments after the fixed ones.
#[derive(Clone)]
pub(crate) struct Options<'a> {
    rest: ArgList<'a>,
}

impl<'a> Options<'a> {
    pub(crate) fn new(rest: ArgList<'a>) -> Self {
        Self { rest }
    }

    /// Returns the next argument.
    pub(crate) fn next(&mut self) -> Option<&'a [u8]> {
        let word = self.rest.get(0)?;
        self.rest = self.rest.skip(1);
        Some(word)
    }

    /// Returns the argument that belongs to the option just read, or a syntax error.
    pub(crate) fn value(&mut self) -> Result<&'a [u8], Error> {
        self.next().ok_or(SYNTAX)
    }

    /// Returns the argument of the option just read as an integer.
    pub(crate) fn integer(&mut self) -> Result<i64, Error> {
        integer(self.value()?)
    }

    /// The number of arguments left.
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }
}

/// Whether an argument is this word, in any case.
pub(crate) fn is_word(argument: &[u8], word: &str) -> bool {
    argument.eq_ignore_ascii_case(word.as_bytes())
}

/// Parses an argument that must be an integer.
pub(crate) fn integer(argument: &[u8]) -> Result<i64, Error> {
    parse_i64(argument).ok_or(NOT_AN_INTEGER)
}

/// Parses an argument that must be a positive number, with one error for all that are not.
pub(crate) fn positive(argument: &[u8], error: Error) -> Result<usize, Error> {
    let number = parse_i64(argument).and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number > 0).ok_or(error)
}

/// Stores a choice among exclusive options. A second, different choice is a syntax error; a
/// repeated one is accepted.
pub(crate) fn set_once<T: PartialEq>(slot: &mut Option<T>, choice: T) -> Result<(), Error> {
    if slot.as_ref().is_some_and(|chosen| *chosen != choice) {
        return Err(SYNTAX);
    }
    *slot = Some(choice);
    Ok(())
}

/// The unit of a time in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeUnit {
    Seconds,
    Milliseconds,
}

impl TimeUnit {
    /// Converts this many units to milliseconds; `None` on overflow of `i64`.
    pub(crate) fn to_ms(self, amount: i64) -> Option<i64> {
        match self {
            Self::Seconds => amount.checked_mul(1000),
            Self::Milliseconds => Some(amount),
        }
    }
}

/// The start of a time in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeBase {
    /// Relative to now.
    Now,
    /// Relative to 1970-01-01.
    Epoch,
}

/// An option of `SET` or `GETEX` that controls the expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryWord {
    /// `EX`, `PX`, `EXAT`, `PXAT`; an amount follows.
    Time(TimeBase, TimeUnit),
    /// `KEEPTTL` of `SET`.
    KeepTtl,
    /// `PERSIST` of `GETEX`.
    Persist,
}

impl ExpiryWord {
    pub(crate) fn parse(word: &[u8]) -> Option<Self> {
        const WORDS: [(&str, ExpiryWord); 6] = [
            ("EX", ExpiryWord::Time(TimeBase::Now, TimeUnit::Seconds)),
            (
                "PX",
                ExpiryWord::Time(TimeBase::Now, TimeUnit::Milliseconds),
            ),
            ("EXAT", ExpiryWord::Time(TimeBase::Epoch, TimeUnit::Seconds)),
            (
                "PXAT",
                ExpiryWord::Time(TimeBase::Epoch, TimeUnit::Milliseconds),
            ),
            ("KEEPTTL", ExpiryWord::KeepTtl),
            ("PERSIST", ExpiryWord::Persist),
        ];
        WORDS
            .iter()
            .find(|(name, _)| is_word(word, name))
            .map(|(_, word)| *word)
    }
}

/// The expiry options of one request. The amount is parsed only after all options, because syntax
/// errors are reported before bad amounts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ExpiryOption<'a> {
    word: Option<ExpiryWord>,
    amount: &'a [u8],
}

impl<'a> ExpiryOption<'a> {
    /// Records a word, and takes its amount from `options`.
    pub(crate) fn set(&mut self, word: ExpiryWord, options: &mut Options<'a>) -> Result<(), Error> {
        set_once(&mut self.word, word)?;
        if matches!(word, ExpiryWord::Time(..)) {
            self.amount = options.value()?;
        }
        Ok(())
    }

    /// The chosen option, with its time converted to unix milliseconds.
    pub(crate) fn resolve(self, command: &str, now_ms: u64) -> Result<ExpiryChoice, Error> {
        Ok(match self.word {
            None => ExpiryChoice::Unsaid,
            Some(ExpiryWord::KeepTtl) => ExpiryChoice::Keep,
            Some(ExpiryWord::Persist) => ExpiryChoice::Persist,
            Some(ExpiryWord::Time(base, unit)) => {
                ExpiryChoice::At(expires_at(self.amount, base, unit, command, now_ms)?)
            }
        })
    }
}

/// The choice that the expiry options of a request make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryChoice {
    Unsaid,
    Keep,
    Persist,
    /// Expire at this time, in unix milliseconds.
    At(u64),
}

/// Converts a positive amount to a time in unix milliseconds.
pub(crate) fn expires_at(
    amount: &[u8],
    base: TimeBase,
    unit: TimeUnit,
    command: &str,
    now_ms: u64,
) -> Result<u64, Error> {
    let amount = integer(amount)?;
    let at = unit
        .to_ms(amount)
        .filter(|ms| *ms > 0)
        .and_then(|ms| match base {
            TimeBase::Now => ms.checked_add_unsigned(now_ms),
            TimeBase::Epoch => Some(ms),
        });
    at.map(i64::unsigned_abs)
        .ok_or_else(|| invalid_expire(command))
}

#[cfg(test)]
mod tests {
    use super::*;
    use resp_codec::Span;

    const NOW_MS: u64 = 1_700_000_000_000;

    fn resolve(words: &[&str]) -> Result<ExpiryChoice, Error> {
        let text: String = words.concat();
        let mut at = 0;
        let mut spans = Vec::new();
        for word in words {
            spans.push(Span::new(at, word.len() as u32));
            at += word.len() as u32;
        }
        let mut options = Options::new(ArgList::new(text.as_bytes(), &[], &spans));
        let mut expiry = ExpiryOption::default();
        while let Some(word) = options.next() {
            expiry.set(ExpiryWord::parse(word).ok_or(SYNTAX)?, &mut options)?;
        }
        expiry.resolve("set", NOW_MS)
    }

    #[test]
    fn expiry_options_in_any_case_resolve_to_unix_milliseconds() {
        assert_eq!(resolve(&[]), Ok(ExpiryChoice::Unsaid));
        assert_eq!(
            resolve(&["eX", "10"]),
            Ok(ExpiryChoice::At(NOW_MS + 10_000))
        );
        assert_eq!(resolve(&["px", "10"]), Ok(ExpiryChoice::At(NOW_MS + 10)));
        assert_eq!(resolve(&["EXAT", "10"]), Ok(ExpiryChoice::At(10_000)));
        assert_eq!(resolve(&["PXAT", "10"]), Ok(ExpiryChoice::At(10)));
        assert_eq!(resolve(&["KeepTTL"]), Ok(ExpiryChoice::Keep));
    }

    #[test]
    fn repeated_expiry_option_takes_the_last_amount_and_a_different_one_is_refused() {
        assert_eq!(
            resolve(&["PX", "10", "PX", "20"]),
            Ok(ExpiryChoice::At(NOW_MS + 20))
        );
        assert_eq!(resolve(&["PX", "10", "EX", "20"]), Err(SYNTAX));
        assert_eq!(resolve(&["KEEPTTL", "PXAT", "20"]), Err(SYNTAX));
        assert_eq!(resolve(&["EX"]), Err(SYNTAX));
    }

    #[test]
    fn expiry_amount_is_checked_after_the_syntax() {
        assert_eq!(resolve(&["EX", "ten"]), Err(NOT_AN_INTEGER));
        assert_eq!(resolve(&["EX", "ten", "KEEPTTL"]), Err(SYNTAX));
        for amount in ["0", "-1", "9223372036854775807", "9223372036854776"] {
            assert_eq!(
                resolve(&["EX", amount]),
                Err(invalid_expire("set")),
                "{amount}"
            );
        }
        assert_eq!(
            resolve(&["PX", "9223372036854775807"]),
            Err(invalid_expire("set"))
        );
        assert_eq!(
            resolve(&["PXAT", "9223372036854775807"]),
            Ok(ExpiryChoice::At(i64::MAX as u64))
        );
    }

    #[test]
    fn repeated_choice_is_accepted_and_a_different_one_is_refused() {
        let mut slot = None;
        assert_eq!(set_once(&mut slot, 'a'), Ok(()));
        assert_eq!(set_once(&mut slot, 'a'), Ok(()));
        assert_eq!(set_once(&mut slot, 'b'), Err(SYNTAX));
        assert_eq!(slot, Some('a'));
    }
}
