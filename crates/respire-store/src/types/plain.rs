//! Values in a cell's form: small enough to be packed into one run of bytes with their key.

use super::TypeId;

/// The longest packed value with elements that lies in its key's cell. An edit copies it twice.
pub(crate) const PACKED_BYTES_MAX: usize = 960;

/// A value small enough for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    /// Bytes that were built by edits, which Redis reports as another encoding.
    Raw(&'a [u8]),
    /// The packed form of a value with elements.
    Packed(TypeId, &'a [u8]),
}

impl Plain<'_> {
    /// Returns a packed value with elements; `None` if it is too long for a cell.
    #[inline]
    pub(crate) fn packed(id: TypeId, bytes: &[u8]) -> Option<Plain<'_>> {
        (bytes.len() <= PACKED_BYTES_MAX).then_some(Plain::Packed(id, bytes))
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        match self {
            Plain::Int(number) => int_len(number),
            Plain::Bytes(bytes) | Plain::Raw(bytes) | Plain::Packed(_, bytes) => bytes.len(),
        }
    }
}

/// Returns the number of bytes that a two's complement number needs.
fn int_len(number: i64) -> usize {
    let significant = 65 - (number ^ (number >> 63)).leading_zeros() as usize;
    significant.div_ceil(8)
}
