//! Where a service's keys live, and what the engine asks of it.

use crate::client::transaction::WatchedKey;
use crate::{App, Error, InfoWriter, Metrics, Now, Publisher, Setting};
use std::sync::Arc;
use std::time::Duration;

/// The keys of a service `A`, as the engine needs them: for transactions, for `WATCH`, for the number of
/// databases, for housekeeping, and to let memory answer while other requests run.
///
/// An application chooses one as [`App::Keys`]; few write one. What it does for `INFO`, `CONFIG` and
/// housekeeping comes beside what the application itself does.
pub trait Keyspace<A: App>: Sized + 'static {
    /// What is kept per connection; made anew for each.
    type Conn: Default + Send + 'static;

    /// What commands need to work inside an atomic section.
    type Held: 'static;

    /// What is known of a key before its request runs, such as its hash. It borrows the key, which
    /// therefore stays as it is.
    type Hint<'k>: Copy;

    /// The same hint for a shorter time: the body is `hint`.
    fn shorten<'s, 'k: 's>(hint: &'s Self::Hint<'k>) -> &'s Self::Hint<'s>;

    /// As [`App::started`].
    fn started(app: &A, publisher: &Publisher) {
        let _ = (app, publisher);
    }

    /// How many databases `SELECT` may choose from; at least 1.
    #[must_use]
    fn databases(app: &A) -> u32 {
        let _ = app;
        1
    }

    /// Asked before a command that may use memory (`Flags::DENYOOM`), and before every request that
    /// `MULTI` queues: an error is the reply, and the command does not run.
    ///
    /// # Errors
    /// If memory is used up and nothing may be evicted.
    fn make_room(app: &A, now: Now) -> Result<(), Error> {
        let _ = (app, now);
        Ok(())
    }

    /// Whether keys lie in memory that is far away at present, so that it pays to tell which are about to
    /// be used ([`Keyspace::foresee`]).
    #[must_use]
    #[inline]
    fn is_far(app: &A) -> bool {
        let _ = app;
        false
    }

    /// A request that will soon run names this key first: the time to begin to load where it is looked
    /// for. The request may be refused, or work on another database. What is returned is given to the
    /// command ([`CxParts::hint`](crate::CxParts::hint)).
    fn foresee<'k>(app: &A, db: u32, key: &'k [u8]) -> Self::Hint<'k>;

    /// Called with a hint when some others were asked for, too: the time to begin to load what the key
    /// holds.
    #[inline]
    fn find(app: &A, db: u32, hint: &mut Self::Hint<'_>) {
        let _ = (app, db, hint);
    }

    /// Runs `body` so that no other connection sees any of its effects before all of them. It gets what
    /// the commands in it need to work inside the section.
    fn atomically(
        app: &A,
        scope: &SectionScope<'_>,
        now: Now,
        body: &mut dyn FnMut(&mut Self::Held),
    );

    /// Begins to watch a key, for `WATCH`; by default no change is ever seen.
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

/// What the keyspace of `A` keeps per connection.
pub(crate) type KeysConn<A> = <<A as App>::Keys as Keyspace<A>>::Conn;

/// What commands of `A` need inside an atomic section.
pub(crate) type Held<A> = <<A as App>::Keys as Keyspace<A>>::Held;

/// What the keyspace of `A` knows of a key before its request runs.
pub(crate) type Hint<'k, A> = <<A as App>::Keys as Keyspace<A>>::Hint<'k>;

/// The keyspace of a service without keys: one database, nothing to lock, to watch or to look ahead to.
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

/// What an atomic section covers.
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

    /// A keyspace of nothing that is worth looking ahead to all the same.
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
