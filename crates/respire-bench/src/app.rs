//! Runs the command that the command line asks for, and prints and writes its results.

use std::io::Write;

use crate::cli::{Cli, Command, RunArgs};
use crate::error::{Error, Result};
use crate::os;
use crate::plot;
use crate::progress::Progress;
use crate::stats::write_json;

/// Runs the command; returns `false` if it finished and found a server at fault.
///
/// # Errors
/// Any [`Error`]; then nothing has been measured.
pub fn run(cli: Cli, out: &mut dyn Write) -> Result<bool> {
    match cli.command {
        None => one_run(&cli.run, out),
        Some(Command::NullServer(args)) => crate::null::serve(&args, out),
        Some(Command::Compare(args)) => crate::compare::run(&args, out),
    }
}

fn one_run(args: &RunArgs, out: &mut dyn Write) -> Result<bool> {
    if !args.load_cpu.is_empty() {
        os::pin_self(&args.load_cpu)?;
    }
    let mut load = args.load.load(args.target(), &args.login)?;
    load.logging = args.hdr.is_some();
    load.beside = args.beside()?;
    let mut progress = Progress::new(!args.quiet);
    if args.load.populate {
        load.populating()
            .run(|collector| progress.show(collector))?;
    }
    let (report, collector) = load.run(|collector| progress.show(collector))?;
    drop(progress);
    write!(out, "{report}").map_err(Error::io("standard output"))?;
    if let Some(path) = &args.json {
        write_json(path, &report)?;
    }
    if let Some(path) = &args.hdr {
        collector.write_log(path)?;
    }
    if let Some(prefix) = &args.svg {
        plot::latency(prefix, &[("", &report.quantiles_us)])?;
        plot::throughput(prefix, &[("", &report.moments)])?;
    }
    Ok(report.is_sound())
}
