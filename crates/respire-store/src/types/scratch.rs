//! A buffer per thread in which packed values are edited, so that an edit of a cell allocates nothing.

use core::cell::Cell;

/// A larger buffer is not kept.
const KEPT_BYTES_MAX: usize = 4 << 10;

std::thread_local! {
    static BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Returns a copy of the bytes, in the thread's buffer if that is free.
pub(crate) fn scratch(bytes: &[u8]) -> Vec<u8> {
    let mut buffer = BUFFER.take();
    buffer.clear();
    buffer.extend_from_slice(bytes);
    buffer
}

/// Keeps a buffer for the thread's next edit.
pub(crate) fn give_back(buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT_BYTES_MAX {
        BUFFER.set(buffer);
    }
}
