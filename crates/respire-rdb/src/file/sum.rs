//! Checksums of parts of a file, which join to that of the whole.

use crate::checksum;

/// The checksum's polynomial, lowest power first: the highest bit is x^0.
const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;
/// The polynomial 1.
const ONE: u64 = 1 << 63;
/// x^8, by which a byte behind multiplies.
const BYTE: u64 = ONE >> 8;

/// The checksum and the length of some bytes of a file. Sums of neighbours join, so parts of a file can be summed by
/// several threads.
///
/// ```
/// use respire_rdb::file::Sum;
///
/// let joined = Sum::of(b"12345").then(Sum::of(b"6789"));
/// assert_eq!(joined, Sum::of(b"123456789"));
/// assert_eq!(joined.crc(), 0xe9c6_d914_c4b8_d9ca);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    crc: u64,
    len: u64,
}

impl Sum {
    /// Sums bytes. O(length).
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self {
            crc: checksum(bytes),
            len: bytes.len() as u64,
        }
    }

    /// The checksum, as [`checksum`](crate::checksum) computes it.
    #[must_use]
    pub fn crc(self) -> u64 {
        self.crc
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(self) -> u64 {
        self.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The sum of these bytes and those behind them. A few microseconds, whatever the lengths.
    #[must_use]
    pub fn then(self, behind: Self) -> Self {
        Self {
            crc: product(self.crc, power(behind.len)) ^ behind.crc,
            len: self.len + behind.len,
        }
    }
}

/// The product of two polynomials, reduced.
fn product(a: u64, mut b: u64) -> u64 {
    let (mut a, mut sum) = (a, 0);
    while a != 0 {
        if a & ONE != 0 {
            sum ^= b;
        }
        a <<= 1;
        b = (b >> 1) ^ if b & 1 != 0 { POLYNOMIAL } else { 0 };
    }
    sum
}

/// x^8 to the power of `bytes`.
fn power(mut bytes: u64) -> u64 {
    let (mut power, mut square) = (ONE, BYTE);
    while bytes != 0 {
        if bytes & 1 != 0 {
            power = product(power, square);
        }
        square = product(square, square);
        bytes >>= 1;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_parts_join_to_that_of_the_whole() {
        let bytes: Vec<u8> = (0..1_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let whole = Sum::of(&bytes);
        for at in [0, 1, 2, 7, 8, 9, 500, 999, 1_000] {
            let (left, right) = bytes.split_at(at);
            assert_eq!(Sum::of(left).then(Sum::of(right)), whole);
        }
        let each = bytes.iter().map(|byte| Sum::of(&[*byte]));
        assert_eq!(each.fold(Sum::default(), Sum::then), whole);
        assert_eq!(whole.len(), 1_000);
        assert!(Sum::default().is_empty());
    }
}
