//! The limits that the decoders enforce.

/// Limits on what a peer may announce or send. Each is checked before memory is reserved.
///
/// ```
/// use resp_codec::Limits;
/// let small = Limits { max_bulk: 1024, ..Limits::SERVER };
/// assert_eq!(small.max_args, Limits::SERVER.max_args);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest bulk payload in bytes. Redis calls it `proto-max-bulk-len`; the default is 512 MiB,
    /// as in Redis.
    pub max_bulk: u64,
    /// Most arguments in one request. Redis accepts `i32::MAX`; older versions 1024 × 1024, which
    /// is the default here.
    pub max_args: u32,
    /// Longest inline request, simple string, error or big number, in bytes without its line end.
    /// The default is 64 KiB.
    pub max_inline: u32,
    /// Deepest nesting of aggregates in a reply.
    pub max_depth: u16,
    /// Most values in one reply, all levels together.
    pub max_nodes: u32,
    /// Most bytes of one request or reply, including framing. Values above `i32::MAX` count as
    /// `i32::MAX`.
    pub max_frame: u32,
    /// The peer has not authenticated yet: a request above `max_args` or `max_bulk` is refused with
    /// Redis's `unauthenticated …` texts, which tell the operator which limit was exceeded.
    pub unauthenticated: bool,
}

impl Limits {
    /// The limits of a server for an authenticated client: bulks of 512 MiB, 1 Mi arguments, 1 GiB
    /// per request.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Limits};
    /// let accepts = |input| CommandDecoder::new(Limits::SERVER).decode(input).is_ok();
    /// assert!(accepts(&b"*1\r\n$536870912\r\n"[..]));
    /// assert!(!accepts(b"*1\r\n$536870913\r\n"));
    /// ```
    pub const SERVER: Self = Self {
        max_bulk: 512 * 1024 * 1024,
        max_args: 1024 * 1024,
        max_inline: 64 * 1024,
        max_depth: 128,
        max_nodes: 1 << 28,
        max_frame: 1 << 30,
        unauthenticated: false,
    };

    /// The limits of a server for a client before `AUTH`: bulks of 16 KiB, 10 arguments, as in
    /// Redis.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, ErrorKind, Limits};
    /// let error = CommandDecoder::new(Limits::UNAUTHENTICATED).decode(b"*11\r\n").unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::UnauthenticatedMultibulkLength);
    /// ```
    pub const UNAUTHENTICATED: Self = Self {
        max_bulk: 16 * 1024,
        max_args: 10,
        max_frame: 1 << 20,
        unauthenticated: true,
        ..Self::SERVER
    };

    /// The limits of a client for a server: bulks of 512 MiB, depth 128, 2^28 values, 2 GiB per
    /// reply.
    ///
    /// ```
    /// use resp_codec::{ErrorKind, FrameDecoder, Limits};
    /// let nested = b"*1\r\n".repeat(129);
    /// let error = FrameDecoder::new(Limits::CLIENT).decode(&nested).unwrap_err();
    /// assert_eq!(error.kind, ErrorKind::TooDeep);
    /// ```
    pub const CLIENT: Self = Self {
        max_args: i32::MAX as u32,
        max_frame: i32::MAX as u32,
        ..Self::SERVER
    };

    /// `max_frame`, limited to the offsets that a span can hold.
    pub(crate) const fn frame_bytes(&self) -> u64 {
        if self.max_frame > i32::MAX as u32 {
            i32::MAX as u64
        } else {
            self.max_frame as u64
        }
    }
}

impl Default for Limits {
    /// [`Limits::SERVER`].
    fn default() -> Self {
        Self::SERVER
    }
}

const _: () = assert!(
    Limits::UNAUTHENTICATED.max_bulk * (Limits::UNAUTHENTICATED.max_args as u64)
        < Limits::UNAUTHENTICATED.max_frame as u64
);
const _: () = assert!(Limits::SERVER.max_bulk < Limits::SERVER.frame_bytes());
