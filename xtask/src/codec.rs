//! Checks of `resp-codec` besides its tests: it builds without an operating system, for wasm, and
//! with each feature set; Miri finds no error; its public API matches its listing.

use crate::cargo::{again, cargo, cargo_of};
use crate::machine::run;
use crate::output::say;
use crate::tally::Tally;
use crate::toolchain;

/// The targets, and the feature sets that each supports.
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

/// The unit tests for Miri: those of the decoders and the encoder. The others nest values as deeply
/// as memory allows, or try every byte at every position, which takes Miri many minutes.
const UNDER_MIRI: &[&str] = &[
    "command::",
    "frame::",
    "event::",
    "encode::",
    "grammar::",
    "number::",
];

/// Checks the builds and the public API.
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

/// Runs the tests for Miri, in a separate target directory.
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
