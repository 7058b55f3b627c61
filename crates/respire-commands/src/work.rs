//! Where work that may take long begins.

/// Stands where work on a large string begins: tests look from here whether its key is free.
#[inline(always)]
pub(crate) fn work_begins() {
    #[cfg(test)]
    crate::unlocked::tests::look();
}
