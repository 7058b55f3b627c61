//! Constant replies, already encoded.
//!
//! ```
//! assert_eq!(resp_codec::lit::PONG, b"+PONG\r\n");
//! ```

/// `+OK`.
///
/// ```
/// assert_eq!(resp_codec::lit::OK, b"+OK\r\n");
/// ```
pub const OK: &[u8] = b"+OK\r\n";

/// `+PONG`.
///
/// ```
/// assert_eq!(resp_codec::lit::PONG, b"+PONG\r\n");
/// ```
pub const PONG: &[u8] = b"+PONG\r\n";

/// `+QUEUED`.
///
/// ```
/// assert_eq!(resp_codec::lit::QUEUED, b"+QUEUED\r\n");
/// ```
pub const QUEUED: &[u8] = b"+QUEUED\r\n";

/// RESP2's null bulk string.
///
/// ```
/// assert_eq!(resp_codec::lit::NULL_BULK, b"$-1\r\n");
/// ```
pub const NULL_BULK: &[u8] = b"$-1\r\n";

/// RESP2's null array.
///
/// ```
/// assert_eq!(resp_codec::lit::NULL_ARRAY, b"*-1\r\n");
/// ```
pub const NULL_ARRAY: &[u8] = b"*-1\r\n";

/// RESP3's null.
///
/// ```
/// assert_eq!(resp_codec::lit::NULL, b"_\r\n");
/// ```
pub const NULL: &[u8] = b"_\r\n";

/// An empty array.
///
/// ```
/// assert_eq!(resp_codec::lit::EMPTY_ARRAY, b"*0\r\n");
/// ```
pub const EMPTY_ARRAY: &[u8] = b"*0\r\n";
