//! The interface to a service's keys, as the engine uses it.

use crate::client::transaction::WatchedKey;
use crate::{App, Error, InfoWriter, Metrics, Now, Publisher, Relief, Setting};
use std::sync::Arc;
use std::time::Duration;

/// The keys of a service `A`, as the engine needs them: for transactions, `WATCH`, the number of
/// databases, housekeeping, and loading memory ahead while other requests run.
///
/// An application chooses one as [`App::Keys`]; few applications write one. Its methods for `INFO`,
/// `CONFIG` and housekeeping are called in addition to the application's.
pub trait Keyspace<A: App>: Sized + 'static {
    /// State kept per connection; a default one is created for each.
    type Conn: Default + Send + 'static;

    /// The state that commands use inside an atomic section.
    type Held: 'static;

    /// Data about a key computed before its request runs, such as its hash. It borrows the key, so
    /// the key cannot change.
    type Hint<'k>: Copy;

    /// Shortens the lifetime of a hint: the body is `hint`.
    fn shorten<'s, 'k: 's>(hint: &'s Self::Hint<'k>) -> &'s Self::Hint<'s>;

    /// As [`App::started`].
    fn started(app: &A, publisher: &Publisher) {
        let _ = (app, publisher);
    }

    /// The number of databases for `SELECT`; at least 1.
    #[must_use]
    fn databases(app: &A) -> u32 {
        let _ = app;
        1
    }

    /// Called before a command that may use memory (`Flags::DENYOOM`), and before every request
    /// that `MULTI` queues. An error becomes the reply, and the command does not run.
    ///
    /// # Errors
    /// If memory is used up and no key may be evicted.
    fn make_room(app: &A, now: Now) -> Result<(), Error> {
        let _ = (app, now);
        Ok(())
    }

    /// Whether keys are likely to be outside the processor's caches now, so that it pays to
    /// announce which keys are about to be used ([`Keyspace::foresee`]).
    #[must_use]
    #[inline]
    fn is_far(app: &A) -> bool {
        let _ = app;
        false
    }

    /// Announces the first key of a request that will run soon, so that the keyspace can start to
    /// load the part of its table that holds the key. The request may still be refused, or use
    /// another database. The command gets the returned hint
    /// ([`CxParts::hint`](crate::CxParts::hint)).
    fn foresee<'k>(app: &A, db: u32, key: &'k [u8]) -> Self::Hint<'k>;

    /// Called with a hint after `foresee` was called for some other keys, so that the keyspace can
    /// start to load the entry of the key.
    #[inline]
    fn find(app: &A, db: u32, hint: &mut Self::Hint<'_>) {
        let _ = (app, db, hint);
    }

    /// Called with a hint after `find` was called for some other keys, if the request names an element of
    /// the key's value ([`Spec::element`](crate::Spec::element)), so that the keyspace can start to load what
    /// the search for the element reads. Returns whether to call `locate` for it.
    #[inline]
    fn warm(app: &A, db: u32, hint: &Self::Hint<'_>, element: &[u8]) -> bool {
        let _ = (app, db, hint, element);
        false
    }

    /// Called instead of `warm` if the request names the first element that it reads by its rank
    /// ([`Spec::rank`](crate::Spec::rank)), which is an argument as it was sent. The keyspace can search for
    /// the element and start to load it.
    #[inline]
    fn warm_rank(app: &A, db: u32, hint: &Self::Hint<'_>, rank: &[u8]) {
        let _ = (app, db, hint, rank);
    }

    /// Called after `warm` returned `true` and was called for some other elements, so that the keyspace can
    /// search for the element and start to load it.
    #[inline]
    fn locate(app: &A, db: u32, hint: &Self::Hint<'_>, element: &[u8]) {
        let _ = (app, db, hint, element);
    }

    /// Runs `body` such that other connections see either all of its effects or none of them.
    /// `body` gets the state that its commands use inside the section.
    fn atomically(
        app: &A,
        scope: &SectionScope<'_>,
        now: Now,
        body: &mut dyn FnMut(&mut Self::Held),
    );

    /// Runs `body` as [`Keyspace::atomically`] does, in a section that `body` can widen: it passes
    /// its second argument the state and the further keys. Several such sections never run at the
    /// same time if they could wait for each other. The default locks everything at once.
    fn atomically_widening(
        app: &A,
        scope: &SectionScope<'_>,
        now: Now,
        body: &mut WideningBody<'_, Self::Held>,
    ) {
        let _ = scope;
        Self::atomically(app, &SectionScope::Everything, now, &mut |held| {
            body(held, &mut |_, _| {});
        });
    }

    /// Whether a section covers a key, so that commands inside it may use the key. The default is
    /// yes.
    #[must_use]
    fn covers(app: &A, held: &Self::Held, db: u32, key: &[u8]) -> bool {
        let _ = (app, held, db, key);
        true
    }

    /// Whether a command that uses this key now would have to wait for a section. Asked only while
    /// a long call runs ([`Engine::begin_long_call`](crate::Engine::begin_long_call)).
    #[must_use]
    fn is_held(app: &A, db: u32, key: &[u8]) -> bool {
        let _ = (app, db, key);
        false
    }

    /// Whether a new section that can be widened would have to wait for another one.
    #[must_use]
    fn is_widening(app: &A) -> bool {
        let _ = app;
        false
    }

    /// Called when a server starts, with what lets it serve others while a thread waits.
    fn set_relief(app: &A, relief: &Arc<dyn Relief>) {
        let _ = (app, relief);
    }

    /// Starts to watch a key, for `WATCH`. The default never sees a change.
    #[must_use]
    fn watch(app: &A, db: u32, key: &[u8], now: Now) -> Box<dyn WatchedKey> {
        let _ = (app, db, key, now);
        Box::new(NeverChanged)
    }

    /// As [`App::info`].
    fn info(app: &A, section: &str, now: Now, out: &mut InfoWriter) {
        let _ = (app, section, now, out);
    }

    /// As [`App::info_sections`].
    #[must_use]
    fn info_sections() -> &'static [&'static str] {
        &[]
    }

    /// As [`App::metrics`].
    fn metrics(app: &A, now: Now, out: &mut Metrics) {
        let _ = (app, now, out);
    }

    /// As [`App::settings`].
    #[must_use]
    fn settings(app: &Arc<A>) -> Vec<Setting> {
        let _ = app;
        Vec::new()
    }

    /// As [`App::turn_ended`].
    #[inline]
    fn turn_ended(app: &A, conn: &mut Self::Conn) {
        let _ = (app, conn);
    }

    /// As [`App::tick`].
    fn tick(app: &A, now: Now) -> Option<Duration> {
        let _ = (app, now);
        None
    }

    /// As [`App::reset_stats`].
    fn reset_stats(app: &A) {
        let _ = app;
    }
}

