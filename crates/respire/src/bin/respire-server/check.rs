//! `respire-server check`: checks the files of a log or a snapshot, and cuts off what is damaged.

mod json;
mod text;

use crate::console::TrialServer;
use crate::failed::fail;
use clap::Parser;
use respire::net::clock;
use respire_disk::check::{self, Cut, Fixed, Options, Verdict, parse_time};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;

const EXIT_CODES: &str = "Exit codes: 0: all is whole. 1: something is torn, damaged or not known, or was. \
                          2: wrong usage, or the files could not be read or changed.";

/// Checks the files of a log (appendonly) or a snapshot (RDB), and says what a server would do with them.
///
/// PATH is the data directory, the log's directory in it, a manifest, a single file of a log, or a snapshot. Nothing is
/// changed without --fix or --until. With them, no file is changed in place: the originals stay as NAME.corrupt-TIME.
#[derive(Parser, Debug)]
#[command(name = "respire-server check", bin_name = "respire-server check", after_help = EXIT_CODES)]
struct Flags {
    /// Data directory, log directory, manifest, file of a log, or snapshot
    path: PathBuf,

    /// Cut off what is torn or damaged, and all behind it
    #[arg(long, conflicts_with_all = ["until_offset", "until_time"])]
    fix: bool,

    /// Cut the file that PATH names, or the log's last file, at the last whole change up to this byte
    #[arg(long, value_name = "N", conflicts_with = "until_time")]
    until_offset: Option<u64>,

    /// Cut before the first change later than this time: unix seconds, or 2026-11-23T22:15:00Z
    #[arg(long, value_name = "T", value_parser = time)]
    until_time: Option<u64>,

    /// Write one JSON document
    #[arg(long)]
    json: bool,
}

fn time(text: &str) -> Result<u64, String> {
    parse_time(text)
        .ok_or_else(|| "expected unix seconds, or a time such as 2026-11-23T22:15:00Z".to_owned())
}

/// Whether the arguments are for this.
pub(crate) fn is_meant(arguments: &[OsString]) -> bool {
    arguments.first().is_some_and(|first| first == "check")
}

/// Checks, and repairs if that is asked for. Returns the exit code.
pub(crate) fn run(arguments: Vec<OsString>) -> u8 {
    let flags = match Flags::try_parse_from(arguments) {
        Ok(flags) => flags,
        Err(error) => {
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let server = TrialServer::new();
    let knows = |name: &[u8]| server.engine().commands().find_name(name).is_some();
    let options = Options {
        knows: Some(&knows),
    };
    let cut = match (flags.fix, flags.until_offset, flags.until_time) {
        (true, _, _) => Some(Cut::Damage),
        (_, Some(offset), _) => Some(Cut::Offset(offset)),
        (_, _, Some(time_s)) => Some(Cut::Time(time_s)),
        _ => None,
    };
    let result = match cut {
        Some(cut) => check::fix(&flags.path, cut, &options, clock::now().unix_ms() / 1000),
        None => check::check(&flags.path, &options).map(|before| Fixed {
            before,
            done: None,
            refused: None,
        }),
    };
    let fixed = match result {
        Ok(fixed) => fixed,
        Err(error) => {
            let why = format!("check: {}: {error}", flags.path.display());
            fail(&why, 2);
            return 2;
        }
    };
    let shown = match flags.json {
        true => json::of(&fixed),
        false => text::of(&fixed, cut.is_some()),
    };
    // If standard output is closed, only the code tells.
    let _ = std::io::stdout().lock().write_all(shown.as_bytes());
    u8::from(fixed.before.verdict != Verdict::Whole || fixed.refused.is_some())
}
