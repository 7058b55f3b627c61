//! Argument lists that borrow from the read buffer.

use core::fmt;
use core::ops::Index;

/// The bit that marks a span of the scratch buffer (unescaped inline arguments) instead of the
/// input.
const SCRATCH: u32 = 1 << 31;

/// The position of one argument: an offset and a length in bytes, 8 bytes in all.
///
/// ```
/// use resp_codec::{Args, Span};
/// let spans = [Span::new(0, 3), Span::new(4, 3)];
/// assert_eq!(&Args::new(b"GET key", &[], &spans)[1], b"key");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Span {
    at: u32,
    len: u32,
}

impl Span {
    /// A span of the input. `at` is below 2^31.
    ///
    /// ```
    /// use resp_codec::Span;
    /// let key = Span::new(4, 3);
    /// assert_eq!(&b"GET key"[key.at()..][..key.len()], b"key");
    /// ```
    pub const fn new(at: u32, len: u32) -> Self {
        debug_assert!(at & SCRATCH == 0);
        Self { at, len }
    }

    /// A span of the scratch buffer. `at` is below 2^31.
    ///
    /// ```
    /// use resp_codec::{Args, Span};
    /// // The quoted word was unescaped into the scratch buffer.
    /// let spans = [Span::new(0, 4), Span::in_scratch(0, 2)];
    /// let args = Args::new(b"ECHO \"h\\x69\"\n", b"hi", &spans);
    /// assert_eq!((&args[0], &args[1]), (&b"ECHO"[..], &b"hi"[..]));
    /// ```
    pub const fn in_scratch(at: u32, len: u32) -> Self {
        debug_assert!(at & SCRATCH == 0);
        Self {
            at: at | SCRATCH,
            len,
        }
    }

    /// Offset of the first byte, in the input or in the scratch buffer.
    ///
    /// ```
    /// # use resp_codec::Span;
    /// assert_eq!(Span::new(4, 3).at(), 4);
    /// assert_eq!(Span::in_scratch(4, 3).at(), 4);
    /// ```
    pub const fn at(self) -> usize {
        (self.at & !SCRATCH) as usize
    }

    /// Length in bytes.
    ///
    /// ```
    /// # use resp_codec::Span;
    /// assert_eq!(Span::new(4, 3).len(), 3);
    /// ```
    pub const fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the span is empty.
    ///
    /// ```
    /// # use resp_codec::Span;
    /// assert!(Span::new(4, 0).is_empty());
    /// ```
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Whether the span lies in the scratch buffer.
    ///
    /// ```
    /// # use resp_codec::Span;
    /// assert!(Span::in_scratch(0, 2).is_scratch());
    /// assert!(!Span::new(0, 2).is_scratch());
    /// ```
    pub const fn is_scratch(self) -> bool {
        self.at & SCRATCH != 0
    }
}

