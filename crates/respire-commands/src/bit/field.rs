//! Reads and writes a run of bits in a string.
//!
//! Bit 0 is the highest bit of the first byte, and all bits past the end are 0.

use crate::errors::BIT_OFFSET;
use resp_codec::number::parse_i64;
use respire_engine::Error;

/// A run of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    /// The index of the first bit.
    pub(super) offset: u64,
    /// The number of bits, `1..=64`.
    pub(super) bits: u32,
}

/// The most bytes that a field touches, if it does not begin at a byte.
const FIELD_BYTES_MAX: usize = 9;

impl Field {
    /// The bits as an unsigned number.
    pub(super) fn read(self, bytes: &[u8]) -> u64 {
        let window = self.window(bytes);
        (window >> self.shift()) as u64 & self.mask()
    }

    /// If the field extends past the end.
    pub(super) fn write(self, bytes: &mut [u8], value: u64) {
        let mask = u128::from(self.mask()) << self.shift();
        let value = u128::from(value & self.mask()) << self.shift();
        let window = (self.window(bytes) & !mask | value).to_be_bytes();
        let range = self.offset as usize / 8..self.bytes_needed();
        let len = range.len();
        bytes[range].copy_from_slice(&window[size_of::<u128>() - FIELD_BYTES_MAX..][..len]);
    }

    /// The length in bytes that a string needs to contain the whole field.
    pub(super) fn bytes_needed(self) -> usize {
        ((self.offset + u64::from(self.bits)).div_ceil(8)) as usize
    }

    fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits)
    }

    /// The 9 bytes from the first byte of the field on, as one number.
    fn window(self, bytes: &[u8]) -> u128 {
        let first = self.offset as usize / 8;
        let present = bytes.get(first..).unwrap_or_default();
        let mut window = [0; size_of::<u128>()];
        let room = &mut window[size_of::<u128>() - FIELD_BYTES_MAX..];
        for (slot, byte) in room.iter_mut().zip(present) {
            *slot = *byte;
        }
        u128::from_be_bytes(window)
    }

    fn shift(self) -> u32 {
        8 * FIELD_BYTES_MAX as u32 - (self.offset % 8) as u32 - self.bits
    }
}

/// Parses the offset of a bit in a string of at most `bytes_max` bytes. With a leading `#` it
/// counts fields of `field_bits` bits, if that is given.
pub(super) fn parse_offset(
    argument: &[u8],
    field_bits: Option<u32>,
    bytes_max: u64,
) -> Result<u64, Error> {
    let (digits, unit) = match (argument, field_bits) {
        ([b'#', digits @ ..], Some(bits)) => (digits, i64::from(bits)),
        (digits, _) => (digits, 1),
    };
    parse_i64(digits)
        .and_then(|count| count.checked_mul(unit))
        .and_then(|offset| u64::try_from(offset).ok())
        .filter(|offset| offset >> 3 < bytes_max)
        .ok_or(BIT_OFFSET)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_read_across_bytes_and_as_zeros_past_the_end() {
        let bytes = [0x12, 0x34, 0x56];
        assert_eq!(Field { offset: 4, bits: 8 }.read(&bytes), 0x23);
        assert_eq!(
            Field {
                offset: 0,
                bits: 64
            }
            .read(&bytes),
            0x1234_5600_0000_0000
        );
        assert_eq!(
            Field {
                offset: 20,
                bits: 64
            }
            .read(&bytes),
            0x6000_0000_0000_0000
        );
        assert_eq!(
            Field {
                offset: 1 << 32,
                bits: 1
            }
            .read(&bytes),
            0
        );
    }

    #[test]
    fn write_leaves_the_bits_around_the_field_unchanged() {
        let whole = [0xff; 10];
        for bits in 1..=64 {
            for offset in 0..16 {
                let field = Field { offset, bits };
                let mut bytes = whole;
                field.write(&mut bytes[..field.bytes_needed()], 0);
                assert_eq!(field.read(&bytes), 0);
                let zeros: u32 = bytes.iter().map(|byte| byte.count_zeros()).sum();
                assert_eq!(zeros, bits);
                field.write(&mut bytes, u64::MAX);
                assert_eq!(bytes, whole);
            }
        }
    }

    #[test]
    fn offset_counts_bits_or_fields_and_is_limited_by_the_longest_string() {
        assert_eq!(parse_offset(b"7", None, 1), Ok(7));
        assert_eq!(parse_offset(b"8", None, 1), Err(BIT_OFFSET));
        assert_eq!(parse_offset(b"#3", Some(5), 100), Ok(15));
        for refused in [&b"#3"[..], b"-1", b"x", b"", b"+1", b"9223372036854775808"] {
            assert_eq!(
                parse_offset(refused, None, 100),
                Err(BIT_OFFSET),
                "{refused:?}"
            );
        }
        assert_eq!(
            parse_offset(b"#9223372036854775807", Some(64), 100),
            Err(BIT_OFFSET)
        );
    }
}
