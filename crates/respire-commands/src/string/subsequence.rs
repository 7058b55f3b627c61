//! Computes the longest common subsequence of two strings, 64 pairs of bytes at a time.
//!
//! In the textbook's table, a row holds, for each prefix of `b`, the length of its longest common
//! subsequence with a prefix of `a`. From one column to the next this length grows by 0 or 1, so a
//! row is stored as one bit per column, clear where it grows. An addition computes the next row
//! (Hyyrö, "Bit-Parallel LCS-length Computation Revisited", 2004).

use crate::work::work_begins;

/// The number of columns in a word.
const WORD: usize = u64::BITS as usize;

/// A run of bytes that both strings contain, with its offset in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) len: usize,
}

/// The length of the longest common subsequence: O(`a` · `b` / 64).
pub(super) fn len(a: &[u8], b: &[u8]) -> usize {
    let places = Places::new(a, b);
    let mut row = vec![u64::MAX; places.words];
    for byte in a {
        next_row(&mut row, places.of(*byte));
    }
    growth(&row)
}

/// The number of columns at which a row grows.
fn growth(row: &[u64]) -> usize {
    row.iter().map(|word| word.count_zeros() as usize).sum()
}

/// Turns the row of a prefix of `a` into the row of a prefix that is one byte longer. `places` are
/// the positions of that byte in `b`.
fn next_row(row: &mut [u64], places: &[u64]) {
    let mut carry = false;
    for (word, place) in row.iter_mut().zip(places) {
        let common = *word & place;
        let (sum, carried) = word.overflowing_add(common);
        let (sum, carried_again) = sum.overflowing_add(u64::from(carry));
        carry = carried | carried_again;
        *word = sum | (*word & !place);
    }
}

/// The positions in `b` of each byte of `a`, one bit per column.
struct Places {
    words: usize,
    /// For each byte the number of its row in `bits`. All bytes that `a` does not contain have row
    /// 0.
    rows: [u16; 256],
    bits: Vec<u64>,
}

impl Places {
    /// Uses at most as many bits as there are pairs of bytes.
    fn new(a: &[u8], b: &[u8]) -> Self {
        work_begins();
        let words = b.len().div_ceil(WORD);
        let (mut rows, mut count) = ([0_u16; 256], 1);
        for byte in a {
            let row = &mut rows[usize::from(*byte)];
            if *row == 0 {
                *row = count;
                count += 1;
            }
        }
        let mut bits = vec![0; usize::from(count) * words];
        for (column, byte) in b.iter().enumerate() {
            let row = usize::from(rows[usize::from(*byte)]);
            bits[row * words + column / WORD] |= 1 << (column % WORD);
        }
        Self { words, rows, bits }
    }

    fn of(&self, byte: u8) -> &[u64] {
        let row = usize::from(self.rows[usize::from(byte)]);
        &self.bits[row * self.words..(row + 1) * self.words]
    }
}

/// The rows of all prefixes of `a`, from which the subsequence is traced back.
pub(super) struct Rows<'s> {
    a: &'s [u8],
    b: &'s [u8],
    words: usize,
    /// One row after another, beginning with that of the first byte.
    bits: Vec<u64>,
}

impl<'s> Rows<'s> {
    /// O(`a` · `b` / 64) in time, and as many words of memory.
    pub(super) fn new(a: &'s [u8], b: &'s [u8]) -> Self {
        let places = Places::new(a, b);
        let words = places.words;
        let mut bits = Vec::with_capacity(a.len() * words);
        let mut row = vec![u64::MAX; words];
        for byte in a {
            next_row(&mut row, places.of(*byte));
            bits.extend_from_slice(&row);
        }
        Self { a, b, words, bits }
    }

    /// The length of the longest common subsequence.
    pub(super) fn len(&self) -> usize {
        let last = self.bits.len().saturating_sub(self.words);
        growth(&self.bits[last..])
    }

    /// Whether the first `a` bytes of one string have a longer common subsequence with the first
    /// `b` bytes of the other than with the first `b - 1`. Neither may be 0.
    fn grows(&self, a: usize, b: usize) -> bool {
        let word = self.bits[(a - 1) * self.words + (b - 1) / WORD];
        word >> ((b - 1) % WORD) & 1 == 0
    }

