//! Edits values that have elements. All types share this code, so that creation, the type check, accounting
//! and reports are in one place.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Slot;
use super::report::Audience;
use crate::entry::Entry;
use crate::hash::Tag;
use crate::observe::{Event, EventName};
use crate::types::{Elements, Growth, Kind, Limits, Recording, WrongType, scratch};

/// The result of an edit, and whether the edit changed the value ([`Slot::edit`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited<R> {
    /// The value has changed.
    Changed(R),
    /// The value has changed, but not in a way that concerns [watches](crate::Watch) of the key. All others learn of
    /// the change. If the edit creates or removes the key, watches learn of it too.
    Unwatched(R),
    /// The value has not changed in any way that a reader can see.
    Unchanged(R),
}

impl<R> Edited<R> {
    /// Applies `f` to the result.
    pub fn map<S>(self, f: impl FnOnce(R) -> S) -> Edited<S> {
        match self {
            Edited::Changed(answer) => Edited::Changed(f(answer)),
            Edited::Unwatched(answer) => Edited::Unwatched(f(answer)),
            Edited::Unchanged(answer) => Edited::Unchanged(f(answer)),
        }
    }

    fn into_answer(self) -> R {
        match self {
            Edited::Changed(answer) | Edited::Unwatched(answer) | Edited::Unchanged(answer) => {
                answer
            }
        }
    }
}

impl Slot<'_> {
    /// Returns the limits up to which values of type `K` are kept packed ([`Store::limits`](crate::Store::limits)).
    #[must_use]
    #[inline]
    pub fn limits<K: Kind>(&self) -> Limits {
        self.shard.db.limits.get(K::ID)
    }

    /// Returns what a value of type `K` needs to know to grow ([`Store::growth`](crate::Store::growth)).
    #[must_use]
    #[inline]
    pub fn growth<K: Kind>(&self) -> Growth {
        self.shard.db.limits.growth(K::ID)
    }

    /// Edits the key's value, which must be of type `K`, and keeps its expiry. For an absent key, `f` gets an
    /// empty value. If the value is empty afterwards, the key is removed or not created.
    ///
    /// A change is reported once, followed by the event `event` and, if the key was removed,
    /// [`Event::Emptied`]. If `f` panics, the edit counts as a change, and memory is still accounted for. `f`
    /// runs under the shard's lock.
    ///
    /// # Errors
    /// [`WrongType`] if the key has a value of another type, which is left unchanged.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn edit<K: Kind, R>(
        &mut self,
        event: EventName,
        f: impl FnOnce(&mut K) -> Edited<R>,
    ) -> Result<R, WrongType> {
        let mut f = Some(f);
        let mut call = |value: &mut K| f.take().map(|f| f(value));
        if let Some(edited) = self.edit_found(Some(event), &mut call)? {
            return Ok(edited);
        }
        let mut value = K::from_packed(scratch(b""));
        let recording = self.begin_recording(&value);
        let Some(edited) = call(&mut value) else {
            unreachable!("invariant: nothing was found to call it with");
        };
        let is_noted = recording.is_some();
        drop(recording);
        if !value.is_empty() {
            let word = self.shard.word(self.clock.fresh(self.clock_ms));
            let entry = Entry::with_elements(self.key, Tag::new(self.hash), value, word);
            let change = self.shard.insert(self.hash, entry);
            self.report_edited(change, is_noted, Audience::All);
            self.event(event);
        }
        Ok(edited.into_answer())
    }

    /// Edits the key's value like [`Slot::edit`], but returns `None` if the key does not exist.
    ///
    /// # Errors
    /// [`WrongType`] if the key has a value of another type, which is left unchanged.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn edit_existing<K: Kind, R>(
        &mut self,
        event: EventName,
        f: impl FnOnce(&mut K) -> Edited<R>,
    ) -> Result<Option<R>, WrongType> {
        let mut f = Some(f);
        self.edit_found(Some(event), &mut |value| f.take().map(|f| f(value)))
    }

    /// Edits the key's value like [`Slot::edit_existing`], but reports no event for the change.
    ///
    /// # Errors
    /// [`WrongType`] if the key has a value of another type, which is left unchanged.
    ///
    /// # Panics
    /// If `f` panics.
    pub fn edit_without_event<K: Kind, R>(
        &mut self,
        f: impl FnOnce(&mut K) -> Edited<R>,
    ) -> Result<Option<R>, WrongType> {
        let mut f = Some(f);
        self.edit_found(None, &mut |value| f.take().map(|f| f(value)))
    }

    /// Calls `f` with the value if the key exists, and reports the change. Returns `None` if it does not.
    fn edit_found<K: Kind, R>(
        &mut self,
        event: Option<EventName>,
        f: &mut impl FnMut(&mut K) -> Option<Edited<R>>,
    ) -> Result<Option<R>, WrongType> {
        let (is_recorded, mut is_noted) = (self.is_recorded(), false);
        let modified = self.modify(|entry| {
            // Catch a panic, so that the change is accounted for first.
            entry.edit_elements(|value: &mut K| {
                catch_unwind(AssertUnwindSafe(|| {
                    let recording = is_recorded.then(|| begin(value)).flatten();
                    let edited = f(value);
                    is_noted = recording.is_some();
                    edited
                }))
            })
        });
        let (edited, is_empty, change) = match modified {
            None => return Ok(None),
            Some((Ok((edited, is_empty)), change)) => (edited, is_empty, change),
            Some((Err(wrong), change)) => {
                change.hide();
                return Err(wrong);
            }
        };
        if is_empty {
            // The removal is reported instead of the write.
            change.hide();
            self.remove();
            event.into_iter().for_each(|event| self.event(event));
            self.report_event(Event::Emptied);
        } else if matches!(edited, Ok(None | Some(Edited::Unchanged(_)))) {
            change.hide();
        } else {
            let audience = match edited {
                Ok(Some(Edited::Unwatched(_))) => Audience::AllButWatches,
                _ => Audience::All,
            };
            self.report_edited(change, is_noted, audience);
            event.into_iter().for_each(|event| self.event(event));
        }
        match edited {
            Ok(edited) => Ok(edited.map(Edited::into_answer)),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Begins to note the steps of an edit, if an observer wants them.
    #[inline]
    fn begin_recording<K: Kind>(&self, value: &K) -> Option<Recording> {
        self.is_recorded().then(|| begin(value)).flatten()
    }
}

/// Begins to note the steps of an edit; `None` if it is within another one that is being noted.
#[cold]
fn begin<K: Kind>(value: &K) -> Option<Recording> {
    Recording::begin(value, value.read().len())
}
