//! The progress line that a terminal shows while a load runs.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::time::{Duration, Instant};

use crate::stats::Collector;

/// How often the line is updated.
const PERIOD: Duration = Duration::from_millis(500);

/// Writes the progress line to standard error, if that is a terminal.
pub struct Progress {
    /// When the line was last written; `None` if there is no terminal.
    last: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// A progress line; silent unless `wanted` and standard error is a terminal.
    pub fn new(wanted: bool) -> Self {
        Self {
            last: (wanted && stderr().is_terminal()).then(Instant::now),
            shown: false,
        }
    }

    /// Shows the progress of the load.
    pub fn show(&mut self, collector: &Collector) {
        let Some(last) = &mut self.last else { return };
        if last.elapsed() < PERIOD {
            return;
        }
        *last = Instant::now();
        if let Some(line) = line(collector) {
            self.shown = true;
            // A closed terminal is no reason to stop measuring.
            drop(write!(stderr(), "\r\x1b[K{line}"));
        }
    }
}

/// Clears the line, so that the report begins on an empty line.
impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            drop(write!(stderr(), "\r\x1b[K"));
        }
    }
}

fn line(collector: &Collector) -> Option<String> {
    let now = collector.moments().last()?;
    Some(format!(
        "{:6.1} s  {:>12} commands  {:>10.0}/s  p50 {:.1} µs  p99 {:.1} µs  errors {}",
        now.at_s,
        collector.commands(),
        now.per_second,
        now.p50_us,
        now.p99_us,
        collector.counts().errors + collector.counts().mismatches,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::{Interval, latencies};
    use crate::workload::Kind;

    #[test]
    fn line_shows_the_last_interval_and_the_totals() {
        let mut collector = Collector::new(Duration::from_secs(1), false);
        assert_eq!(line(&collector), None);
        for index in 0..2 {
            let mut histogram = latencies();
            histogram.record_n(1_000, 50).unwrap();
            let mut interval = Interval::empty(index);
            interval.kinds[Kind::Set.index()] = Some(histogram);
            collector.take(interval);
        }
        collector.finish();
        let line = line(&collector).unwrap();
        assert!(
            line.contains("100 commands") && line.contains("50/s"),
            "{line}"
        );
    }
}
