//! The options of `XADD` and `XTRIM` that trim a stream.

use super::ids::strict_id;
use super::references::parse_word;
use crate::options::{Options, integer, is_word};
use respire_engine::Error;
use respire_store::{Keep, Limits, References, Trim};

const BOTH: Error =
    Error::fixed("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
const MAXLEN: Error = Error::fixed("ERR The MAXLEN argument must be >= 0.");
const LIMIT: Error = Error::fixed("ERR The LIMIT argument must be >= 0.");
const LIMIT_ALONE: Error =
    Error::fixed("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
const LIMIT_EXACT: Error =
    Error::fixed("ERR syntax error, LIMIT cannot be used without the special ~ option");

/// The options as they are read, one after another.
#[derive(Debug, Default)]
pub(super) struct TrimOptions {
    keep: Option<Keep>,
    is_approximate: bool,
    limit: Option<u64>,
    references: Option<References>,
}

impl TrimOptions {
    /// Reads an option if this word is one. Returns whether it is.
    pub(super) fn parse(&mut self, word: &[u8], options: &mut Options<'_>) -> Result<bool, Error> {
        if self.references.is_none() {
            self.references = parse_word(word);
            if self.references.is_some() {
                return Ok(true);
            }
        }
        // The others have a value.
        if options.len() == 0 {
            return Ok(false);
        }
        if is_word(word, "MAXLEN") {
            let last = self.threshold(options, integer)?;
            self.keep = Some(Keep::Last(u64::try_from(last).map_err(|_| MAXLEN)?));
        } else if is_word(word, "MINID") {
            let from = self.threshold(options, |text| strict_id(text, 0))?;
            self.keep = Some(Keep::From(from));
        } else if is_word(word, "LIMIT") {
            let limit = options.integer()?;
            self.limit = Some(u64::try_from(limit).map_err(|_| LIMIT)?);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// Reads `=` or `~`, which need not be there, and what follows.
    fn threshold<T>(
        &mut self,
        options: &mut Options<'_>,
        parse: impl FnOnce(&[u8]) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.keep.is_some() {
            return Err(BOTH);
        }
        self.is_approximate = false;
        let mut text = options.value()?;
        if matches!(text, b"~" | b"=") && options.len() > 0 {
            self.is_approximate = text == b"~";
            text = options.value()?;
        }
        parse(text)
    }

    /// Checks the options together; `none` is the error if there are none.
    pub(super) fn finish_with(self, none: Error) -> Result<TrimRequest, Error> {
        if self.keep.is_none() && self.limit == Some(0) {
            return Err(none);
        }
        self.finish()?.ok_or(none)
    }

    /// Checks the options together; `None` if there are none.
    pub(super) fn finish(self) -> Result<Option<TrimRequest>, Error> {
        let Some(keep) = self.keep else {
            return match self.limit {
                Some(limit) if limit > 0 => Err(LIMIT_ALONE),
                // Redis looks at the limit before it looks for what it limits.
                Some(_) => Err(LIMIT_EXACT),
                None => Ok(None),
            };
        };
        if self.limit.is_some() && !self.is_approximate {
            return Err(LIMIT_EXACT);
        }
        Ok(Some(TrimRequest {
            keep,
            is_approximate: self.is_approximate,
            limit: self.limit,
            references: self.references.unwrap_or_default(),
        }))
    }
}

/// A trim that a request asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrimRequest {
    keep: Keep,
    is_approximate: bool,
    limit: Option<u64>,
    references: References,
}

impl TrimRequest {
    /// The trim, with the largest number of entries that one request removes: 100 blocks.
    pub(super) fn of(self, limits: &Limits) -> Trim {
        let default = match 100 * u64::from(limits.elements) {
            0 => 10_000,
            entries => entries.min(1_000_000),
        };
        let entries_max = match self.limit {
            Some(0) => u64::MAX,
            Some(limit) => limit,
            None if self.is_approximate => default,
            None => u64::MAX,
        };
        Trim {
            keep: self.keep,
            is_approximate: self.is_approximate,
            entries_max,
            references: self.references,
        }
    }
}
