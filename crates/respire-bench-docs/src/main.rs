//! `respire-bench-docs`: see the crate's documentation and `--help`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use respire_bench_docs::cli::Cli;

fn main() -> ExitCode {
    match respire_bench_docs::app::run(Cli::parse(), &mut std::io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            // Without a standard error there is nobody left to tell.
            drop(writeln!(std::io::stderr(), "respire-bench-docs: {error}"));
            ExitCode::FAILURE
        }
    }
}
