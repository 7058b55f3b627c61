//! Plots as SVG.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::error::{Error, Result};
use crate::stats::Moment;

const SIZE: (u32, u32) = (900, 480);

/// Writes `<prefix>-latency.svg`: latency (logarithmic) over percentile (as HDR plots draw it, each step to the right
/// ten times rarer), a line per series.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn latency(prefix: &Path, series: &[(&str, &[(f64, f64)])]) -> Result<()> {
    let points = || series.iter().flat_map(|(_, points)| points.iter());
    let top = points().map(|p| p.1).fold(1.0, f64::max) * 1.3;
    let low = points().map(|p| p.1).fold(top, f64::min).max(0.1) / 1.3;
    let longest = points().map(|p| -p.0.log10()).fold(1.0, f64::max);
    let path = beside(prefix, "latency");
    let draw = || {
        let root = SVGBackend::new(&path, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Latency by percentile", ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(70)
            .build_cartesian_2d(0.0..longest, (low..top).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("percentile")
            .y_desc("µs")
            .x_label_formatter(&|nines| percentile(*nines))
            .draw()?;
        for (index, (name, points)) in series.iter().enumerate() {
            let color = Palette99::pick(index).stroke_width(2);
            let line = points.iter().map(|p| (-p.0.log10(), p.1.max(low)));
            let drawn = chart.draw_series(LineSeries::new(line, color))?;
            if !name.is_empty() {
                drawn
                    .label(*name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
            }
        }
        if series.iter().any(|(name, _)| !name.is_empty()) {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        root.present()
    };
    draw().map_err(|e| failed(&path, &e))
}

/// Writes `<prefix>-throughput.svg`: commands per second over time, a line per series.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn throughput(prefix: &Path, series: &[(&str, &[Moment])]) -> Result<()> {
    let moments = || series.iter().flat_map(|(_, moments)| moments.iter());
    let top = moments().map(|m| m.per_second).fold(1.0, f64::max) * 1.1;
    let end = moments().map(|m| m.at_s).fold(0.1, f64::max);
    let path = beside(prefix, "throughput");
    let draw = || {
        let root = SVGBackend::new(&path, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .caption("Throughput over time", ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(90)
            .build_cartesian_2d(0.0..end, 0.0..top)?;
        chart
            .configure_mesh()
            .x_desc("seconds")
            .y_desc("commands per second")
            .y_label_formatter(&|y| format!("{y:.0}"))
            .draw()?;
        for (index, (name, moments)) in series.iter().enumerate() {
            let color = Palette99::pick(index).stroke_width(2);
            let line = moments.iter().map(|m| (m.at_s, m.per_second));
            let drawn = chart.draw_series(LineSeries::new(line, color))?;
            if !name.is_empty() {
                drawn
                    .label(*name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
            }
        }
        if series.iter().any(|(name, _)| !name.is_empty()) {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::LowerRight)
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        root.present()
    };
    draw().map_err(|e| failed(&path, &e))
}

/// `2.0` is the 99th percentile: two nines.
fn percentile(nines: f64) -> String {
    let text = format!("{:.3}", 100.0 * (1.0 - 10_f64.powf(-nines)));
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} %")
}

fn beside(prefix: &Path, kind: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(format!("-{kind}.svg"));
    path.into()
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::io(format!("--svg {}", path.display()))(std::io::Error::other(error.to_string()))
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
