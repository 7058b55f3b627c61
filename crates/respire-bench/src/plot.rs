//! Plots as SVG.

use std::error::Error as StdError;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::error::{Error, Result};
use crate::stats::Moment;

const SIZE: (u32, u32) = (1000, 480);
/// Size of each of several panels in one plot.
const PANEL_SIZE: (u32, u32) = (1400, 300);
const FONT: &str = "sans-serif";
/// Sizes of captions, axes and legends, numbers at bars.
const LARGE: i32 = 24;
const MEDIUM: i32 = 16;
const SMALL: i32 = 13;

type Drawn = std::result::Result<(), Box<dyn StdError>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A group's name, and its bars: whose and how much.
pub type Group<'a> = (&'a str, Vec<(&'a str, f64)>);

/// Groups of bars under a caption.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// What the bars are, with its unit.
    pub caption: &'a str,
    /// The groups, from left to right.
    pub groups: Vec<Group<'a>>,
}

/// What the height of a bar says.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Height {
    /// Its share of its group's first bar.
    Share,
    /// Its number.
    Number,
}

/// What is left free around bars.
struct Room {
    /// Height of the plot in heights of the greatest bar.
    above: f64,
    /// Width beside the last group, in groups.
    beside: f64,
    /// How far numbers stand above bars, as a share of the plot.
    lift: f64,
}

impl Height {
    /// The legend stands above shares, and beside the flat panels of numbers.
    fn room(self) -> Room {
        match self {
            Self::Share => Room {
                above: 1.5,
                beside: 0.0,
                lift: 0.03,
            },
            Self::Number => Room {
                above: 1.2,
                beside: 1.1,
                lift: 0.09,
            },
        }
    }

    /// The height of the bar at `index`.
    fn of(self, bars: &[(&str, f64)], index: usize) -> f64 {
        match self {
            Self::Share => bars[index].1 / bars[0].1.max(f64::MIN_POSITIVE),
            Self::Number => bars[index].1,
        }
    }

    fn label(self, height: f64) -> String {
        match self {
            Self::Share => format!("{height:.1}x"),
            Self::Number => format!("{height}"),
        }
    }
}

/// A curve's name, empty if it is the only one, and its points.
pub type Curve<'a> = (&'a str, Vec<(f64, f64)>);

/// Writes `<prefix>-latency.svg`: latency (logarithmic) over percentile (as HDR plots draw it, each step to the right
/// ten times rarer), a line per series of (share of requests that are longer, microseconds).
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
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
/// [`Error::Io`] if the file cannot be written.
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

/// Writes `path`: shares of a first number over sizes (logarithmic), a line per series of (size, share).
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn shares(path: &Path, caption: &str, sizes_of: &str, curves: &[Curve<'_>]) -> Result<()> {
    let points = || curves.iter().flat_map(|(_, points)| points.iter());
    let powers = || points().map(|p| p.0.log10());
    let first = powers().reduce(f64::min).unwrap_or(0.0);
    let last = powers().fold(first + 1.0, f64::max);
    // Room for the legend above what is nearly flat.
    let top = points().map(|p| p.1).fold(1.0, f64::max) * 1.8;
    let curves = curves.iter().map(|(name, points)| {
        let points = points.iter().map(|p| (p.0.log10(), p.1));
        (*name, points.collect())
    });
    let frame = Frame {
        caption,
        x: sizes_of,
        y: "ratio to the smallest size",
        x_labels: (last - first).round() as usize + 1,
        x_label: &|power| format!("{:.0}", 10_f64.powf(power)),
        y_label: &|share| format!("{share:.1}x"),
    };
    draw(path, SIZE, |root| {
        frame.curves(root, first..last, 0.0..top, curves.collect())
    })
}

/// Writes `<prefix>-<kind>.svg`: groups of bars, each group in shares of its first bar, each bar with its number.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn bars(prefix: &Path, kind: &str, caption: &str, groups: &[Group<'_>]) -> Result<()> {
    draw(&beside(prefix, kind), SIZE, |root| {
        draw_bars(root, caption, groups, Height::Share)
    })
}

/// Writes `<prefix>-<kind>.svg`: panels below each other, each with groups of bars as high as their numbers.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn panels(prefix: &Path, kind: &str, panels: &[Panel<'_>]) -> Result<()> {
    let (width, height) = PANEL_SIZE;
    let size = (width, height * panels.len() as u32);
    draw(&beside(prefix, kind), size, |root| {
        for (area, panel) in root.split_evenly((panels.len(), 1)).iter().zip(panels) {
            draw_bars(area, panel.caption, &panel.groups, Height::Number)?;
        }
        Ok(())
    })
}

