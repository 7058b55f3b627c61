//! Runs the benchmarks of release builds beside Redis and at growing sizes, and writes the results
//! into the documents.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, run, succeeds};
use std::process::Command;

/// The document that every run writes.
const DOCUMENT: &[&str] = &["--out", "docs/benchmarks.md"];

/// Builds the benchmarked programs, and runs the table, the growth measurements and those of collections; or only
/// one of them, if `options` begin with its name. Further options go to that command of
/// `respire-bench-docs`; without a name they go to the table.
pub(crate) fn bench(options: &[&str]) -> Result<(), String> {
    match options {
        [] => {
            build()?;
            table(&[])?;
            growth(&[])?;
            collections(&[])
        }
        ["collections", options @ ..] => {
            build()?;
            collections(options)
        }
        ["growth", options @ ..] => {
            build()?;
            growth(options)
        }
        ["table", options @ ..] | options => {
            build()?;
            table(options)
        }
    }
}

fn build() -> Result<(), String> {
    run(cargo().args([
        "build",
        "--release",
        "-p",
        "respire",
        "-p",
        "respire-bench-docs",
    ]))
}

/// A command of `respire-bench-docs` on the `respire-server` of the release build.
fn bench_docs(name: &str) -> Result<Command, String> {
    let release = target_dir()?.join("release");
    let mut bench = command(release.join("respire-bench-docs"));
    bench
        .arg(name)
        .arg("--respire")
        .arg(release.join("respire-server"))
        .args(DOCUMENT);
    Ok(bench)
}

fn growth(options: &[&str]) -> Result<(), String> {
    run(bench_docs("growth")?.args(options))
}

fn collections(options: &[&str]) -> Result<(), String> {
    check_redis()?;
    run(bench_docs("collections")?.args(options))
}

fn table(options: &[&str]) -> Result<(), String> {
    check_redis()?;
    run(bench_docs("table")?
        .args(["--summary", "README.md"])
        .args(options))
}

fn check_redis() -> Result<(), String> {
    if succeeds("redis-server", &["--version"]) {
        return Ok(());
    }
    Err(
        "the tables compare with redis-server, which is not installed (Debian: apt-get install redis-server)"
            .to_owned(),
    )
}
