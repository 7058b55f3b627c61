//! Compares the keyspace notifications of random commands: a subscriber on each server collects
//! them.

use super::ServerUnderTest;
use crate::quoting::encode_command;
use crate::reply::{self, Value};
use crate::target::{Received, Target};

/// The channel of a message that we publish after each request, to mark the end of its events. The
/// subscriber's pattern matches it.
const END: &str = "__keys done__";

/// The letters for all events. Events of expired keys are ignored ([`Listener::events`]).
const LETTERS: &str = "KEAnm";

/// A subscriber to all events of one server.
pub(super) struct Listener {
    subscriber: usize,
    /// The connection that publishes [`END`].
    publisher: usize,
    /// Bytes that arrived and are not parsed yet.
    bytes: Vec<u8>,
}

impl Listener {
    /// Enables the events of a server, and subscribes to them.
    pub(super) fn new(target: &mut dyn Target) -> Self {
        let mut listener = Self {
            subscriber: target.connect(),
            publisher: target.connect(),
            bytes: Vec::new(),
        };
        let set = ["CONFIG", "SET", "notify-keyspace-events", LETTERS];
        target.send(listener.publisher, &encode_command(&set));
        receive(target, listener.publisher, &mut Vec::new());
        target.send(
            listener.subscriber,
            &encode_command(&["PSUBSCRIBE", "__key*"]),
        );
        receive(target, listener.subscriber, &mut listener.bytes);
        listener
    }

    /// The messages since the last call. A server reports an expired key when it finds it, which
    /// the two servers do at different times. So such messages are ignored.
    pub(super) fn events(&mut self, target: &mut dyn Target) -> Vec<Value> {
        target.send(self.publisher, &encode_command(&["PUBLISH", END, ""]));
        receive(target, self.publisher, &mut Vec::new());
        let mut events = Vec::new();
        loop {
            let message = receive(target, self.subscriber, &mut self.bytes).into_elements();
            let is = |at: usize, text: &str| {
                let part = message.get(at).and_then(Value::as_bytes);
                part.is_some_and(|part| part == text.as_bytes())
            };
            if is(2, END) {
                return events;
            }
            let channel = message.get(2).and_then(Value::as_bytes);
            let is_of_expiry = channel.is_some_and(|channel| channel.ends_with(b"__:expired"));
            if !is(3, "expired") && !is_of_expiry {
                events.push(Value::Array(message));
            }
        }
    }
}

/// Whether a message tells that a key was missed.
pub(super) fn is_miss(event: &Value) -> bool {
    let Value::Array(message) = event else {
        return false;
    };
    let ends_with = |at: usize, text: &[u8]| {
        let part = message.get(at).and_then(Value::as_bytes);
        part.is_some_and(|part| part.ends_with(text))
    };
    ends_with(2, b"__:keymiss") || ends_with(3, b"keymiss")
}

impl ServerUnderTest<'_> {
    /// The events of keys since the last call.
    pub(super) fn events(&mut self) -> Vec<Value> {
        self.listener.events(self.target)
    }
}

/// Returns the next reply or message of a connection; `bytes` keeps the bytes after it.
///
/// # Panics
/// If none comes.
fn receive(target: &mut dyn Target, connection: usize, bytes: &mut Vec<u8>) -> Value {
    loop {
        if let Ok(Some((value, len))) = reply::parse(bytes) {
            bytes.drain(..len);
            return value;
        }
        let received = target.receive(connection, bytes);
        assert_eq!(
            received,
            Received::Bytes,
            "after {:?}",
            bytes.escape_ascii().to_string()
        );
    }
}
