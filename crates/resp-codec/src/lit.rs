//! Replies that never change, encoded.
//!
//! ```
//! assert_eq!(resp_codec::lit::PONG, b"+PONG\r\n");
//! ```

/// `+OK`.
pub const OK: &[u8] = b"+OK\r\n";
/// `+PONG`.
pub const PONG: &[u8] = b"+PONG\r\n";
/// `+QUEUED`.
pub const QUEUED: &[u8] = b"+QUEUED\r\n";
/// RESP2's null bulk string.
pub const NULL_BULK: &[u8] = b"$-1\r\n";
/// RESP2's null array.
pub const NULL_ARRAY: &[u8] = b"*-1\r\n";
/// RESP3's null.
pub const NULL: &[u8] = b"_\r\n";
/// An empty array.
pub const EMPTY_ARRAY: &[u8] = b"*0\r\n";
