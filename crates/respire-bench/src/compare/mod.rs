//! Compares several servers under one load, in interleaved rounds.
//!
//! In each round every server has its turn, so that changes on the machine affect all servers
//! alike. The result compares the medians of the rounds; minimum and maximum show how reliable they
//! are.

mod contender;
mod grid;
mod round;

pub use contender::Contender;
pub use grid::Grid;
pub use round::{Contest, Sample, Standing, ratio, standings_grid, turn};

use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use crate::cli::CompareArgs;
use crate::error::{Error, Result};
use crate::stats::write_json;
use crate::{os, plot};

/// The longest load on each server before the first round.
const WARM_UP: Duration = Duration::from_millis(500);

/// Runs `respire-bench compare`; returns `false` if a server sent wrong replies.
///
/// # Errors
/// Any [`Error`].
pub fn run(args: &CompareArgs, out: &mut dyn Write) -> Result<bool> {
    let mut contenders = Vec::new();
    for text in &args.servers {
        contenders.push(Contender::parse(text, &args.rounds, &args.pid)?);
    }
    for pid in &args.pid {
        let name = pid.split_once('=').map_or("", |(name, _)| name);
        if !contenders.iter().any(|contender| contender.name == name) {
            let reason = format!("{pid:?} is not NAME=PID of one of the servers");
            return Err(Error::flag("--pid", reason));
        }
    }
    // Pin only now: servers started before this do not inherit the pinning.
    if !args.rounds.load_cpu.is_empty() {
        os::pin_self(&args.rounds.load_cpu)?;
    }
    let load = args.load.load(contenders[0].target.clone(), &args.login)?;
    let contest = Contest {
        load,
        populate: args.load.populate,
        rounds: args.rounds.rounds,
        warm_up: WARM_UP,
    };
    let attended = std::io::stderr().is_terminal();
    let standings = contest.run(&mut contenders, |note| {
        if attended {
            // A closed terminal is no reason to stop measuring.
            drop(writeln!(std::io::stderr(), "{note}"));
        }
    })?;
    write!(out, "{}", standings_grid(&standings)).map_err(Error::io("standard output"))?;
    if let Some(path) = &args.json {
        write_json(path, &standings)?;
    }
    if let Some(prefix) = &args.svg {
        let latency: Vec<_> = standings
            .iter()
            .map(|s| (&*s.name, &*s.quantiles_us))
            .collect();
        plot::latency(prefix, &latency)?;
        let moments: Vec<_> = standings.iter().map(|s| (&*s.name, &*s.moments)).collect();
        plot::throughput(prefix, &moments)?;
    }
    Ok(standings.iter().all(|standing| standing.wrong == 0))
}
