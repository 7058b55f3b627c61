//! Marks the start of long work on a value, for tests.

/// Called when long work on a value starts. Tests check here that the key is not locked.
#[inline(always)]
pub(crate) fn work_begins() {
    #[cfg(test)]
    crate::unlocked::tests::call_hook();
}
