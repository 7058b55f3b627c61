//! Counts the instructions per request with Valgrind, and compares them with a baseline: unlike
//! times, they are the same on a busy machine.

use crate::cargo::{cargo, cargo_of, target_dir};
use crate::machine::{command, root, run, run_quietly, succeeds};
use crate::output::say;
use crate::toolchain;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// The loads to count, of the example `turns`. With `-ahead`, the keys of a pipeline are looked up
/// ahead, as in a store larger than the caches.
const LOADS: &[&str] = &[
    "ping",
    "get",
    "set",
    "mget",
    "mset",
    "dump",
    "get-ahead",
    "set-ahead",
    "mget-ahead",
    "mset-ahead",
    "replace-ahead",
    "mix-ahead",
    "binary-get-ahead",
    "binary-set-ahead",
    "decode",
    "encode",
];

const KEYS: &str = "20000";
const REQUESTS: u32 = 32_768;

/// The largest accepted increase over the baseline. A decrease of more than this suggests a new
/// baseline.
const CHANGE_PERCENT_MAX: f64 = 3.0;

/// The profile of Cargo.toml to count with: the code of a release, built in a fraction of the time.
const PROFILE: &str = "instructions";

/// The baseline. It is valid for one compiler, since another one generates other code.
struct Baseline {
    compiler: String,
    counts: Vec<(String, f64)>,
}

/// Counts, and compares with the baseline; with `--accept`, writes the baseline.
pub(crate) fn instructions(options: &[&str]) -> Result<(), String> {
    match options {
        [] => check()?.map_or(Ok(()), Err),
        ["--accept"] => write(&counts(&mut cargo())?),
        _ => Err("instructions takes --accept and nothing else".to_owned()),
    }
}

/// Counts with the baseline's compiler, and compares. If that compiler is not available, counts
/// nothing and returns the reason.
pub(crate) fn check() -> Result<Option<String>, String> {
    let baseline = read()?;
    let mut cargo = if compiler()? == baseline.compiler {
        cargo()
    } else {
        let Some(version) = version(&baseline.compiler) else {
            return Err(format!(
                "the baseline is of an unknown compiler: {:?}",
                baseline.compiler
            ));
        };
        if !toolchain::has(version) {
            return Ok(Some(format!(
                "the baseline is of Rust {version}, which is not installed, and rustup could not install it"
            )));
        }
        cargo_of(version)
    };
    let mut problems = Vec::new();
    for (load, count) in counts(&mut cargo)? {
        match judge(load, count, &baseline.counts) {
            Ok(None) => {}
            Ok(Some(note)) => say(&note),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        Ok(None)
    } else {
        Err(problems.join("\n"))
    }
}

/// Builds the example with `cargo`, and counts every load.
fn counts(cargo: &mut Command) -> Result<Vec<(&'static str, f64)>, String> {
    if !succeeds("valgrind", &["--version"]) {
        return Err(
            "valgrind counts, and is not installed (Debian: apt-get install valgrind)".to_owned(),
        );
    }
    run(cargo.args(["build", "--profile", PROFILE]).args([
        "-p",
        "respire-commands",
        "--example",
        "turns",
    ]))?;
    let mut counts = Vec::new();
    for load in LOADS {
        let count = count(load)?;
        say(&format!("{load:16} {count:8.1} instructions a request"));
        counts.push((*load, count));
    }
    Ok(counts)
}

/// The instructions per request of a load, in user mode, as counted by Callgrind.
fn count(load: &str) -> Result<f64, String> {
    let example = target_dir()?.join(PROFILE).join("examples/turns");
    let mut valgrind = command("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--toggle-collect=*turns*measured*", "--log-fd=1"])
        .arg(example)
        .args([load, KEYS, &REQUESTS.to_string()]);
    let said = run_quietly(&mut valgrind)?;
    collected(&said)
        .map(|all| all / f64::from(REQUESTS))
        .ok_or_else(|| format!("valgrind did not tell what it counted:\n{said}"))
}

