//! Serves those who wait for keys that a section wrote, before it releases its shards.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::{Held, Scope, Store};
use crate::database::Served;
use crate::observe::Ready;
use crate::table::find;

/// A waiter, as a section calls it.
pub(crate) trait Serve: Send + Sync {
    /// Uses the key, which was written and exists.
    fn serve(&self, store: &Store, held: &mut Held, ready: &Ready) -> Served;

    /// The key was removed and does not exist.
    fn lost(&self, ready: &Ready) -> Served;
}

/// A waiter in a key's queue.
pub(crate) struct Serving(Arc<dyn Serve>);

impl Serving {
    pub(crate) fn new<S: Serve + 'static>(waiter: Arc<S>) -> Serving {
        Serving(waiter)
    }
}

/// A key whose first waiter needs another key, which the section did not cover.
pub(super) struct Apart {
    ready: Ready,
    other: Box<[u8]>,
}

impl Held {
    /// Calls the waiters of the keys that were written. What they write themselves may make further keys ready.
    /// Returns the keys for which a larger section is needed.
    pub(super) fn serve(&mut self, store: &Store) -> Vec<Apart> {
        let mut apart = Vec::new();
        while let Some(ready) = self.unit().take_ready() {
            if let Some(other) = self.serve_key(store, &ready) {
                apart.push(Apart { ready, other });
            }
        }
        apart
    }

    /// Calls the waiters of a key, in order. Once the key does not exist, only those that want to know it are called.
    /// Returns the key that one of them needs.
    fn serve_key(&mut self, store: &Store, ready: &Ready) -> Option<Box<[u8]>> {
        let (db, hash, mut before) = (store.database(ready.db), store.hash(&ready.key), 0);
        let shard = db.shard_of(hash);
        while let Some((number, queued)) = db.waiters.after(&ready.key, before) {
            let entry = find(self.table((ready.db, shard)), hash, &ready.key);
            let is_lost = entry.is_none_or(|entry| entry.is_expired(ready.now_ms));
            if is_lost && !db.waiters.is_loss_seen(&ready.key) {
                return None;
            }
            let serve = || {
                let serving = queued.downcast_ref::<Serving>()?;
                Some(match is_lost {
                    true => serving.0.lost(ready),
                    false => serving.0.serve(store, self, ready),
                })
            };
            let served = catch_unwind(AssertUnwindSafe(serve));
            match served.ok().flatten().unwrap_or(Served::Over) {
                Served::Over => db.waiters.remove(shard, &ready.key, number),
                Served::Waits => before = number,
                Served::Needs(other) => return Some(other),
            }
        }
        None
    }
}

impl Store {
    /// Calls the waiters that need another key than the one that was written. The thread holds no shard.
    pub(super) fn serve_apart(&self, apart: Vec<Apart>) {
        for Apart { ready, other } in apart {
            let scope = [(ready.db, &*ready.key), (ready.db, &*other)];
            let mut section = self.lock(&Scope::Keys(&scope));
            // The end of the section calls the waiters.
            section.held().unit().ready(self.observers(), ready);
        }
    }
}
