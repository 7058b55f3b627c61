//! The operator's word on `CONFIG` values, before anybody is served.

use respire::engine::Setting;
use std::io::{Error, ErrorKind, Result};

/// Every value, by name.
pub(crate) fn values(settings: &[Setting]) -> Vec<(String, String)> {
    let value = |setting: &Setting| (setting.name().to_owned(), setting.get());
    settings.iter().map(value).collect()
}

/// Sets a value, so that a line of the configuration file means what `CONFIG SET` means.
///
/// # Errors
/// What is wrong with the name or the value, in a line.
pub(crate) fn set(settings: &[Setting], name: &str, value: &str) -> Result<()> {
    let setting = settings
        .iter()
        .find(|setting| setting.name().eq_ignore_ascii_case(name))
        .ok_or_else(|| wrong(format!("unknown setting '{name}'")))?;
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
    use respire::engine::{App, Engine, Options, Router};
    use respire::server::clock;
    use std::sync::Arc;

    struct Nothing;

    impl App for Nothing {
        type Conn = ();
    }

    fn engine() -> Arc<Engine<Nothing>> {
        Engine::new(Router::new(Nothing), Options::default(), clock::now())
    }

    #[test]
    fn values_come_by_name_and_reflect_what_was_set() {
        let engine = engine();
        set(engine.settings(), "timeout", "77").unwrap();
        let values = values(engine.settings());
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
    fn refusals_are_told_in_a_line() {
        let engine = engine();
        let why = |name, value| set(engine.settings(), name, value).unwrap_err().to_string();
        assert_eq!(why("nonsense", "1"), "unknown setting 'nonsense'");
        let integer = "argument couldn't be parsed into an integer";
        assert_eq!(
            why("timeout", "x"),
            format!("invalid value 'x' for 'timeout': {integer}")
        );
    }
}
