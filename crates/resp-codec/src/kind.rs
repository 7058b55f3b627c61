//! The types of RESP.

/// The type of a value.
///
/// ```
/// use resp_codec::Kind;
/// assert!(Kind::Map.is_aggregate());
/// assert_eq!(Kind::Bulk.type_byte(), b'$');
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// `+`, a line of text.
    Simple,
    /// `-`, a line of text that begins with an error code.
    Error,
    /// `:`, a signed 64-bit number.
    Int,
    /// `$`, any bytes; also streamed.
    Bulk,
    /// `$-1`, `*-1` or `_`: see [`NullForm`].
    Null,
    /// `#`.
    Bool,
    /// `,`.
    Double,
    /// `(`, a decimal integer of any size.
    BigNumber,
    /// `!`, an error of any bytes.
    BlobError,
    /// `=`, text with a three-byte format.
    Verbatim,
    /// `*`.
    Array,
    /// `%`, pairs of key and value in the order sent.
    Map,
    /// `~`, elements in the order sent, duplicates included.
    Set,
    /// `>`, out-of-band data.
    Push,
    /// `|`, pairs that describe the value after them.
    Attribute,
}

impl Kind {
    /// The type byte; for a null, `_`.
    ///
    /// ```
    /// assert_eq!(resp_codec::Kind::Map.type_byte(), b'%');
    /// ```
    pub const fn type_byte(self) -> u8 {
        match self {
            Kind::Simple => b'+',
            Kind::Error => b'-',
            Kind::Int => b':',
            Kind::Bulk => b'$',
            Kind::Null => b'_',
            Kind::Bool => b'#',
            Kind::Double => b',',
            Kind::BigNumber => b'(',
            Kind::BlobError => b'!',
            Kind::Verbatim => b'=',
            Kind::Array => b'*',
            Kind::Map => b'%',
            Kind::Set => b'~',
            Kind::Push => b'>',
            Kind::Attribute => b'|',
        }
    }

    /// Whether values of this type hold other values.
    ///
    /// ```
    /// use resp_codec::Kind;
    /// assert!(Kind::Push.is_aggregate());
    /// assert!(!Kind::Bulk.is_aggregate());
    /// ```
    pub const fn is_aggregate(self) -> bool {
        matches!(
            self,
            Kind::Array | Kind::Map | Kind::Set | Kind::Push | Kind::Attribute
        )
    }

    /// Whether values of this type are strings, and so can name a push.
    pub(crate) const fn is_string(self) -> bool {
        matches!(self, Kind::Simple | Kind::Bulk | Kind::Verbatim)
    }

    /// Whether the elements come in pairs.
    pub(crate) const fn is_paired(self) -> bool {
        matches!(self, Kind::Map | Kind::Attribute)
    }
}

/// The form in which a null was written. All forms mean the same; a proxy keeps the form.
///
/// ```
/// use resp_codec::{FrameDecoder, Limits, NullForm};
/// let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"*-1\r\n").unwrap().ready().unwrap();
/// assert_eq!(frame.null_form(), Some(NullForm::Array));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum NullForm {
    /// `_`, RESP3's.
    #[default]
    Null,
    /// `$-1`, RESP2's null bulk string.
    Bulk,
    /// `*-1`, RESP2's null array.
    Array,
}
