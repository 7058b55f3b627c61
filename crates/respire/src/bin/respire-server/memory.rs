//! Freed memory goes back to the system even while nobody asks for any.
//!
//! The allocator returns pages some time after they were freed, but it looks at that time only
//! when it is called for large blocks. A server whose keys have all expired, and that is asked for
//! nothing any more, would keep the memory of its fullest day.

use std::hint::black_box;
use std::io;
use std::time::Duration;

/// How often the allocator gets an opportunity: its own delay, so that memory is back within two.
const PERIOD: Duration = Duration::from_secs(1);
/// A block that is its own page for any of the allocator's size classes. Its memory is not touched.
const BLOCK_BYTES: usize = 4 << 20;

/// Starts the thread that does so, for as long as the process lives.
pub(crate) fn give_back() -> io::Result<()> {
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
