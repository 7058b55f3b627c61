//! The binary protocol: little-endian and length-prefixed, for clients that would rather not format
//! numbers as text.
//!
//! # Requests
//! A request is one operation byte, then arguments. Each argument is a `u32` length and that many
//! bytes.
//!
//! | op | request | reply |
//! |---|---|---|
//! | `0x01` [`GET`] | key | plain: the value |
//! | `0x02` [`DELETE`] | key | plain: the value removed |
//! | `0x03` [`SET`] | key, value | plain: the value replaced |
//! | `0x10` [`CALL`] | `u32` count of arguments, then the arguments, the command's name first | one tagged value |
//!
//! A plain reply is a `u32` length and the payload, which is empty if there is no value
//! ([`Proto::BinaryPlain`](crate::Proto::BinaryPlain)).
//!
//! # Tagged values
//! A tagged value is a tag byte, the same as RESP's type byte, and the fields listed here
//! ([`Proto::Binary`](crate::Proto::Binary)):
//!
//! | tag | value | after the tag |
//! |---|---|---|
//! | `_` | null | nothing |
//! | `#` | boolean | one byte, 0 or 1 |
//! | `:` | integer | `i64` |
//! | `,` | double | `f64`, IEEE 754 binary64 |
//! | `+` `-` `$` `!` `(` | simple string, error, blob, blob error, big number's digits | `u32` length, bytes |
//! | `=` | verbatim string | `u32` length, 3 bytes of format, bytes; the length counts both |
//! | `*` `~` `>` | array, set, push | `u32` count, that many values |
//! | `%` | map | `u32` pairs, twice that many values |
//! | `\|` | attributes | `u32` pairs, twice that many values, then the value they belong to |

mod reply;
mod request;

#[cfg(test)]
mod tests;

pub use reply::{ReplyDecoder, decode_plain};
pub use request::{Request, RequestDecoder};

use crate::sink::Sink;

/// `GET key`.
///
/// ```
/// use resp_codec::{Limits, binary};
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let request = decoder.decode(b"\x01\x01\0\0\0k").unwrap().ready().unwrap();
/// assert_eq!((request.op(), request.key()), (binary::GET, Some(&b"k"[..])));
/// ```
pub const GET: u8 = 0x01;

/// `DELETE key`.
///
/// ```
/// use resp_codec::{Limits, binary};
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let request = decoder.decode(b"\x02\x01\0\0\0k").unwrap().ready().unwrap();
/// assert_eq!((request.op(), &request.args()[0]), (binary::DELETE, &b"GETDEL"[..]));
/// ```
pub const DELETE: u8 = 0x02;

/// `SET key value`.
///
/// ```
/// use resp_codec::{Limits, binary};
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let request = decoder.decode(b"\x03\x01\0\0\0k\x01\0\0\0v").unwrap().ready().unwrap();
/// assert_eq!((request.op(), request.value()), (binary::SET, Some(&b"v"[..])));
/// ```
pub const SET: u8 = 0x03;

/// Any command by name.
///
/// ```
/// use resp_codec::{Limits, binary};
/// let mut wire = Vec::new();
/// binary::write_call(&mut wire, &["INCR", "n"]);
/// assert_eq!(wire[0], binary::CALL);
/// let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
/// let request = decoder.decode(&wire).unwrap().ready().unwrap();
/// assert_eq!(request.args().iter().collect::<Vec<_>>(), [&b"INCR"[..], b"n"]);
/// ```
pub const CALL: u8 = 0x10;

/// Whether a connection that begins with `byte` speaks the binary protocol: no RESP or inline
/// request begins with such a byte.
///
/// ```
/// assert!(resp_codec::binary::is_op(0x03));
/// assert!(!resp_codec::binary::is_op(b'*'));
/// ```
pub const fn is_op(byte: u8) -> bool {
    matches!(byte, GET | DELETE | SET | CALL)
}

/// Appends a `GET` request.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::binary::write_get(&mut out, b"hello");
/// assert_eq!(out, b"\x01\x05\0\0\0hello");
/// ```
///
/// # Panics
/// Panics if the key is 4 GiB or longer.
pub fn write_get(out: &mut impl Sink, key: &[u8]) {
    out.put(&[GET]);
    write_arg(out, key);
}

/// Appends a `DELETE` request.
///
/// # Panics
/// Panics if the key is 4 GiB or longer.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::binary::write_delete(&mut out, b"key");
/// assert_eq!(out, b"\x02\x03\0\0\0key");
/// ```
pub fn write_delete(out: &mut impl Sink, key: &[u8]) {
    out.put(&[DELETE]);
    write_arg(out, key);
}

/// Appends a `SET` request.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::binary::write_set(&mut out, b"hello", b"world");
/// assert_eq!(out, b"\x03\x05\0\0\0hello\x05\0\0\0world");
/// ```
///
/// # Panics
/// Panics if the key or the value is 4 GiB or longer.
pub fn write_set(out: &mut impl Sink, key: &[u8], value: &[u8]) {
    out.reserve(key.len() + value.len() + 9);
    out.put(&[SET]);
    write_arg(out, key);
    write_arg(out, value);
}

/// Appends a `CALL` request: any command, its name first.
///
/// # Panics
/// Panics if there are 2^32 arguments or an argument is 4 GiB or longer.
///
/// ```
/// let mut out = Vec::new();
/// resp_codec::binary::write_call(&mut out, &["PING"]);
/// assert_eq!(out, b"\x10\x01\0\0\0\x04\0\0\0PING");
/// ```
pub fn write_call(out: &mut impl Sink, args: &[impl AsRef<[u8]>]) {
    out.put(&[CALL]);
    out.put(
        &u32::try_from(args.len())
            .expect("a count fits 32 bits")
            .to_le_bytes(),
    );
    for arg in args {
        write_arg(out, arg.as_ref());
    }
}

fn write_arg(out: &mut impl Sink, arg: &[u8]) {
    out.put(
        &u32::try_from(arg.len())
            .expect("an argument is shorter than 4 GiB")
            .to_le_bytes(),
    );
    out.put(arg);
}

pub(crate) fn load4(buf: &[u8], at: usize) -> Option<u32> {
    buf.get(at..)?
        .first_chunk()
        .map(|bytes| u32::from_le_bytes(*bytes))
}
