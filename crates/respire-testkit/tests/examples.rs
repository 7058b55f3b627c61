//! The examples of every command, on every target.

use respire::serve::Flavour;
use respire_testkit::script::Script;
use respire_testkit::target::{EngineTarget, FlavourServer, RedisServer, SocketTarget, Target};
use respire_testkit::{examples, runner};

fn play(target: &mut dyn Target, script: &Script) {
    let failures = runner::run(script, target);
    assert!(
        failures.is_empty(),
        "{} cases failed: {failures:?}",
        failures.len()
    );
}

#[test]
fn engine_answers_every_example() {
    play(&mut EngineTarget::whole(), &examples::script());
    play(&mut EngineTarget::byte_by_byte(), &examples::script());
}

#[test]
fn servers_answer_every_example() {
    for flavour in Flavour::ALL {
        let server = FlavourServer::start(*flavour);
        play(&mut server.target(), &examples::script());
    }
}

/// Commands that are younger than the reference, or answer about the server itself.
const NOT_IN_REDIS: &[&str] = &["client|setinfo", "client|no-touch"];

#[test]
fn redis_answers_every_example() {
    let mut script = examples::script();
    script
        .cases
        .retain(|case| !NOT_IN_REDIS.contains(&case.title.as_str()));
    let redis = RedisServer::start();
    play(
        &mut SocketTarget::new(redis.address(), &["redis", "socket"]),
        &script,
    );
}