/// A borrowed argument list: 48 bytes, `Copy`, no allocation.
///
/// In the argument list of a request, index 0 is the command's name; [`Args::skip`] returns the
/// rest.
///
/// ```
/// use resp_codec::{Args, Span};
/// let spans = [Span::new(0, 3), Span::new(4, 3)];
/// let args = Args::new(b"GET key", &[], &spans);
/// assert_eq!(args.len(), 2);
/// assert_eq!(args.skip(1).iter().next(), Some(&b"key"[..]));
/// assert_eq!(args.get(2), None);
/// ```
#[derive(Clone, Copy)]
pub struct Args<'a> {
    buf: &'a [u8],
    scratch: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// A list of the given spans of `buf` and `scratch`. Access to a span beyond its buffer panics.
    ///
    /// ```
    /// use resp_codec::{Args, Span};
    /// let spans = [Span::new(0, 1), Span::new(2, 2)];
    /// let args = Args::new(b"a bc", &[], &spans);
    /// assert_eq!(args.iter().collect::<Vec<_>>(), [&b"a"[..], b"bc"]);
    /// ```
    pub const fn new(buf: &'a [u8], scratch: &'a [u8], spans: &'a [Span]) -> Self {
        Self {
            buf,
            scratch,
            spans,
        }
    }

    /// The number of arguments.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n").unwrap().ready().unwrap();
    /// assert_eq!(command.args().len(), 2);
    /// ```
    pub const fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether the list is empty.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"PING\r\n").unwrap().ready().unwrap();
    /// assert!(command.args().skip(1).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"GET key\r\n").unwrap().ready().unwrap();
    /// let args = command.args();
    /// assert_eq!((args.get(1), args.get(2)), (Some(&b"key"[..]), None));
    /// ```
    ///
    /// # Panics
    /// Panics if the span lies outside the buffers given to [`Args::new`]; the spans of a decoder
    /// never do.
    #[inline]
    pub fn get(&self, index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|&span| self.resolve(span))
    }

    /// The list without its first `n` arguments; empty if it has at most `n`.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"DEL a b\r\n").unwrap().ready().unwrap();
    /// let keys = command.args().skip(1);
    /// assert_eq!(keys.iter().collect::<Vec<_>>(), [b"a", b"b"]);
    /// assert!(keys.skip(5).is_empty());
    /// ```
    #[inline]
    pub fn skip(self, n: usize) -> Self {
        Self {
            spans: self.spans.get(n..).unwrap_or(&[]),
            ..self
        }
    }

    /// The arguments in order.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"DEL a b\r\n").unwrap().ready().unwrap();
    /// let lens: Vec<_> = command.args().iter().map(<[u8]>::len).collect();
    /// assert_eq!(lens, [3, 1, 1]);
    /// ```
    #[inline]
    pub fn iter(&self) -> ArgsIter<'a> {
        ArgsIter { args: *self }
    }

    /// The spans themselves, for callers that keep the buffer and resolve the spans later.
    ///
    /// ```
    /// # use resp_codec::{CommandDecoder, Limits};
    /// # let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"GET key\r\n").unwrap().ready().unwrap();
    /// let span = command.args().spans()[1];
    /// assert_eq!((span.at(), span.len()), (4, 3));
    /// ```
    pub const fn spans(&self) -> &'a [Span] {
        self.spans
    }

    #[inline]
    pub(crate) fn resolve(&self, span: Span) -> &'a [u8] {
        let home = if span.is_scratch() {
            self.scratch
        } else {
            self.buf
        };
        &home[span.at()..span.at() + span.len()]
    }
}

impl Index<usize> for Args<'_> {
    type Output = [u8];

    /// The argument at `index`.
    ///
    /// # Panics
    /// Panics if there is no such argument: check the arity first.
    #[inline]
    fn index(&self, index: usize) -> &[u8] {
        self.resolve(self.spans[index])
    }
}

impl<'a> IntoIterator for Args<'a> {
    type Item = &'a [u8];
    type IntoIter = ArgsIter<'a>;

    fn into_iter(self) -> ArgsIter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        for arg in self.iter() {
            list.entry(&format_args!("b\"{}\"", arg.escape_ascii()));
        }
        list.finish()
    }
}

/// The arguments of an [`Args`] in order.
///
/// ```
/// # use resp_codec::{CommandDecoder, Limits};
/// # let mut decoder = CommandDecoder::new(Limits::SERVER);
/// let command = decoder.decode(b"MSET a 1 b 2\r\n").unwrap().ready().unwrap();
/// let mut args = command.args().skip(1).iter();
/// assert_eq!(args.len(), 4);
/// while let (Some(key), Some(value)) = (args.next(), args.next()) {
///     assert_eq!((key.len(), value.len()), (1, 1));
/// }
/// ```
#[derive(Clone)]
pub struct ArgsIter<'a> {
    args: Args<'a>,
}

impl<'a> Iterator for ArgsIter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let (&first, rest) = self.args.spans.split_first()?;
        self.args.spans = rest;
        Some(self.args.resolve(first))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.args.len(), Some(self.args.len()))
    }

    fn nth(&mut self, n: usize) -> Option<&'a [u8]> {
        self.args = self.args.skip(n);
        self.next()
    }
}

impl<'a> DoubleEndedIterator for ArgsIter<'a> {
    #[inline]
    fn next_back(&mut self) -> Option<&'a [u8]> {
        let (&last, rest) = self.args.spans.split_last()?;
        self.args.spans = rest;
        Some(self.args.resolve(last))
    }
}

impl ExactSizeIterator for ArgsIter<'_> {}
impl core::iter::FusedIterator for ArgsIter<'_> {}

impl fmt::Debug for ArgsIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.args.fmt(f)
    }
}
