//! Counts the elements of large collections that are looked at or freed, for tests of how long a lock is held. It
//! does nothing without the feature `toy`.

/// Says that so many elements are looked at or freed.
#[inline(always)]
pub(crate) fn visited(elements: usize) {
    #[cfg(any(test, feature = "toy"))]
    counted::add(elements);
    #[cfg(not(any(test, feature = "toy")))]
    let _ = elements;
}

#[cfg(any(test, feature = "toy"))]
mod counted {
    use core::cell::RefCell;

    type Visit = Box<dyn FnMut(usize)>;

    thread_local! {
        static VISIT: RefCell<Option<Visit>> = const { RefCell::new(None) };
    }

    pub(super) fn add(elements: usize) {
        VISIT.with_borrow_mut(|visit| {
            if let Some(visit) = visit {
                visit(elements);
            }
        });
    }

    /// Calls `visit` with the number of elements whenever this thread looks at or frees elements of a large
    /// collection, while `f` runs. `visit` must not read elements. Calls may not be nested. For tests.
    pub fn with_visits<R>(visit: impl FnMut(usize) + 'static, f: impl FnOnce() -> R) -> R {
        VISIT.set(Some(Box::new(visit)));
        let result = f();
        VISIT.set(None);
        result
    }
}

#[cfg(any(test, feature = "toy"))]
pub use counted::with_visits;
