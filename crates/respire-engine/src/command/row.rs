//! The trait of a command, and rows, its usual implementation: a description and a function.

use crate::{App, ArgList, Cx, Error, Flags, Reply, Spec, text};

/// A command at the lowest level: it borrows its arguments and writes the reply straight to the
/// output.
///
/// Each call must write exactly one reply, unless [`Flow`] says otherwise.
pub trait Command<A: App>: Send + Sync + 'static {
    /// The description of the command; it never changes.
    fn spec(&self) -> &Spec;

    /// Runs the command. `args` are the arguments after the name (and after the subcommand's name).
    /// Their number has been checked against the arity.
    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow;

    /// Whether every call is timed, rather than one in 128 after the first 10,000. The default is
    /// yes, unless the command declares [the same cost for every call](Flags::CONSTANT). Calls of
    /// [few arguments](Spec::constant_args) are not always timed in any case.
    fn is_timed(&self) -> bool {
        !self.spec().is_constant()
    }

    /// Calls `found` with the position of each key in a whole request of an accepted arity (the
    /// name is at 0). The default uses [`Spec::keys`].
    ///
    /// # Errors
    /// If the arguments are invalid, so that the keys cannot be determined.
    fn keys(&self, request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
        keys_by_spec(self.spec(), request, found)
    }

    /// Whether a whole request of an accepted arity (the name is at 0) counts as a write:
    /// `CLIENT PAUSE ... WRITE` holds it back. The default goes by the flags of the command.
    fn may_write(&self, _request: ArgList<'_>) -> bool {
        self.spec().flags.any(Flags::WRITE.with(Flags::MAY_WRITE))
    }
}

/// How to continue after a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The reply is written; continue with the next request.
    Replied,
    /// The reply comes later, from the [`Later`](crate::Later) that this call took with
    /// [`Cx::later`]. Anything written is dropped.
    Pending,
    /// The reply is written but is sent only after this time; the connection waits until then.
    // Not a `Duration`: that ends in four bytes of value and four of padding. This value is copied
    // upwards in words of eight bytes, and reading the last word before both parts are stored
    // stalls every request.
    RepliedAfter {
        /// Microseconds to wait.
        wait_us: u64,
    },
    /// The reply is written; the connection closes once it is sent.
    Close,
}

/// A command made of a static description and a function, which is the usual form.
///
/// ```
/// use respire_engine::{App, ArgList, Cx, Error, NoKeys, Reply, Row, Spec};
///
/// struct Hello;
/// impl App for Hello {
///     type Conn = ();
///     type Keys = NoKeys;
/// }
/// static SPEC: Spec = Spec { name: "hi", ..Spec::EMPTY };
/// fn hi(_cx: &mut Cx<'_, Hello>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
///     reply.simple("hello");
///     Ok(())
/// }
/// let row: Row<Hello> = Row { spec: &SPEC, run: hi };
/// ```
pub struct Row<A: App> {
    /// The description of the command.
    pub spec: &'static Spec,
    /// The function. An error becomes the reply; the function must not have written anything then.
    pub run: Run<A>,
}

/// The function of a [`Row`].
pub type Run<A> = fn(&mut Cx<'_, A>, ArgList<'_>, &mut Reply<'_>) -> Result<(), Error>;

impl<A: App> Command<A> for Row<A> {
    fn spec(&self) -> &Spec {
        self.spec
    }

    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        if let Err(error) = (self.run)(cx, args, reply) {
            reply.error(error.text());
        }
        Flow::Replied
    }
}

impl<A: App> std::fmt::Debug for Row<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Row")
            .field("name", &self.spec.name)
            .finish_non_exhaustive()
    }
}

impl<A: App> Clone for Row<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A: App> Copy for Row<A> {}

/// A function that finds the keys of a whole request and reports the position of each.
pub type KeyPositions = fn(ArgList<'_>, &mut dyn FnMut(usize)) -> Result<(), Error>;

/// Finds the keys of a whole request from its description: the default of [`Command::keys`].
///
/// # Errors
/// If the number of keys is an argument, and that is none, or too great.
pub fn keys_by_spec(
    spec: &Spec,
    request: ArgList<'_>,
    found: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    // Names of shard channels are listed as keys for clusters, but they are not keys.
    for key_spec in spec.keys.iter().filter(|keys| keys.are_keys()) {
        let positions = key_spec.find(request).ok_or(text::SYNTAX)?;
        positions.for_each(&mut *found);
    }
    Ok(())
}
