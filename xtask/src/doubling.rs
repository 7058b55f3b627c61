//! Checks that twice the size takes twice the work: counts the instructions of commands at one size
//! and at twice that size with Valgrind.

use crate::cargo::{cargo, target_dir};
use crate::machine::{command, run, run_quietly, succeeds};
use crate::output::say;
use std::path::Path;

/// The largest accepted ratio of work. It exceeds 2 because of sorts and of tables that grow.
const RATIO_MAX: f64 = 2.3;

/// The profile of Cargo.toml to count with.
const PROFILE: &str = "instructions";

/// The function of the example to count, after which Valgrind writes a file.
const MEASURED: &str = "doubling::measured";

/// A case at one of its sizes, as the example names it, and its instructions.
type Count = (String, f64);

/// Counts all cases, and reports those that grow faster than their size.
pub(crate) fn check() -> Result<(), String> {
    let counts = counts()?;
    let problems: Vec<String> = counts
        .chunks_exact(2)
        .filter_map(|pair| judge(&pair[0], &pair[1]))
        .collect();
    if problems.is_empty() {
        let cases = counts.len() / 2;
        say(&format!(
            "{cases} cases cost twice as much at twice the size, or less"
        ));
        Ok(())
    } else {
        Err(problems.join("\n"))
    }
}

/// The problem of a case, if it has one.
fn judge((_, once): &Count, (case, twice): &Count) -> Option<String> {
    let ratio = twice / once;
    say(&format!("{ratio:5.2} {twice:12.0} instructions: {case}"));
    (ratio > RATIO_MAX).then(|| format!("{case}: {ratio:.2} times the work of half the size"))
}

fn counts() -> Result<Vec<Count>, String> {
    if !succeeds("valgrind", &["--version"]) {
        return Err(
            "valgrind counts, and is not installed (Debian: apt-get install valgrind)".to_owned(),
        );
    }
    let mut build = cargo();
    build.args(["build", "--profile", PROFILE, "-p", "respire-commands"]);
    run(build.args(["--example", "doubling"]))?;
    let target = target_dir()?;
    let place = target.join("doubling");
    // Remove files of an earlier run, so that they are not taken for new ones.
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place)
        .map_err(|error| format!("cannot make {}: {error}", place.display()))?;
    let mut valgrind = command("valgrind");
    valgrind
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!(
            "--callgrind-out-file={}",
            place.join("out").display()
        ))
        .arg(format!("--toggle-collect={MEASURED}"))
        .arg(format!("--dump-after={MEASURED}"))
        .arg(target.join(PROFILE).join("examples/doubling"));
    let said = run_quietly(&mut valgrind)?;
    let sizes = said.lines().filter_map(|line| line.rsplit_once(": "));
    (1..)
        .zip(sizes)
        .map(|(nth, (case, _))| Ok((case.to_owned(), total(&place.join(format!("out.{nth}")))?)))
        .collect()
}

/// The instructions in a file of Callgrind.
fn total(place: &Path) -> Result<f64, String> {
    let text = std::fs::read_to_string(place)
        .map_err(|error| format!("cannot read {}: {error}", place.display()))?;
    total_in(&text).ok_or_else(|| format!("{} does not tell what was counted", place.display()))
}

/// The number after `totals:`.
fn total_in(text: &str) -> Option<f64> {
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("totals: "))?;
    total.parse().ok().filter(|total| *total > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn total_is_read_from_a_callgrind_file() {
        assert_eq!(
            total_in("events: Ir\nfn=(1)\n5 6\ntotals: 1343467\n"),
            Some(1_343_467.0)
        );
        assert_eq!(total_in("totals: 0\n"), None);
        assert_eq!(total_in(""), None);
    }

    #[test]
    fn work_that_grows_faster_than_its_size_is_reported() {
        let count = |instructions| ("DUMP 2000".to_owned(), instructions);
        assert_eq!(judge(&count(1000.0), &count(2299.0)), None);
        assert!(judge(&count(1000.0), &count(2301.0)).is_some());
        assert_eq!(judge(&count(1000.0), &count(1000.0)), None);
    }
}
