//! Tests the examples of every command on every target.

use respire::serve::Flavour;
use respire_testkit::exemptions::{
    EXAMPLES_NOT_ON_REDIS, EXAMPLES_NOT_ON_SERVERS, UNKNOWN_TO_REDIS, has,
};
use respire_testkit::script::Script;
use respire_testkit::target::{EngineTarget, FlavourServer, RedisServer, SocketTarget, Target};
use respire_testkit::{examples, runner};

fn play(target: &mut dyn Target, script: &Script) {
    let failures = runner::run(script, target);
    assert!(
        failures.is_empty(),
        "the examples of {} commands are not answered as their `Spec` says; the lists of \
         crates/respire-testkit/src/exemptions.rs hold those that cannot be: {failures:?}",
        failures.len()
    );
}

#[test]
fn every_example_holds_on_the_engine() {
    play(&mut EngineTarget::whole(), &examples::script());
    play(&mut EngineTarget::byte_by_byte(), &examples::script());
}

/// The examples of all commands except those in these lists.
fn examples_without(lists: &[&[(&str, &str)]]) -> Script {
    let mut script = examples::script();
    script
        .cases
        .retain(|case| !has(&lists.concat(), &case.title));
    script
}

#[test]
fn every_example_holds_on_the_servers() {
    for flavour in Flavour::ALL {
        let server = FlavourServer::start(*flavour);
        let script = examples_without(&[EXAMPLES_NOT_ON_SERVERS]);
        play(&mut server.target(), &script);
    }
}

#[test]
fn every_example_holds_on_redis() {
    let redis = RedisServer::start();
    let mut target = SocketTarget::new(redis.address(), &["redis", "socket"]);
    let lists = [
        EXAMPLES_NOT_ON_SERVERS,
        EXAMPLES_NOT_ON_REDIS,
        UNKNOWN_TO_REDIS,
    ];
    play(&mut target, &examples_without(&lists));
}
