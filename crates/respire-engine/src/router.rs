//! The commands a server answers: the built-in ones and those that are added.

use crate::layer::Setup;
use crate::table::CommandTable;
use crate::{App, Command, builtin};
use std::sync::Arc;

/// Collects commands for an application; an [`Engine`](crate::Engine) is built from it.
///
/// The commands every client library expects (PING, HELLO, CLIENT, COMMAND, MULTI and so on) are
/// there from the start; adding a command of the same name replaces one.
///
/// ```
/// use respire_engine::{App, ArgList, Cx, Error, Reply, Router, Row, Spec};
///
/// struct Greeter;
/// impl App for Greeter {
///     type Conn = ();
/// }
/// static HI: Spec = Spec { name: "hi", summary: "Greets.", ..Spec::EMPTY };
/// fn hi(_: &mut Cx<'_, Greeter>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
///     reply.simple("hello");
///     Ok(())
/// }
/// let router = Router::new(Greeter).add(Row { spec: &HI, run: hi });
/// ```
#[derive(Debug)]
pub struct Router<A: App> {
    app: Arc<A>,
    table: CommandTable<A>,
    pub(crate) setup: Setup<A>,
}

impl<A: App> Router<A> {
    /// A router with the built-in commands on this application.
    pub fn new(app: impl Into<Arc<A>>) -> Self {
        let bare = Self {
            app: app.into(),
            table: CommandTable::new(),
            setup: Setup::default(),
        };
        builtin::add_to(bare)
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &Arc<A> {
        &self.app
    }

    /// Adds a command, in place of one of the same name.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "adding a command is not arithmetic"
    )]
    pub fn add(mut self, command: impl Command<A>) -> Self {
        self.table.add(Box::new(command));
        self
    }

    /// Adds a command whose first argument names one of `subcommands` (each named
    /// `container|subcommand`). The container itself runs when no argument is given, if its arity
    /// allows that.
    #[must_use]
    pub fn container(
        mut self,
        container: impl Command<A>,
        subcommands: impl IntoIterator<Item = Box<dyn Command<A>>>,
    ) -> Self {
        self.table
            .add_container(Box::new(container), subcommands.into_iter().collect());
        self
    }

    pub(crate) fn into_parts(self) -> (Arc<A>, CommandTable<A>, Setup<A>) {
        (self.app, self.table, self.setup)
    }
}
