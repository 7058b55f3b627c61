//! Encoders of replies for every protocol.

use crate::kind::NullForm;
use crate::number::{F64_BYTES_MAX, I64_BYTES_MAX, format_f64, format_i64};
use crate::sink::Sink;
use crate::write::{blob, header, number_line};

/// The protocol that the peer reads.
///
/// ```
/// use resp_codec::{Encoder, Proto};
/// let null = |proto| {
///     let mut out = Vec::new();
///     Encoder::new(&mut out, proto).null();
///     out
/// };
/// assert_eq!(null(Proto::Resp2), b"$-1\r\n");
/// assert_eq!(null(Proto::Resp3), b"_\r\n");
/// assert_eq!(null(Proto::Binary), b"_");
/// assert_eq!(null(Proto::BinaryPlain), b"\0\0\0\0");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proto {
    /// RESP2: values of RESP3's types are written as the closest RESP2 type.
    Resp2,
    /// RESP3.
    Resp3,
    /// Tagged values: the replies to `CALL` of the [binary protocol](crate::binary). Can express
    /// all of RESP3.
    Binary,
    /// Length and payload: the replies to `GET`, `SET` and `DELETE` of the [binary
    /// protocol](crate::binary).
    ///
    /// Scalars are written as their text, nulls as the empty payload. Errors and aggregates cannot
    /// be expressed: they write nothing and count as errors (see [`Encoder::error_count`]). Close
    /// the connection after such a reply.
    BinaryPlain,
}

/// Writes replies into a [`Sink`], in the protocol of the peer.
///
/// The same calls serve every protocol. Under RESP2 a map is a flat array, a set and a push are
/// arrays, a double, a big number and a verbatim string are bulk strings, a boolean is `:1` or
/// `:0`, and null is `$-1` or `*-1`.
///
/// An aggregate is written as its header; the caller then writes as many elements as the header
/// announced.
///
/// ```
/// use resp_codec::{Encoder, Proto};
/// fn reply(proto: Proto) -> Vec<u8> {
///     let mut out = Vec::new();
///     let mut encoder = Encoder::new(&mut out, proto);
///     encoder.map(1);
///     encoder.bulk("pi");
///     encoder.double(3.14);
///     out
/// }
/// assert_eq!(reply(Proto::Resp3), b"%1\r\n$2\r\npi\r\n,3.14\r\n");
/// assert_eq!(reply(Proto::Resp2), b"*2\r\n$2\r\npi\r\n$4\r\n3.14\r\n");
/// ```
///
/// # Panics
/// The binary protocols have 32-bit lengths: under them, a payload of 4 GiB panics.
#[derive(Debug)]
pub struct Encoder<'o, S: Sink> {
    out: &'o mut S,
    proto: Proto,
    errors: u32,
}

impl<'o, S: Sink> Encoder<'o, S> {
    /// An encoder that appends to `out`.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto};
    /// let mut out = b"+first\r\n".to_vec();
    /// Encoder::new(&mut out, Proto::Resp2).simple("second");
    /// assert_eq!(out, b"+first\r\n+second\r\n");
    /// ```
    #[inline]
    pub const fn new(out: &'o mut S, proto: Proto) -> Self {
        Self {
            out,
            proto,
            errors: 0,
        }
    }

    /// The protocol that the encoder writes.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert_eq!(encoder.proto(), Proto::Resp3);
    /// ```
    #[inline]
    pub const fn proto(&self) -> Proto {
        self.proto
    }

    /// The sink that the encoder writes into.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.ok();
    /// assert_eq!(encoder.sink().len(), 5);
    /// ```
    #[inline]
    pub const fn sink(&mut self) -> &mut S {
        self.out
    }

    /// The number of errors written through this encoder; under [`Proto::BinaryPlain`], the number
    /// of replies that could not be written.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.ok();
    /// encoder.error("ERR no such key");
    /// assert_eq!(encoder.error_count(), 1);
    /// ```
    #[inline]
    pub const fn error_count(&self) -> u32 {
        self.errors
    }

