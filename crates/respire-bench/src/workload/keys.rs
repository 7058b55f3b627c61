//! Draws keys from the key space: uniform, Zipf, Gaussian or sequential.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Normal, Zipf};
use serde::Serialize;

use crate::error::{Error, Result};

/// How keys are drawn from the key space.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Pattern {
    /// Every key with the same probability.
    Uniform,
    /// Key `i` with a probability proportional to `1 / (i + 1)^exponent`: a few keys take most of
    /// the load.
    Zipf {
        /// 0 is uniform, 1 is Zipf's original law.
        exponent: f64,
    },
    /// Around the middle of the space; a draw outside the space is repeated.
    Gaussian {
        /// Standard deviation as a share of the key space.
        deviation: f64,
    },
    /// One after another, then again from the first.
    Sequential,
}

/// The greatest deviation, as a multiple of the key space. With more, nearly every draw would be
/// outside and repeated.
const DEVIATION_MAX: f64 = 10.0;

enum Draw {
    Uniform,
    Zipf(Zipf<f64>),
    Gaussian(Normal<f64>),
    Sequential(u64),
}

/// An endless source of keys, each below the key space.
///
/// ```
/// use respire_bench::workload::{KeySource, Pattern};
/// let mut keys = KeySource::new(Pattern::Sequential, 3, 0, 1).unwrap();
/// assert_eq!([keys.draw(), keys.draw(), keys.draw(), keys.draw()], [1, 2, 0, 1]);
/// ```
pub struct KeySource {
    space: u64,
    draw: Draw,
    rng: SmallRng,
}

impl KeySource {
    /// Keys below `space`, the same for the same `seed`; a sequential source begins with `first`.
    ///
    /// # Errors
    /// [`Error::Flag`] if `space` is 0, or the pattern's number is out of range.
    pub fn new(pattern: Pattern, space: u64, seed: u64, first: u64) -> Result<Self> {
        if space == 0 {
            return Err(Error::flag("--key-space", "want at least one key"));
        }
        let draw = match pattern {
            Pattern::Uniform => Draw::Uniform,
            Pattern::Zipf { exponent } => Draw::Zipf(
                Zipf::new(space as f64, exponent)
                    .map_err(|e| Error::flag("--zipf-exponent", e.to_string()))?,
            ),
            Pattern::Gaussian { deviation } if deviation > 0.0 && deviation <= DEVIATION_MAX => {
                let normal = Normal::new(space as f64 / 2.0, space as f64 * deviation);
                Draw::Gaussian(normal.map_err(|e| Error::flag("--deviation", e.to_string()))?)
            }
            Pattern::Gaussian { .. } => {
                return Err(Error::flag(
                    "--deviation",
                    "want a share above 0, 10 at most",
                ));
            }
            Pattern::Sequential => Draw::Sequential(first % space),
        };
        let rng = SmallRng::seed_from_u64(seed);
        Ok(Self { space, draw, rng })
    }

    /// The next key.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match &mut self.draw {
            Draw::Uniform => self.rng.random_range(0..self.space),
            Draw::Zipf(zipf) => (zipf.sample(&mut self.rng) as u64).clamp(1, self.space) - 1,
            Draw::Gaussian(normal) => loop {
                let at = normal.sample(&mut self.rng);
                if at >= 0.0 && (at as u64) < self.space {
                    return at as u64;
                }
            },
            Draw::Sequential(next) => {
                let key = *next;
                *next = if key + 1 == self.space { 0 } else { key + 1 };
                key
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 20_000;

    fn counts(pattern: Pattern, space: u64) -> Vec<usize> {
        let mut keys = KeySource::new(pattern, space, 7, 0).unwrap();
        let mut counts = vec![0; space as usize];
        for _ in 0..DRAWS {
            counts[keys.draw() as usize] += 1;
        }
        counts
    }

    #[test]
    fn uniform_draws_every_key_about_equally() {
        for count in counts(Pattern::Uniform, 10) {
            assert!((1_700..2_300).contains(&count), "{count}");
        }
    }

    #[test]
    fn zipf_draws_the_first_key_twice_as_often_as_the_second() {
        let counts = counts(Pattern::Zipf { exponent: 1.0 }, 100);
        let ratio = counts[0] as f64 / counts[1] as f64;
        assert!((1.8..2.2).contains(&ratio), "{ratio}");
        // The harmonic number of 100 is 5.19: the first key takes that share.
        let share = counts[0] as f64 / DRAWS as f64;
        assert!((0.18..0.21).contains(&share), "{share}");
    }

    #[test]
    fn gaussian_draws_two_thirds_within_one_deviation() {
        let counts = counts(Pattern::Gaussian { deviation: 0.1 }, 1000);
        let near: usize = counts[400..600].iter().sum();
        let share = near as f64 / DRAWS as f64;
        assert!((0.66..0.71).contains(&share), "{share}");
    }

    #[test]
    fn sequential_visits_every_key_before_the_first_again() {
        assert!(
            counts(Pattern::Sequential, 20)
                .iter()
                .all(|&count| count == DRAWS / 20)
        );
    }

    #[test]
    fn same_seed_draws_the_same_keys() {
        let draw = |seed| {
            let mut keys = KeySource::new(Pattern::Uniform, 1 << 40, seed, 0).unwrap();
            [keys.draw(), keys.draw()]
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn error_for_an_invalid_exponent_names_the_flag() {
        let refused = KeySource::new(Pattern::Zipf { exponent: -1.0 }, 10, 0, 0);
        let text = refused.err().unwrap().to_string();
        assert!(text.starts_with("--zipf-exponent: "), "{text}");
        for deviation in [0.0, -1.0, 10.1, f64::NAN, f64::INFINITY] {
            let refused = KeySource::new(Pattern::Gaussian { deviation }, 10, 0, 0);
            let text = refused.err().unwrap().to_string();
            assert!(text.starts_with("--deviation: "), "{text}");
        }
    }
}
