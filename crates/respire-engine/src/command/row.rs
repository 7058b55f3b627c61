//! A command: a description and what it does.

use crate::ArgList;
#[cfg(doc)]
use crate::Flags;
use crate::{App, Cx, Error, Reply, Spec};

/// A command at the lowest level: borrowed arguments in, the reply written straight to the output.
///
/// Exactly one reply is written per call, unless [`Flow`] says that there is none.
pub trait Command<A: App>: Send + Sync + 'static {
    /// What is known about it; the same every time.
    fn spec(&self) -> &Spec;

    /// Runs it. `args` are the arguments after the name (and after the subcommand's name), and
    /// their count has been checked against the arity.
    fn call(&self, cx: &mut Cx<'_, A>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Flow;

    /// Whether every call is timed, rather than one of 128 after the first 10,000: by default, unless
    /// the command declares [the same cost for every call](Flags::CONSTANT).
    fn is_timed(&self) -> bool {
        !self.spec().is_constant()
    }

    /// Calls `found` with the position of each key (the name is at 0) in a whole request of an
    /// accepted arity; by default as [`Spec::keys`] tells.
    ///
    /// # Errors
    /// When the arguments make no sense, so that there is no telling which are keys.
    fn keys(&self, request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
        keys_by_spec(self.spec(), request, found)
    }
}

/// What follows after a command ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Flow {
    /// The reply is written; on with the next request.
    Replied,
    /// The reply comes later, from the [`Later`](crate::Later) that this call took with
    /// [`Cx::later`]; what was written is dropped.
    Pending,
    /// The reply is written, but is due only after so many microseconds; the connection waits until then.
    // A `Duration` ends in four bytes and four of padding: a value copied in pieces of eight, as this one
    // is on its way up, is read before they are written together, and every request waits for that.
    RepliedAfter {
        /// Microseconds to wait.
        wait_us: u64,
    },
    /// The reply is written; the connection ends once it is sent.
    Close,
}

/// The usual shape of a command: a static description and a function.
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
    /// What is known about the command.
    pub spec: &'static Spec,
    /// What it does; an error becomes the reply, and then nothing may have been written.
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

/// Finds the keys of a whole request and reports the position of each.
pub type KeyPositions = fn(ArgList<'_>, &mut dyn FnMut(usize)) -> Result<(), Error>;

/// Finds the keys of a whole request where the description tells: what [`Command::keys`] does
/// unless a command does better.
///
/// # Errors
/// None of its own; the result has the shape of [`Command::keys`].
pub fn keys_by_spec(
    spec: &Spec,
    request: ArgList<'_>,
    found: &mut dyn FnMut(usize),
) -> Result<(), Error> {
    // The names of shard channels stand where keys do, for clusters, and are none.
    for key_spec in spec.keys.iter().filter(|keys| keys.are_keys()) {
        key_spec.positions(request.len()).for_each(&mut *found);
    }
    Ok(())
}
