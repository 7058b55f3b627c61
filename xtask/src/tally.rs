//! Counts the checks that passed and failed.

use crate::output::say;

/// The counts of a run, with the names of the failed checks.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: u64,
    failed: u64,
    failures: Vec<String>,
}

impl Tally {
    /// Counts one check.
    pub(crate) fn check(&mut self, name: &str, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => {
                say(&format!("ok      {name}"));
                self.passed += 1;
            }
            Err(problem) => {
                say(&format!("FAILED  {name}: {problem}"));
                self.failed += 1;
                self.failures
                    .push(format!("{name}: {}", problem.lines().next().unwrap_or("")));
            }
        }
    }

    /// Counts the result in a line of `cargo test`, if it has one.
    pub(crate) fn count_line(&mut self, line: &str) {
        if let Some((passed, failed)) = test_result(line) {
            self.passed += passed;
            self.failed += failed;
        }
        if let Some(name) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix(" ... FAILED"))
        {
            self.failures.push(name.to_owned());
        }
    }

    /// Adds the counts of a part of the run.
    pub(crate) fn add(&mut self, part: Self) {
        self.passed += part.passed;
        self.failed += part.failed;
        self.failures.extend(part.failures);
    }

    /// Prints the summary; its last line is `N passed, N failed`.
    pub(crate) fn finish(self) -> Result<(), String> {
        println!();
        for failure in &self.failures {
            println!("failed: {failure}");
        }
        let summary = format!("{} passed, {} failed", self.passed, self.failed);
        if self.failed > 0 {
            return Err(summary);
        }
        println!("{summary}");
        Ok(())
    }
}

/// Parses `test result: ok. 12 passed; 0 failed; ...`.
fn test_result(line: &str) -> Option<(u64, u64)> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut numbers = counts
        .split("; ")
        .map(|count| count.split(' ').next()?.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_test_are_counted() {
        let mut tally = Tally::default();
        tally.count_line("test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured");
        tally.count_line("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured");
        tally.count_line("test a::b ... FAILED");
        tally.count_line("running 3 tests");
        assert_eq!((tally.passed, tally.failed), (15, 2));
        assert_eq!(tally.failures, ["a::b"]);
    }
}
