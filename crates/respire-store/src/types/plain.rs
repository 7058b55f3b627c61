//! Strings in a cell's form: small enough to be packed into one run of bytes with their key.

/// A string small enough for a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plain<'a> {
    Int(i64),
    Bytes(&'a [u8]),
    /// Bytes that were built by edits, which Redis reports as another encoding.
    Raw(&'a [u8]),
}

impl Plain<'_> {
    #[inline]
    pub(crate) fn len(self) -> usize {
        match self {
            Plain::Int(number) => int_len(number),
            Plain::Bytes(bytes) | Plain::Raw(bytes) => bytes.len(),
        }
    }
}

/// Returns the number of bytes that a two's complement number needs.
fn int_len(number: i64) -> usize {
    let significant = 65 - (number ^ (number >> 63)).leading_zeros() as usize;
    significant.div_ceil(8)
}
