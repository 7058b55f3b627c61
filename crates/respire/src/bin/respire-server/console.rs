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
        session.map(|session| Self { session }).ok_or_else(|| broken("no connection is free"))
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
    /// The reply, if it is an error.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let reply = self.ask(&["CONFIG", "SET", name, value])?;
        match reply.trim_end().strip_prefix('-') {
            Some(error) => Err(Error::new(ErrorKind::InvalidInput, error)),
            None => Ok(()),
        }
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
