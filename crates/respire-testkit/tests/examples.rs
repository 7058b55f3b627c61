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

/// Examples that tell the number of the connection, which only a server of one's own knows.
const NUMBERED: &[&str] = &["client|id", "hello"];
/// Commands that are younger than the reference, list what has no order, or tell of an allocator.
const NOT_REDIS: &[&str] = &[
    "client|setinfo",
    "client|no-touch",
    "acl|cat",
    "memory|malloc-stats",
    "config|get",
];

fn examples_without(names: &[&[&str]]) -> Script {
    let mut script = examples::script();
    script
        .cases
        .retain(|case| !names.concat().contains(&case.title.as_str()));
    script
}

#[test]
fn servers_answer_every_example() {
    for flavour in Flavour::ALL {
        let server = FlavourServer::start(*flavour);
        play(&mut server.target(), &examples_without(&[NUMBERED]));
    }
}

#[test]
fn redis_answers_every_example() {
    let redis = RedisServer::start();
    let mut target = SocketTarget::new(redis.address(), &["redis", "socket"]);
    play(&mut target, &examples_without(&[NUMBERED, NOT_REDIS]));
}
