//! `math.random` and `math.randomseed` as Redis has them: with a generator of its own, so that the
//! numbers are the same on all systems.

use super::args::{Args, to_int};
use super::raise;
use mlua::{Lua, MultiValue, Result, Table};
use std::cell::Cell;
use std::rc::Rc;

/// The state that the generator begins with.
const SEED: u64 = 0x1234_abcd_330e;

/// The lowest 16 bits after a seed.
const SEED_LOW: u64 = 0x330e;

/// The generator of `drand48`: 48 bits, of which the upper 31 are the number.
#[derive(Clone, Copy)]
struct Generator(u64);

impl Generator {
    fn seeded(seed: i32) -> Self {
        Self(u64::from(seed.cast_unsigned()) << 16 | SEED_LOW)
    }

    /// From 0 on and less than 1.
    fn next(&mut self) -> f64 {
        let product = self.0.wrapping_mul(0x5_deec_e66d).wrapping_add(0xb);
        self.0 = product & 0xffff_ffff_ffff;
        let max = f64::from(i32::MAX);
        (self.0 >> 17) as f64 % max / max
    }
}

/// Replaces the functions in the table of Lua's `math`. The state of the generator lasts from one
/// script to the next.
///
/// # Errors
/// Out of memory.
pub(crate) fn install(lua: &Lua, math: &Table) -> Result<()> {
    let generator = Rc::new(Cell::new(Generator(SEED)));
    let shared = generator.clone();
    let random = lua.create_function(move |lua, values: MultiValue| {
        let mut generator = shared.get();
        let number = generator.next();
        shared.set(generator);
        within(lua, &Args::new(lua, values), number)
    })?;
    let seed = lua.create_function(move |lua, values: MultiValue| {
        let args = Args::new(lua, values);
        generator.set(Generator::seeded(to_int(args.integer(1)?)));
        Ok(())
    })?;
    math.raw_set("random", random)?;
    math.raw_set("randomseed", seed)
}

/// The number in the range that the arguments say.
fn within(lua: &Lua, args: &Args<'_>, number: f64) -> Result<f64> {
    match args.len() {
        0 => Ok(number),
        1 => {
            let high = to_int(args.integer(1)?);
            if high < 1 {
                return Err(args.problem(1, "interval is empty"));
            }
            Ok((number * f64::from(high)).floor() + 1.0)
        }
        2 => {
            let (low, high) = (to_int(args.integer(1)?), to_int(args.integer(2)?));
            if low > high {
                return Err(args.problem(2, "interval is empty"));
            }
            // It overflows, in Redis too.
            let size = high.wrapping_sub(low).wrapping_add(1);
            Ok((number * f64::from(size)).floor() + f64::from(low))
        }
        _ => Err(raise::error(lua, "wrong number of arguments")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    #[test]
    fn first_numbers_are_those_of_a_redis_that_has_just_started() {
        let expected = "0.39646477363839 841 0.35333609737146 447";
        check(
            "math.random(), math.random(1000), math.random(), math.random(1000)",
            expected,
        );
    }
}
