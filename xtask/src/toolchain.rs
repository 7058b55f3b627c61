//! Finds toolchains, targets and components of rustup, and installs missing ones if possible.

use crate::machine::{command, run, succeeds};

/// The Rust whose rustdoc lists public items. A library parses this version's output, and a fixed
/// version gives the same listing everywhere.
pub(crate) const RUSTDOC: &str = "1.95.0";

/// Whether this toolchain is installed, after an attempt to install it.
pub(crate) fn has(version: &str) -> bool {
    let is_there = || succeeds("rustup", &["run", version, "rustc", "--version"]);
    if !is_there() {
        let install = ["toolchain", "install", version, "--profile", "minimal"];
        // The next check tells whether this succeeded.
        let _ = run(command("rustup").args(install));
    }
    is_there()
}

/// Whether the standard library for this target is installed, after an attempt to install it.
pub(crate) fn has_target(target: &str) -> bool {
    let is_there = || {
        let print = ["--print", "target-libdir", "--target", target];
        let libraries = command("rustc").args(print).output().ok();
        libraries.is_some_and(|output| {
            std::path::Path::new(String::from_utf8_lossy(&output.stdout).trim()).exists()
        })
    };
    if !is_there() {
        let _ = run(command("rustup").args(["target", "add", target]));
    }
    is_there()
}

/// Whether Miri is installed, after an attempt to install it.
pub(crate) fn has_miri() -> bool {
    let is_there = || succeeds("rustup", &["run", "nightly", "cargo", "miri", "--version"]);
    if !is_there() {
        let install = ["toolchain", "install", "nightly", "--profile", "minimal"];
        let components = ["--component", "miri", "--component", "rust-src"];
        let _ = run(command("rustup").args(install).args(components));
    }
    is_there()
}
