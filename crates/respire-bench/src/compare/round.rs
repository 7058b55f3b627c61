//! Runs the rounds of a comparison and summarises each server's results.

use std::time::Duration;

use serde::Serialize;

use super::{Contender, Grid};
use crate::check::Verify;
use crate::engine::{Bound, Load};
use crate::error::{Error, Result};
use crate::os;
use crate::stats::{Moment, Report, Spread};

/// One load on several servers.
#[derive(Clone, Debug)]
pub struct Contest {
    /// The load; each server's address replaces its target.
    pub load: Load,
    /// Whether to store every key before the first round.
    pub populate: bool,
    /// The number of rounds.
    pub rounds: usize,
    /// The longest load on each server before the first round.
    pub warm_up: Duration,
}

/// One measurement of one server.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    /// Commands answered per second.
    pub per_second: f64,
    /// Median latency in microseconds.
    pub p50_us: f64,
    /// 99th percentile in microseconds.
    pub p99_us: f64,
    /// CPU time of the server per command in microseconds, if its process is known.
    pub cpu_us: Option<f64>,
    /// The share of the time that the load generator was busy.
    pub load_share: f64,
}

/// The results of a server over all rounds.
#[derive(Clone, Debug, Serialize)]
pub struct Standing {
    /// The server's name.
    pub name: String,
    /// Its command line, if this program started it.
    pub line: Option<String>,
    /// Whether it is the null server.
    pub is_floor: bool,
    /// The measurements of each round.
    pub samples: Vec<Sample>,
    /// Commands per second.
    pub per_second: Spread,
    /// Median latency in microseconds.
    pub p50_us: Spread,
    /// 99th percentile in microseconds.
    pub p99_us: Spread,
    /// CPU time of the server per command in microseconds.
    pub cpu_us: Option<Spread>,
    /// The share of the time that the load generator was busy.
    pub load_share: Spread,
    /// Resident memory before the first load, in bytes.
    pub rss_idle: Option<u64>,
    /// Resident memory after the last round, in bytes.
    pub rss: Option<u64>,
    /// Commands that found no key, in all rounds.
    pub misses: u64,
    /// Wrong and error replies, in all rounds.
    pub wrong: u64,
    /// The first of them, as text.
    pub first_complaint: Option<String>,
    /// (share of requests that are longer, microseconds) of the last round.
    pub quantiles_us: Vec<(f64, f64)>,
    /// The time series of the last round.
    pub moments: Vec<Moment>,
}

impl Contest {
    /// Populates, warms up, and runs the rounds. Calls `note` with the progress.
    ///
    /// # Errors
    /// Any [`Error`] of a load; [`Error::Flag`] if there are no rounds.
    pub fn run(
        &self,
        contenders: &mut [Contender],
        mut note: impl FnMut(&str),
    ) -> Result<Vec<Standing>> {
        if self.rounds == 0 {
            return Err(Error::flag("--rounds", "want at least one"));
        }
        for contender in contenders.iter_mut() {
            contender.find_pid(&self.load.login);
            contender.rss_idle = rss(contender);
            self.prepare(contender)?;
        }
        let mut turns: Vec<Vec<(Sample, Report)>> = contenders.iter().map(|_| Vec::new()).collect();
        for round in 0..self.rounds {
            note(&format!("round {} of {}", round + 1, self.rounds));
            for place in 0..contenders.len() {
                // Rotate the order, so that no server always follows the same other.
                let index = (place + round) % contenders.len();
                turns[index].push(turn(&self.load_on(&contenders[index]), &contenders[index])?);
            }
        }
        let standings = contenders.iter().zip(turns);
        Ok(standings.map(|(c, turns)| standing(c, &turns)).collect())
    }

    fn load_on(&self, contender: &Contender) -> Load {
        let mut load = self.load.clone();
        load.target = contender.target.clone();
        if let Some(protocol) = contender.protocol {
            load.login.protocol = protocol;
            load.workload.protocol = protocol;
        }
        if contender.is_floor {
            load.verify = Verify::Replies;
        }
        load
    }

    fn prepare(&self, contender: &Contender) -> Result<()> {
        let load = self.load_on(contender);
        if self.populate && !contender.is_floor {
            load.populating().run(|_| ())?;
        }
        let warm_up = Load {
            bound: Bound {
                time: Some(self.warm_up.min(load.bound.time.unwrap_or(self.warm_up))),
                ..load.bound
            },
            ..load
        };
        warm_up.run(|_| ())?;
        Ok(())
    }
}

