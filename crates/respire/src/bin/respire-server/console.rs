//! The operator's own connection to the engine, before anybody else has one.

use respire::engine::{App, Engine, NoWake, Output, Peer, Session};
use respire::server::clock;
use std::io::{Error, ErrorKind, Result};
use std::sync::Arc;

/// Reads and changes `CONFIG` values as a client would, so that a line of the configuration file
/// means what `CONFIG SET` means.
pub(crate) struct Console<A: App> {
    session: Session<A>,
}

impl<A: App> Console<A> {
    /// A connection to an engine that asks for no password yet.
    pub(crate) fn open(engine: &Arc<Engine<A>>) -> Result<Self> {
        let session = engine.connect(Peer::default(), Box::new(NoWake), clock::now());
        session
            .map(|session| Self { session })
            .ok_or_else(|| broken("no connection is free"))
    }

    /// Every value, by name.
    pub(crate) fn values(&mut self) -> Result<Vec<(String, String)>> {
        let reply = self.ask(&["CONFIG", "GET", "*"])?;
        // A flat array of bulks, each of which is a line with its length and a line of text.
        let mut texts = reply.split("\r\n").skip(2).step_by(2).map(str::to_owned);
        Ok(std::iter::from_fn(|| Some((texts.next()?, texts.next()?))).collect())
    }

    /// Sets a value.
    ///
    /// # Errors
    /// The reply, if it is an error, without what is only of use to a client.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let reply = self.ask(&["CONFIG", "SET", name, value])?;
        let Some(error) = reply.trim_end().strip_prefix('-') else {
            return Ok(());
        };
        let why = match error.split_once("') - ") {
            Some((_, why)) => format!("invalid value '{value}' for '{name}': {why}"),
            None => format!("unknown setting '{name}'"),
        };
        Err(Error::new(ErrorKind::InvalidInput, why))
    }

    fn ask(&mut self, words: &[&str]) -> Result<String> {
        let (mut request, mut out) = (Vec::new(), Output::new());
        resp_codec::command(&mut request, words);
        let _step = self.session.serve(&request, clock::now(), &mut out);
        String::from_utf8(out.take()).map_err(|_| broken("a reply is not UTF-8"))
    }
}

fn broken(why: &'static str) -> Error {
    Error::other(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire::engine::{Options, Router};

    struct Nothing;

    impl App for Nothing {
        type Conn = ();
    }

    fn console() -> Console<Nothing> {
        let engine = Engine::new(Router::new(Nothing), Options::default(), clock::now());
        Console::open(&engine).unwrap()
    }

    #[test]
    fn values_come_by_name_and_reflect_what_was_set() {
        let mut console = console();
        console.set("timeout", "77").unwrap();
        let values = console.values().unwrap();
        let value = |name: &str| {
            values
                .iter()
                .find(|(own, _)| own == name)
                .map(|(_, v)| &**v)
        };
        assert_eq!(value("timeout"), Some("77"));
        assert_eq!(value("requirepass"), Some(""));
        assert_eq!(value("maxclients"), Some("10000"));
    }

    #[test]
    fn refusals_are_told_in_a_line() {
        let mut console = console();
        let mut why = |name, value| console.set(name, value).unwrap_err().to_string();
        assert_eq!(why("nonsense", "1"), "unknown setting 'nonsense'");
        let integer = "argument couldn't be parsed into an integer";
        assert_eq!(
            why("timeout", "x"),
            format!("invalid value 'x' for 'timeout': {integer}")
        );
    }
}