/// What runs in a section that can be widened ([`Keyspace::atomically_widening`]).
pub type WideningBody<'b, H> = dyn FnMut(&mut H, &mut Widen<'_, H>) + 'b;

/// Widens a section to further keys ([`Keyspace::atomically_widening`]).
pub type Widen<'w, H> = dyn FnMut(&mut H, &SectionScope<'_>) + 'w;

/// The state that the keyspace of `A` keeps per connection.
pub(crate) type KeysConn<A> = <<A as App>::Keys as Keyspace<A>>::Conn;

/// The state that commands of `A` use inside an atomic section.
pub(crate) type Held<A> = <<A as App>::Keys as Keyspace<A>>::Held;

/// The hint of the keyspace of `A` for a key, computed before its request runs.
pub(crate) type Hint<'k, A> = <<A as App>::Keys as Keyspace<A>>::Hint<'k>;

/// The keyspace of a service without keys: one database, no locks, no watched keys, no look-ahead.
#[derive(Clone, Copy, Debug)]
pub enum NoKeys {}

impl<A: App> Keyspace<A> for NoKeys {
    type Conn = ();
    type Held = ();
    type Hint<'k> = ();

    fn shorten<'s, 'k: 's>(hint: &'s ()) -> &'s () {
        hint
    }

    fn foresee(_: &A, _: u32, _: &[u8]) {}

    fn atomically(_: &A, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
        body(&mut ());
    }
}

/// The keys that an atomic section covers.
#[derive(Clone, Copy, Debug)]
pub enum SectionScope<'a> {
    /// These keys, each with its database.
    Keys(&'a [(u32, &'a [u8])]),
    /// Every key of every database.
    Everything,
}

struct NeverChanged;

impl WatchedKey for NeverChanged {
    fn is_dirty(&self, _now: Now) -> bool {
        false
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Keyspace, SectionScope};
    use crate::{App, Now};

    /// An empty keyspace that still asks for look-ahead.
    pub(crate) enum FarKeys {}

    impl<A: App> Keyspace<A> for FarKeys {
        type Conn = ();
        type Held = ();
        type Hint<'k> = ();

        fn shorten<'s, 'k: 's>(hint: &'s ()) -> &'s () {
            hint
        }

        fn is_far(_: &A) -> bool {
            true
        }

        fn foresee(_: &A, _: u32, _: &[u8]) {}

        fn atomically(_: &A, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
            body(&mut ());
        }
    }
}
