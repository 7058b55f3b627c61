//! `PFSELFTEST`: checks the registers and the estimates, as Redis does with more elements.
//!
//! Both forms get the same elements, must give the same estimate at 1, 10, 100 and so on, and be
//! wrong by at most six times the standard error.

use super::dense;
use super::registers::REGISTERS;
use super::value::{Form, Hll, add, empty, make_dense};
use crate::Ctx;
use crate::errors::HLL_SELF_TEST;
use crate::kv::HLL_SPARSE_BYTES_MAX;
use respire_engine::{ArgList, Arity, Error, Flags, Group, Reply, Spec};

pub(super) static PFSELFTEST: Spec = Spec {
    name: "pfselftest",
    summary: "An internal command for testing HyperLogLog values",
    since: "2.8.9",
    complexity: "N/A",
    group: Group::HyperLogLog,
    arity: Arity::exactly(1),
    flags: Flags::ADMIN,
    is_internal: true,
    examples: &[("PFSELFTEST", "+OK\r\n")],
    ..Spec::EMPTY
};

/// The number of elements. Redis takes 10 million, which would hold up the other connections of a
/// thread for a third of a second.
const ELEMENTS: u64 = 100_000;

pub(super) fn pfselftest(
    ctx: &mut Ctx<'_>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let seed = ctx.now.unix_ms();
    if are_registers_apart(seed) && are_estimates_right(seed, HLL_SPARSE_BYTES_MAX) {
        reply.ok();
        Ok(())
    } else {
        Err(HLL_SELF_TEST)
    }
}

/// Whether registers keep their values while all others are written.
fn are_registers_apart(seed: u64) -> bool {
    let value = |index: usize| (seed.wrapping_add(index as u64 * 37) % 64) as u8;
    let mut registers = [0; dense::BYTES];
    for index in 0..REGISTERS {
        dense::set(&mut registers, index, value(index));
    }
    (0..REGISTERS).all(|index| dense::get(&registers, index) == value(index))
}

/// Whether both forms give the same estimate, which is near the number of elements.
fn are_estimates_right(seed: u64, sparse_bytes_max: usize) -> bool {
    let (mut sparse, mut dense) = (empty(), empty());
    if make_dense(&mut dense) != Ok(true) {
        return false;
    }
    let mut checked_at = 1;
    for element in 1..=ELEMENTS {
        let bytes = (element ^ seed).to_le_bytes();
        for hll in [&mut sparse, &mut dense] {
            let (_, added) = add(hll, std::iter::once(&bytes[..]), sparse_bytes_max);
            if added.is_err() {
                return false;
            }
        }
        if element == checked_at {
            let is_short = element < sparse_bytes_max as u64 / 2;
            if !is_right(&sparse, element, is_short) || !is_right(&dense, element, false) {
                return false;
            }
            checked_at *= 10;
        }
    }
    true
}

fn is_right(bytes: &[u8], elements: u64, is_sparse: bool) -> bool {
    let Ok(hll) = Hll::new(bytes) else {
        return false;
    };
    let Ok(estimate) = hll.estimate() else {
        return false;
    };
    let standard_error = 1.04 / (REGISTERS as f64).sqrt();
    let most = (standard_error * 6.0 * elements as f64).ceil();
    (!is_sparse || matches!(hll.form(), Form::Sparse(_)))
        && estimate.abs_diff(elements) as f64 <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_test_passes_with_any_seed_and_limit() {
        for seed in [0, 1, 1_700_000_000_000, u64::MAX] {
            for sparse_bytes_max in [0, HLL_SPARSE_BYTES_MAX] {
                assert!(are_registers_apart(seed));
                assert!(are_estimates_right(seed, sparse_bytes_max));
            }
        }
    }

    #[test]
    fn wrong_estimate_or_form_is_found() {
        assert!(is_right(&empty(), 0, true));
        assert!(!is_right(&empty(), 100, true));
        assert!(!is_right(b"HYLL", 0, true));
        let mut dense = empty();
        assert_eq!(make_dense(&mut dense), Ok(true));
        assert!(is_right(&dense, 0, false) && !is_right(&dense, 0, true));
    }
}
