//! Cargo commands, and the feature sets that the checks run on.

use crate::machine::command;
use cargo_metadata::{Metadata, MetadataCommand};
use std::path::PathBuf;
use std::process::Command;

/// The feature sets that are tested and linted: a description of each, and its flags.
pub(crate) const FEATURE_SETS: &[(&str, &[&str])] = &[
    ("everything, both flavours", &["--workspace"]),
    (
        "the Tokio flavour alone",
        &[
            "-p",
            "respire",
            "--no-default-features",
            "--features",
            "tokio",
        ],
    ),
    (
        "the mio flavour alone",
        &[
            "-p",
            "respire",
            "--no-default-features",
            "--features",
            "mio",
        ],
    ),
    // Shows that commands on keys work for a type other than strings.
    (
        "the commands with a type of value for tests",
        &["-p", "respire-commands", "--features", "toy", "--lib"],
    ),
    (
        "the codec with all its features",
        &["-p", "resp-codec", "--all-features"],
    ),
    (
        "the codec with none of them",
        &["-p", "resp-codec", "--no-default-features"],
    ),
];

/// The cargo that runs this chore, in the root of the workspace.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The cargo of a rustup toolchain.
pub(crate) fn cargo_of(toolchain: &str) -> Command {
    let mut cargo = command("rustup");
    cargo.args(["run", toolchain, "cargo"]);
    cargo
}

/// The workspace's metadata from cargo.
pub(crate) fn metadata() -> Result<Metadata, String> {
    let root = crate::machine::root();
    let read = MetadataCommand::new().current_dir(root).no_deps().exec();
    read.map_err(|error| format!("cargo metadata: {error}"))
}

/// The directory in which cargo puts its output.
pub(crate) fn target_dir() -> Result<PathBuf, String> {
    Ok(metadata()?.target_directory.into_std_path_buf())
}

/// The minimum Rust version of the workspace.
pub(crate) fn rust_version() -> Result<String, String> {
    let metadata = metadata()?;
    let package = metadata
        .packages
        .iter()
        .find(|package| package.name.as_str() == "respire");
    let version = package.and_then(|package| package.rust_version.as_ref());
    version
        .map(ToString::to_string)
        .ok_or_else(|| "respire has no rust-version".to_owned())
}

/// The chore as a process of its own, with the feature of its name: so no other chore has to wait
/// until its crates are built.
pub(crate) fn again(chore: &str, options: &[&str]) -> Command {
    let mut again = cargo();
    again.args(["run", "--quiet", "--package", "xtask", "--features", chore]);
    again.args(["--", chore]).args(options);
    again
}
