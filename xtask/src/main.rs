//! The project's chores, as `cargo xtask <chore>`.
//!
//! `test` is the test command of the README; the others are its parts, or tools beside it. What is
//! checked about the sources stands in [`tidy`]; how the product is tested stands with the product.
#![expect(clippy::print_stdout, reason = "a chore tells what it does")]

// Floor: lists of steps
mod chores;
mod quick;

// Floor: single chores
#[cfg(feature = "api")]
mod api;
mod bench;
mod clients;
mod codec;
mod doubling;
mod instructions;
mod tidy;
#[cfg(feature = "web")]
mod web;

// Floor: parts of the test chores
mod requirements;
mod server;
mod steps;
mod suites;

// Floor: running programs, and printing
mod cargo;
mod machine;
mod output;
mod tally;
mod toolchain;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <chore>

  test [--quick]       everything: installs what is missing (on Debian, as root), then all tests on
                       all feature sets, the oldest supported Rust, and real clients; --quick runs
                       what takes seconds, after an edit
  ci                   test and lint, side by side
  clients              the real clients alone, against both flavours
  tidy                 the rules of ARCHITECTURE.md, held against the sources
  lint                 fmt, clippy on all feature sets, and rustdoc; no warning is accepted
  docs                 writes the generated documents anew
  msrv                 builds with the oldest supported Rust
  codec                resp-codec for wasm and without a system, under Miri, and its public API
  api [--accept]       the public API of resp-codec against its listing; --accept writes it anew
  web [--check | --wasm | --test [--built] | --measure | --serve [ADDR]]
                       the protocol explorer's page, into web/dist; --check only looks whether its
                       generated sources are up to date, --wasm stops before the page, --test tries it
                       in Chromium, --measure tells how long things take there, --serve shows it on
                       127.0.0.1:8080
  bench [table | growth] [options]
                       the benchmark table beside redis-server, and what requests cost as things grow,
                       into docs/benchmarks.md and README.md, in twelve minutes; one of them by its
                       name, with options as respire-bench-docs takes them (--rounds, --test-time,
                       --row, --part)
  instructions [--accept]
                       the instructions a request costs, counted by Valgrind; fails where they are
                       3 % above the baseline, which --accept writes anew; part of the tests
  doubling             commands at one size and at twice that size, counted by Valgrind; fails where twice
                       the size takes more than 2.3 times the work; part of the tests
  differential [--steps N] [--seed S]
                       random commands, compared with a real Redis
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["test"] => chores::test(),
        ["test", "--quick"] => quick::test(),
        ["ci"] => chores::ci(),
        ["clients"] => chores::clients(),
        ["tidy"] => chores::tidy(),
        ["lint"] => chores::lint(),
        ["docs"] => chores::docs(),
        ["msrv"] => chores::msrv(),
        ["codec"] => chores::codec(),
        ["api", options @ ..] => api(options),
        ["web", options @ ..] => web(options),
        ["bench", options @ ..] => bench::bench(options),
        ["instructions", options @ ..] => instructions::instructions(options),
        ["doubling"] => doubling::check(),
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

#[cfg(not(feature = "web"))]
fn web(options: &[&str]) -> Result<(), String> {
    machine::run(&mut cargo::again("web", options))
}

#[cfg(feature = "api")]
fn api(options: &[&str]) -> Result<(), String> {
    api::api(options)
}

#[cfg(not(feature = "api"))]
fn api(options: &[&str]) -> Result<(), String> {
    machine::run(&mut cargo::again("api", options))
}
