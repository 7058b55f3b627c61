//! Selects the calls to time, for commands that take less time than two reads of the clock.

/// One call in this many is timed and stands for all of them.
pub(crate) const CALLS_PER_SAMPLE: u64 = 128;

/// Counts a connection's calls down to the next timed one.
///
/// The distance varies, so that no pattern in a client's requests affects the samples. Every call
/// is equally likely to be timed, so the samples of each command represent its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampler {
    left: u32,
    random: u32,
}

impl Sampler {
    /// Creates the sampler of the connection with this number. Connections with few calls are
    /// sampled at the same rate.
    pub(crate) fn new(connection: u64) -> Self {
        let mut sampler = Self {
            left: 0,
            random: connection as u32,
        };
        sampler.left = 1 + sampler.below(CALLS_PER_SAMPLE, 0);
        sampler
    }

    /// Whether the next call is timed.
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        self.left -= 1;
        self.left == 0
    }

    /// Starts the next countdown, after each timed call; `noise` is a number that clients cannot
    /// choose.
    pub(crate) fn restart(&mut self, noise: u64) {
        let distance = self.below(CALLS_PER_SAMPLE + 1, noise);
        self.left = (CALLS_PER_SAMPLE / 2) as u32 + distance;
    }

    /// A number below a small `end`, from the upper bits of a linear congruential generator with the
    /// factor of Numerical Recipes. It has 32 bits, as every connection has one.
    fn below(&mut self, end: u64, noise: u64) -> u32 {
        let noise = noise as u32 ^ (noise >> 32) as u32;
        let product = (self.random ^ noise).wrapping_mul(1_664_525);
        self.random = product.wrapping_add(1_013_904_223);
        (self.random >> 16) % end as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_rate_does_not_depend_on_the_noise() {
        let calls = CALLS_PER_SAMPLE * 10_000;
        for noise in [0, 1, 1_000_003] {
            let mut sampler = Sampler::new(7);
            let mut samples = 0;
            for call in 0..calls {
                if sampler.is_due() {
                    samples += 1;
                    sampler.restart(call.wrapping_mul(noise));
                }
            }
            assert!((9_500..10_500).contains(&samples), "{samples}");
        }
    }

    #[test]
    fn connections_with_one_call_are_sampled_at_the_same_rate() {
        let is_due = |connection| Sampler::new(connection).is_due();
        let samples = (0..CALLS_PER_SAMPLE * 1_000)
            .filter(|id| is_due(*id))
            .count();
        assert!((950..1_050).contains(&samples), "{samples}");
    }
}
