//! Prefetches memory. Only this module of the store may use `unsafe`. A prefetch is unsafe only because it
//! takes a pointer.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "prefetches take pointers")
)]

/// Begins to load the cache line at `address`, on machines that have an instruction for it.
#[inline(always)]
pub(crate) fn prefetch(address: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let line = core::ptr::without_provenance::<i8>(address);
        // SAFETY: a prefetch neither reads nor faults, at whatever address; its feature, SSE, is part
        // of the architecture.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
