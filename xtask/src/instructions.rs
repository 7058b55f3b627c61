//! The instructions that requests cost, counted by Valgrind and held against a baseline: unlike
//! times they are the same on a busy machine.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, root, run, run_quietly, succeeds};
use std::fmt::Write as _;
use std::path::PathBuf;

/// What is counted: loads of the example `turns`. With `-ahead`, the keys of a pipeline are looked
/// ahead to, as in a store that is beyond the caches.
const LOADS: &[&str] = &[
    "ping",
    "get",
    "set",
    "mget",
    "get-ahead",
    "set-ahead",
    "mget-ahead",
    "decode",
    "encode",
];

const KEYS: &str = "20000";
const REQUESTS: u32 = 32_768;

/// How much more than the baseline is too much.
const GROWTH_PERCENT_MAX: f64 = 3.0;

/// Counts, and compares with the baseline; with `--accept`, writes it anew.
pub(crate) fn instructions(options: &[&str]) -> Result<(), String> {
    let accepts = match options {
        [] => false,
        ["--accept"] => true,
        _ => return Err("instructions takes --accept and nothing else".to_owned()),
    };
    if !succeeds("valgrind", &["--version"]) {
        return Err(
            "valgrind counts, and is not installed (Debian: apt-get install valgrind)".to_owned(),
        );
    }
    // Thin optimisation across crates builds in a fraction of the time, and shows the same changes.
    run(cargo()
        .args([
            "build",
            "--release",
            "--config",
            "profile.release.lto=\"thin\"",
        ])
        .args(["-p", "respire-commands", "--example", "turns"]))?;
    let mut counts = Vec::new();
    for load in LOADS {
        let count = count(load)?;
        println!("{load:12} {count:8.1} instructions a request");
        counts.push((*load, count));
    }
    if accepts {
        return write(&counts);
    }
    let baseline = read()?;
    let problems: Vec<String> = counts
        .iter()
        .filter_map(|(load, count)| compare(load, *count, &baseline))
        .collect();
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

/// Instructions a request of a load, in user mode, as Callgrind has them.
fn count(load: &str) -> Result<f64, String> {
    let example = target_dir()?.join("release/examples/turns");
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

/// The number behind `Collected :`.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("Collected :"))?;
    let number = line.rsplit(' ').next()?.parse().ok()?;
    (number > 0.0).then_some(number)
}

/// What is wrong with a count, if anything is.
fn compare(load: &str, count: f64, baseline: &[(String, f64)]) -> Option<String> {
    let Some((_, before)) = baseline.iter().find(|(known, _)| known == load) else {
        return Some(format!("{load}: no baseline; write it with --accept"));
    };
    let percent = (count / before - 1.0) * 100.0;
    (percent > GROWTH_PERCENT_MAX).then(|| {
        format!("{load}: {count:.1} instructions a request, {percent:.1} % above {before:.1}")
    })
}

fn place() -> PathBuf {
    root().join("crates/respire-commands/instructions.txt")
}

fn read() -> Result<Vec<(String, f64)>, String> {
    let place = place();
    let text = std::fs::read_to_string(&place)
        .map_err(|error| format!("cannot read {}: {error}", place.display()))?;
    Ok(parse(&text))
}

/// Lines of a load and its count; `#` begins a remark.
fn parse(text: &str) -> Vec<(String, f64)> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parse_line = |line: &str| {
        let (load, count) = line.split_once(' ')?;
        Some((load.to_owned(), count.trim().parse().ok()?))
    };
    lines.filter_map(parse_line).collect()
}

fn write(counts: &[(&str, f64)]) -> Result<(), String> {
    let compiler = run_quietly(command("rustc").arg("--version"))?;
    let mut text = format!(
        "# Instructions a request, in user mode: written by cargo xtask instructions --accept,\n\
         # with {}\n",
        compiler.trim()
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
    fn count_is_read_from_what_valgrind_says() {
        let said = "==1== Events    : Ir\n==1== Collected : 34948608\n==1==\n";
        assert_eq!(collected(said), Some(34_948_608.0));
        assert_eq!(collected("==1== Collected : 0\n"), None);
        assert_eq!(collected("nothing"), None);
    }

    #[test]
    fn growth_beyond_three_percent_is_a_problem_and_so_is_an_unknown_load() {
        let baseline = parse("# remark\nget 1000.0\nset 2000.0\n");
        assert_eq!(baseline.len(), 2);
        assert_eq!(compare("get", 1029.9, &baseline), None);
        assert_eq!(compare("get", 500.0, &baseline), None);
        assert!(compare("get", 1031.0, &baseline).is_some());
        assert!(compare("mget", 1.0, &baseline).is_some());
    }
}
