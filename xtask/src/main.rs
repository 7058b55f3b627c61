//! The development tasks of the project, as `cargo xtask <chore>`.
//!
//! `test` is the test command of the README; the other chores are parts of it, or separate tools.
//! [`tidy`] has the checks of the sources; the tests of the product are beside the product.
#![expect(clippy::print_stdout, reason = "a chore prints what it does")]

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
                       the tests that take seconds, for use after an edit
  ci                   test and lint, side by side
  clients              only the real clients, against both flavours
  tidy                 checks the sources against the rules of ARCHITECTURE.md
  lint                 fmt, clippy on all feature sets, and rustdoc; no warning is accepted
  docs                 writes the generated documents
  msrv                 builds with the oldest supported Rust
  codec                resp-codec for wasm and without a system, under Miri, and its public API
  api [--accept]       compares the public API of resp-codec with its listing; --accept writes it
  web [--check | --wasm | --test [--built] | --measure | --serve [ADDR]]
                       the protocol explorer's page, into web/dist; --check only checks that its
                       generated sources are current, --wasm stops before the page, --test tests it
                       in Chromium, --measure measures times there, --serve shows it on
                       127.0.0.1:8080
  bench [table | growth] [options]
                       the benchmark table beside redis-server, and the cost of requests at growing sizes,
                       into docs/benchmarks.md and README.md, in twelve minutes; one of them by its
                       name, with options as respire-bench-docs takes them (--rounds, --test-time,
                       --row, --part)
  instructions [--accept]
                       the instructions a request costs, counted by Valgrind; fails if it is 3 %
                       above the baseline, which --accept updates; part of the tests
  doubling             commands at one size and at twice that size, counted by Valgrind; fails if twice
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
