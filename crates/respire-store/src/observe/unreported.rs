//! The proof of a change that has yet to be reported.

/// The proof of a change that has not been reported. Only a report consumes it.
#[must_use = "a change must be reported to those who watch the key and to observers"]
pub(crate) struct Unreported(());

impl Unreported {
    /// Makes a proof. Only code that changes entries and tables may call it.
    #[inline(always)]
    pub(crate) fn new() -> Unreported {
        Unreported(())
    }

    /// Joins two changes, which are then reported as one.
    pub(crate) fn with(self, _earlier: Option<Unreported>) -> Unreported {
        self
    }

    /// Consumes the proof without a report, because no key, value or expiry has changed.
    #[inline(always)]
    pub(crate) fn hide(self) {}
}
