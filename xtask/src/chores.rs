//! The chores, each a short list of steps.

use crate::cargo::{FEATURE_SETS, again, cargo, cargo_of, rust_version};
use crate::machine::run;
use crate::output::say;
use crate::steps::{Steps, steps};
use crate::tally::Tally;
use crate::{clients, codec, doubling, instructions, requirements, suites, tidy, toolchain};
use std::process::Command;

/// Runs all tests.
pub(crate) fn test() -> Result<(), String> {
    requirements::ensure()?;
    steps(|steps| everything(steps, false))
}

/// Runs all tests and lints.
pub(crate) fn ci() -> Result<(), String> {
    requirements::ensure()?;
    steps(|steps| everything(steps, true))
}

/// Starts every step. Cargo builds run one at a time on this thread, since they share a target
/// directory. Steps that mostly wait, or have their own directory, run in the background.
fn everything(steps: &Steps<'_>, with_lint: bool) -> Result<(), String> {
    // Downloads wait for the network, and Miri uses one core.
    steps.background("real clients: downloads", |tally| {
        if let Err(problem) = clients::fetch() {
            tally.check("real clients: downloads", Err(problem));
        }
    });
    steps.background("Miri on the codec", codec::check_miri);
    // First, since the tests build a server that contains the page.
    let mut is_built = false;
    steps.now("the explorer's page: build", |tally| {
        let outcome = run(&mut again("web", &[]));
        is_built = outcome.is_ok();
        tally.check("the explorer's page is built", outcome);
    });
    let [(all, all_flags), flavours @ .., toy, codec_all, codec_none] = FEATURE_SETS else {
        return Err("FEATURE_SETS is shorter than this chore knows it".to_owned());
    };
    let server = suites::check(steps, all, all_flags).then(clients::keep_server);
    let server = server.transpose()?;
    if let Some(server) = server.clone() {
        steps.background("real clients", move |tally| clients::check(&server, tally));
    }
    steps.background("the instructions of a request", |tally| {
        match instructions::check() {
            Ok(Some(reason)) => say(&format!("NOT RUN: {reason}")),
            outcome => tally.check("requests cost what their baseline says", outcome.map(drop)),
        }
        tally.check("twice the size takes twice the work", doubling::check());
    });
    if is_built {
        steps.background("the explorer's page, in Chromium", move |tally| {
            let mut page = again("web", &["--test", "--built"]);
            // Otherwise the page's tests build a server in the directory of other feature sets.
            page.envs(server.map(|server| ("RESPIRE_SERVER", server)));
            tally.check("the explorer's page", run(&mut page));
        });
    }
    if with_lint {
        for (name, mut command) in lints() {
            steps.now(&name, |tally| tally.check(&name, run(&mut command)));
        }
    }
    suites::check_binaries(steps, toy.0, toy.1);
    for (what, flags) in [codec_all, codec_none] {
        suites::check(steps, what, flags);
    }
    steps.now(
        "the codec elsewhere, and its public API",
        codec::check_builds,
    );
    steps.now("the oldest supported Rust", check_msrv);
    for (what, flags) in flavours {
        suites::check(steps, what, flags);
    }
    let refused = "a build without a flavour is refused";
    steps.now(refused, |tally| {
        tally.check(refused, refused_without_flavour())
    });
    Ok(())
}

/// Runs only the real clients.
pub(crate) fn clients() -> Result<(), String> {
    requirements::ensure()?;
    let mut tally = Tally::default();
    clients::build()?;
    clients::check(&clients::keep_server()?, &mut tally);
    tally.finish()
}

/// Checks the codec by itself.
pub(crate) fn codec() -> Result<(), String> {
    let mut tally = Tally::default();
    codec::check_builds(&mut tally);
    codec::check_miri(&mut tally);
    tally.finish()
}

/// Checks the rules for the sources.
pub(crate) fn tidy() -> Result<(), String> {
    let problems = tidy::problems()?;
    if problems.is_empty() {
        println!("tidy");
        return Ok(());
    }
    Err(problems.join("\n"))
}

/// Runs the linters.
pub(crate) fn lint() -> Result<(), String> {
    lints().iter_mut().try_for_each(|(_, command)| run(command))
}

fn lints() -> Vec<(String, Command)> {
    let mut fmt = cargo();
    fmt.args(["fmt", "--all", "--check"]);
    let clippy = FEATURE_SETS.iter().map(|(what, flags)| {
        let mut clippy = cargo();
        clippy
            .arg("clippy")
            .args(*flags)
            .args(["--all-targets", "--", "-D", "warnings"]);
        (format!("clippy: {what}"), clippy)
    });
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings");
    let fmt = std::iter::once(("the format of the sources".to_owned(), fmt));
    let doc = std::iter::once(("rustdoc".to_owned(), doc));
    fmt.chain(clippy).chain(doc).collect()
}

/// Writes the generated documents, with the tests that compare them with the sources.
pub(crate) fn docs() -> Result<(), String> {
    let held: [&[&str]; 2] = [
        &["-p", "respire-testkit", "--test", "documents"],
        &["-p", "respire-wasm", "--lib", "generated"],
    ];
    for tests in held {
        let mut write = cargo();
        write.args(["test", "-q"]).args(tests);
        run(write.env("RESPIRE_WRITE_DOCS", "1"))?;
    }
    Ok(())
}

/// Checks only the minimum Rust version.
pub(crate) fn msrv() -> Result<(), String> {
    let mut tally = Tally::default();
    check_msrv(&mut tally);
    tally.finish()
}

fn check_msrv(tally: &mut Tally) {
    let name = "the workspace builds with the oldest supported Rust";
    let outcome = rust_version().and_then(|version| {
        if !toolchain::has(&version) {
            say(&format!(
                "NOT RUN: Rust {version} is not installed, and rustup could not install it"
            ));
            return Ok(false);
        }
        run(cargo_of(&version).args(["check", "--workspace"])).map(|()| true)
    });
    match outcome {
        Ok(false) => {}
        outcome => tally.check(name, outcome.map(drop)),
    }
}

fn refused_without_flavour() -> Result<(), String> {
    let check = ["check", "-q", "-p", "respire", "--no-default-features"];
    match crate::machine::run_quietly(cargo().args(check)) {
        Ok(_) => Err("it compiled".to_owned()),
        Err(said) if said.contains("serves with a flavour") => Ok(()),
        Err(said) => Err(said),
    }
}

/// Compares random commands with Redis; the options set their number and the seed.
pub(crate) fn differential(options: &[&str]) -> Result<(), String> {
    let mut tests = cargo();
    tests.args([
        "test",
        "--release",
        "-p",
        "respire-testkit",
        "--test",
        "differential",
    ]);
    for option in options.chunks(2) {
        match option {
            ["--steps", steps] => tests.env("RESPIRE_DIFFERENTIAL_STEPS", steps),
            ["--seed", seed] => tests.env("RESPIRE_DIFFERENTIAL_SEED", seed),
            _ => {
                return Err(format!(
                    "differential takes --steps N and --seed S, not {option:?}"
                ));
            }
        };
    }
    run(&mut tests)
}
