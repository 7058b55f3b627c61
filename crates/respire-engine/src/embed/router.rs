//! The router: the built-in commands and those that a service adds.

use crate::command::layer::Setup;
use crate::command::table::CommandTable;
use crate::spec::SEPARATOR;
use crate::{App, Authenticator, Command, Extension, Layer, Limits, redis};
use std::collections::HashSet;
use std::sync::Arc;

/// Collects commands for an application. An [`Engine`](crate::Engine) is built from it.
///
/// The commands that every client library expects (PING, HELLO, CLIENT, COMMAND, MULTI and so on)
/// are included. Adding a command of the same name replaces one.
///
/// ```
/// use respire_engine::{App, ArgList, Cx, Error, NoKeys, Reply, Router, Row, Spec};
///
/// struct Greeter;
/// impl App for Greeter {
///     type Conn = ();
///     type Keys = NoKeys;
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
        Self::shared(app.into())
    }

    /// As [`Router::new`], for an application that is shared with a router to be
    /// [merged](Router::merge), or with a thread of the service.
    #[must_use]
    pub fn shared(app: Arc<A>) -> Self {
        let mut table = CommandTable::new();
        redis::add_to(&mut table);
        table.mark_builtin();
        Self {
            app,
            table,
            setup: Setup::default(),
        }
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &Arc<A> {
        &self.app
    }

    /// Adds a command. It replaces one of the same name.
    ///
    /// # Panics
    /// If the name is empty, or contains bytes other than visible ASCII, or a `|`. The message
    /// states the caller's line, as it does for all methods that add commands.
    #[must_use]
    #[track_caller]
    #[expect(
        clippy::should_implement_trait,
        reason = "adding a command is not arithmetic"
    )]
    pub fn add(mut self, command: impl Command<A>) -> Self {
        assert_name(command.spec().name);
        self.table.add(Box::new(command));
        self
    }

    /// Adds a command whose first argument names one of `subcommands` (each named
    /// `container|subcommand`). The container itself runs without arguments if its arity allows
    /// that.
    ///
    /// # Panics
    /// See [`Router::add`]. Also if a subcommand is not named `container|subcommand`, or has the
    /// name of another subcommand.
    #[must_use]
    #[track_caller]
    pub fn container(
        mut self,
        container: impl Command<A>,
        subcommands: impl IntoIterator<Item = Box<dyn Command<A>>>,
    ) -> Self {
        let subcommands: Vec<_> = subcommands.into_iter().collect();
        assert_name(container.spec().name);
        assert_subcommands(container.spec().name, &subcommands);
        self.table.add_container(Box::new(container), subcommands);
        self
    }

    /// Adds the commands that were added to another router of the same application. They replace
    /// commands of the same name. The built-in commands of `other` are ignored.
    ///
    /// For commands that several applications have, a function like that of `respire-commands` is
    /// better: `fn add_to<A: HasKv>(router: Router<A>) -> Router<A>`.
    ///
    /// ```
    /// use respire_engine::{App, NoKeys, Router, Status};
    /// use std::sync::Arc;
    ///
    /// struct Shop;
    /// impl App for Shop {
    ///     type Conn = ();
    ///     type Keys = NoKeys;
    /// }
    /// let shop = Arc::new(Shop);
    /// let orders = Router::shared(Arc::clone(&shop)).command("ORDER", |_, ()| 1);
    /// let stock = Router::shared(shop)
    ///     .command("STOCK", |_, ()| 2)
    ///     .command("PING", |_, ()| "still open");
    ///
    /// let mut client = orders.merge(stock).client();
    /// assert_eq!(client.call("ORDER"), 1);
    /// assert_eq!(client.call("STOCK"), 2);
    /// assert_eq!(client.call("PING"), "still open");
    /// ```
    ///
    /// # Panics
    /// If `other` has another application, because its commands would lose their state; or if it
    /// has layers, an authenticator, limits, a spawner or extensions, because these would not be limited to its
    /// commands. Set them on the router that is served.
    #[must_use]
    #[track_caller]
    pub fn merge(mut self, other: Self) -> Self {
        assert!(
            Arc::ptr_eq(&self.app, &other.app),
            "merged routers share one application: make them with `Router::shared`, of \
             clones of one `Arc`"
        );
        assert!(
            other.setup.is_default(),
            "layers, an authenticator, limits, a spawner and extensions belong to the router that is \
             served, not to one that is merged into it"
        );
        self.table.merge(other.table);
        self
    }

    /// Adds a layer around every command, inside the layers added before.
    #[must_use]
    pub fn layer(mut self, layer: impl Layer<A>) -> Self {
        self.setup.layers.push(Arc::new(layer));
        self
    }

    /// Adds lines of `INFO`, rows of `CONFIG` and metrics that belong to a set of commands rather
    /// than to the application.
    #[must_use]
    pub fn extension(self, extension: impl Extension) -> Self {
        self.shared_extension(Arc::new(extension))
    }

    /// As [`Router::extension`], for an extension that its commands share.
    #[must_use]
    pub fn shared_extension(mut self, extension: Arc<dyn Extension>) -> Self {
        self.setup.extensions.push(extension);
        self
    }

    /// Sets the authenticator; it replaces the one before. Until a client authenticates, it may run
    /// little but `AUTH` and `HELLO`, within tight limits.
    #[must_use]
    pub fn auth(mut self, authenticator: impl Authenticator<A>) -> Self {
        self.setup.authenticator = Some(Arc::new(authenticator));
        self
    }

    /// Sets the limits of each session. They take precedence over those of the engine's
    /// [`Options`](crate::Options).
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.setup.limits = Some(limits);
        self
    }

    pub(crate) fn into_parts(self) -> (Arc<A>, CommandTable<A>, Setup<A>) {
        (self.app, self.table, self.setup)
    }
}

