//! The hash of an element: it chooses a register, and the value that the register must have at least.

use super::registers::{INDEX_BITS, REGISTERS};

/// The seed that Redis uses. Another one would count elements twice that both servers added.
const SEED: u64 = 0xadc8_3b19;

/// The register of an element, and the length of the pattern `000..1` in its hash: 1 to 51.
pub(super) fn register_of(element: &[u8]) -> (usize, u8) {
    let hash = murmur64a(element, SEED);
    let index = hash as usize & (REGISTERS - 1);
    // The bit that is added ends the pattern if the hash has no other.
    let rest = (hash >> INDEX_BITS) | 1 << (u64::BITS - INDEX_BITS);
    (index, rest.trailing_zeros() as u8 + 1)
}

/// `MurmurHash64A`, reading words in little-endian order.
fn murmur64a(bytes: &[u8], seed: u64) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut hash = seed ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(FACTOR);
        word ^= word >> SHIFT;
        hash = (hash ^ word.wrapping_mul(FACTOR)).wrapping_mul(FACTOR);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(FACTOR);
    }
    hash ^= hash >> SHIFT;
    hash = hash.wrapping_mul(FACTOR);
    hash ^ hash >> SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_every_byte_and_on_the_length() {
        let all: Vec<u8> = (0..40).collect();
        let mut hashes: Vec<u64> = (0..=40).map(|len| murmur64a(&all[..len], SEED)).collect();
        for at in 0..40 {
            let mut changed = all.clone();
            changed[at] ^= 0x80;
            hashes.push(murmur64a(&changed, SEED));
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 81);
    }

    #[test]
    fn pattern_has_a_length_from_1_to_51() {
        let patterns = (0..100_000_u32).map(|it| register_of(&it.to_le_bytes()).1);
        let (least, most) = patterns.fold((u8::MAX, 0), |(least, most), it| {
            (least.min(it), most.max(it))
        });
        assert_eq!(least, 1);
        assert!((12..=51).contains(&most), "{most}");
    }
}
