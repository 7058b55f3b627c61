//! Running programs.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the workspace that this was started in. Cargo says where that is: what was known when this
/// was compiled may be another clone, where two of them share a target directory.
pub(crate) fn root() -> PathBuf {
    let compiled = || env!("CARGO_MANIFEST_DIR").into();
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(compiled));
    here.parent().map(Path::to_path_buf).unwrap_or(here)
}

/// A command in the root of the workspace, without input.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Says what is run, runs it with its output shown, and fails if it does.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    println!("+ {}", shown(command));
    let status = command.status().map_err(|error| cannot(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", shown(command)))
    }
}

/// Runs it and gives its standard output line by line, which is shown, too.
pub(crate) fn run_lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<(), String> {
    println!("+ {}", shown(command));
    let spawned = command.stdout(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| cannot(command, &error))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            each(&line);
        }
    }
    let status = child.wait().map_err(|error| cannot(command, &error))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", shown(command)))
    }
}

/// Runs it without showing anything; fails with what it said.
pub(crate) fn run_quietly(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| cannot(command, &error))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(said);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "{} ended with {}\n{said}{complaint}",
        shown(command),
        output.status
    ))
}

/// Whether a program runs and is content.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> bool {
    let quiet = command(program)
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

fn cannot(command: &Command, error: &std::io::Error) -> String {
    format!("cannot run {}: {error}", shown(command))
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
