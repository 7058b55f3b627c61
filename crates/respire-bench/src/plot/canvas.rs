//! Shared parts of all plots: an SVG file, and curves in a frame.

use std::error::Error as StdError;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use crate::error::{Error, Result};

/// Width and height of a plot of curves.
pub const SIZE: (u32, u32) = (1000, 480);
/// The font of all text in a plot.
pub const FONT: &str = "sans-serif";
/// The font size of captions.
pub const LARGE: i32 = 24;
/// The font size of axes and legends.
pub const MEDIUM: i32 = 16;

/// The result of drawing.
pub type Drawn = std::result::Result<(), Box<dyn StdError>>;

/// A part of a plot to draw on.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A curve's name, empty if it is the only one, and its points.
pub type Curve<'a> = (&'a str, Vec<(f64, f64)>);

/// The caption and the axes of a plot of curves.
pub struct Frame<'a> {
    /// The caption.
    pub caption: &'a str,
    /// The quantity of the horizontal axis.
    pub x: &'a str,
    /// The quantity of the vertical axis, with its unit.
    pub y: &'a str,
    /// The most labels on the horizontal axis.
    pub x_labels: usize,
    /// The label of a value on the horizontal axis.
    pub x_label: &'a dyn Fn(f64) -> String,
    /// The label of a value on the vertical axis.
    pub y_label: &'a dyn Fn(f64) -> String,
}

impl Frame<'_> {
    /// Draws curves on these axes, with a legend if a curve has a name.
    ///
    /// # Errors
    /// The errors of the drawing library.
    pub fn curves<Y>(&self, root: &Area<'_>, x: Range<f64>, y: Y, curves: Vec<Curve<'_>>) -> Drawn
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(root)
            .caption(self.caption, (FONT, LARGE))
            .margin(12)
            // Space for half of the last label.
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

/// Writes a plot of this size; `content` draws it.
///
/// # Errors
/// [`Error::Io`] if the file cannot be written.
pub fn draw(path: &Path, size: (u32, u32), content: impl FnOnce(&Area<'_>) -> Drawn) -> Result<()> {
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

/// `<prefix>-<kind>.svg`.
pub fn beside(prefix: &Path, kind: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(format!("-{kind}.svg"));
    path.into()
}
