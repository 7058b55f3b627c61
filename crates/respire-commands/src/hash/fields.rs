//! What the commands on the expiries of fields share: their arguments, and the check of the key's type.

use crate::errors::{
    FIELD_EXPIRY_NEGATIVE, FIELDS_MISSING, FIELDS_NUMBER, invalid_expire, wrong_type,
};
use crate::options::{TimeBase, TimeUnit, integer, is_word, positive};
use respire_engine::{Arg, ArgKind, ArgList, Error};
use respire_store::segments::NewText;
use respire_store::{EntryRef, Growth, Hash, Kind, Slot};

/// `FIELDS numfields field [field ...]`.
pub(super) const FIELDS: Arg = Arg::block(
    "fields",
    &[
        Arg::new("numfields", ArgKind::Integer),
        Arg::new("field", ArgKind::String).multiple(),
    ],
)
.token("FIELDS");

/// The latest expiry of a field, in unix milliseconds, as in Redis.
pub(super) const EXPIRY_MAX_MS: u64 = (1 << 46) - 1;

/// The reply for a field that does not exist.
pub(super) const NO_FIELD: i64 = -2;

/// Parses `FIELDS numfields field [field ...]`, and returns the fields. `number` is the error for a number that is
/// not positive.
pub(super) fn fields<'a>(args: ArgList<'a>, number: Error) -> Result<ArgList<'a>, Error> {
    if !args.get(0).is_some_and(|word| is_word(word, "FIELDS")) {
        return Err(FIELDS_MISSING);
    }
    let numfields = positive(args.get(1).unwrap_or_default(), number)?;
    let fields = args.skip(2);
    if numfields != fields.len() {
        return Err(FIELDS_NUMBER);
    }
    Ok(fields)
}

/// The unit and the start of a time in a request.
#[derive(Clone, Copy)]
pub(super) struct Time {
    pub(super) base: TimeBase,
    pub(super) unit: TimeUnit,
}

impl Time {
    /// The time that an argument of a command says, in unix milliseconds.
    pub(super) fn parse(self, amount: &[u8], command: &str, now_ms: u64) -> Result<u64, Error> {
        let amount = integer(amount)?;
        if amount < 0 {
            return Err(FIELD_EXPIRY_NEGATIVE);
        }
        let base_ms = match self.base {
            TimeBase::Now => now_ms,
            TimeBase::Epoch => 0,
        };
        let at = self
            .unit
            .to_ms(amount)
            .and_then(|ms| base_ms.checked_add_signed(ms));
        at.filter(|at| *at <= EXPIRY_MAX_MS)
            .ok_or_else(|| invalid_expire(command))
    }
}

/// Checks that the key holds a hash, if it exists: this comes before the arguments are parsed.
pub(super) fn check_type(slot: &Slot<'_>) -> Result<(), Error> {
    let hash = slot.get().map(EntryRef::typed::<Hash>);
    hash.transpose().map(|_| ()).map_err(wrong_type)
}

/// Sets a field to a value, and keeps its expiry.
pub(super) fn insert_keeping<'v>(
    hash: &mut Hash,
    field: &[u8],
    value: impl Into<NewText<'v>>,
    growth: &Growth,
) {
    let expires_at = match hash.read().has_expiries() {
        true => hash.read().expiry_of(field).flatten(),
        false => None,
    };
    hash.insert_until(field, value, expires_at, growth);
}
