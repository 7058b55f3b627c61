//! Typed arguments: parses a request into a struct.

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

/// The arguments of a command as a type. [`Router::command`](crate::Router::command) parses a
/// request into it before it calls the handler.
///
/// Usually derived (feature `derive`). `()` stands for no arguments. Written by hand it is:
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
/// Arguments are owned, so a handler may keep them, send them to another thread or answer later. To
/// borrow them, implement [`Command`](crate::Command).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from the arguments of a command",
    label = "does not implement `Args`",
    note = "put `#[derive(Args)]` on the struct, or use `()` for a command without arguments"
)]
pub trait Args: Sized {
    /// The properties of all commands with these arguments: arity (including the name), keys,
    /// grammar, flags. The name is set when the command is added.
    const SPEC: Spec;

    /// Takes the arguments from `args`. If some remain, the client gets `ERR syntax error`.
    ///
    /// # Errors
    /// The reply to invalid arguments.
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
