//! Typed arguments: from the borrowed list of a request to a struct of one's own.

mod field;
mod iter;
mod rest;
mod words;

pub(crate) use field::out_of_range;
pub use field::{ArgError, FromArg};
pub use iter::ArgIter;
pub use rest::Rest;
pub use words::Words;

use crate::{Error, Spec};

/// The arguments of a command as a type: what [`Router::command`](crate::Router::command) parses a
/// request into before it calls the handler.
///
/// Usually derived (feature `derive`); `()` is a command without arguments. By hand it is:
///
/// ```
/// use respire_engine::{Arg, ArgIter, ArgKind, Args, Arity, Error, Spec};
///
/// struct Take {
///     n: i64,
/// }
///
/// impl Args for Take {
///     const SPEC: Spec = Spec {
///         arity: Arity::exactly(2),
///         args: &[Arg::new("n", ArgKind::Integer)],
///         ..Spec::EMPTY
///     };
///
///     fn parse(args: &mut ArgIter<'_>) -> Result<Self, Error> {
///         Ok(Self { n: args.required("n")? })
///     }
/// }
/// ```
///
/// Arguments are owned, so that a handler may keep them, send them elsewhere or answer later. Who
/// wants them borrowed writes a [`Command`](crate::Command).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from the arguments of a command",
    label = "does not implement `Args`",
    note = "put `#[derive(Args)]` on the struct, or use `()` for a command without arguments"
)]
pub trait Args: Sized {
    /// What is known of any command with these arguments: arity (its name counted), keys, grammar,
    /// flags. The name is filled in when the command is added.
    const SPEC: Spec;

    /// Takes the arguments from `args`. Those it leaves are answered with `ERR syntax error`.
    ///
    /// # Errors
    /// The reply to arguments that are not of this type.
    fn parse(args: &mut ArgIter<'_>) -> Result<Self, Error>;
}

/// No arguments.
impl Args for () {
    const SPEC: Spec = Spec {
        complexity: "",
        ..Spec::EMPTY
    };

    fn parse(_: &mut ArgIter<'_>) -> Result<Self, Error> {
        Ok(())
    }
}
