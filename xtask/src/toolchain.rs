//! Toolchains, targets and components of rustup's, brought in where that is possible.

use crate::machine::{command, run, succeeds};

/// The Rust whose rustdoc lists public items. Its output is read by a library that knows this form
/// of it, and one Rust prints one listing everywhere.
pub(crate) const RUSTDOC: &str = "1.95.0";

/// Whether this toolchain is there, after an attempt to install it.
pub(crate) fn has(version: &str) -> bool {
    let is_there = || succeeds("rustup", &["run", version, "rustc", "--version"]);
    if !is_there() {
        let install = ["toolchain", "install", version, "--profile", "minimal"];
        // Whether that helped is asked next.
        let _ = run(command("rustup").args(install));
    }
    is_there()
}

/// Whether the standard library for this target is there, after an attempt to install it.
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

/// Whether Miri is there, after an attempt to install it.
pub(crate) fn has_miri() -> bool {
    let is_there = || succeeds("rustup", &["run", "nightly", "cargo", "miri", "--version"]);
    if !is_there() {
        let install = ["toolchain", "install", "nightly", "--profile", "minimal"];
        let components = ["--component", "miri", "--component", "rust-src"];
        let _ = run(command("rustup").args(install).args(components));
    }
    is_there()
}
