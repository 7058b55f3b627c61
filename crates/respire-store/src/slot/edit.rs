//! Editing a value of elements: the one way for all types, so that what holds for all of them is done in one place.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::Slot;
use crate::observe::{Event, EventName};
use crate::types::{Kind, WrongType};

/// What an edit answers, and whether it changed the value ([`Slot::edit`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edited<R> {
    /// The value is another one than before.
    Changed(R),
    /// The value is the same as before, to everybody who could look at it.
    Unchanged(R),
}

impl<R> Edited<R> {
    fn into_answer(self) -> R {
        match self {
            Edited::Changed(answer) | Edited::Unchanged(answer) => answer,
        }
    }
}

impl Slot<'_> {
    /// Edits the key's value, of type `K`, and keeps its expiry. An absent key starts with an empty value. If the
    /// value is empty afterwards, the key is removed, or not made. A change is reported once, with `event` as what was
    /// done, and memory is accounted for, also if `f` panics, which counts as a change.
    ///
    /// `f` runs under the shard's lock.
    ///
    /// # Errors
    /// [`WrongType`] if the key holds a value of another type, which stays as it is.
    ///
    /// # Panics
    /// If `f` does.
    pub fn edit<K: Kind, R>(
        &mut self,
        event: EventName,
        f: impl FnOnce(&mut K) -> Edited<R>,
    ) -> Result<R, WrongType> {
        let mut f = Some(f);
        let mut call = |value: &mut K| f.take().map(|f| f(value));
        if let Some(edited) = self.edit_found(event, &mut call)? {
            return Ok(edited);
        }
        let mut value = Box::<K>::default();
        let Some(edited) = call(&mut value) else {
            unreachable!("invariant: nothing was found to call it with");
        };
        if !value.is_empty() {
            let change = self.insert(K::into_new(value), None);
            self.report_written(change);
            self.event(event);
        }
        Ok(edited.into_answer())
    }

    /// The same, but `None` if there is no such key.
    ///
    /// # Errors
    /// [`WrongType`] if the key holds a value of another type, which stays as it is.
    ///
    /// # Panics
    /// If `f` does.
    pub fn edit_existing<K: Kind, R>(
        &mut self,
        event: EventName,
        f: impl FnOnce(&mut K) -> Edited<R>,
    ) -> Result<Option<R>, WrongType> {
        let mut f = Some(f);
        self.edit_found(event, &mut |value| f.take().map(|f| f(value)))
    }

    /// Calls `f` with the value, if there is one.
    fn edit_found<K: Kind, R>(
        &mut self,
        event: EventName,
        f: &mut impl FnMut(&mut K) -> Option<Edited<R>>,
    ) -> Result<Option<R>, WrongType> {
        let modified = self.modify(|entry| {
            let value = entry.typed_mut::<K>().ok_or(WrongType)?;
            // A panic must not come between the change and the accounting for it.
            let edited = catch_unwind(AssertUnwindSafe(|| f(value)));
            Ok((edited, value.is_empty()))
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
            // The removal is what is reported.
            change.hide();
            self.remove();
            self.event(event);
            self.report_event(Event::Emptied);
        } else if matches!(edited, Ok(None | Some(Edited::Unchanged(_)))) {
            change.hide();
        } else {
            self.report_written(change);
            self.event(event);
        }
        match edited {
            Ok(edited) => Ok(edited.map(Edited::into_answer)),
            Err(panic) => resume_unwind(panic),
        }
    }
}
