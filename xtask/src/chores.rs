//! The chores, each a short list of steps.

use crate::cargo::{FEATURE_SETS, cargo, cargo_of, rust_version};
use crate::machine::{run, run_lines};
use crate::tally::Tally;
use crate::{again, clients, codec, doubling, instructions, requirements, tidy, toolchain};

/// Everything there is to test.
pub(crate) fn test() -> Result<(), String> {
    requirements::ensure()?;
    let mut tally = Tally::default();
    for (what, flags) in FEATURE_SETS {
        println!("\n== tests: {what}");
        let mut tests = cargo();
        tests.args(["test", "--no-fail-fast"]).args(*flags);
        let outcome = run_lines(&mut tests, |line| tally.count_line(line));
        tally.check(&format!("tests: {what}"), outcome);
    }
    println!("\n== no flavour at all does not compile");
    tally.check(
        "a build without a flavour is refused",
        refused_without_flavour(),
    );
    println!("\n== the oldest supported Rust");
    check_msrv(&mut tally)?;
    println!("\n== the codec by itself");
    codec::check(&mut tally);
    println!("\n== the instructions of a request");
    match instructions::check() {
        Ok(Some(reason)) => println!("NOT RUN: {reason}"),
        outcome => tally.check("requests cost what their baseline says", outcome.map(drop)),
    }
    println!("\n== twice the size, twice the work");
    tally.check("twice the size takes twice the work", doubling::check());
    println!("\n== the explorer's page, in Chromium");
    tally.check("the explorer's page", again("web", &["--test"]));
    println!("\n== real clients");
    clients::check(&mut tally)?;
    tally.finish()
}

/// The real clients alone.
pub(crate) fn clients() -> Result<(), String> {
    requirements::ensure()?;
    let mut tally = Tally::default();
    clients::check(&mut tally)?;
    tally.finish()
}

/// What the codec promises by itself.
pub(crate) fn codec() -> Result<(), String> {
    let mut tally = Tally::default();
    codec::check(&mut tally);
    tally.finish()
}

/// The rules of the sources.
pub(crate) fn tidy() -> Result<(), String> {
    let problems = tidy::problems()?;
    if problems.is_empty() {
        println!("tidy");
        return Ok(());
    }
    Err(problems.join("\n"))
}

/// What reviewers should not have to look for.
pub(crate) fn lint() -> Result<(), String> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    for (_, flags) in FEATURE_SETS {
        let mut clippy = cargo();
        clippy
            .arg("clippy")
            .args(*flags)
            .args(["--all-targets", "--", "-D", "warnings"]);
        run(&mut clippy)?;
    }
    run(cargo()
        .args(["doc", "--workspace", "--no-deps"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}

/// The generated documents, written anew by the tests that hold them to the sources.
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

/// The oldest supported Rust alone.
pub(crate) fn msrv() -> Result<(), String> {
    let mut tally = Tally::default();
    check_msrv(&mut tally)?;
    tally.finish()
}

fn check_msrv(tally: &mut Tally) -> Result<(), String> {
    let version = rust_version()?;
    if !toolchain::has(&version) {
        println!("NOT RUN: Rust {version} is not installed, and rustup could not install it");
        return Ok(());
    }
    let outcome = run(cargo_of(&version).args(["check", "--workspace"]));
    tally.check(
        &format!("the workspace builds with Rust {version}"),
        outcome,
    );
    Ok(())
}

fn refused_without_flavour() -> Result<(), String> {
    let check = ["check", "-q", "-p", "respire", "--no-default-features"];
    match crate::machine::run_quietly(cargo().args(check)) {
        Ok(_) => Err("it compiled".to_owned()),
        Err(said) if said.contains("serves with a flavour") => Ok(()),
        Err(said) => Err(said),
    }
}

/// Random commands against Redis, as many and from where one likes.
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
