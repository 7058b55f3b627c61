//! Reads, checks and sets `CONFIG` values for the operator.

use respire::commands::{self, Kv};
use respire::disk::{Disk, Values};
use respire::engine::{Engine, Options, Router, Setting};
use respire::net::clock;
use respire::store::{Config, Store};
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

/// All values, by name.
pub(crate) fn values(settings: &[Setting]) -> Vec<(String, String)> {
    let value = |setting: &Setting| (setting.name().to_owned(), setting.get());
    settings.iter().map(value).collect()
}

/// The commands of the server.
pub(crate) fn router(kv: Kv, disk: &Arc<Disk>) -> Router<Kv> {
    let router = disk.add_to(commands::add_to(Router::new(kv)));
    #[cfg(feature = "scripts")]
    let router = crate::libraries::add_to(router, disk);
    router
}

/// A server without data that checks values before the real server starts or changes.
pub(crate) struct TrialServer(Arc<Engine<Kv>>);

impl TrialServer {
    pub(crate) fn new() -> Self {
        let store = Store::new(Config {
            databases: 1,
            shards: 2,
            ..Config::default()
        });
        Self(Engine::new(
            router(Kv::new(store), &Disk::new(Values::default())),
            Options::default(),
            clock::now(),
        ))
    }

    /// Its engine, which has the commands of a real server.
    pub(crate) fn engine(&self) -> &Engine<Kv> {
        &self.0
    }

    /// The settings of the engine and the commands.
    pub(crate) fn settings(&self) -> &[Setting] {
        self.0.settings()
    }

    /// Whether there is a setting of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        find(self.settings(), name).is_some()
    }
}

/// The setting of this name.
pub(crate) fn find<'s>(settings: &'s [Setting], name: &str) -> Option<&'s Setting> {
    let mut settings = settings.iter();
    settings.find(|setting| setting.name().eq_ignore_ascii_case(name))
}

/// Sets a value, so that a line of the configuration file has the effect of `CONFIG SET`.
///
/// # Errors
/// When the name or the value is invalid; the text is one line.
pub(crate) fn set(settings: &[Setting], name: &str, value: &str) -> Result<()> {
    let setting = find(settings, name).ok_or_else(|| wrong(format!("unknown setting '{name}'")))?;
    setting
        .set(value)
        .map_err(|why| wrong(format!("invalid value '{value}' for '{name}': {why}")))
}

fn wrong(why: String) -> Error {
    Error::new(ErrorKind::InvalidInput, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_listed_by_name_as_they_were_set() {
        let server = TrialServer::new();
        set(server.settings(), "timeout", "77").unwrap();
        let values = values(server.settings());
        let value = |name: &str| {
            values
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| &**value)
        };
        assert_eq!(value("timeout"), Some("77"));
        assert_eq!(value("requirepass"), Some(""));
        assert_eq!(value("maxclients"), Some("10000"));
    }

    #[test]
    fn errors_are_one_line() {
        let server = TrialServer::new();
        let why = |name, value| set(server.settings(), name, value).unwrap_err().to_string();
        assert_eq!(why("nonsense", "1"), "unknown setting 'nonsense'");
        let integer = "argument couldn't be parsed into an integer";
        assert_eq!(
            why("timeout", "x"),
            format!("invalid value 'x' for 'timeout': {integer}")
        );
    }
}
