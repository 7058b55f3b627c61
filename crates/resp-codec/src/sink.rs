//! Sinks: the outputs that encoders write into.

use alloc::vec::Vec;

/// An output that bytes can be appended to. Writing cannot fail; a bounded sink records an overflow
/// instead (see [`SliceSink`]).
///
/// ```
/// use resp_codec::Sink;
/// let mut out = Vec::new();
/// out.put(b"+OK\r\n");
/// assert_eq!(out, b"+OK\r\n");
/// ```
pub trait Sink {
    /// Appends `bytes`.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto, Sink};
    /// /// Counts bytes without storing them.
    /// struct Count(usize);
    /// impl Sink for Count {
    ///     fn put(&mut self, bytes: &[u8]) {
    ///         self.0 += bytes.len();
    ///     }
    /// }
    /// let mut count = Count(0);
    /// Encoder::new(&mut count, Proto::Resp3).bulk("hello");
    /// assert_eq!(count.0, 11);
    /// ```
    fn put(&mut self, bytes: &[u8]);

    /// Appends the first `len` bytes of `bytes`. Encoders write short replies this way, which
    /// avoids a copy of unknown length.
    ///
    /// A sink over contiguous memory may write all sixteen bytes and then shorten itself.
    ///
    /// ```
    /// use resp_codec::Sink;
    /// let mut out = Vec::new();
    /// out.put_short(*b"+OK\r\n\0\0\0\0\0\0\0\0\0\0\0", 5);
    /// assert_eq!(out, b"+OK\r\n");
    /// ```
    ///
    /// # Panics
    /// May panic if `len` is above 16.
    #[inline]
    fn put_short(&mut self, bytes: [u8; 16], len: usize) {
        self.put(&bytes[..len]);
    }

    /// Announces that about `n` more bytes will follow.
    ///
    /// ```
    /// use resp_codec::Sink;
    /// let mut out = Vec::new();
    /// Sink::reserve(&mut out, 100);
    /// assert!(out.capacity() >= 100 && out.is_empty());
    /// ```
    #[inline]
    fn reserve(&mut self, n: usize) {
        let _ = n;
    }

    /// Appends a shared payload. A vectored sink keeps the reference; other sinks copy.
    ///
    /// ```
    /// use resp_codec::Sink;
    /// let mut out = Vec::new();
    /// out.put_shared(bytes::Bytes::from_static(b"hi"));
    /// assert_eq!(out, b"hi");
    /// ```
    #[cfg(feature = "bytes")]
    fn put_shared(&mut self, bytes: bytes::Bytes) {
        self.put(&bytes);
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn put_short(&mut self, bytes: [u8; 16], len: usize) {
        let end = self.len() + len;
        self.extend_from_slice(&bytes);
        self.truncate(end);
    }

    #[inline]
    fn reserve(&mut self, n: usize) {
        Vec::reserve(self, n);
    }
}

impl<S: Sink + ?Sized> Sink for &mut S {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        (**self).put(bytes);
    }

    #[inline]
    fn put_short(&mut self, bytes: [u8; 16], len: usize) {
        (**self).put_short(bytes, len);
    }

    #[inline]
    fn reserve(&mut self, n: usize) {
        (**self).reserve(n);
    }

    #[cfg(feature = "bytes")]
    fn put_shared(&mut self, bytes: bytes::Bytes) {
        (**self).put_shared(bytes);
    }
}

#[cfg(feature = "bytes")]
impl Sink for bytes::BytesMut {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn put_short(&mut self, bytes: [u8; 16], len: usize) {
        let end = self.len() + len;
        self.extend_from_slice(&bytes);
        self.truncate(end);
    }

    #[inline]
    fn reserve(&mut self, n: usize) {
        bytes::BytesMut::reserve(self, n);
    }
}

/// Writes into a slice of fixed length, for targets with little or no heap.
///
/// A write that does not fit is dropped entirely and recorded: check [`SliceSink::overflowed`]
/// before sending.
///
/// ```
/// use resp_codec::{Encoder, Proto, SliceSink};
/// let mut room = [0; 8];
/// let mut sink = SliceSink::new(&mut room);
/// Encoder::new(&mut sink, Proto::Resp2).ok();
/// assert_eq!(sink.written(), b"+OK\r\n");
/// assert!(!sink.overflowed());
/// ```
#[derive(Debug)]
pub struct SliceSink<'a> {
    room: &'a mut [u8],
    len: usize,
    overflowed: bool,
}

impl<'a> SliceSink<'a> {
    /// An empty sink over `room`.
    ///
    /// ```
    /// use resp_codec::{Sink, SliceSink};
    /// let mut room = [0; 4];
    /// let mut sink = SliceSink::new(&mut room);
    /// sink.put(b"ab");
    /// assert_eq!(sink.written(), b"ab");
    /// ```
    pub const fn new(room: &'a mut [u8]) -> Self {
        Self {
            room,
            len: 0,
            overflowed: false,
        }
    }

    /// The bytes written so far.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto, SliceSink};
    /// let mut room = [0; 16];
    /// let mut sink = SliceSink::new(&mut room);
    /// Encoder::new(&mut sink, Proto::Resp2).int(12);
    /// assert_eq!(sink.written(), b":12\r\n");
    /// ```
    pub fn written(&self) -> &[u8] {
        &self.room[..self.len]
    }

    /// Whether a write did not fit. All writes after the first overflow are dropped, too.
    ///
    /// ```
    /// # use resp_codec::{Encoder, Proto, SliceSink};
    /// let mut room = [0; 4];
    /// let mut sink = SliceSink::new(&mut room);
    /// Encoder::new(&mut sink, Proto::Resp2).ok();
    /// assert!(sink.overflowed(), "five bytes do not fit in four");
    /// ```
    pub const fn overflowed(&self) -> bool {
        self.overflowed
    }
}

impl Sink for SliceSink<'_> {
    fn put(&mut self, bytes: &[u8]) {
        match self.room.get_mut(self.len..self.len + bytes.len()) {
            Some(room) if !self.overflowed => {
                room.copy_from_slice(bytes);
                self.len += bytes.len();
            }
            _ => self.overflowed = true,
        }
    }
}
