//! The estimate: from the number of registers of each value to the number of elements.
//!
//! The formula is Otmar Ertl's (arXiv:1702.01284), step by step as in Redis, so that every bit of
//! the result is the same.

use super::dense::{self, Dense};
use super::registers::{INDEX_BITS, REGISTER_MAX, REGISTERS, Registers};

/// The number of registers of each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Histogram([u64; REGISTER_MAX as usize + 1]);

impl Histogram {
    pub(super) fn new() -> Self {
        Self([0; REGISTER_MAX as usize + 1])
    }

    pub(super) fn of_dense(dense: &Dense) -> Self {
        let mut pairs = Pairs::new();
        for word in dense::words(dense) {
            for shift in [0, 12, 24, 36] {
                pairs.add(word >> shift);
            }
        }
        pairs.fold()
    }

    pub(super) fn of_registers(registers: &Registers) -> Self {
        let mut pairs = Pairs::new();
        let (values, _) = registers.values().as_chunks::<2>();
        for &[low, high] in values {
            pairs.add(u64::from(low) | u64::from(high) << 6);
        }
        pairs.fold()
    }

    /// Adds a run of registers of this value, which must be at most [`REGISTER_MAX`].
    pub(super) fn add(&mut self, value: u8, run: usize) {
        self.0[usize::from(value)] += run as u64;
    }

    /// The estimated number of elements.
    pub(super) fn estimate(&self) -> u64 {
        /// The largest value that a hash leads to.
        const MOST: usize = (u64::BITS - INDEX_BITS) as usize + 1;
        /// 0.5 / ln 2
        const ALPHA: f64 = 0.721_347_520_444_481_7;
        let all = REGISTERS as f64;
        let count = |value: usize| self.0[value] as f64;
        let mut z = all * tau((all - count(MOST)) / all);
        for value in (1..MOST).rev() {
            z += count(value);
            z *= 0.5;
        }
        z += all * sigma(count(0) / all);
        let estimate = (ALPHA * all * all / z).round();
        // C converts numbers beyond the range to the least one. Only forged registers lead there.
        if estimate < i64::MAX as f64 {
            estimate as u64
        } else {
            i64::MIN as u64
        }
    }
}

/// The number of neighbours of each pair of values. Counting pairs takes half the steps, and
/// successive steps rarely wait for each other as they would if most registers had one value.
struct Pairs([u16; PAIRS]);

const PAIRS: usize = 1 << 12;

impl Pairs {
    fn new() -> Self {
        Self([0; PAIRS])
    }

    /// Counts the pair in the lowest 12 bits.
    fn add(&mut self, pair: u64) {
        self.0[pair as usize % PAIRS] += 1;
    }

    fn fold(self) -> Histogram {
        let mut histogram = Histogram::new();
        let (rows, _) = self.0.as_chunks::<64>();
        for (high, row) in (0..).zip(rows) {
            let of_row: u64 = row.iter().map(|count| u64::from(*count)).sum();
            if of_row > 0 {
                histogram.0[high] += of_row;
                let values = histogram.0.iter_mut().zip(row);
                values.for_each(|(value, count)| *value += u64::from(*count));
            }
        }
        histogram
    }
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut y, mut z) = (1.0, x);
    loop {
        x *= x;
        let before = z;
        z += x * y;
        y += y;
        if z == before {
            return z;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut y, mut z) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = z;
        y *= 0.5;
        z -= (1.0 - x) * (1.0 - x) * y;
        if z == before {
            return z / 3.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_counts_every_register_in_both_forms() {
        let mut registers = Registers::new();
        let mut expected = Histogram::new();
        for index in 0..REGISTERS {
            let value = (index * index / 7 % 64) as u8;
            registers.raise(index, 1, value);
            expected.add(value, 1);
        }
        let mut dense = [0; dense::BYTES];
        dense::write(&registers, &mut dense);
        assert_eq!(Histogram::of_registers(&registers), expected);
        assert_eq!(Histogram::of_dense(&dense), expected);
    }

    #[test]
    fn estimate_is_right_at_both_ends() {
        let of = |value: u8| {
            let mut histogram = Histogram::new();
            histogram.add(value, REGISTERS);
            histogram.estimate()
        };
        assert_eq!(of(0), 0);
        // Forged registers: the estimate is beyond every number of elements.
        assert_eq!(of(REGISTER_MAX), 1 << 63);
        assert!(of(1) < of(2) && of(49) < of(50));
    }
}