    /// A simple string. CR and LF become blanks, and are trimmed at both ends, so that user text
    /// cannot split a reply.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).simple("PONG"); out };
    /// assert_eq!(encode(Proto::Resp2), b"+PONG\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"+PONG\r\n");
    /// ```
    #[inline]
    pub fn simple(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.text(b'+', text),
            Proto::Binary | Proto::BinaryPlain => self.tagged(b'+', text),
        }
    }

    /// `+OK`.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.ok();
    /// assert_eq!(out, b"+OK\r\n");
    /// ```
    #[inline]
    pub fn ok(&mut self) {
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.out.put(b"+OK\r\n"),
            Proto::Binary | Proto::BinaryPlain => self.tagged(b'+', b"OK"),
        }
    }

    /// An error: its whole text with the code word, without `-` and CRLF. CR and LF are treated as
    /// in [`Encoder::simple`].
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto};
    /// let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp2);
    /// encoder.error("ERR no\r\n+such key");
    /// assert_eq!(encoder.error_count(), 1);
    /// assert_eq!(out, b"-ERR no  +such key\r\n");
    /// ```
    pub fn error(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        self.errors += 1;
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.text(b'-', text),
            Proto::Binary => self.tagged(b'-', text),
            Proto::BinaryPlain => {}
        }
    }

    /// An error whose text comes in parts, so that echoing an argument needs no copy. CR and LF
    /// become blanks.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto};
    /// let mut out = Vec::new();
    /// Encoder::new(&mut out, Proto::Resp3).error_parts(&[b"ERR unknown command '", b"f\no", b"'"]);
    /// assert_eq!(out, b"-ERR unknown command 'f o'\r\n");
    /// ```
    pub fn error_parts(&mut self, parts: &[&[u8]]) {
        self.errors += 1;
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => {
                self.out.reserve(len + 3);
                self.out.put(b"-");
                parts.iter().for_each(|part| self.unbroken(part));
                self.out.put(b"\r\n");
            }
            Proto::Binary => {
                self.tag_word(b'-', len32(len));
                parts.iter().for_each(|part| self.out.put(part));
            }
            Proto::BinaryPlain => {}
        }
    }

    /// An error that may hold any byte. Under RESP2 it is a simple error.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).blob_error("ERR x"); out };
    /// assert_eq!(encode(Proto::Resp2), b"-ERR x\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"!5\r\nERR x\r\n");
    /// ```
    pub fn blob_error(&mut self, text: impl AsRef<[u8]>) {
        let text = text.as_ref();
        match self.proto {
            Proto::Resp2 | Proto::BinaryPlain => return self.error(text),
            Proto::Resp3 => self.blob(b'!', text),
            Proto::Binary => self.tagged(b'!', text),
        }
        self.errors += 1;
    }

    /// An integer.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).int(-7); out };
    /// assert_eq!(encode(Proto::Resp2), b":-7\r\n");
    /// assert_eq!(encode(Proto::Resp3), b":-7\r\n");
    /// ```
    #[inline]
    pub fn int(&mut self, value: i64) {
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => match u8::try_from(value) {
                Ok(digit @ 0..=9) => self.out.put(&[b':', b'0' + digit, b'\r', b'\n']),
                _ => self.long_int(value),
            },
            Proto::Binary => self.tag_word(b':', value.to_le_bytes()),
            Proto::BinaryPlain => self.plain(format_i64(value, &mut [0; I64_BYTES_MAX])),
        }
    }

    /// A boolean.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).bool(true); out };
    /// assert_eq!(encode(Proto::Resp2), b":1\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"#t\r\n");
    /// ```
    pub fn bool(&mut self, value: bool) {
        match self.proto {
            Proto::Resp2 | Proto::BinaryPlain => self.int(i64::from(value)),
            Proto::Resp3 => self.out.put(if value { b"#t\r\n" } else { b"#f\r\n" }),
            Proto::Binary => self.out.put(&[b'#', u8::from(value)]),
        }
    }

    /// A double, in the form of [`write_f64`](crate::number::write_f64).
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).double(0.5); out };
    /// assert_eq!(encode(Proto::Resp2), b"$3\r\n0.5\r\n");
    /// assert_eq!(encode(Proto::Resp3), b",0.5\r\n");
    /// ```
    pub fn double(&mut self, value: f64) {
        let mut room = [0; F64_BYTES_MAX];
        let text = format_f64(value, &mut room);
        match self.proto {
            Proto::Resp2 | Proto::BinaryPlain => self.bulk(text),
            Proto::Resp3 => self.text(b',', text),
            Proto::Binary => {
                // RESP has one NaN, whatever its bits in memory.
                let value = if value.is_nan() { f64::NAN } else { value };
                self.tag_word(b',', value.to_le_bytes());
            }
        }
    }

    /// A double whose text in RESP is the caller's, which must be a valid one.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).double_text(0.5, b"5e-01"); out };
    /// assert_eq!(encode(Proto::Resp2), b"$5\r\n5e-01\r\n");
    /// assert_eq!(encode(Proto::Resp3), b",5e-01\r\n");
    /// ```
    pub fn double_text(&mut self, value: f64, text: &[u8]) {
        match self.proto {
            Proto::Resp2 => self.bulk(text),
            Proto::Resp3 => self.text(b',', text),
            Proto::Binary | Proto::BinaryPlain => self.double(value),
        }
    }

    /// A big number: an optional sign and decimal digits. The caller must ensure that they are
    /// valid.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).big_number(b"123"); out };
    /// assert_eq!(encode(Proto::Resp2), b"$3\r\n123\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"(123\r\n");
    /// ```
    pub fn big_number(&mut self, digits: &[u8]) {
        match self.proto {
            Proto::Resp2 | Proto::BinaryPlain => self.bulk(digits),
            Proto::Resp3 => self.text(b'(', digits),
            Proto::Binary => self.tagged(b'(', digits),
        }
    }

    /// Null for an absent string. See [`Encoder::null_array`].
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).null(); out };
    /// assert_eq!(encode(Proto::Resp2), b"$-1\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"_\r\n");
    /// ```
    #[inline]
    pub fn null(&mut self) {
        match self.proto {
            Proto::Resp2 => self.out.put(b"$-1\r\n"),
            Proto::Resp3 => self.out.put(b"_\r\n"),
            Proto::Binary => self.out.put(b"_"),
            Proto::BinaryPlain => self.out.put(&[0; 4]),
        }
    }

    /// Null for an absent array, which RESP2 distinguishes from an absent string.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).null_array(); out };
    /// assert_eq!(encode(Proto::Resp2), b"*-1\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"_\r\n");
    /// ```
    #[inline]
    pub fn null_array(&mut self) {
        match self.proto {
            Proto::Resp2 => self.out.put(b"*-1\r\n"),
            _ => self.null(),
        }
    }

    /// Null in the given form, if the protocol has it: a proxy keeps the form that it read.
    ///
    /// ```
    /// use resp_codec::{Encoder, NullForm, Proto};
    /// let mut out = Vec::new();
    /// Encoder::new(&mut out, Proto::Resp3).null_form(NullForm::Bulk);
    /// assert_eq!(out, b"$-1\r\n");
    /// ```
    pub fn null_form(&mut self, form: NullForm) {
        match (self.proto, form) {
            (Proto::Resp3, NullForm::Bulk) => self.out.put(b"$-1\r\n"),
            (Proto::Resp2 | Proto::Resp3, NullForm::Array) => self.out.put(b"*-1\r\n"),
            _ => self.null(),
        }
    }

    /// A bulk string: any bytes.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).bulk("a\r\n"); out };
    /// assert_eq!(encode(Proto::Resp2), b"$3\r\na\r\n\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"$3\r\na\r\n\r\n");
    /// ```
    #[inline]
    pub fn bulk(&mut self, payload: impl AsRef<[u8]>) {
        let payload = payload.as_ref();
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.blob(b'$', payload),
            Proto::Binary | Proto::BinaryPlain => self.tagged(b'$', payload),
        }
    }

    /// A bulk string that consists of several pieces.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.bulk_chunks([&b"he"[..], b"ya"].into_iter());
    /// assert_eq!(out, b"$4\r\nheya\r\n");
    /// ```
    pub fn bulk_chunks<'c>(&mut self, chunks: impl Iterator<Item = &'c [u8]> + Clone) {
        let len = chunks.clone().map(<[u8]>::len).sum::<usize>();
        self.bulk_with(len, |out| chunks.for_each(|chunk| out.put(chunk)));
    }

    /// A bulk string with a shared payload, which a vectored sink does not copy.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.bulk_shared(bytes::Bytes::from_static(b"heya"));
    /// assert_eq!(out, b"$4\r\nheya\r\n");
    /// ```
    #[cfg(feature = "bytes")]
    pub fn bulk_shared(&mut self, payload: bytes::Bytes) {
        self.bulk_with(payload.len(), |out| out.put_shared(payload));
    }

    /// A bulk string of `len` bytes, which `put` writes to the sink: for sinks that have payloads
    /// of their own kind.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto, Sink};
    /// let mut out = Vec::new();
    /// Encoder::new(&mut out, Proto::Resp3).bulk_with(4, |out| {
    ///     out.put(b"he");
    ///     out.put(b"ya");
    /// });
    /// assert_eq!(out, b"$4\r\nheya\r\n");
    /// ```
    pub fn bulk_with(&mut self, len: usize, put: impl FnOnce(&mut S)) {
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.header(b'$', len as u64),
            Proto::Binary => self.tag_word(b'$', len32(len)),
            Proto::BinaryPlain => self.out.put(&len32(len)),
        }
        put(self.out);
        if matches!(self.proto, Proto::Resp2 | Proto::Resp3) {
            self.out.put(b"\r\n");
        }
    }

    /// An integer as a bulk string of its decimal text.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).bulk_int(42); out };
    /// assert_eq!(encode(Proto::Resp2), b"$2\r\n42\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"$2\r\n42\r\n");
    /// ```
    #[inline]
    pub fn bulk_int(&mut self, value: i64) {
        self.bulk(format_i64(value, &mut [0; I64_BYTES_MAX]));
    }

    /// A verbatim string: text with a three-byte format (`txt`, `mkd`). RESP2 gets the text alone.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).verbatim(*b"txt", b"hi"); out };
    /// assert_eq!(encode(Proto::Resp2), b"$2\r\nhi\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"=6\r\ntxt:hi\r\n");
    /// ```
    pub fn verbatim(&mut self, format: [u8; 3], text: &[u8]) {
        match self.proto {
            Proto::Resp2 | Proto::BinaryPlain => self.bulk(text),
            Proto::Resp3 => {
                self.header(b'=', text.len() as u64 + 4);
                self.out.put(&format);
                self.out.put(b":");
                self.out.put(text);
                self.out.put(b"\r\n");
            }
            Proto::Binary => {
                self.tag_word(b'=', len32(text.len() + 3));
                self.out.put(&format);
                self.out.put(text);
            }
        }
    }

    /// The header of an array of `n` elements.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).array(2); out };
    /// assert_eq!(encode(Proto::Resp2), b"*2\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"*2\r\n");
    /// ```
    #[inline]
    pub fn array(&mut self, n: usize) {
        self.open(b'*', n as u64);
    }

    /// The header of a map of `pairs` keys with their values.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).map(2); out };
    /// assert_eq!(encode(Proto::Resp2), b"*4\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"%2\r\n");
    /// ```
    #[inline]
    pub fn map(&mut self, pairs: usize) {
        match self.proto {
            Proto::Resp2 => self.open(b'*', pairs as u64 * 2),
            _ => self.open(b'%', pairs as u64),
        }
    }

    /// The header of a set of `n` elements.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).set(2); out };
    /// assert_eq!(encode(Proto::Resp2), b"*2\r\n");
    /// assert_eq!(encode(Proto::Resp3), b"~2\r\n");
    /// ```
    #[inline]
    pub fn set(&mut self, n: usize) {
        match self.proto {
            Proto::Resp2 => self.open(b'*', n as u64),
            _ => self.open(b'~', n as u64),
        }
    }

    /// The header of a push of `n` elements, the first of which is a string that names its kind.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let encode = |proto| { let mut out = Vec::new(); Encoder::new(&mut out, proto).push(2); out };
    /// assert_eq!(encode(Proto::Resp2), b"*2\r\n");
    /// assert_eq!(encode(Proto::Resp3), b">2\r\n");
    /// ```
    #[inline]
    pub fn push(&mut self, n: usize) {
        match self.proto {
            Proto::Resp2 => self.open(b'*', n as u64),
            _ => self.open(b'>', n as u64),
        }
    }

    /// The header of `pairs` attributes of the value written next. Returns false if the protocol
    /// has no attributes: then nothing was written, and the caller must not write the pairs.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// if encoder.attributes(1) {
    ///     encoder.simple("ttl");
    ///     encoder.int(60);
    /// }
    /// encoder.bulk("value");
    /// assert_eq!(out, b"|1\r\n+ttl\r\n:60\r\n$5\r\nvalue\r\n");
    /// ```
    #[must_use = "do not write the pairs if the protocol has no attributes"]
    pub fn attributes(&mut self, pairs: usize) -> bool {
        let known = matches!(self.proto, Proto::Resp3 | Proto::Binary);
        if known {
            self.open(b'|', pairs as u64);
        }
        known
    }

    /// Begins an array without an announced size: write elements, then [`Encoder::stream_end`].
    /// Returns false if the protocol has no streams; then nothing was written.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto};
    /// let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_array());
    /// encoder.int(1);
    /// encoder.stream_end();
    /// assert_eq!(out, b"*?\r\n:1\r\n.\r\n");
    /// ```
    #[must_use = "if the protocol has no streams, the size must be known"]
    pub fn stream_array(&mut self) -> bool {
        self.stream(b"*?\r\n")
    }

    /// Begins a map without an announced size. See [`Encoder::stream_array`].
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_map());
    /// encoder.bulk("a");
    /// encoder.int(1);
    /// encoder.stream_end();
    /// assert_eq!(out, b"%?\r\n$1\r\na\r\n:1\r\n.\r\n");
    /// ```
    #[must_use = "if the protocol has no streams, the size must be known"]
    pub fn stream_map(&mut self) -> bool {
        self.stream(b"%?\r\n")
    }

    /// Begins a set without an announced size. See [`Encoder::stream_array`].
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_set());
    /// encoder.int(1);
    /// encoder.stream_end();
    /// assert_eq!(out, b"~?\r\n:1\r\n.\r\n");
    /// ```
    #[must_use = "if the protocol has no streams, the size must be known"]
    pub fn stream_set(&mut self) -> bool {
        self.stream(b"~?\r\n")
    }

    /// Ends the streamed aggregate that was begun last.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_array());
    /// encoder.stream_end();
    /// assert_eq!(out, b"*?\r\n.\r\n");
    /// ```
    pub fn stream_end(&mut self) {
        self.out.put(b".\r\n");
    }

    /// Begins a string without an announced length: write [`Encoder::chunk`]s, then
    /// [`Encoder::chunk_end`]. Returns false if the protocol has no streams; then nothing was
    /// written.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_bulk());
    /// for piece in ["he", "ya"] {
    ///     encoder.chunk(piece.as_bytes());
    /// }
    /// encoder.chunk_end();
    /// assert_eq!(out, b"$?\r\n;2\r\nhe\r\n;2\r\nya\r\n;0\r\n");
    /// ```
    #[must_use = "if the protocol has no streams, the length must be known"]
    pub fn stream_bulk(&mut self) -> bool {
        self.stream(b"$?\r\n")
    }

    /// A piece of a streamed string. An empty piece is omitted, as it would end the string.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.chunk(b"he");
    /// encoder.chunk(b"");
    /// assert_eq!(out, b";2\r\nhe\r\n");
    /// ```
    pub fn chunk(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.blob(b';', bytes);
        }
    }

    /// Ends a streamed string.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// assert!(encoder.stream_bulk());
    /// encoder.chunk_end();
    /// assert_eq!(out, b"$?\r\n;0\r\n");
    /// ```
    pub fn chunk_end(&mut self) {
        self.out.put(b";0\r\n");
    }

    fn stream(&mut self, header: &[u8]) -> bool {
        let known = self.proto == Proto::Resp3;
        if known {
            self.out.put(header);
        }
        known
    }

    /// Bytes that are already encoded for this protocol.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto};
    /// # let mut out = Vec::new();
    /// let mut encoder = Encoder::new(&mut out, Proto::Resp3);
    /// encoder.array(2);
    /// encoder.raw(resp_codec::lit::PONG);
    /// encoder.raw(resp_codec::lit::NULL);
    /// assert_eq!(out, b"*2\r\n+PONG\r\n_\r\n");
    /// ```
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.put(bytes);
    }

    /// The header of an aggregate.
    #[inline]
    fn open(&mut self, tag: u8, n: u64) {
        match self.proto {
            Proto::Resp2 | Proto::Resp3 => self.header(tag, n),
            Proto::Binary => self.tag_word(tag, len32(n as usize)),
            Proto::BinaryPlain => self.errors += 1,
        }
    }

    #[inline]
    fn header(&mut self, tag: u8, n: u64) {
        header(self.out, tag, n);
    }

    #[inline]
    fn blob(&mut self, tag: u8, payload: &[u8]) {
        blob(self.out, tag, payload);
    }

    #[inline(never)]
    fn long_int(&mut self, value: i64) {
        number_line(self.out, b':', value < 0, value.unsigned_abs());
    }

    /// A line of text whose CR and LF are replaced, in one pass and without a copy.
    fn text(&mut self, tag: u8, text: &[u8]) {
        self.out.reserve(text.len() + 3);
        self.out.put(&[tag]);
        let start = text.iter().take_while(|&byte| is_break(byte)).count();
        let end = text.len()
            - text[start..]
                .iter()
                .rev()
                .take_while(|&byte| is_break(byte))
                .count();
        self.unbroken(&text[start..end]);
        self.out.put(b"\r\n");
    }

    /// Text with a blank in place of each CR and LF.
    fn unbroken(&mut self, text: &[u8]) {
        if !text.iter().any(is_break) {
            return self.out.put(text);
        }
        for (index, part) in text.split(is_break).enumerate() {
            if index > 0 {
                self.out.put(b" ");
            }
            self.out.put(part);
        }
    }

    /// A tag (except in plain replies), a length, and the payload.
    #[inline(never)]
    fn tagged(&mut self, tag: u8, payload: &[u8]) {
        if self.proto == Proto::Binary {
            self.out.put(&[tag]);
        }
        self.plain(payload);
    }

    fn plain(&mut self, payload: &[u8]) {
        self.out.reserve(payload.len() + 4);
        self.out.put(&len32(payload.len()));
        self.out.put(payload);
    }

    /// A tag and a little-endian number.
    fn tag_word<const N: usize>(&mut self, tag: u8, bytes: [u8; N]) {
        self.out.put(&[tag]);
        self.out.put(&bytes);
    }
}

