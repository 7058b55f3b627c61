//! Builds the test binaries of a feature set with cargo, and runs them while cargo builds the next
//! one.

use crate::cargo::cargo;
use crate::machine::{command, root, run_lines, run_parsed};
use crate::steps::Steps;
use crate::tally::Tally;
use cargo_metadata::{Artifact, Message};
use std::path::PathBuf;

/// Tests that start `respire-server` from the target directory. They must end before another
/// feature set is built, which replaces `respire-server` there.
const START_THE_SERVER: &[&str] = &["allocator", "binary"];

/// A test binary.
struct Binary {
    /// The target that it was built from.
    name: String,
    /// Its name in cargo's output: the package and the file.
    title: String,
    folder: PathBuf,
    executable: PathBuf,
}

/// Builds the tests selected by these flags of `cargo test`.
fn build(flags: &[&str]) -> Result<Vec<Binary>, String> {
    let mut build = cargo();
    build.args(["test", "--no-run"]).args(flags);
    build.arg("--message-format=json-render-diagnostics");
    let messages = run_parsed(&mut build)?;
    let messages = Message::parse_stream(messages.as_bytes()).map_while(Result::ok);
    let artifacts = messages.filter_map(|message| match message {
        Message::CompilerArtifact(artifact) => Some(artifact),
        _ => None,
    });
    Ok(artifacts.filter_map(binary).collect())
}

fn binary(artifact: Artifact) -> Option<Binary> {
    if !artifact.profile.test {
        return None;
    }
    let folder = artifact.manifest_path.parent()?;
    let source = artifact.target.src_path.as_std_path();
    let source = source.strip_prefix(root()).unwrap_or(source);
    let package = folder.file_name().unwrap_or_default();
    Some(Binary {
        title: format!("{package}, {}", source.display()),
        name: artifact.target.name,
        folder: folder.into(),
        executable: artifact.executable?.into(),
    })
}

/// Runs a binary as `cargo test` does: in its crate's folder, with the library paths that cargo
/// passed to this program.
fn run(binary: &Binary, tally: &mut Tally) {
    let mut test = command(&binary.executable);
    test.current_dir(&binary.folder)
        .env("CARGO_MANIFEST_DIR", &binary.folder);
    let outcome = run_lines(&mut test, |line| tally.count_line(line));
    if outcome.is_err() {
        tally.check(&binary.title, outcome);
    }
}

/// Builds the tests of a feature set, runs them in the background, and then its doctests. Returns
/// whether they could be built.
pub(crate) fn check(steps: &Steps<'_>, what: &str, flags: &[&str]) -> bool {
    let is_built = check_binaries(steps, what, flags);
    let title = format!("{what}: the documentation's tests");
    steps.now(&title, |tally| {
        let mut tests = cargo();
        tests.args(["test", "--doc", "--no-fail-fast"]).args(flags);
        let outcome = run_lines(&mut tests, |line| tally.count_line(line));
        if outcome.is_err() {
            tally.check(&title, outcome);
        }
    });
    is_built
}

/// Builds the tests that these flags select, and runs them in the background. Returns whether they
/// could be built.
pub(crate) fn check_binaries(steps: &Steps<'_>, what: &str, flags: &[&str]) -> bool {
    let title = format!("{what}: build the tests");
    let mut built = None;
    steps.now(&title, |tally| match build(flags) {
        Ok(binaries) => built = Some(binaries),
        Err(problem) => tally.check(&title, Err(problem)),
    });
    let is_built = built.is_some();
    let binaries = built.into_iter().flatten();
    let (alone, beside): (Vec<Binary>, Vec<Binary>) =
        binaries.partition(|binary| START_THE_SERVER.contains(&binary.name.as_str()));
    for binary in beside {
        let title = format!("{what}: {}", binary.title);
        steps.background(&title, move |tally| run(&binary, tally));
    }
    for binary in alone {
        let title = format!("{what}: {}", binary.title);
        steps.now(&title, |tally| run(&binary, tally));
    }
    is_built
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn tests_that_start_the_server_run_before_it_is_replaced() {
        let folder = root().join("crates/respire/tests");
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let source = if path.is_dir() {
                path.join("main.rs")
            } else {
                path.clone()
            };
            let text = fs::read_to_string(source).unwrap();
            if text.contains(concat!("CARGO_BIN_EXE_", "respire-server")) {
                found.push(path.file_stem().unwrap().to_owned());
            }
        }
        found.sort();
        assert_eq!(found, START_THE_SERVER);
    }
}
