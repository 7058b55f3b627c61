//! `RANDOMKEY`: some key of the database, or null when it is empty.

use crate::Ctx;
use respire_engine::{ArgList, Arity, Error, Flags, Group, Reply, Spec};
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) static RANDOMKEY: Spec = Spec {
    name: "randomkey",
    summary: "Return a random key from the keyspace",
    since: "1.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(1),
    flags: Flags::READONLY.with(Flags::ALL_KEYS),
    tips: &["request_policy:all_shards", "nondeterministic_output"],
    examples: &[
        ("RANDOMKEY", "$-1\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("RANDOMKEY", "$1\r\na\r\n"),
        (
            "RANDOMKEY a",
            "-ERR wrong number of arguments for 'randomkey' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    _args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let random = next_random(ctx.now.monotonic_us());
    match ctx.view.random_key(random) {
        Some(key) => reply.bulk(key),
        None => reply.null(),
    }
    Ok(())
}

/// A number that is spread well and need not be unpredictable: SplitMix64, stirred with the time.
fn next_random(now_us: u64) -> u64 {
    const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
    static STATE: AtomicU64 = AtomicU64::new(0);
    let state = STATE.fetch_add(STEP, Ordering::Relaxed) ^ now_us;
    let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_of_one_moment_differ() {
        let mut seen: Vec<u64> = (0..1000).map(|_| next_random(7) % 1_000_000_007).collect();
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 990);
    }
}