/// The number after `Collected :`.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    let number = line.rsplit(' ').next()?.parse().ok()?;
    (number > 0.0).then_some(number)
}

/// The problem of a count as an error, or else a remark, if there is one.
fn judge(load: &str, count: f64, baseline: &[(String, f64)]) -> Result<Option<String>, String> {
    let Some((_, before)) = baseline.iter().find(|(known, _)| known == load) else {
        return Err(format!("{load}: no baseline; write it with --accept"));
    };
    let percent = (count / before - 1.0) * 100.0;
    let place = if percent > 0.0 { "above" } else { "below" };
    let said = format!(
        "{load}: {count:.1} instructions a request, {:.1} % {place} {before:.1}",
        percent.abs()
    );
    if percent > CHANGE_PERCENT_MAX {
        Err(said)
    } else if percent < -CHANGE_PERCENT_MAX {
        let advice = "cargo xtask instructions --accept makes it the baseline";
        Ok(Some(format!("{said}: {advice}")))
    } else {
        Ok(None)
    }
}

/// The name of the current compiler.
fn compiler() -> Result<String, String> {
    Ok(run_quietly(command("rustc").arg("--version"))?
        .trim()
        .to_owned())
}

/// The version in a compiler's name, such as 1.95.0.
fn version(compiler: &str) -> Option<&str> {
    compiler.strip_prefix("rustc ")?.split(' ').next()
}

fn place() -> PathBuf {
    root().join("crates/respire-commands/instructions.txt")
}

fn read() -> Result<Baseline, String> {
    let place = place();
    let text = std::fs::read_to_string(&place)
        .map_err(|error| format!("cannot read {}: {error}", place.display()))?;
    Ok(parse(&text))
}

/// Parses lines of a load and its count; `#` begins a comment, one of which names the compiler.
fn parse(text: &str) -> Baseline {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parse_line = |line: &str| {
        let (load, count) = line.split_once(' ')?;
        Some((load.to_owned(), count.trim().parse().ok()?))
    };
    let compiler = text.lines().find_map(|line| line.strip_prefix("# with "));
    Baseline {
        compiler: compiler.unwrap_or_default().to_owned(),
        counts: lines.filter_map(parse_line).collect(),
    }
}

fn write(counts: &[(&str, f64)]) -> Result<(), String> {
    let mut text = format!(
        "# Instructions a request, in user mode: written by cargo xtask instructions --accept,\n\
         # with {}\n",
        compiler()?
    );
    for (load, count) in counts {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{load} {count:.1}");
    }
    let place = place();
    std::fs::write(&place, text)
        .map_err(|error| format!("cannot write {}: {error}", place.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_is_read_from_valgrind_output() {
        let said = "==1== Events    : Ir\n==1== Collected : 34948608\n==1==\n";
        assert_eq!(collected(said), Some(34_948_608.0));
        assert_eq!(collected("==1== Collected : 0\n"), None);
        assert_eq!(collected("nothing"), None);
    }

    #[test]
    fn growth_beyond_three_percent_and_unknown_loads_are_errors() {
        let baseline =
            parse("# with rustc 1.95.0 (59807616e 2026-04-14)\nget 1000.0\nset 2000.0\n");
        assert_eq!(version(&baseline.compiler), Some("1.95.0"));
        let counts = &baseline.counts;
        assert_eq!(counts.len(), 2);
        assert_eq!(judge("get", 1029.9, counts), Ok(None));
        assert_eq!(judge("get", 970.1, counts), Ok(None));
        assert!(judge("get", 1031.0, counts).is_err());
        assert!(judge("mget", 1.0, counts).is_err());
    }

    #[test]
    fn count_far_below_its_baseline_is_reported() {
        let baseline = parse("get 1000.0\n");
        let note = judge("get", 500.0, &baseline.counts).unwrap().unwrap();
        assert!(
            note.contains("50.0 % below 1000.0") && note.contains("--accept"),
            "{note}"
        );
        assert_eq!(version(&baseline.compiler), None);
    }
}
