//! Compares RESP with HTTP: one command behind both, called by many clients at a time.
//!
//! The handler is `examples/bench_command.rs` of `respire`, so that it is written only once. Both
//! flavours of Respire and axum serve it, each in a process of its own. It is called over one
//! connection, over a pool, and pipelined. Both protocols have the same callers, the same pool and
//! the same sockets. Every reply is compared with the expected one, and the first wrong reply ends
//! the measurement. This command writes the whole document.
//! from here.

#[path = "../../../respire/examples/bench_command.rs"]
#[expect(dead_code, unreachable_pub, reason = "it is a program by itself")]
mod bench_command;
mod call;
mod client;
mod counted;
mod document;
mod figures;
mod load;
mod measure;
mod reading;
mod rows;
mod service;

pub use call::Call;
pub use client::Client;
pub use figures::{Measured, Outcome, Sample, Standing};
pub use rows::{Entrant, Row};
pub use service::serve;

use std::io::Write;

use respire_bench::error::{Error, Result};
use respire_bench::stats::write_json;

use crate::cli::HttpArgs;
use crate::output::say;

/// Runs `respire-bench-docs http`.
///
/// # Errors
/// Any [`Error`]; [`Error::Server`] for a wrong reply. Then nothing is written.
pub fn run(args: &HttpArgs, out: &mut dyn Write) -> Result<bool> {
    check(args)?;
    // Check this before measuring: a measurement of minutes must not be lost because the document
    // cannot be written.
    let document = document::read(&args.out)?;
    let measured = measure::measure(args, &mut |note| say(out, note))?;
    document::write(&document, &measured, &args.out)?;
    if let Some(path) = &args.json {
        write_json(path, &measured)?;
    }
    for outcome in &measured.outcomes {
        say(out, &format!("\n{}", outcome.row.title))?;
        say(out, outcome.grid().to_string().trim_end())?;
    }
    Ok(true)
}

fn check(args: &HttpArgs) -> Result<()> {
    const CALLERS_MAX: usize = 60_000;
    if !(1..=CALLERS_MAX).contains(&args.callers) {
        let reason = format!("want 1 to {CALLERS_MAX} callers");
        return Err(Error::flag("--callers", reason));
    }
    if args.pool == 0 || args.pool > args.callers {
        let reason = format!("want 1 to {} connections, one caller each", args.callers);
        return Err(Error::flag("--pool", reason));
    }
    if args.rounds == 0 {
        return Err(Error::flag("--rounds", "want at least one"));
    }
    Ok(())
}
