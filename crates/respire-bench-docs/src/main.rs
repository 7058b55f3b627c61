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
            // If standard error is closed, nobody can be told.
            drop(writeln!(std::io::stderr(), "respire-bench-docs: {error}"));
            ExitCode::FAILURE
        }
    }
}
