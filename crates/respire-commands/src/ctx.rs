//! The context in which a command of this crate runs.

use crate::kv::{HasKv, Kv};
use crate::notify;
use crate::stats::ConnStats;
use crate::value::{new_value, reply_held, reply_uncopied, string_if_any};
use respire_engine::{
    ArgList, BeginLongWork, Client, Cx, CxParts, Engine, Error, LongWork, Now, Reply, Tunables,
};
use respire_store::{EntryRef, Expiry, SHARED_BYTES_MIN, Scope, Slot, View};
use std::time::Duration;

/// The context of one call: the keys of the selected database at the time of this turn.
pub(crate) struct Ctx<'c> {
    /// The keys. Inside an atomic section these are the shards that it has locked; otherwise each
    /// call locks its own.
    pub(crate) view: View<'c>,
    /// The whole service, for commands that need more than keys.
    pub(crate) kv: &'c Kv,
    /// The connection.
    pub(crate) client: &'c Client,
    /// The whole request, beginning with the name as it was sent.
    pub(crate) request: &'c ArgList<'c>,
    /// The time of this turn.
    pub(crate) now: Now,
    engine: &'c dyn AnyEngine,
    stats: &'c mut ConnStats,
    ending: Ending,
}

/// What commands ask of the engine, whatever its application. They ask it rarely.
trait AnyEngine: BeginLongWork {
    fn started(&self) -> Now;
    fn tunables(&self) -> &Tunables;
}

impl<A: HasKv> AnyEngine for Engine<A> {
    fn started(&self) -> Now {
        *Engine::started(self)
    }

    fn tunables(&self) -> &Tunables {
        Engine::tunables(self)
    }
}

/// When the reply of a command goes out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    AtOnce,
    /// After this time, in microseconds.
    After(u64),
    /// When one of the keys has something.
    Waits,
}

/// The keys of a call, its connection, and the statistics of that connection.
pub(crate) struct Parts<'c> {
    pub(crate) view: View<'c>,
    client: &'c Client,
    request: &'c ArgList<'c>,
    stats: &'c mut ConnStats,
}

