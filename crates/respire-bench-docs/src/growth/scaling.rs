//! A cost that was measured at several sizes.

use serde::Serialize;

use respire_bench::compare::{Grid, ratio};
use respire_bench::stats::Spread;

/// A cost by size.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// Its name for `--part`.
    pub name: &'static str,
    /// The title: the quantity that grows.
    pub title: &'static str,
    /// The unit of a size.
    pub sizes_of: &'static str,
    /// The unit of the cost.
    pub cost_of: &'static str,
    /// The method, and the meaning of the columns.
    pub method: String,
    /// The costs.
    pub series: Vec<Series>,
    /// The sizes left out, with reasons.
    pub left_out: Vec<String>,
}

/// One load on one server.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Server and load.
    pub name: String,
    /// Its points in ascending order of size.
    pub points: Vec<Point>,
}

/// The cost at one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Point {
    /// The size.
    pub size: u64,
    /// CPU time of the server in microseconds.
    pub cpu_us: Spread,
}

impl Series {
    /// A series from pairs of a size and the costs of all rounds.
    pub(super) fn new(
        name: impl Into<String>,
        costs: impl IntoIterator<Item = (u64, Vec<f64>)>,
    ) -> Self {
        let points = costs.into_iter().filter_map(|(size, costs)| {
            let cpu_us = Spread::of(costs)?;
            Some(Point { size, cpu_us })
        });
        Self {
            name: name.into(),
            points: points.collect(),
        }
    }

    /// Pairs of a size and its cost as a share of the smallest size's cost; empty if that is too
    /// small for the system's clock.
    pub(super) fn shares(&self) -> Vec<(f64, f64)> {
        let first = self.points.first().map_or(0.0, |point| point.cpu_us.median);
        if first == 0.0 {
            return Vec::new();
        }
        let share = |point: &Point| (point.size as f64, point.cpu_us.median / first);
        self.points.iter().map(share).collect()
    }
}

impl Scaling {
    /// Costs by size, each with its share of the smallest size's cost.
    pub(super) fn grid(&self) -> Grid {
        let longest = self.series.iter().max_by_key(|series| series.points.len());
        let sizes = longest.map_or(&[][..], |series| &series.points);
        let header = sizes.iter().map(|point| grouped(point.size));
        let corner = format!("CPU ns/{}", self.cost_of);
        let mut grid = Grid::new([corner].into_iter().chain(header));
        for series in &self.series {
            let first = series.points.first().map(|point| point.cpu_us.median);
            let cell = |point: &Point| {
                let own = point.cpu_us.median;
                format!("{:.0} ({})", own * 1_000.0, ratio(Some(own), first))
            };
            let cells = series.points.iter().map(cell);
            grid.push([series.name.clone()].into_iter().chain(cells));
        }
        grid
    }
}

/// Powers of ten from `first` to `last`.
pub(super) fn powers_of_ten(first: u64, last: u64) -> Vec<u64> {
    std::iter::successors(Some(first), |size| size.checked_mul(10))
        .take_while(|size| *size <= last)
        .collect()
}

/// `1,000,000`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_ten_with_grouped_digits() {
        assert_eq!(powers_of_ten(1, 1_000), [1, 10, 100, 1_000]);
        assert_eq!(powers_of_ten(1_000, 99_999), [1_000, 10_000]);
        assert_eq!(
            [7, 1_000, 1_234_567].map(grouped),
            ["7", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn shares_of_a_zero_cost_are_left_out() {
        let series = Series::new("GET", [(1_000, vec![0.0]), (10_000, vec![0.3])]);
        assert!(series.shares().is_empty());
        assert!(Series::new("GET", []).shares().is_empty());
    }

    #[test]
    fn grid_shows_costs_and_their_shares_of_the_first() {
        let scaling = Scaling {
            name: "keys",
            title: "Keys",
            sizes_of: "keys",
            cost_of: "command",
            method: String::new(),
            series: vec![Series::new(
                "GET",
                [(1_000, vec![0.3, 0.2, 0.1]), (10_000, vec![0.3])],
            )],
            left_out: Vec::new(),
        };
        let text = scaling.grid().to_string();
        assert!(
            text.contains("CPU ns/command") && text.contains("10,000"),
            "{text}"
        );
        assert!(
            text.contains("200 (1.00x)") && text.contains("300 (1.50x)"),
            "{text}"
        );
        assert_eq!(
            scaling.series[0].shares(),
            [(1_000.0, 1.0), (10_000.0, 1.4999999999999998)]
        );
    }
}
