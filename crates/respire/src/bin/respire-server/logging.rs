//! Sets up the log: one line per event on standard error, at a level that can change at run time.

use clap::ValueEnum;
use respire::engine::Setting;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::reload;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

/// How much is logged, with Redis's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogLevel {
    /// Everything, for people who work on the server.
    #[value(alias = "trace")]
    Debug,
    /// Also connections that open and close.
    Verbose,
    /// What an operator wants to see.
    #[value(alias = "info")]
    Notice,
    /// Only what needs attention.
    #[value(aliases = ["warn", "error"])]
    Warning,
    /// Nothing.
    #[value(alias = "off")]
    Nothing,
}

impl LogLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Verbose => "verbose",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Nothing => "nothing",
        }
    }

    fn filter(self) -> LevelFilter {
        match self {
            Self::Debug => LevelFilter::TRACE,
            Self::Verbose => LevelFilter::DEBUG,
            Self::Notice => LevelFilter::INFO,
            Self::Warning => LevelFilter::WARN,
            Self::Nothing => LevelFilter::OFF,
        }
    }
}

/// Starts the log; returns the `CONFIG` setting that changes the level.
pub(crate) fn install(level: LogLevel) -> Result<Setting, TryInitError> {
    let (filter, handle) = reload::Layer::new(level.filter());
    let format = tracing_subscriber::fmt::layer()
        .compact()
        .with_target(false)
        // If standard error is closed, as after a terminal was closed, reporting that would panic.
        .log_internal_errors(false)
        .with_ansi(std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none())
        .with_writer(std::io::stderr);
    tracing_subscriber::registry()
        .with(filter)
        .with(format)
        .try_init()?;

    let current = Arc::new(Mutex::new(level));
    let shown = Arc::clone(&current);
    let read = move || {
        shown
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .name()
            .to_owned()
    };
    Ok(Setting::mutable("loglevel", read, move |text| {
        let level = LogLevel::from_str(text, true).map_err(|_| CHOICES.to_owned())?;
        handle
            .modify(|filter| *filter = level.filter())
            .map_err(|error| error.to_string())?;
        *current.lock().unwrap_or_else(PoisonError::into_inner) = level;
        Ok(())
    }))
}

/// Redis's error text for an invalid level.
const CHOICES: &str =
    "argument(s) must be one of the following: debug, verbose, notice, warning, nothing";
