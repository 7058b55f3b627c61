//! A table that is readable as text and valid Markdown.

use std::fmt;

/// Rows of cells under a header. The first column is text, the others are numbers.
///
/// ```
/// use respire_bench::compare::Grid;
/// let mut grid = Grid::new(["server", "µs"]);
/// grid.push(["redis", "0.93"]);
/// assert_eq!(grid.to_string(), "| server |   µs |\n|:-------|-----:|\n| redis  | 0.93 |\n");
/// ```
#[derive(Clone, Debug)]
pub struct Grid {
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub fn new(header: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let mut grid = Self { rows: Vec::new() };
        grid.push(header);
        grid
    }

    /// Adds a row.
    pub fn push(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells
                .map(|cell: &String| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for (index, row) in self.rows.iter().enumerate() {
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "| {cell:<width$} ")?,
                    _ => write!(f, "| {cell:>width$} ")?,
                }
            }
            writeln!(f, "|")?;
            if index == 0 {
                for (column, width) in widths.iter().enumerate() {
                    match column {
                        0 => write!(f, "|:{:-<1$}", "", width + 1)?,
                        _ => write!(f, "|{:-<1$}:", "", width + 1)?,
                    }
                }
                writeln!(f, "|")?;
            }
        }
        Ok(())
    }
}
