//! What `resp-codec` promises beyond its tests: it builds without a system, for wasm, and as one
//! feature set at a time; Miri finds nothing; its public API is the one that is written down.

use crate::cargo::{again, cargo, cargo_of};
use crate::machine::run;
use crate::output::say;
use crate::tally::Tally;
use crate::toolchain;

/// The targets, and the feature sets each can carry.
const BUILDS: &[(&str, &[&str])] = &[
    (
        "thumbv7em-none-eabi",
        &["", "bytes", "serde", "bytes,serde"],
    ),
    (
        "wasm32-unknown-unknown",
        &[
            "",
            "std",
            "bytes",
            "serde",
            "codec",
            "arbitrary",
            "codec,serde,arbitrary",
        ],
    ),
];

/// The unit tests Miri runs: those of the decoders and the encoder. The others nest values as deeply
/// as memory allows, or try every byte at every place, which takes it many minutes.
const UNDER_MIRI: &[&str] = &[
    "command::",
    "frame::",
    "event::",
    "encode::",
    "grammar::",
    "number::",
];

/// The builds, and the public API.
pub(crate) fn check_builds(tally: &mut Tally) {
    for (target, feature_sets) in BUILDS {
        if !toolchain::has_target(target) {
            say(&format!(
                "NOT RUN: {target} is not installed, and rustup could not install it"
            ));
            continue;
        }
        for features in *feature_sets {
            let name = format!("resp-codec builds for {target} with features [{features}]");
            tally.check(&name, build(target, features));
        }
    }
    if toolchain::has(toolchain::RUSTDOC) {
        tally.check(
            "resp-codec's public API is as listed",
            run(&mut again("api", &[])),
        );
    } else {
        let rust = toolchain::RUSTDOC;
        say(&format!(
            "NOT RUN: Rust {rust} is not installed, and rustup could not install it"
        ));
    }
}

/// The tests that Miri runs, in a target directory of its own.
pub(crate) fn check_miri(tally: &mut Tally) {
    if toolchain::has_miri() {
        tally.check("Miri finds nothing in resp-codec", miri());
    } else {
        say("NOT RUN: Miri is not installed, and rustup could not install it");
    }
}

fn build(target: &str, features: &str) -> Result<(), String> {
    let mut build = cargo();
    build.args(["build", "-q", "-p", "resp-codec", "--no-default-features"]);
    run(build.args(["--features", features, "--target", target]))
}

fn miri() -> Result<(), String> {
    let mut miri = cargo_of("nightly");
    miri.args(["miri", "test", "-q", "-p", "resp-codec", "--lib", "--"]);
    run(miri.args(UNDER_MIRI))
}