    /// Goes from the ends of both strings to their starts, and calls `found` with the indexes of
    /// each byte of the subsequence, the last one first.
    fn walk(&self, mut found: impl FnMut(usize, usize)) {
        let (mut a, mut b) = (self.a.len(), self.b.len());
        while a > 0 && b > 0 {
            if self.a[a - 1] == self.b[b - 1] {
                a -= 1;
                b -= 1;
                found(a, b);
            } else if self.grows(a, b) {
                // Dropping the byte of `b` makes it shorter, so dropping that of `a` does not.
                a -= 1;
            } else {
                b -= 1;
            }
        }
    }

    pub(super) fn subsequence(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.len());
        self.walk(|a, _| bytes.push(self.a[a]));
        bytes.reverse();
        bytes
    }

    /// The runs of the subsequence, the last one first.
    pub(super) fn matches(&self) -> Vec<Match> {
        let mut matches: Vec<Match> = Vec::new();
        self.walk(|a, b| match matches.last_mut() {
            Some(last) if last.a == a + 1 && last.b == b + 1 => {
                let len = last.len + 1;
                *last = Match { a, b, len };
            }
            _ => matches.push(Match { a, b, len: 1 }),
        });
        matches
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the whole table of lengths, and traces the matches back through it.
    fn matches_plainly(a: &[u8], b: &[u8]) -> (usize, Vec<Match>) {
        let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
        for (row, byte) in a.iter().enumerate() {
            for (column, other) in b.iter().enumerate() {
                table[row + 1][column + 1] = if byte == other {
                    table[row][column] + 1
                } else {
                    table[row][column + 1].max(table[row + 1][column])
                };
            }
        }
        let (mut row, mut column, mut matches) = (a.len(), b.len(), Vec::<Match>::new());
        while row > 0 && column > 0 {
            if a[row - 1] == b[column - 1] {
                (row, column) = (row - 1, column - 1);
                let mut found = Match {
                    a: row,
                    b: column,
                    len: 1,
                };
                if let Some(last) = matches.pop_if(|last| last.a == row + 1 && last.b == column + 1)
                {
                    found.len += last.len;
                }
                matches.push(found);
            } else if table[row - 1][column] > table[row][column - 1] {
                row -= 1;
            } else {
                column -= 1;
            }
        }
        (table[a.len()][b.len()], matches)
    }

    fn matches(a: &str, b: &str) -> Vec<(usize, usize, usize)> {
        let matches = Rows::new(a.as_bytes(), b.as_bytes()).matches();
        matches
            .iter()
            .map(|found| (found.a, found.b, found.len))
            .collect()
    }

    #[test]
    fn longest_common_subsequence_is_found() {
        let rows = Rows::new(b"ohmytext", b"mynewtext");
        assert_eq!(rows.subsequence(), b"mytext");
        assert_eq!(rows.len(), 6);
        for (a, b) in [(&b"abc"[..], &b""[..]), (b"", b"abc"), (b"", b"")] {
            assert_eq!(Rows::new(a, b).subsequence(), b"");
            assert_eq!((Rows::new(a, b).len(), len(a, b)), (0, 0));
        }
    }

    #[test]
    fn matches_are_listed_last_to_first() {
        assert_eq!(matches("ohmytext", "mynewtext"), [(4, 5, 4), (2, 0, 2)]);
        assert_eq!(matches("abc", "abc"), [(0, 0, 3)]);
        assert_eq!(matches("abc", "xyz"), []);
        assert_eq!(matches("", "xyz"), []);
    }

    #[test]
    fn matches_equal_those_of_the_full_table() {
        let mut state = 1_u64;
        let mut random = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % end
        };
        for nth in 0..400 {
            let letters = [1, 2, 3, 26, 256][nth % 5];
            let mut string = || -> Vec<u8> {
                let len = random([10, 64, 65, 200][nth % 4] + 1);
                (0..len).map(|_| random(letters) as u8).collect()
            };
            let (a, b) = (string(), string());
            let rows = Rows::new(&a, &b);
            assert_eq!((rows.len(), rows.matches()), matches_plainly(&a, &b));
            assert_eq!(len(&a, &b), rows.len());
        }
    }
}
