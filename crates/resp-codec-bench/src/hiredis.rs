//! hiredis's reply reader, used as its own clients do: fed in pieces of 16 KiB, one reply object at
//! a time.
#![expect(unsafe_code, reason = "hiredis is C")]

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// The most bytes per feed: as many as `redisBufferRead` reads at a time.
const FEED: usize = 16 * 1024;

#[repr(C)]
struct RawReader {
    opaque: [u8; 0],
}

#[link(name = "hiredis")]
unsafe extern "C" {
    fn redisReaderCreate() -> *mut RawReader;
    fn redisReaderFree(reader: *mut RawReader);
    fn redisReaderFeed(reader: *mut RawReader, buf: *const c_char, len: usize) -> c_int;
    fn redisReaderGetReply(reader: *mut RawReader, reply: *mut *mut c_void) -> c_int;
    fn freeReplyObject(reply: *mut c_void);
}

/// A `redisReader`.
#[derive(Debug)]
pub struct Reader(*mut RawReader);

impl Reader {
    /// A reader at the start of a connection.
    pub fn new() -> Self {
        // SAFETY: no precondition.
        Self(unsafe { redisReaderCreate() })
    }

    /// Reads all replies of `input`, fed in pieces of at most `piece` bytes, frees each, and counts
    /// them.
    ///
    /// # Panics
    /// Panics if hiredis refuses the input.
    pub fn drain(&mut self, input: &[u8], piece: usize) -> usize {
        let mut count = 0;
        for chunk in input.chunks(piece.min(FEED)) {
            // SAFETY: the reader lives, and the chunk is copied before the call returns.
            let fed = unsafe { redisReaderFeed(self.0, chunk.as_ptr().cast(), chunk.len()) };
            assert_eq!(fed, 0, "hiredis takes the bytes");
            loop {
                let mut reply = ptr::null_mut();
                // SAFETY: the reader lives, and `reply` is a place for one pointer.
                let read = unsafe { redisReaderGetReply(self.0, &mut reply) };
                assert_eq!(read, 0, "hiredis reads the reply");
                if reply.is_null() {
                    break;
                }
                count += 1;
                // SAFETY: the reply is ours and freed once.
                unsafe { freeReplyObject(reply) };
            }
        }
        count
    }
}

impl Default for Reader {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: the reader is ours and freed once.
        unsafe { redisReaderFree(self.0) }
    }
}