/// A length of the binary protocol.
fn len32(len: usize) -> [u8; 4] {
    u32::try_from(len)
        .expect("lengths of the binary protocol are 32 bits")
        .to_le_bytes()
}

const fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::SliceSink;

    fn encoded(proto: Proto, write: impl FnOnce(&mut Encoder<'_, Vec<u8>>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut Encoder::new(&mut out, proto));
        out
    }

    #[test]
    fn blobs_of_every_short_length_are_the_same_in_any_sink() {
        let payload: Vec<u8> = (0..200).collect();
        for len in 0..payload.len() {
            let expected = [
                std::format!("${len}\r\n").as_bytes(),
                &payload[..len],
                b"\r\n",
            ]
            .concat();
            assert_eq!(encoded(Proto::Resp2, |e| e.bulk(&payload[..len])), expected);
            let mut room = [0; 256];
            let mut sink = SliceSink::new(&mut room);
            Encoder::new(&mut sink, Proto::Resp2).bulk(&payload[..len]);
            assert_eq!(sink.written(), expected);
        }
    }

    #[test]
    fn headers_and_integers_of_every_width_are_written() {
        for n in [0, 9, 10, 99, 100, 1000, usize::MAX >> 1] {
            let expected = std::format!("*{n}\r\n").into_bytes();
            assert_eq!(encoded(Proto::Resp2, |e| e.array(n)), expected);
        }
        for n in [0, 9, 10, -1, -10, i64::MAX, i64::MIN] {
            let expected = std::format!(":{n}\r\n").into_bytes();
            assert_eq!(encoded(Proto::Resp3, |e| e.int(n)), expected);
        }
    }

    #[test]
    fn line_ends_in_text_become_blanks_and_are_trimmed() {
        let simple = |text: &str| encoded(Proto::Resp2, |e| e.simple(text));
        assert_eq!(simple("\r\na\r\nb\n\r"), b"+a  b\r\n");
        assert_eq!(simple("\r\n"), b"+\r\n");
        assert_eq!(simple(""), b"+\r\n");
        assert_eq!(simple(" a "), b"+ a \r\n");
    }

    #[test]
    fn attributes_and_streams_are_refused_by_protocols_without_them() {
        for proto in [Proto::Resp2, Proto::BinaryPlain] {
            let out = encoded(proto, |e| {
                assert!(!e.attributes(1) && !e.stream_array() && !e.stream_bulk());
                assert!(!e.stream_map() && !e.stream_set());
            });
            assert_eq!(out, b"");
        }
        let out = encoded(Proto::Resp3, |e| {
            assert!(e.attributes(0) && e.stream_set() && e.stream_bulk());
            e.chunk(b"ab");
            e.chunk(b"");
            e.chunk_end();
            e.stream_end();
        });
        assert_eq!(out, b"|0\r\n~?\r\n$?\r\n;2\r\nab\r\n;0\r\n.\r\n");
    }

    #[test]
    fn errors_are_counted() {
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, Proto::Resp3);
        encoder.ok();
        encoder.error("ERR a");
        encoder.blob_error("ERR b");
        encoder.error_parts(&[b"ERR ", b"c"]);
        assert_eq!(encoder.error_count(), 3);
    }

    #[test]
    fn slice_sink_reports_an_overflow() {
        let mut room = [0; 4];
        let mut sink = SliceSink::new(&mut room);
        let mut encoder = Encoder::new(&mut sink, Proto::Resp2);
        encoder.ok();
        encoder.sink().put(b"x");
        assert!(sink.overflowed());
        assert_eq!(sink.written(), b"");
    }

    #[cfg(feature = "bytes")]
    #[test]
    fn shared_payloads_are_framed_in_every_protocol() {
        let shared = |proto| encoded(proto, |e| e.bulk_shared(bytes::Bytes::from_static(b"abc")));
        for proto in [
            Proto::Resp2,
            Proto::Resp3,
            Proto::Binary,
            Proto::BinaryPlain,
        ] {
            assert_eq!(shared(proto), encoded(proto, |e| e.bulk("abc")));
        }
    }
}
