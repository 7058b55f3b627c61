//! The hook word of a shard: one bit for each kind of watch or observer to which changes are reported.

use core::sync::atomic::{AtomicU32, Ordering};

use super::Interest;
use crate::entry::Generation;

/// The bit that is set if a key of the shard is watched ([`Watch`](crate::Watch)). The other bits are those
/// of [`Interest`](crate::Interest).
pub(crate) const WATCHED: u32 = 1;

/// The bit that is set if a key of the shard is waited for ([`Waiter`](crate::Waiter)).
pub(crate) const WAITED: u32 = 1 << 30;

/// The bit that is set while a cut is running ([`Store::cut`](crate::Store::cut)): a writer hands the old state of an
/// entry to the cut before it changes the entry. The bit above all others is the generation of new entries while none
/// is running.
pub(crate) const CUT: u32 = 1 << 29;

/// The bits of interests.
const INTERESTS: u32 = !(WATCHED | WAITED | CUT | Generation::BIT);

/// The bit of observers of steps ([`Interest::CHANGES`]).
pub(crate) const STEPS: u32 = 1 << 6;

/// The bit that is set if an observer wants every change as the new state of its key.
pub(crate) const WHOLES: u32 = 1 << 7;

/// The bits of the parties to which every change is reported: watches and waiters of the key, and observers of
/// effects.
pub(crate) const CHANGES: u32 = WATCHED | WAITED | Interest::EFFECTS.bits();

/// The hook word. A write reads it once, in a cache line that it has loaded anyway. While it is zero, a
/// write does nothing else for watches and observers.
///
/// [`WATCHED`] changes under the lock of the watched keys, [`WAITED`] under that of the waiters, [`CUT`] and the
/// generation under that of the shard, the other bits under that of the observers.
#[derive(Default)]
pub(crate) struct Hooks(AtomicU32);

impl Hooks {
    pub(crate) fn new(bits: u32) -> Hooks {
        Hooks(AtomicU32::new(bits))
    }

    /// Returns the bits. A watch, or an observer that wants every change, begins while the shard is
    /// locked, so a later write under that lock sees its bit, and relaxed loads suffice.
    #[inline(always)]
    fn bits(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns whether at least one of these bits is set.
    #[inline(always)]
    pub(crate) fn has(&self, bits: u32) -> bool {
        self.bits() & bits != 0
    }

    /// Returns the generation of new entries; `None` while a cut is running, when that of the unit counts.
    #[inline(always)]
    pub(crate) fn generation(&self) -> Option<Generation> {
        let bits = self.bits();
        (bits & CUT == 0).then_some(Generation::of(bits))
    }

    /// A cut begins. The shard is locked.
    pub(crate) fn begin_cut(&self) {
        self.0.fetch_or(CUT, Ordering::Relaxed);
    }

    /// The cut is over: all entries have this generation. The shard is locked.
    pub(crate) fn end_cut(&self, generation: Generation) {
        let set = |word: u32| Some(word & !(CUT | Generation::BIT) | generation.bits());
        let _previous = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
    }

    pub(crate) fn set_watched(&self, is_watched: bool) {
        if is_watched {
            self.0.fetch_or(WATCHED, Ordering::Relaxed);
        } else {
            self.0.fetch_and(!WATCHED, Ordering::Relaxed);
        }
    }

    pub(crate) fn set_waited(&self, is_waited: bool) {
        if is_waited {
            self.0.fetch_or(WAITED, Ordering::Relaxed);
        } else {
            self.0.fetch_and(!WAITED, Ordering::Relaxed);
        }
    }

    /// Sets the bits of all interests at once.
    pub(crate) fn set_interests(&self, bits: u32) {
        let set = |word: u32| Some(word & !INTERESTS | bits);
        let _previous = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, set);
    }
}