fn rss(contender: &Contender) -> Option<u64> {
    contender.pid.and_then(os::usage).map(|usage| usage.rss)
}

/// Runs a load once. The server's CPU time counts from the moment all connections are open.
///
/// # Errors
/// Any [`Error`] of the load.
pub fn turn(load: &Load, contender: &Contender) -> Result<(Sample, Report)> {
    let ready = load.connect()?;
    let cpu = || contender.pid.and_then(os::usage).map(|usage| usage.cpu);
    let before = cpu();
    let (report, _) = ready.run(|_| ())?;
    let after = cpu();
    let used = before.zip(after).map(|(a, b)| b.saturating_sub(a));
    let sample = Sample {
        per_second: report.per_second,
        p50_us: report.all.p50_us,
        p99_us: report.all.p99_us,
        cpu_us: used.map(|used| used.as_secs_f64() * 1e6 / report.commands.max(1) as f64),
        load_share: report.load_share(),
    };
    Ok((sample, report))
}

fn standing(contender: &Contender, turns: &[(Sample, Report)]) -> Standing {
    let spread = |number: fn(&Sample) -> f64| {
        Spread::of(turns.iter().map(|(sample, _)| number(sample))).expect("there is a round")
    };
    let reports = || turns.iter().map(|(_, report)| report);
    let (_, last) = &turns[turns.len() - 1];
    Standing {
        name: contender.name.clone(),
        line: contender.line().map(str::to_owned),
        is_floor: contender.is_floor,
        samples: turns.iter().map(|(sample, _)| *sample).collect(),
        per_second: spread(|s| s.per_second),
        p50_us: spread(|s| s.p50_us),
        p99_us: spread(|s| s.p99_us),
        cpu_us: Spread::of(turns.iter().filter_map(|(sample, _)| sample.cpu_us)),
        load_share: spread(|s| s.load_share),
        rss_idle: contender.rss_idle,
        rss: rss(contender),
        misses: reports().map(|r| r.counts.misses).sum(),
        wrong: reports()
            .map(|r| r.counts.mismatches + r.counts.errors)
            .sum(),
        first_complaint: reports().find_map(|r| r.first_complaint.clone()),
        quantiles_us: last.quantiles_us.clone(),
        moments: last.moments.clone(),
    }
}

/// The results as a table; each server is compared with the first.
///
/// # Panics
/// If there are no results.
pub fn standings_grid(standings: &[Standing]) -> Grid {
    let mut grid = Grid::new([
        "server",
        "CPU µs/command",
        "(min..max)",
        "ratio",
        "commands/s",
        "(min..max)",
        "ratio",
        "p50 µs",
        "p99 µs",
        "RSS MiB",
        "load busy",
    ]);
    let first = &standings[0];
    for standing in standings {
        let cpu = standing.cpu_us;
        let rate = standing.per_second;
        grid.push([
            standing.name.clone(),
            cpu.map_or("-".to_owned(), |cpu| format!("{:.3}", cpu.median)),
            cpu.map_or("-".to_owned(), |cpu| {
                format!("{:.3}..{:.3}", cpu.min, cpu.max)
            }),
            ratio(cpu.map(|s| s.median), first.cpu_us.map(|s| s.median)),
            format!("{:.0}", rate.median),
            format!("{:.0}..{:.0}", rate.min, rate.max),
            ratio(Some(rate.median), Some(first.per_second.median)),
            format!("{:.1}", standing.p50_us.median),
            format!("{:.1}", standing.p99_us.median),
            standing.rss.map_or("-".to_owned(), |rss| {
                format!("{:.1}", rss as f64 / (1 << 20) as f64)
            }),
            format!("{:.0} %", 100.0 * standing.load_share.median),
        ]);
    }
    grid
}

/// `0.25x`, or `-` if a number is missing.
///
/// ```
/// use respire_bench::compare::ratio;
/// assert_eq!((ratio(Some(1.0), Some(4.0)), ratio(None, Some(4.0))), ("0.25x".to_owned(), "-".to_owned()));
/// ```
pub fn ratio(number: Option<f64>, base: Option<f64>) -> String {
    match number.zip(base) {
        Some((number, base)) if base > 0.0 => format!("{:.2}x", number / base),
        _ => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_needs_both_numbers() {
        assert_eq!(ratio(Some(1.0), Some(4.0)), "0.25x");
        assert_eq!(ratio(None, Some(4.0)), "-");
        assert_eq!(ratio(Some(1.0), Some(0.0)), "-");
    }
}