#[inline]
pub(crate) fn split<A: HasKv>(parts: CxParts<'_, A>, now: Now) -> Parts<'_> {
    let CxParts {
        app,
        keys,
        client,
        request,
        hint,
        held,
        ..
    } = parts;
    let mut view = View::within(app.kv().store(), client.db(), now.unix_ms(), held);
    view.set_touch(!client.is_no_touch());
    if now.is_replaying() {
        view.replay();
    }
    if let Some(hint) = hint {
        view.foresee(hint);
    }
    Parts {
        view,
        client,
        request,
        stats: keys,
    }
}

impl<'c> Ctx<'c> {
    #[inline]
    pub(crate) fn new<A: HasKv>(cx: &'c mut Cx<'_, A>) -> Self {
        let (now, engine) = (cx.now(), cx.engine());
        let Parts {
            view,
            client,
            request,
            stats,
        } = split(cx.parts(), now);
        Self {
            view,
            kv: engine.app().kv(),
            client,
            request,
            now,
            engine,
            stats,
            ending: Ending::AtOnce,
        }
    }

    /// Reads a key, and counts the hit or miss.
    #[inline]
    pub(crate) fn read<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let stats = &mut *self.stats;
        self.view.read(key, |entry| {
            stats.looked_up(entry.is_some());
            f(entry)
        })
    }

    /// Reads a key like [`Ctx::read`], but does not record the use and does not report an absent
    /// key.
    pub(crate) fn peek<R>(&mut self, key: &[u8], f: impl FnOnce(Option<EntryRef<'_>>) -> R) -> R {
        let stats = &mut *self.stats;
        self.view.peek(key, |entry| {
            stats.looked_up(entry.is_some());
            f(entry)
        })
    }

    /// Reads several keys atomically, in order, and counts the hits and misses.
    pub(crate) fn read_many<'k>(
        &mut self,
        keys: impl ExactSizeIterator<Item = &'k [u8]>,
        mut f: impl FnMut(Option<EntryRef<'_>>),
    ) {
        let stats = &mut *self.stats;
        self.view.read_many(keys, |_, entry| {
            stats.looked_up(entry.is_some());
            f(entry);
        });
    }

    /// Locks a key for writing, and counts the hit or miss: for commands that also reply with the
    /// value that they change.
    pub(crate) fn read_and_update<R>(
        &mut self,
        key: &[u8],
        f: impl FnOnce(&mut Slot<'_>) -> R,
    ) -> R {
        let stats = &mut *self.stats;
        self.view.update(key, |slot| {
            stats.looked_up(slot.exists());
            slot.looked_up();
            f(slot)
        })
    }

    /// Sets a key to the argument and replies with its previous string, or null; counts the hit or
    /// miss. Large values are not copied.
    pub(crate) fn exchange(
        &mut self,
        key: &[u8],
        value: &[u8],
        expiry: Expiry,
        reply: &mut Reply<'_>,
    ) -> Result<(), Error> {
        let (client, stats, now_ms) = (self.client, &mut *self.stats, self.now.unix_ms());
        self.view.update(key, |slot| {
            // The error `None` means that the old value would be copied.
            let answer = |entry: Option<EntryRef<'_>>| {
                stats.looked_up(entry.is_some());
                let is_replied = reply_uncopied(reply, string_if_any(entry).map_err(Some)?);
                is_replied.then_some(()).ok_or(None)
            };
            // The bytes themselves need no drop, which a value of any type does.
            let exchanged = if value.len() < SHARED_BYTES_MIN {
                slot.exchange(value, expiry, answer)
            } else {
                slot.exchange(new_value(client, value), expiry, answer)
            };
            match exchanged {
                Ok(()) => {}
                Err(Some(error)) => return Err(error),
                Err(None) => {
                    reply_held(reply, slot)?;
                    slot.set(new_value(client, value), expiry);
                }
            }
            notify::was_set(slot, expiry, now_ms);
            Ok(())
        })
    }

    /// Reads several keys atomically, in order, and counts the hits and misses. The first error of `f`
    /// ends it: the keys behind it count as not looked up.
    pub(crate) fn try_read_many<'k>(
        &mut self,
        mut keys: impl Iterator<Item = &'k [u8]> + Clone,
        mut f: impl FnMut(Option<EntryRef<'_>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let db = self.view.db();
        let scope: Vec<(u32, &[u8])> = keys.clone().map(|key| (db, key)).collect();
        self.locked(&Scope::Keys(&scope), |view, stats| {
            keys.try_for_each(|key| {
                view.read(key, |entry| {
                    stats.looked_up(entry.is_some());
                    f(entry)
                })
            })
        })
    }

    /// Runs `f` while everything in `scope` is locked for writing. `f` counts its own look-ups.
    pub(crate) fn locked<R>(
        &mut self,
        scope: &Scope<'_>,
        f: impl FnOnce(&mut View<'_>, &mut ConnStats) -> R,
    ) -> R {
        let stats = &mut *self.stats;
        self.view.locked(scope, |view| f(view, stats))
    }

    /// Counts a look-up that was made on the view directly.
    pub(crate) fn looked_up(&mut self, found: bool) {
        self.stats.looked_up(found);
    }

    /// The length of the longest string that a command may create, in bytes (`proto-max-bulk-len`).
    pub(crate) fn string_bytes_max(&self) -> u64 {
        self.engine.tunables().bulk_bytes_max()
    }

    /// When the server started.
    pub(crate) fn started(&self) -> Now {
        self.engine.started()
    }

    /// Begins long work on data of the command's own, during which others are served. The caller holds no keys;
    /// `None` inside a section, which holds some.
    pub(crate) fn long_work(&self) -> Option<LongWork<'c>> {
        let is_free = !self.view.is_in_section();
        is_free.then(|| self.engine.begin_long_work())
    }

    /// Delays the reply by this time (`DEBUG SLEEP`).
    pub(crate) fn reply_after(&mut self, wait: Duration) {
        self.ending = Ending::After(u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
    }

    /// Makes the command wait, if it may; the command replies if it may not, as in `EXEC`.
    pub(crate) fn wait(&mut self) -> bool {
        let may = !self.view.is_in_section();
        if may {
            self.ending = Ending::Waits;
        }
        may
    }

    /// When the reply goes out.
    #[inline]
    pub(crate) fn ending(&self) -> Ending {
        self.ending
    }
}
