//! Runs the tests for use between edits: those of the default features that take seconds.

use crate::cargo::cargo;
use crate::machine::run;
use crate::steps::steps;
use crate::{suites, tidy};

/// The tests to build and run: unit tests, and integration tests that are quick to build and to
/// run.
const TARGETS: &[&str] = &[
    "--workspace",
    "--lib",
    "--test=properties",
    "--test=model",
    "--test=derive",
    "--test=blocking",
    "--test=binary",
    "--test=transcripts",
    "--test=descriptions",
    "--test=coverage",
    "--test=documents",
    "--test=readme",
];

/// Runs the format check, the rules for the sources, and the quick tests.
pub(crate) fn test() -> Result<(), String> {
    steps(|steps| {
        steps.now("the format of the sources", |tally| {
            let fmt = run(cargo().args(["fmt", "--all", "--check"]));
            tally.check("the format of the sources", fmt);
        });
        steps.now("tidy", |tally| {
            let problems = tidy::problems().and_then(|problems| match problems.as_slice() {
                [] => Ok(()),
                problems => Err(problems.join("\n")),
            });
            tally.check("tidy", problems);
        });
        suites::check_binaries(steps, "quick", TARGETS);
        Ok(())
    })
}
