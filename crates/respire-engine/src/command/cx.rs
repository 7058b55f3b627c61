//! The context that a command gets besides its arguments.

use crate::client::later::{Call, LocalTask};
use crate::command::keyspace::{Held, Hint, KeysConn, Widen};
use crate::{App, ArgList, BoxFuture, Client, Engine, Keyspace, Later, Now, Pusher};
use std::future::Future;
use std::sync::Arc;

/// The context of one call of a command.
pub struct Cx<'c, A: App> {
    pub(crate) engine: &'c Engine<A>,
    pub(crate) conn: &'c mut A::Conn,
    pub(crate) keys: &'c mut KeysConn<A>,
    pub(crate) client: &'c mut Client,
    pub(crate) now: Now,
    pub(crate) request: &'c ArgList<'c>,
    /// A reference, as `request` is. Copying the hint would make the request wait for it.
    pub(crate) hint: Option<&'c Hint<'c, A>>,
    pub(crate) section: Option<InSection<'c, A>>,
}

/// The atomic section that a command runs in.
pub(crate) struct InSection<'c, A: App> {
    pub(crate) held: &'c mut Held<A>,
    /// Adds shards to the section, if it can be widened.
    pub(crate) widen: Option<&'c mut Widen<'c, Held<A>>>,
}

impl<A: App> InSection<'_, A> {
    /// The same section, for a shorter time.
    pub(crate) fn reborrow(&mut self) -> InSection<'_, A> {
        InSection {
            held: &mut *self.held,
            widen: match &mut self.widen {
                Some(widen) => Some(&mut **widen),
                None => None,
            },
        }
    }
}

/// The parts of a [`Cx`], borrowed separately.
pub struct CxParts<'c, A: App> {
    /// The state shared by all connections.
    pub app: &'c A,
    /// This connection's state.
    pub conn: &'c mut A::Conn,
    /// The keyspace's state for this connection.
    pub keys: &'c mut KeysConn<A>,
    /// The engine's state for this connection.
    pub client: &'c mut Client,
    /// The whole request, as [`Cx::request`] returns it.
    pub request: &'c ArgList<'c>,
    /// The hint of [`Keyspace::foresee`] for a key of the request, if the engine looked ahead.
    pub hint: Option<&'c Hint<'c, A>>,
    /// The value that [`Keyspace::atomically`] passed, inside an atomic section.
    pub held: Option<&'c mut Held<A>>,
}

impl<'c, A: App> Cx<'c, A> {
    /// The state shared by all connections.
    #[must_use]
    pub fn app(&self) -> &'c A {
        self.engine.app()
    }

    /// The engine that serves this connection.
    #[must_use]
    pub fn engine(&self) -> &'c Engine<A> {
        self.engine
    }

    /// Whether the command runs in an atomic section, as those that `EXEC` runs do.
    #[must_use]
    pub fn is_in_section(&self) -> bool {
        self.section.is_some()
    }

    /// This connection's state.
    pub fn conn(&mut self) -> &mut A::Conn {
        self.conn
    }

    /// The engine's state for this connection: id, name, database, protocol.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.client
    }

    /// As [`Cx::client`], to change it.
    pub fn client_mut(&mut self) -> &mut Client {
        self.client
    }

    /// The time of this turn.
    #[must_use]
    pub fn now(&self) -> Now {
        self.now
    }

    /// The whole request as it was sent: the name, the subcommand's name if any, and the arguments.
    #[must_use]
    pub fn request(&self) -> ArgList<'c> {
        *self.request
    }

    /// A token to answer this request later. A command that takes it returns
    /// [`Flow::Pending`](crate::Flow::Pending); otherwise the token becomes invalid when the turn
    /// ends. Taking a second one makes the first invalid.
    pub fn later(&mut self) -> Later {
        let client = Arc::clone(&self.client.shared);
        let call = Call::new(client, self.client.proto, self.now.monotonic_us());
        if let Some(before) = self.client.call.replace(Arc::clone(&call)) {
            before.cancel();
        }
        Later::new(call)
    }

    /// A sender of push messages to this connection.
    #[must_use]
    pub fn pusher(&self) -> Pusher {
        let bytes_max = self.engine.limits.mailbox_bytes_max;
        Pusher::new(&self.client.shared, bytes_max)
    }

    /// The state shared by all connections, as an `Arc` to keep.
    pub(crate) fn app_shared(&self) -> Arc<A> {
        self.engine.app_shared()
    }

    /// Starts the future that answers this request. The caller has taken its `Later`.
    pub(crate) fn spawn(&mut self, future: impl Future<Output = ()> + Send + 'static) {
        let future: BoxFuture = Box::pin(future);
        match self.engine.spawner() {
            Some(spawner) => spawner.spawn(future),
            None => {
                let client = Arc::clone(&self.client.shared);
                self.client.task = Some(LocalTask::new(future, client));
            }
        }
    }

    /// The parts, to borrow several at the same time.
    pub fn parts(&mut self) -> CxParts<'_, A> {
        CxParts {
            app: self.engine.app(),
            conn: self.conn,
            keys: self.keys,
            client: self.client,
            request: self.request,
            hint: self.hint.map(|hint| A::Keys::shorten(hint)),
            held: self.section.as_mut().map(|section| &mut *section.held),
        }
    }
}

impl<A: App> std::fmt::Debug for Cx<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cx")
            .field("client", &self.client)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl<A: App> std::fmt::Debug for CxParts<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CxParts")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
