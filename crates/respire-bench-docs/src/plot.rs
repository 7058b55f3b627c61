//! The plots that only documents show: bars, and shares over sizes.

use std::path::Path;

use plotters::prelude::*;
use respire_bench::error::Result;
use respire_bench::plot::canvas::{
    Area, Curve, Drawn, FONT, Frame, LARGE, MEDIUM, SIZE, beside, draw,
};

/// The size of each panel in a plot of several.
const PANEL_SIZE: (u32, u32) = (1400, 300);
/// The font size of numbers at bars.
const SMALL: i32 = 13;

/// A group's name, and its bars: the name and number of each.
pub type Group<'a> = (&'a str, Vec<(&'a str, f64)>);

/// Groups of bars under a caption.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// The quantity of the bars, with its unit.
    pub caption: &'a str,
    /// The groups, from left to right.
    pub groups: Vec<Group<'a>>,
}

/// What the height of a bar shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Height {
    /// The share of the group's first bar.
    Share,
    /// The number itself.
    Number,
}

/// The free space around bars.
struct Room {
    /// Height of the plot as a multiple of the greatest bar.
    above: f64,
    /// Width beside the last group, as a number of groups.
    beside: f64,
    /// The distance of numbers above bars, as a share of the plot.
    lift: f64,
}

impl Height {
    /// The legend is above shares, and beside the flat panels of numbers.
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

/// Writes `path`: shares of a first number over sizes (logarithmic), a line per series of (size, share).
///
/// # Errors
/// [`Error::Io`](respire_bench::error::Error::Io) if the file cannot be written.
pub fn shares(path: &Path, caption: &str, sizes_of: &str, curves: &[Curve<'_>]) -> Result<()> {
    let points = || curves.iter().flat_map(|(_, points)| points.iter());
    let powers = || points().map(|p| p.0.log10());
    let first = powers().reduce(f64::min).unwrap_or(0.0);
    let last = powers().fold(first + 1.0, f64::max);
    // Space for the legend above nearly flat curves.
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
/// [`Error::Io`](respire_bench::error::Error::Io) if the file cannot be written.
pub fn bars(prefix: &Path, kind: &str, caption: &str, groups: &[Group<'_>]) -> Result<()> {
    draw(&beside(prefix, kind), SIZE, |root| {
        draw_bars(root, caption, groups, Height::Share)
    })
}

/// Writes `<prefix>-<kind>.svg`: panels below each other, each with groups of bars as high as their numbers.
///
/// # Errors
/// [`Error::Io`](respire_bench::error::Error::Io) if the file cannot be written.
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
            chart.draw_series([Text::new(round_to_three_digits(*number), at, small.clone())])?;
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

/// A number with about three digits.
fn round_to_three_digits(number: f64) -> String {
    match number {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_at_bars_have_three_digits() {
        let texts = [0.5, 12.34, 1234.5].map(round_to_three_digits);
        assert_eq!(texts, ["0.50", "12.3", "1234"]);
    }

    #[test]
    fn plot_of_two_series_names_both() {
        let name = format!("respire-bench-docs-plot-{}", std::process::id());
        let prefix = std::env::temp_dir().join(name);
        let points = [(1.0, 5.0), (0.1, 20.0), (0.01, 90.0)];
        let group = ("row", vec![("one", 0.9), ("two", 0.3)]);
        bars(&prefix, "cpu", "CPU", std::slice::from_ref(&group)).unwrap();
        let curves = [("one", points.to_vec()), ("two", points.to_vec())];
        shares(&beside(&prefix, "shares"), "CPU", "keys", &curves).unwrap();
        let panel = Panel {
            caption: "CPU",
            groups: vec![group],
        };
        panels(&prefix, "panels", &[panel.clone(), panel]).unwrap();
        for kind in ["cpu", "panels", "shares"] {
            let path = beside(&prefix, kind);
            let text = std::fs::read_to_string(&path).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert!(text.contains("one") && text.contains("two"), "{kind}");
        }
    }
}
