//! Compares random commands with a real Redis. `cargo xtask differential` runs more of them.

use respire::serve::Flavour;
use respire_testkit::differential::compare;
use respire_testkit::target::{EngineTarget, FlavourServer, RedisServer, SocketTarget};

/// The steps per seed, unless `RESPIRE_DIFFERENTIAL_STEPS` says otherwise.
const STEPS: usize = 3000;
/// The seeds, unless `RESPIRE_DIFFERENTIAL_SEED` names one.
const SEEDS: [u64; 3] = [1, 2, 3];

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|error| panic!("{name}={text}: {error}")),
    )
}

#[test]
fn engine_replies_to_random_commands_match_redis() {
    let steps = setting("RESPIRE_DIFFERENTIAL_STEPS").map_or(STEPS, |steps| steps as usize);
    let seeds = setting("RESPIRE_DIFFERENTIAL_SEED").map_or(SEEDS.to_vec(), |seed| vec![seed]);
    let redis = RedisServer::start();
    let mut theirs = SocketTarget::new(redis.address(), &["redis", "socket"]);
    for seed in seeds {
        let differences = compare(seed, steps, &mut EngineTarget::whole(), &mut theirs);
        assert!(
            differences.is_empty(),
            "seed {seed}: {} differences: {differences:?}",
            differences.len()
        );
    }
}

#[test]
fn flavours_reply_equally_to_random_commands() {
    let [tokio, mio] = [Flavour::Tokio, Flavour::Mio].map(FlavourServer::start);
    let differences = compare(SEEDS[0], STEPS, &mut tokio.target(), &mut mio.target());
    assert!(
        differences.is_empty(),
        "{} differences: {differences:?}",
        differences.len()
    );
}