fn draw_bars(root: &Area<'_>, caption: &str, groups: &[Group<'_>], height: Height) -> Drawn {
    const GAP: f64 = 0.1;
    let room = height.room();
    let heights = groups
        .iter()
        .flat_map(|(_, bars)| (0..bars.len()).map(|i| height.of(bars, i)));
    let least = if height == Height::Share { 1.0 } else { 0.0 };
    let top = heights.filter(|h| h.is_finite()).fold(least, f64::max) * room.above;
    let top = top.max(f64::MIN_POSITIVE);
    let end = groups.len() as f64 + room.beside;
    let mut chart = ChartBuilder::on(root)
        .caption(caption, (FONT, LARGE))
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..end, 0.0..top)?;
    chart
        .configure_mesh()
        .label_style((FONT, MEDIUM))
        .disable_x_mesh()
        .disable_x_axis()
        .y_label_formatter(&|y| height.label(*y))
        .draw()?;
    let names = groups
        .iter()
        .flat_map(|(_, bars)| bars.iter().map(|bar| bar.0));
    let mut seen: Vec<&str> = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    for (color, name) in seen.iter().enumerate() {
        let fill = Palette99::pick(color).filled();
        let rectangles = groups.iter().enumerate().filter_map(|(group, (_, bars))| {
            let index = bars.iter().position(|bar| bar.0 == *name)?;
            let width = (1.0 - 2.0 * GAP) / bars.len() as f64;
            let left = group as f64 + GAP + index as f64 * width;
            let corners = [(left, 0.0), (left + width * 0.9, height.of(bars, index))];
            Some(Rectangle::new(corners, fill))
        });
        chart
            .draw_series(rectangles)?
            .label(*name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 14, y + 5)], fill));
    }
    let small = (FONT, SMALL).into_font();
    for (group, (name, bars)) in groups.iter().enumerate() {
        let center = (group as f64 + 0.4, -top * 0.03);
        chart.draw_series([Text::new((*name).to_owned(), center, small.clone())])?;
        for (index, (_, number)) in bars.iter().enumerate() {
            let width = (1.0 - 2.0 * GAP) / bars.len() as f64;
            let at = (
                group as f64 + GAP + index as f64 * width,
                height.of(bars, index) + top * room.lift,
            );
            chart.draw_series([Text::new(three_digits(*number), at, small.clone())])?;
        }
    }
    chart
        .configure_series_labels()
        .label_font((FONT, MEDIUM))
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

/// What stands around curves.
struct Frame<'a> {
    caption: &'a str,
    x: &'a str,
    y: &'a str,
    /// Most labels below.
    x_labels: usize,
    x_label: &'a dyn Fn(f64) -> String,
    y_label: &'a dyn Fn(f64) -> String,
}

impl Frame<'_> {
    fn curves<Y>(&self, root: &Area<'_>, x: Range<f64>, y: Y, curves: Vec<Curve<'_>>) -> Drawn
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(root)
            .caption(self.caption, (FONT, LARGE))
            .margin(12)
            // Room for the half of the last label.
            .margin_right(40)
            .x_label_area_size(40)
            .y_label_area_size(90)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .label_style((FONT, MEDIUM))
            .x_desc(self.x)
            .x_labels(self.x_labels)
            .y_desc(self.y)
            .x_label_formatter(&|x| (self.x_label)(*x))
            .y_label_formatter(&|y| (self.y_label)(*y))
            .draw()?;
        let named = curves.iter().any(|(name, _)| !name.is_empty());
        for (index, (name, points)) in curves.into_iter().enumerate() {
            let color = Palette99::pick(index).stroke_width(2);
            let drawn = chart.draw_series(LineSeries::new(points, color))?;
            if !name.is_empty() {
                drawn
                    .label(name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color));
            }
        }
        if named {
            chart
                .configure_series_labels()
                .label_font((FONT, MEDIUM))
                .position(SeriesLabelPosition::UpperLeft)
                .background_style(WHITE.mix(0.8))
                .draw()?;
        }
        Ok(())
    }
}

fn draw(path: &Path, size: (u32, u32), content: impl FnOnce(&Area<'_>) -> Drawn) -> Result<()> {
    let drawn = || -> Drawn {
        let root = SVGBackend::new(path, size).into_drawing_area();
        root.fill(&WHITE)?;
        content(&root)?;
        Ok(root.present()?)
    };
    drawn().map_err(|e| {
        Error::io(format!("--svg {}", path.display()))(std::io::Error::other(e.to_string()))
    })
}

/// A number with about three digits.
fn three_digits(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_labels_count_nines() {
        let labels = [0.0, 1.0, 2.0, 3.0].map(percentile);
        assert_eq!(labels, ["0 %", "90 %", "99 %", "99.9 %"]);
    }

    #[test]
    fn numbers_at_bars_have_three_digits() {
        let texts = [0.5, 12.34, 1234.5].map(three_digits);
        assert_eq!(texts, ["0.50", "12.3", "1234"]);
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
        let group = ("row", vec![("one", 0.9), ("two", 0.3)]);
        bars(&prefix, "cpu", "CPU", std::slice::from_ref(&group)).unwrap();
        let curves = [("one", points.to_vec()), ("two", points.to_vec())];
        shares(&beside(&prefix, "shares"), "CPU", "keys", &curves).unwrap();
        let panel = Panel {
            caption: "CPU",
            groups: vec![group],
        };
        panels(&prefix, "panels", &[panel.clone(), panel]).unwrap();
        for kind in ["latency", "throughput", "cpu", "panels", "shares"] {
            let path = beside(&prefix, kind);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert!(text.contains("one") && text.contains("two"), "{kind}");
        }
    }
}
