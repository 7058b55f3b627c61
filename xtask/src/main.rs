//! The project's chores, as `cargo xtask <chore>`.
//!
//! `test` is the test command of the README; the others are its parts, or tools beside it. What is
//! checked about the sources stands in [`tidy`]; how the product is tested stands with the product.
#![expect(clippy::print_stdout, reason = "a chore tells what it does")]

mod cargo;
mod chores;
mod clients;
mod machine;
mod requirements;
mod server;
mod tally;
mod tidy;
#[cfg(feature = "web")]
mod web;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <chore>

  test                 everything: installs what is missing (on Debian, as root), then all tests on
                       all feature sets, the oldest supported Rust, and real clients
  clients              the real clients alone, against both flavours
  tidy                 the rules of ARCHITECTURE.md, held against the sources
  lint                 fmt, clippy on all feature sets, and rustdoc; no warning is accepted
  docs                 writes the generated documents anew
  msrv                 builds with the oldest supported Rust
  web [--check | --wasm | --serve [ADDR]]
                       the protocol explorer's page, into web/dist; --check only looks whether its
                       generated sources are up to date, --wasm stops before the page, --serve shows
                       it on 127.0.0.1:8080
  differential [--steps N] [--seed S]
                       random commands, compared with a real Redis
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => chores::test(),
        ["clients"] => chores::clients(),
        ["tidy"] => chores::tidy(),
        ["lint"] => chores::lint(),
        ["docs"] => chores::docs(),
        ["msrv"] => chores::msrv(),
        ["web", options @ ..] => web(options),
        ["differential", options @ ..] => chores::differential(options),
        _ => Err(USAGE.to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            println!("{problem}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "web")]
fn web(options: &[&str]) -> Result<(), String> {
    web::web(options)
}

/// Runs itself with what the page needs: crates that no other chore should have to wait for.
#[cfg(not(feature = "web"))]
fn web(options: &[&str]) -> Result<(), String> {
    let mut again = cargo::cargo();
    again.args([
        "run",
        "--quiet",
        "--package",
        "xtask",
        "--features",
        "web",
        "--",
        "web",
    ]);
    machine::run(again.args(options))
}
