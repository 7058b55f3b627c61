//! Builds the explorer's page: npm packages, generated sources, Vite.

use super::wasm;
use crate::cargo::cargo;
use crate::machine::{command, root, run, run_quietly};
use std::process::Command;

/// Builds everything into `web/dist`.
pub(crate) fn page() -> Result<(), String> {
    write_generated()?;
    wasm::build()?;
    if !root().join("web/node_modules").exists() {
        run(npm().args(["ci", "--no-audit", "--no-fund"]))?;
    }
    npm_run("check")?;
    npm_run("build")?;
    for file in ["index.html", "respire-explorer.html"] {
        let path = root().join("web/dist").join(file);
        println!("{}: {}", path.display(), wasm::sizes(&path)?);
    }
    Ok(())
}

/// Runs one of the page's own scripts.
pub(crate) fn npm_run(script: &str) -> Result<(), String> {
    run(npm().args(["run", "--silent", script]))
}

fn npm() -> Command {
    let mut npm = command("npm");
    npm.current_dir(root().join("web"));
    npm
}

/// Writes the TypeScript that is generated from the Rust sources.
fn write_generated() -> Result<(), String> {
    run(generated().env("RESPIRE_WRITE_DOCS", "1"))
}

/// Checks that the committed generated files are current.
pub(crate) fn check_generated() -> Result<(), String> {
    run_quietly(&mut generated()).map(|_| println!("web/src/generated is up to date"))
}

fn generated() -> Command {
    let mut tests = cargo();
    tests.args(["test", "-q", "-p", "respire-wasm", "--lib", "generated"]);
    tests
}
