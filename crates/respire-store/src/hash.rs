//! Hashes of keys, and the parts of a hash that entries and deadlines keep.

use core::hash::{BuildHasher, Hasher};

use ahash::RandomState;

/// The bits of a hash that a table uses: the low bits, where the search starts, and the seven bits that
/// it compares first, the highest of a `usize`. `table/mod.rs` has the details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag([u8; 3]);

const TAG_HOME_BITS: u32 = 17;

/// Buckets of the largest table for which a tag has all bits that the table uses.
pub(crate) const TAG_BUCKETS_MAX: usize = 1 << TAG_HOME_BITS;

/// The position of the seven bits that a table compares first.
pub(crate) const TOP_SHIFT: u32 = usize::BITS - 7;

impl Tag {
    #[inline(always)]
    pub(crate) fn new(hash: u64) -> Tag {
        let [home_low, home_high, home_top, _] =
            ((hash as u32) & ((1 << TAG_HOME_BITS) - 1)).to_le_bytes();
        let top = ((hash >> TOP_SHIFT) & 0x7f) as u8;
        Tag([home_low, home_high, (top << 1) | home_top])
    }

    /// Returns a hash that is equal to the whole one in all bits that a table of up to [`TAG_BUCKETS_MAX`]
    /// buckets uses.
    pub(crate) fn table_hash(self) -> u64 {
        let Tag([low, high, top]) = self;
        let home = u32::from_le_bytes([low, high, top & 1, 0]);
        (u64::from(top >> 1) << TOP_SHIFT) | u64::from(home)
    }
}

/// The part of a hash by which a deadline finds an entry: the seven bits that a table compares first, and
/// the low bits. Several entries may have the same part, but rarely in one shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HashPart(pub(crate) u32);

const PART_HOME_BITS: u32 = 25;

impl HashPart {
    #[inline]
    pub(crate) fn new(hash: u64) -> HashPart {
        let top = (hash >> TOP_SHIFT) as u32 & 0x7f;
        HashPart((top << PART_HOME_BITS) | (hash as u32 & ((1 << PART_HOME_BITS) - 1)))
    }

    /// Returns the tag of the entries with this part.
    pub(crate) fn tag(self) -> Tag {
        Tag::new(self.known_hash())
    }

    /// Returns the hashes under which a table of `buckets` may have an entry with this part. Up to 2^25
    /// buckets it is one hash; above, one for each value of the bits that the part lacks. If a `usize` has
    /// 32 bits, the part lacks none, and the first hash is the entry's own.
    pub(crate) fn table_hashes(self, buckets: usize) -> impl Iterator<Item = u64> {
        let lacking = (buckets as u64 >> PART_HOME_BITS).max(1);
        let known = self.known_hash();
        (0..lacking).map(move |bits| known | bits << PART_HOME_BITS)
    }

    fn known_hash(self) -> u64 {
        let HashPart(bits) = self;
        let home = bits & ((1 << PART_HOME_BITS) - 1);
        (u64::from(bits >> PART_HOME_BITS) << TOP_SHIFT) | u64::from(home)
    }
}

/// Returns the hash of a key.
#[inline]
pub(crate) fn hash_key(hasher: &RandomState, key: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write(key);
    state.finish()
}

/// The output function of SplitMix64.
pub(crate) fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns whether two keys are equal. It compares short keys by words inside them, because the system's
/// comparison by vectors may also read the cache line behind a short entry.
#[inline(always)]
pub(crate) fn is_same_key(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    match a.len() {
        0..8 => a.iter().zip(b).all(|(a, b)| a == b),
        8..=16 => has_same_ends::<8>(a, b),
        17..=32 => has_same_ends::<16>(a, b),
        _ => a == b,
    }
}

/// Returns whether the first and the last `N` bytes of both are equal; they may overlap.
#[inline(always)]
fn has_same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk() && a.last_chunk::<N>() == b.last_chunk()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_differ_in_one_byte_are_not_the_same() {
        for len in 0..200 {
            let key: Vec<u8> = (0..len).map(|at| at as u8).collect();
            assert!(is_same_key(&key, &key.clone()));
            for at in 0..len {
                let mut other = key.clone();
                other[at] ^= 0x80;
                assert!(!is_same_key(&key, &other), "{len} {at}");
                assert!(!is_same_key(&key, &key[..at]));
            }
        }
    }

    #[test]
    fn part_has_the_bits_that_a_table_of_any_size_uses() {
        for hash in [0, u64::MAX, 0x0123_4567_89ab_cdef, 0xfedc_ba98_7654_3210] {
            let part = HashPart::new(hash);
            assert_eq!(part.tag(), Tag::new(hash));
            for log in [0, 2, 17, 25, 26, 29] {
                let (buckets, mask) = (1_usize << log, (1 << log) - 1);
                let is_same = |again: &u64| {
                    again & mask == hash & mask
                        && (again >> TOP_SHIFT) & 0x7f == (hash >> TOP_SHIFT) & 0x7f
                };
                assert_eq!(part.table_hashes(buckets).filter(is_same).count(), 1);
            }
        }
    }

    #[test]
    fn tag_has_the_bits_that_a_table_uses() {
        let mask = (1 << TAG_HOME_BITS) - 1;
        for hash in [
            0,
            u64::MAX,
            0x0123_4567_89ab_cdef,
            1 << 16,
            0xfe00_0000_0001_ffff,
        ] {
            let again = Tag::new(hash).table_hash();
            assert_eq!(again & mask, hash & mask);
            assert_eq!((again >> TOP_SHIFT) & 0x7f, (hash >> TOP_SHIFT) & 0x7f);
        }
    }
}
