#![doc = include_str!("../README.md")]
#![no_std]
#![expect(
    unsafe_code,
    reason = "an allocator is unsafe by its trait, and its functions are C's"
)]

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_long, c_void};

unsafe extern "C" {
    safe fn respire_mi_malloc(size: usize) -> *mut c_void;
    safe fn respire_mi_malloc_aligned(size: usize, alignment: usize) -> *mut c_void;
    safe fn respire_mi_zalloc(size: usize) -> *mut c_void;
    safe fn respire_mi_zalloc_aligned(size: usize, alignment: usize) -> *mut c_void;
    fn respire_mi_realloc_aligned(block: *mut c_void, size: usize, alignment: usize)
    -> *mut c_void;
    fn respire_mi_free(block: *mut c_void);
    fn respire_mi_usable_size(block: *const c_void) -> usize;
    safe fn respire_mi_allow_thp() -> c_long;
}

/// A block is a whole number of words, so it has at least the alignment of a word.
const BLOCK_ALIGN: usize = size_of::<usize>();

/// The value of `MI_DEFAULT_ALLOW_THP`: huge pages are used, and returned whole.
const THP_WHOLE: c_long = 2;

/// The allocator, for `#[global_allocator]`. See the [crate's page](crate).
#[derive(Debug, Clone, Copy, Default)]
pub struct Mimalloc;

impl Mimalloc {
    /// The real size in bytes of an allocation of this layout; `None` if memory has run out. Costs
    /// an allocation, which is freed again.
    #[must_use]
    pub fn usable_bytes(layout: Layout) -> Option<usize> {
        let block = malloc(layout).cast::<c_void>();
        if block.is_null() {
            return None;
        }
        // SAFETY: the block was allocated just now, by this allocator.
        let bytes = unsafe { respire_mi_usable_size(block) };
        // SAFETY: as above, and it is freed once.
        unsafe { respire_mi_free(block) };
        Some(bytes)
    }

    /// Whether free memory is returned to the system only in whole huge pages. That is so unless
    /// the environment variable `MIMALLOC_ALLOW_THP` overrides it.
    #[must_use]
    pub fn keeps_huge_pages_whole() -> bool {
        respire_mi_allow_thp() == THP_WHOLE
    }
}

#[inline]
fn malloc(layout: Layout) -> *mut u8 {
    let (size, align) = (layout.size(), layout.align());
    let block = if align <= BLOCK_ALIGN {
        respire_mi_malloc(size)
    } else {
        respire_mi_malloc_aligned(whole(size, align), align)
    };
    block.cast()
}

/// The size as a multiple of the alignment. Blocks of such a size are mostly aligned as they are; others
/// are cut out of a larger one.
#[inline]
fn whole(size: usize, align: usize) -> usize {
    size.next_multiple_of(align)
}

// SAFETY: each function fulfils its part of `GlobalAlloc`'s contract as its own comment says:
// blocks have the size and alignment of their layout, belong to one owner until they are freed, and
// nothing unwinds.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        malloc(layout)
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        let block = if align <= BLOCK_ALIGN {
            respire_mi_zalloc(size)
        } else {
            respire_mi_zalloc_aligned(whole(size, align), align)
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, _layout: Layout) {
        // SAFETY: the caller promises that the block is this allocator's, and is not used any more.
        unsafe { respire_mi_free(block.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let size = whole(size, layout.align());
        // SAFETY: the caller promises that the block is this allocator's, and was allocated with this
        // alignment. Where there is no memory the block stays as it is.
        unsafe { respire_mi_realloc_aligned(block.cast(), size, layout.align()) }.cast()
    }
}
