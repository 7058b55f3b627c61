//! The Respire server: reads flags and configuration file, starts, and stops.

// Floor: what the program can do: run a server, or check files or scripts
mod check;
mod check_script;
mod start;

// Floor: threads beside the server
mod data;
#[cfg(feature = "explorer")]
mod explorer;
#[cfg(feature = "mimalloc")]
mod memory;
mod reload;

// Floor: configuration from flags and file
mod file;
mod rows;

// Floor: flags, settings, log, errors
mod console;
mod failed;
mod flags;
#[cfg(feature = "scripts")]
mod libraries;
mod logging;
mod redis_conf;

use failed::{Failed, fail};
use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: respire_alloc::Mimalloc = respire_alloc::Mimalloc;

/// Exit codes: 0: stopped in an orderly way. 1: could not start, or could not write all data at its end. 2: wrong flags
/// or configuration. 3: the data on disk is damaged or not known, and nothing of it was changed.
/// [`check`] and [`check_script`] have their own.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if check::is_meant(&arguments) {
        return ExitCode::from(check::run(arguments));
    }
    let given = match file::read(arguments.clone()) {
        Ok(given) => given,
        Err(file::Wrong::Usage(error)) => {
            // Help and version arrive here too; they go to standard output, with code 0.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
        Err(file::Wrong::File(why)) => return fail(&why, 2),
    };
    let scripts = given.flags.scripts_to_check();
    if !scripts.is_empty() {
        return ExitCode::from(check_script::run(scripts));
    }
    match start::run(given, arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failed::Wrong(why)) => fail(&why, 2),
        Err(Failed::Start(error)) => fail(&error.to_string(), 1),
        Err(Failed::Data(refused)) => fail(&refused.to_string(), 3),
    }
}
