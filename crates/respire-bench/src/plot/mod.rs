//! Writes plots of latency and throughput as SVG.

pub mod canvas;

use std::path::Path;

use plotters::prelude::*;

use crate::error::Result;
use crate::stats::Moment;
use canvas::{Frame, SIZE, beside, draw};

/// Writes `<prefix>-latency.svg`: latency (logarithmic) over percentile (as in HDR plots, each step
/// to the right is ten times rarer), a line per series of (share of requests that are longer,
/// microseconds).
///
/// # Errors
/// [`Error::Io`](crate::error::Error::Io) if the file cannot be written.
pub fn latency(prefix: &Path, series: &[(&str, &[(f64, f64)])]) -> Result<()> {
    let points = || series.iter().flat_map(|(_, points)| points.iter());
    let top = points().map(|p| p.1).fold(1.0, f64::max) * 1.3;
    let low = points().map(|p| p.1).fold(top, f64::min).max(0.1) / 1.3;
    let longest = points().map(|p| -p.0.log10()).fold(1.0, f64::max);
    let curves = series.iter().map(|(name, points)| {
        let points = points.iter().map(|p| (-p.0.log10(), p.1.max(low)));
        (*name, points.collect())
    });
    let frame = Frame {
        caption: "Latency by percentile",
        x: "percentile",
        y: "µs",
        x_labels: 11,
        x_label: &percentile,
        y_label: &|us| format!("{us}"),
    };
    draw(&beside(prefix, "latency"), SIZE, |root| {
        let y: LogCoord<f64> = (low..top).log_scale().into();
        frame.curves(root, 0.0..longest, y, curves.collect())
    })
}

/// Writes `<prefix>-throughput.svg`: commands per second over time, a line per series.
///
/// # Errors
/// [`Error::Io`](crate::error::Error::Io) if the file cannot be written.
pub fn throughput(prefix: &Path, series: &[(&str, &[Moment])]) -> Result<()> {
    let moments = || series.iter().flat_map(|(_, moments)| moments.iter());
    let top = moments().map(|m| m.per_second).fold(1.0, f64::max) * 1.1;
    let end = moments().map(|m| m.at_s).fold(0.1, f64::max);
    let curves = series.iter().map(|(name, moments)| {
        let points = moments.iter().map(|m| (m.at_s, m.per_second));
        (*name, points.collect())
    });
    let frame = Frame {
        caption: "Throughput over time",
        x: "seconds",
        y: "commands per second",
        x_labels: 11,
        x_label: &|seconds| format!("{seconds:.1}"),
        y_label: &|rate| format!("{rate:.0}"),
    };
    draw(&beside(prefix, "throughput"), SIZE, |root| {
        frame.curves(root, 0.0..end, 0.0..top, curves.collect())
    })
}

/// `2.0` is the 99th percentile: two nines.
fn percentile(nines: f64) -> String {
    let text = format!("{:.3}", 100.0 * (1.0 - 10_f64.powf(-nines)));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_labels_count_nines() {
        let labels = [0.0, 1.0, 2.0, 3.0].map(percentile);
        assert_eq!(labels, ["0 %", "90 %", "99 %", "99.9 %"]);
    }

    #[test]
    fn plot_of_two_series_names_both() {
        let name = format!("respire-bench-plot-{}", std::process::id());
        let prefix = std::env::temp_dir().join(name);
        let points = [(1.0, 5.0), (0.1, 20.0), (0.01, 90.0)];
        latency(&prefix, &[("one", &points), ("two", &points)]).unwrap();
        let moment = Moment {
            at_s: 0.0,
            per_second: 9.0,
            p50_us: 1.0,
            p99_us: 1.0,
            max_us: 1.0,
        };
        throughput(&prefix, &[("one", &[moment]), ("two", &[moment])]).unwrap();
        for kind in ["latency", "throughput"] {
            let path = beside(&prefix, kind);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert!(text.contains("one") && text.contains("two"), "{kind}");
        }
    }
}
