//! Sections to which shards are added while they last. Scripts need them, as they may use keys that they did
//! not declare.

use core::fmt;

use dashmap::{RwLock, RwLockWriteGuard};

use super::Store;
use super::section::{Held, Place, Scope};
use super::wait::Token;
use crate::shard::Writing;
use crate::table::Table;

/// Shards locked for writing, like those of a [`Section`](crate::Section), to which others can be added.
///
/// A store has one such section at a time: it holds the widening token, for which other threads wait in
/// [`Store::lock_widening`]. Everything else that uses the store waits only for the shards that the section
/// holds.
///
/// ```
/// use respire_store::{Config, Expiry, Scope, Store, View};
///
/// let store = Store::new(Config::default());
/// let mut section = store.lock_widening(&Scope::Keys(&[(0, b"a")]));
/// let (held, mut widener) = section.split();
/// View::within(&store, 0, 0, Some(held)).update(b"a", |slot| slot.set(b"1", Expiry::Clear));
///
/// let other = Scope::Keys(&[(0, b"b")]);
/// if !held.covers(&store, &other) {
///     widener.widen(held, &other);
/// }
/// View::within(&store, 0, 0, Some(held)).update(b"b", |slot| slot.set(b"2", Expiry::Clear));
/// drop(section); // no other thread has seen "a" without "b"
/// assert_eq!(store.len(0), 2);
/// ```
#[must_use = "the shards are released when the section is dropped"]
pub struct WideningSection<'s> {
    store: &'s Store,
    /// In the order in which they were locked; the tables of `held` are in ascending order.
    guards: Vec<(Place, RwLockWriteGuard<'s, Table>)>,
    held: Held,
    /// `None` once the shards have been released.
    token: Option<Token<'s>>,
}

/// Adds shards to a [`WideningSection`]. [`WideningSection::split`] returns it.
pub struct Widener<'w, 's> {
    store: &'s Store,
    guards: &'w mut Vec<(Place, RwLockWriteGuard<'s, Table>)>,
}

impl Store {
    /// Locks the shards of `scope`, like [`Store::lock`], for a section to which others can be added. Waits
    /// until no other thread has such a section. O(shards in `scope`).
    ///
    /// The thread must hold no section, and must use the store through [`WideningSection::held`] only.
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist.
    pub fn lock_widening(&self, scope: &Scope<'_>) -> WideningSection<'_> {
        let mut section = WideningSection {
            store: self,
            guards: Vec::new(),
            held: Held::default(),
            token: Some(self.take_token()),
        };
        let (held, mut widener) = section.split();
        widener.widen(held, scope);
        section
    }
}

impl<'s> WideningSection<'s> {
    /// Returns the tables for [`View::within`](crate::View::within).
    pub fn held(&mut self) -> &mut Held {
        &mut self.held
    }

    /// Returns the tables, and the widener that adds others to them between two commands.
    pub fn split(&mut self) -> (&mut Held, Widener<'_, 's>) {
        let widener = Widener {
            store: self.store,
            guards: &mut self.guards,
        };
        (&mut self.held, widener)
    }
}

impl Widener<'_, '_> {
    /// Adds the shards of `scope` that the section does not cover yet, and waits until they are free.
    /// Meanwhile it holds the section's shards. O(shards in `scope` + shards held); does nothing if all of
    /// them are covered. Other threads may have changed the added shards since the section began.
    ///
    /// If the section has reported a change to observers, its next change renews its ticket
    /// ([`Observer::ticket_renewed`](crate::Observer::ticket_renewed)).
    ///
    /// # Panics
    ///
    /// If `scope` names a database that does not exist, or `held` belongs to another section. Then nothing is
    /// added.
    pub fn widen(&mut self, held: &mut Held, scope: &Scope<'_>) {
        assert_eq!(
            held.len(),
            self.guards.len(),
            "`held` belongs to another section"
        );
        debug_assert!(self.guards.iter().all(|(place, _)| held.has(*place)));
        let mut places = self.store.places(scope);
        places.retain(|place| !held.has(*place));
        if places.is_empty() {
            return;
        }
        places.sort_unstable();
        places.dedup();
        let lock = |(db, shard): Place| self.store.database(db).lock(shard);
        let locks: Vec<(Place, &RwLock<Table>)> =
            places.iter().map(|place| (*place, lock(*place))).collect();
        // The section holds the token, so it may wait.
        let locked = locks
            .iter()
            .map(|(place, lock)| (*place, self.store.wait_for::<Writing, _>(lock)));
        // If the relief panics while a shard is waited for, no table has been moved yet.
        let mut locked: Vec<_> = locked.collect();
        let shards = locked.iter_mut();
        held.add(shards.map(|(place, guard)| (*place, core::mem::take(&mut **guard))));
        self.guards.append(&mut locked);
    }
}

impl Drop for WideningSection<'_> {
    fn drop(&mut self) {
        let apart = self.held.serve(self.store);
        self.guards.sort_unstable_by_key(|(place, _)| *place);
        let shards = self.guards.iter_mut().map(|(_, guard)| &mut **guard);
        self.held.put_back(shards);
        self.guards.clear();
        // Dropping `held` reports the release to observers, which may use the store and wait for the token.
        self.token = None;
        if !apart.is_empty() {
            drop(self.held.take_unit());
            self.store.serve_apart(apart);
        }
    }
}

impl fmt::Debug for WideningSection<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WideningSection")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Widener<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Widener")
            .field("shards", &self.guards.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
