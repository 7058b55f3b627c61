//! Runs programs and accounts for their CPU time.

use crate::output::{is_buffered, say};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use std::cell::Cell;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The root of the workspace in which this was started. Asks cargo at run time: the path at compile
/// time may be another clone's, if two clones share a target directory.
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

/// Prints the command, runs it with its output shown, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    if is_buffered() {
        return run_lines(command, |_| ());
    }
    say(&format!("+ {}", shown(command)));
    let spawned = command.spawn();
    let mut child = spawned.map_err(|error| cannot(command, &error))?;
    judge(command, reap(&mut child))
}

/// Runs the command, and passes its output line by line to `each`. The output is also shown.
pub(crate) fn run_lines(command: &mut Command, mut each: impl FnMut(&str)) -> Result<(), String> {
    say(&format!("+ {}", shown(command)));
    let cannot = |command: &Command, error| cannot(command, &error);
    let (output, end) = std::io::pipe().map_err(|error| cannot(command, error))?;
    if is_buffered() {
        let other = end.try_clone().map_err(|error| cannot(command, error))?;
        command.stderr(other);
    }
    let spawned = command.stdout(end).spawn();
    // The command owns our copies of the pipe, and the output ends when the last copy is closed.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = spawned.map_err(|error| cannot(command, error))?;
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        say(&line);
        each(&line);
    }
    judge(command, reap(&mut child))
}

/// Runs the command with its standard error shown, and returns its standard output.
pub(crate) fn run_parsed(command: &mut Command) -> Result<String, String> {
    say(&format!("+ {}", shown(command)));
    let spawned = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|error| cannot(command, &error))?;
    let output = child.stdout.take().map(|end| thread::spawn(|| all(end)));
    if let Some(said) = child.stderr.take() {
        for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
            say(&String::from_utf8_lossy(&line));
        }
    }
    let output = output.map(|reader| reader.join().unwrap_or_default());
    judge(command, reap(&mut child))?;
    Ok(output.unwrap_or_default())
}

/// Runs the command without showing its output; the error contains the output.
pub(crate) fn run_quietly(command: &mut Command) -> Result<String, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let spawned = command.spawn();
    let mut child = spawned.map_err(|error| cannot(command, &error))?;
    let complaint = child.stderr.take().map(|end| thread::spawn(|| all(end)));
    let said = child.stdout.take().map(all).unwrap_or_default();
    let complaint = complaint.map(|reader| reader.join().unwrap_or_default());
    judge(command, reap(&mut child))
        .map_err(|ended| format!("{ended}\n{said}{}", complaint.unwrap_or_default()))?;
    Ok(said)
}

/// Whether a program runs and exits with success.
pub(crate) fn succeeds(program: &str, args: &[&str]) -> bool {
    let mut command = command(program);
    command
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = command.spawn().and_then(|mut child| reap(&mut child));
    status.is_ok_and(|status| status.success())
}

/// The CPU time of the programs that this thread has run so far, and of their children.
pub(crate) fn cpu_of_this_thread() -> Duration {
    CPU.get()
}

thread_local! {
    static CPU: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Held while waiting for a child. The system only reports the CPU time of all children of all
/// threads together, so one wait at a time shows what a child added.
static REAPING: Mutex<()> = Mutex::new(());

/// Waits for a program, and accounts for its CPU time. Call this after its output has ended, or if
/// no other thread runs programs.
pub(crate) fn reap(child: &mut Child) -> std::io::Result<ExitStatus> {
    let _alone = REAPING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = cpu_of_children();
    let status = child.wait();
    CPU.set(CPU.get() + cpu_of_children().saturating_sub(before));
    status
}

fn cpu_of_children() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return Duration::ZERO;
    };
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

fn judge(command: &Command, status: std::io::Result<ExitStatus>) -> Result<(), String> {
    let status = status.map_err(|error| cannot(command, &error))?;
    if status.success() {
        return Ok(());
    }
    Err(format!("{} ended with {status}", shown(command)))
}

fn all(mut end: impl Read) -> String {
    let mut bytes = Vec::new();
    // Bytes read before an error are shown unchanged.
    let _ = end.read_to_end(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
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
