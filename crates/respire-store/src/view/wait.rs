//! Waits until a key is written.

use core::any::Any;
use std::sync::Arc;

use super::View;
use crate::database::{Served, Wait};
use crate::observe::Ready;
use crate::store::{Held, Serve, Serving, Store};

/// A caller that waits until one of several keys is written, as `BLPOP` does.
///
/// [`View::wait`] registers it. The writer's thread calls it at the end of the unit in which a key was written, under
/// the locks of that unit, so that no other caller can use what was written before it. Those who wait for the same
/// key are called in the order in which they registered.
pub trait Waiter: Send + Sync + 'static {
    /// Uses the key, which was written and exists. The view is inside the writer's section, and covers at least the
    /// key.
    ///
    /// If it panics, the waiter no longer waits for this key.
    fn serve(&self, view: &mut View<'_>, key: &[u8]) -> Served;

    /// Returns whether it wants to know when a key is removed ([`Waiter::lost`]).
    fn sees_loss(&self) -> bool {
        false
    }

    /// The key was removed and does not exist at the end of the unit. Called as [`Waiter::serve`] is, if
    /// [`Waiter::sees_loss`].
    fn lost(&self, key: &[u8]) -> Served {
        let _ = key;
        Served::Waits
    }
}

impl<W: Waiter> Serve for W {
    fn serve(&self, store: &Store, held: &mut Held, ready: &Ready) -> Served {
        let mut view = View::within(store, ready.db, ready.now_ms, Some(held));
        Waiter::serve(self, &mut view, &ready.key)
    }

    fn lost(&self, ready: &Ready) -> Served {
        Waiter::lost(self, &ready.key)
    }
}

impl View<'_> {
    /// Adds a waiter for the key, behind those that already wait for it. Every later write of the key, by any thread,
    /// calls it ([`Waiter::serve`]), until it says that it no longer waits or the returned [`Wait`] is dropped.
    ///
    /// While a key is waited for, writes of keys in the same shard take some hundred nanoseconds more; other writes
    /// cost what they did.
    ///
    /// To wait for several keys, or to look at a key first, call this inside a section that covers the keys
    /// ([`View::locked`]): then no write comes in between.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Served, Store, View, Waiter};
    /// use std::sync::{Arc, Mutex};
    ///
    /// /// Takes the next value of a key.
    /// #[derive(Default)]
    /// struct Taker(Mutex<Option<Vec<u8>>>);
    ///
    /// impl Waiter for Taker {
    ///     fn serve(&self, view: &mut View<'_>, key: &[u8]) -> Served {
    ///         let taken = view.update(key, |slot| slot.take());
    ///         let taken = taken.and_then(|taken| Some(taken.value().as_string()?.to_vec()));
    ///         *self.0.lock().unwrap() = taken;
    ///         Served::Over
    ///     }
    /// }
    ///
    /// let store = Store::new(Config::default());
    /// let taker = Arc::new(Taker::default());
    /// let wait = store.view(0, 0).wait(b"jobs", taker.clone());
    /// store.view(0, 0).update(b"jobs", |slot| slot.set(b"first", Expiry::Clear));
    /// assert_eq!(*taker.0.lock().unwrap(), Some(b"first".to_vec()));
    /// assert_eq!(store.len(0), 0);
    /// # drop(wait);
    /// ```
    ///
    /// # Panics
    ///
    /// If the view is inside a section that does not cover the key.
    pub fn wait<W: Waiter>(&mut self, key: &[u8], waiter: Arc<W>) -> Wait {
        let sees_loss = waiter.sees_loss();
        let queued: Arc<dyn Any + Send + Sync> = Arc::new(Serving::new(waiter));
        self.update(key, |slot| slot.wait((queued, sees_loss)))
    }

    /// Makes the [sweep](Store::sweep) call the waiters of the key at this time, in unix milliseconds, as if the key
    /// had been written. Only the first time of a key is kept, and one that is more than ten seconds ahead comes early:
    /// a waiter that is called too early asks again. O(log n) of the keys with a time.
    ///
    /// ```
    /// use respire_store::{Config, Expiry, Served, Store, View, Waiter};
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// #[derive(Default)]
    /// struct Count(AtomicU32);
    ///
    /// impl Waiter for Count {
    ///     fn serve(&self, _: &mut View<'_>, _: &[u8]) -> Served {
    ///         self.0.fetch_add(1, Ordering::Relaxed);
    ///         Served::Over
    ///     }
    /// }
    ///
    /// let (store, count) = (Store::new(Config::default()), Arc::new(Count::default()));
    /// let mut view = store.view(0, 1_000);
    /// view.update(b"jobs", |slot| slot.set(b"first", Expiry::Clear));
    /// let wait = view.wait(b"jobs", Arc::clone(&count));
    /// view.rouse_at(b"jobs", 1_050);
    /// assert_eq!(store.sweep(1_049, 100).next_ms, Some(1_050));
    /// assert_eq!(count.0.load(Ordering::Relaxed), 0);
    /// store.sweep(1_050, 100);
    /// assert_eq!(count.0.load(Ordering::Relaxed), 1);
    /// # drop(wait);
    /// ```
    pub fn rouse_at(&mut self, key: &[u8], at_ms: u64) {
        self.store.rouse.add((self.now_ms, at_ms), self.db, key);
    }
}

#[cfg(test)]
mod tests;
