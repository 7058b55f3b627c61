//! The measurements of a run: histograms per command and interval, merged, and written out.

mod beside;
mod collector;
mod latency;
mod recorder;
mod report;

pub use beside::BesideReport;
pub use collector::{Collector, Moment};
pub use latency::{Latency, Spread, quantiles_us};
pub use recorder::{Counts, Interval, Recorder};
pub(crate) use report::Facts;
pub use report::{KindReport, Report};

use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::error::{Error, Result};

/// Latencies in nanoseconds, to three digits, up to a minute; longer ones count as a minute.
pub type Latencies = Histogram<u64>;

/// The longest latency that is distinguished: one minute.
const LATENCY_NS_MAX: u64 = 60_000_000_000;

/// An empty histogram. About 200 KiB, of which only the used part is touched.
///
/// # Panics
/// Never: its limits are valid constants.
#[must_use]
pub fn latencies() -> Latencies {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("the bounds are in the domain")
}

/// Adds `from` to `into`.
pub(crate) fn merge(into: &mut Latencies, from: &Latencies) {
    into.add(from).expect("all are of the same bounds");
}

/// Writes `value` as indented JSON.
///
/// # Errors
/// [`Error::Io`] with `--json` and the path.
///
/// # Panics
/// For a map whose keys are not strings, which JSON does not allow.
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<()> {
    let mut text = serde_json::to_string_pretty(value).expect("keys are strings");
    text.push('\n');
    fs::write(path, text).map_err(Error::io(format!("--json {}", path.display())))
}
