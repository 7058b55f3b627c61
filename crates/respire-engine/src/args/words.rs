//! Options of a command that exclude each other.

use super::ArgIter;
use crate::{Arg, Error};

/// An enum of words that exclude each other, each with its own arguments, as in
/// `EX seconds | PX milliseconds | KEEPTTL`.
///
/// Usually derived (feature `derive`). An `Option` of it is a field of an [`Args`](crate::Args)
/// with `#[arg(words)]`. An enum of words without arguments is also an argument type. Written by
/// hand it is:
///
/// ```
/// use respire_engine::{Arg, ArgIter, ArgKind, Error, Words};
///
/// enum Expiry {
///     In(u64),
///     Never,
/// }
///
/// impl Words for Expiry {
///     const CHOICES: &'static [Arg] = &[
///         Arg::new("seconds", ArgKind::Integer).token("IN"),
///         Arg::word("never", "NEVER"),
///     ];
///     const COUNT_MIN: usize = 1;
///
///     fn take(args: &mut ArgIter<'_>) -> Result<Option<Self>, Error> {
///         if args.word("IN") {
///             return Ok(Some(Self::In(args.required("seconds")?)));
///         }
///         Ok(args.word("NEVER").then_some(Self::Never))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an enum of words",
    label = "does not implement `Words`",
    note = "put `#[derive(Words)]` on the enum"
)]
pub trait Words: Sized {
    /// The grammar of each choice, as `COMMAND DOCS` shows it.
    const CHOICES: &'static [Arg];
    /// The smallest number of arguments of a choice, including its word.
    const COUNT_MIN: usize;

    /// Takes one of the words and its arguments if the next argument is such a word; otherwise
    /// returns `None`.
    ///
    /// # Errors
    /// If an argument of the word is missing or has another type.
    fn take(args: &mut ArgIter<'_>) -> Result<Option<Self>, Error>;
}
