//! Decoding of requests, for servers.
//!
//! Each header's position depends on the length in the previous header, and this serial chain is
//! the cost of decoding a request. So the fast path tests a whole header of one or two digits with
//! one masked load. Everything else goes to the resumable path. The decoder keeps state only if the
//! buffer ends within a request.

mod decoder;
mod fused;
mod inline;
mod progress;

#[cfg(test)]
mod tests;

pub use decoder::CommandDecoder;
pub(crate) use inline::{Piece, split};

use core::fmt;

use crate::args::{Args, Span};
use crate::grammar::{load8, upper8};

/// One request, borrowed from the read buffer (and, for inline requests with quotes, from the
/// decoder).
///
/// It has at least one argument: the command's name.
///
/// ```
/// use resp_codec::{CommandDecoder, Limits};
/// let mut decoder = CommandDecoder::new(Limits::SERVER);
/// let command = decoder.decode(b"set key 'a b'\r\n").unwrap().ready().unwrap();
/// assert_eq!((command.len(), command.name(), command.get(2)), (3, &b"set"[..], Some(&b"a b"[..])));
/// assert!(command.is_inline());
/// ```
#[derive(Clone, Copy)]
pub struct Command<'s, 'b> {
    buf: &'b [u8],
    scratch: &'s [u8],
    spans: &'s [Span],
    inline: bool,
}

impl<'s, 'b> Command<'s, 'b> {
    /// The number of arguments, including the name; at least 1.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"GET key\r\n").unwrap().ready().unwrap();
    /// assert_eq!(command.len(), 2);
    /// ```
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a request always has a name")]
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// The command's name as sent; it may be empty.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"*2\r\n$3\r\ngEt\r\n$1\r\nk\r\n").unwrap().ready().unwrap();
    /// assert_eq!(command.name(), b"gEt");
    /// ```
    #[inline]
    pub fn name(&self) -> &[u8] {
        self.args_ref().resolve(self.spans[0])
    }

    /// The first 8 bytes of the name in upper case, padded with zeros, first byte lowest: a key for
    /// command dispatch.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"get key\r\n").unwrap().ready().unwrap();
    /// assert_eq!(command.name_upper8(), u64::from_le_bytes(*b"GET\0\0\0\0\0"));
    /// ```
    #[inline]
    pub fn name_upper8(&self) -> u64 {
        let span = self.spans[0];
        let word = match load8(self.buf, span.at()) {
            Some(word) if !span.is_scratch() => match span.len() {
                len @ 0..8 => word & ((1 << (len * 8)) - 1),
                _ => word,
            },
            _ => self.name_word(),
        };
        upper8(word)
    }

    /// The argument at `index`, 0 being the name.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"GET key\r\n").unwrap().ready().unwrap();
    /// assert_eq!((command.get(1), command.get(2)), (Some(&b"key"[..]), None));
    /// ```
    #[inline]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.args_ref().get(index)
    }

    /// All arguments, the name first.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"MGET a b\r\n").unwrap().ready().unwrap();
    /// let keys: Vec<_> = command.args().skip(1).iter().collect();
    /// assert_eq!(keys, [b"a", b"b"]);
    /// ```
    #[inline]
    pub const fn args<'a>(&self) -> Args<'a>
    where
        's: 'a,
        'b: 'a,
    {
        Args::new(self.buf, self.scratch, self.spans)
    }

    /// The positions of the arguments: offsets into [`Command::wire`].
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n").unwrap().ready().unwrap();
    /// let span = command.spans()[1];
    /// assert_eq!(&command.wire()[span.at()..][..span.len()], b"key");
    /// ```
    pub const fn spans(&self) -> &'s [Span] {
        self.spans
    }

    /// The scratch buffer, which some of the spans point into.
    #[cfg(feature = "codec")]
    pub(crate) const fn scratch(&self) -> &'s [u8] {
        self.scratch
    }

    /// The bytes of this request exactly as they were sent.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"PING\r\nPI").unwrap().ready().unwrap();
    /// assert_eq!(command.wire(), b"PING\r\n");
    /// ```
    pub const fn wire(&self) -> &'b [u8] {
        self.buf
    }

    /// Whether it was sent inline, as a line of text.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"PING\r\n").unwrap().ready().unwrap();
    /// assert!(command.is_inline());
    /// ```
    #[inline]
    pub const fn is_inline(&self) -> bool {
        self.inline
    }

    /// Whether this is the start of an HTTP request (`POST …` or `Host: …`), which an attacker
    /// makes a browser send. Redis closes such a connection without a reply.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"POST / HTTP/1.1\r\n").unwrap().ready().unwrap();
    /// assert!(command.is_cross_protocol());
    /// ```
    pub fn is_cross_protocol(&self) -> bool {
        matches!(
            self.name_upper8().to_le_bytes(),
            [b'P', b'O', b'S', b'T', 0, ..] | [b'H', b'O', b'S', b'T', b':', 0, ..]
        )
    }

    /// The argument at `index` as a shared slice of `source`, the buffer given to
    /// [`CommandDecoder::decode`], without a copy. An unescaped inline argument is copied.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use resp_codec::{CommandDecoder, Limits};
    /// let source = Bytes::from_static(b"*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(&source).unwrap().ready().unwrap();
    /// let key = command.bytes(&source, 1);
    /// assert_eq!(key, "key");
    /// assert_eq!(key.as_ptr(), command.args()[1].as_ptr(), "no copy");
    /// ```
    ///
    /// # Panics
    /// Panics if there is no such argument, or if `source` is another buffer.
    #[cfg(feature = "bytes")]
    pub fn bytes(&self, source: &bytes::Bytes, index: usize) -> bytes::Bytes {
        if self.spans[index].is_scratch() {
            return bytes::Bytes::copy_from_slice(&self.args_ref()[index]);
        }
        source.slice_ref(&self.args_ref()[index])
    }

    const fn args_ref(&self) -> Args<'_> {
        Args::new(self.buf, self.scratch, self.spans)
    }

    #[cold]
    fn name_word(&self) -> u64 {
        let name = self.name();
        let len = name.len().min(8);
        let mut word = [0; 8];
        word[..len].copy_from_slice(&name[..len]);
        u64::from_le_bytes(word)
    }
}

impl fmt::Debug for Command<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("args", &self.args_ref())
            .field("inline", &self.inline)
            .finish()
    }
}
