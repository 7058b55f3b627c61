//! The proof of a change that has yet to be reported.

/// The proof of a change that has not been reported. Only a report consumes it.
#[must_use = "a change must be reported to those who watch the key and to observers"]
pub(crate) struct Unreported(());

impl Unreported {
    /// Made where entries and tables are changed, and nowhere else.
    #[inline(always)]
    pub(crate) fn new() -> Unreported {
        Unreported(())
    }

    /// Both changes, to be reported as one.
    pub(crate) fn with(self, _earlier: Option<Unreported>) -> Unreported {
        self
    }

    /// There is nothing to report: no value, no expiry and no key is another.
    #[inline(always)]
    pub(crate) fn hide(self) {}
}
