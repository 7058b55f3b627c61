//! Makes the allocator return freed memory to the system while the server is idle.
//!
//! The allocator returns pages some time after they were freed, but it checks that time only when
//! it is called for large blocks. A server whose keys have all expired, and that gets no requests
//! any more, would keep the memory of its greatest size.

use std::hint::black_box;
use std::io;
use std::time::Duration;

/// How often to call the allocator: its own delay, so that memory is returned within twice that.
const PERIOD: Duration = Duration::from_secs(1);
/// A block that is its own page for each of the allocator's size classes. Its memory is not
/// touched.
const BLOCK_BYTES: usize = 4 << 20;

/// Starts the thread that calls the allocator, for as long as the process lives.
pub(crate) fn return_freed_memory() -> io::Result<()> {
    let give = || {
        loop {
            std::thread::sleep(PERIOD);
            drop(black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
        }
    };
    std::thread::Builder::new()
        .name("memory".to_owned())
        .spawn(give)
        .map(drop)
}