/// Refuses a command name that no client could send, or that belongs to a subcommand.
#[track_caller]
fn assert_name(name: &str) {
    let is_name = |byte: u8| byte.is_ascii_graphic() && byte != SEPARATOR as u8;
    assert!(
        !name.is_empty() && name.bytes().all(is_name),
        "the name of a command is made of visible ASCII other than `|`, not {name:?}"
    );
}

/// Refuses subcommands with a wrong name or a duplicate name.
#[track_caller]
fn assert_subcommands<A: App>(container: &str, subcommands: &[Box<dyn Command<A>>]) {
    let mut seen = HashSet::new();
    for subcommand in subcommands {
        let name = subcommand.spec().name;
        let own = subcommand
            .spec()
            .subcommand()
            .filter(|(of, _)| of.eq_ignore_ascii_case(container));
        let Some((_, own)) = own else {
            panic!("a subcommand of `{container}` is named `{container}|...`, not {name:?}");
        };
        assert_name(own);
        let is_new = seen.insert(own.to_ascii_lowercase());
        assert!(is_new, "`{container}` has two subcommands {name:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgList, Arity, Cx, Error, Null, Reply, Row, Spec, Status};

    fn routers() -> (Router<()>, Router<()>) {
        let app = Arc::new(());
        (Router::new(Arc::clone(&app)), Router::new(app))
    }

    #[test]
    fn merge_replaces_added_commands_and_keeps_the_others() {
        let (first, second) = routers();
        let first = first
            .command("A", |_, ()| 1)
            .command("B", |_, ()| 1)
            .command("PING", |_, ()| "mine");
        let second = second.command("B", |_, ()| 2).command("ECHO", |_, ()| Null);
        let mut client = first.merge(second).client();
        assert_eq!(client.call("A"), 1);
        assert_eq!(client.call("B"), 2);
        assert_eq!(client.call("PING"), "mine");
        assert_eq!(client.call("ECHO"), Null);
        assert_eq!(client.call("CLIENT ID"), 1);
    }

    static MOOD: Spec = Spec {
        name: "mood",
        arity: Arity::at_least(2),
        ..Spec::EMPTY
    };
    static MOOD_GET: Spec = Spec {
        name: "mood|get",
        arity: Arity::exactly(2),
        ..Spec::EMPTY
    };

    fn ok(_: &mut Cx<'_, ()>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
        reply.ok();
        Ok(())
    }

    #[test]
    fn merge_takes_subcommands_along() {
        let (first, second) = routers();
        let row = |spec| Row { spec, run: ok };
        let subcommands = [Box::new(row(&MOOD_GET)) as Box<dyn Command<()>>];
        let second = second.container(row(&MOOD), subcommands);
        let mut client = first.command("A", |_, ()| 1).merge(second).client();
        assert_eq!(client.call("MOOD GET"), Status("OK"));
        assert!(
            client
                .call("MOOD SET")
                .error()
                .contains("unknown subcommand 'SET'")
        );
        assert_eq!(client.call("CLIENT ID"), 1);
    }
}
