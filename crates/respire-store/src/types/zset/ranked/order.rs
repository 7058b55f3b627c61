//! Scores as integers that sort as scores do.

/// The integer of `-0`. It sorts as [`ZERO`], but a reader gets `-0` back.
const MINUS_ZERO: u64 = (1 << 63) - 1;

/// The integer of `0`.
const ZERO: u64 = 1 << 63;

/// Returns an integer for a score, which must be a number. Integers of scores other than `-0` sort as the scores.
#[inline]
pub(super) fn encode(score: f64) -> u64 {
    debug_assert!(!score.is_nan(), "a score is a number");
    let bits = score.to_bits();
    if bits >> 63 == 1 {
        !bits
    } else {
        bits | 1 << 63
    }
}

/// Returns the score of an integer that [`encode`] has returned.
#[inline]
pub(super) fn decode(encoded: u64) -> f64 {
    f64::from_bits(if encoded >> 63 == 1 {
        encoded & !(1 << 63)
    } else {
        !encoded
    })
}

/// Returns the integer by which an encoded score is sorted.
#[inline]
pub(super) fn sort_key(encoded: u64) -> u64 {
    if encoded == MINUS_ZERO { ZERO } else { encoded }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_sort_as_scores_and_are_read_back() {
        let scores = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1.5,
            -f64::MIN_POSITIVE,
            -5e-324,
            0.0,
            5e-324,
            1.0,
            1.5,
            f64::MAX,
            f64::INFINITY,
        ];
        for (at, score) in scores.into_iter().enumerate() {
            assert_eq!(decode(encode(score)).to_bits(), score.to_bits());
            for after in &scores[at + 1..] {
                assert!(sort_key(encode(score)) < sort_key(encode(*after)));
            }
        }
        assert_eq!(decode(encode(-0.0)).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(sort_key(encode(-0.0)), sort_key(encode(0.0)));
    }
}
