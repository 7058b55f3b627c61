//! Notes the steps of one edit at a time, in the thread that edits.
//!
//! The slot switches it on for a value that it is about to edit; the methods that change values test whether theirs is
//! the one, and note what they do. Without an observer of steps that test is all that it costs.

use core::cell::{Cell, RefCell};

use super::{Change, Span, Step};
use crate::types::StreamId;

thread_local! {
    /// The address of the value whose edit is noted, or [`NOBODY`].
    static TARGET: Cell<usize> = const { Cell::new(NOBODY) };
    /// The address of the group of a stream whose edit is noted, or [`NOBODY`].
    static GROUP: Cell<usize> = const { Cell::new(NOBODY) };
    static NOTES: RefCell<Notes> = const { RefCell::new(Notes::new()) };
}

/// No value has this address.
const NOBODY: usize = 0;
/// Nor this one: the value is not known, but only one is changed.
const ANYBODY: usize = 1;

/// An edit of this many steps is never too large, and others must leave three quarters of the elements alone.
const STEPS_MIN: usize = 256;
/// The memory for texts that a thread keeps, and the most that it uses.
const BYTES_KEPT_MAX: usize = 1 << 20;
const BYTES_MAX: usize = 1 << 28;

struct Notes {
    steps: Vec<Step<Span>>,
    /// The texts of the steps.
    bytes: Vec<u8>,
    steps_max: usize,
    /// Something was done that the steps do not tell.
    is_spoilt: bool,
    /// The name of the group that is edited.
    group: Span,
    /// The text that was kept last.
    last: Span,
}

/// No text.
const NOTHING: Span = Span { start: 0, len: 0 };

impl Notes {
    const fn new() -> Notes {
        Notes {
            steps: Vec::new(),
            bytes: Vec::new(),
            steps_max: 0,
            is_spoilt: false,
            group: NOTHING,
            last: NOTHING,
        }
    }

    fn begin(&mut self, steps_max: usize) {
        self.steps.clear();
        self.bytes.clear();
        if self.bytes.capacity() > BYTES_KEPT_MAX {
            self.bytes = Vec::new();
        }
        if self.steps.capacity() > BYTES_KEPT_MAX / size_of::<Step<Span>>() {
            self.steps = Vec::new();
        }
        (self.steps_max, self.is_spoilt) = (steps_max, false);
        (self.group, self.last) = (NOTHING, NOTHING);
    }

    /// Keeps a text. Steps one after another often have the same group and consumer.
    fn keep(&mut self, text: &[u8]) -> Span {
        for known in [self.group, self.last] {
            if text == known.of(&self.bytes) {
                return known;
            }
        }
        let span = Span {
            start: self.bytes.len() as u32,
            len: text.len() as u32,
        };
        self.bytes.extend_from_slice(text);
        self.last = span;
        span
    }

    fn add(&mut self, step: Step<&[u8]>) {
        let mut bytes = self.bytes.len();
        _ = step.map(|text| bytes += text.len());
        if self.steps.len() == self.steps_max || bytes > BYTES_MAX {
            self.is_spoilt = true;
        }
        if !self.is_spoilt {
            let step = step.map(|text| self.keep(text));
            self.steps.push(step);
        }
    }
}

/// Returns whether changes of this value are to be noted.
#[inline(always)]
pub(crate) fn is_noted<T>(value: &T) -> bool {
    TARGET.get() == core::ptr::from_ref(value).addr()
}

/// Returns whether changes of this group of a stream are to be noted.
#[inline(always)]
pub(crate) fn is_group_noted<T>(group: &T) -> bool {
    GROUP.get() == core::ptr::from_ref(group).addr()
}

/// Returns whether changes of any value are to be noted.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    TARGET.get() != NOBODY
}

/// Notes a step.
#[cold]
#[inline(never)]
pub(crate) fn note(step: Step<&[u8]>) {
    NOTES.with_borrow_mut(|notes| notes.add(step));
}

/// Notes that something was done that steps cannot tell, or not cheaply.
#[cold]
pub(crate) fn spoil() {
    NOTES.with_borrow_mut(|notes| notes.is_spoilt = true);
}

/// Calls `f` with the steps that were noted; returns `None` if they do not tell all.
pub(crate) fn read_notes<R>(f: impl FnOnce(Change<'_>) -> R) -> Option<R> {
    NOTES.with_borrow(|notes| {
        let is_told = !notes.is_spoilt && !notes.steps.is_empty();
        is_told.then(|| f(Change::new(&notes.steps, &notes.bytes)))
    })
}

/// The time in which the edit of a value is noted.
pub(crate) struct Recording(());

impl Recording {
    /// Begins to note what is done to a value of so many elements; `None` if the edit of another one is being noted.
    #[cold]
    pub(crate) fn begin<T>(value: &T, elements: usize) -> Option<Recording> {
        Self::of(core::ptr::from_ref(value).addr(), elements / 4)
    }

    /// Begins to note what is done to the only value that is changed, in up to so many steps.
    #[cold]
    pub(crate) fn of_any(steps_max: usize) -> Option<Recording> {
        Self::of(ANYBODY, steps_max)
    }

    fn of(address: usize, steps_max: usize) -> Option<Recording> {
        if TARGET.get() != NOBODY {
            return None;
        }
        NOTES.with_borrow_mut(|notes| notes.begin(steps_max.max(STEPS_MIN)));
        TARGET.set(address);
        Some(Recording(()))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        TARGET.set(NOBODY);
        GROUP.set(NOBODY);
    }
}

/// The time in which a group of the stream is edited.
pub(crate) struct InGroup {
    /// The number of steps before.
    steps: usize,
}

/// Begins to note what is done to a group of the stream that is edited.
#[cold]
pub(crate) fn enter_group<T>(name: &[u8], group: &T) -> InGroup {
    GROUP.set(core::ptr::from_ref(group).addr());
    NOTES.with_borrow_mut(|notes| {
        notes.group = notes.keep(name);
        InGroup {
            steps: notes.steps.len(),
        }
    })
}

impl InGroup {
    /// Ends the edit, and returns the entries that were delivered.
    #[cold]
    pub(crate) fn end(self) -> Vec<StreamId> {
        NOTES.with_borrow(|notes| {
            let steps = notes.steps.iter().skip(self.steps);
            let delivered = |step: &Step<Span>| match *step {
                Step::Delivered { id, .. } => Some(id),
                _ => None,
            };
            steps.filter_map(delivered).collect()
        })
    }
}

impl Drop for InGroup {
    fn drop(&mut self) {
        GROUP.set(NOBODY);
    }
}

/// Notes a step of the group that is being edited: calls `f` with the group's name, and with what notes the step.
#[cold]
#[inline(never)]
pub(crate) fn note_of_group(f: impl FnOnce(&[u8], &mut dyn FnMut(Step<&[u8]>))) {
    NOTES.with_borrow_mut(|notes| {
        let name = notes.group.of(&notes.bytes).to_vec();
        f(&name, &mut |step| notes.add(step));
    });
}
