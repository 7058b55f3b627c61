//! What a transcript can be played against.

mod engine;
mod flavour;
mod redis;
mod socket;

pub use engine::{EngineTarget, START_UNIX_MS, kv_engine, kv_router};
pub use flavour::FlavourServer;
pub use redis::{RedisServer, redis_binary};
pub use socket::{Link, SocketTarget};

use std::time::Duration;

/// A server under test, as a transcript sees it.
pub trait Target {
    /// What it is, by the tags a script may name.
    fn tags(&self) -> &[&'static str];

    /// Starts afresh: no key, no connection, settings as at the start.
    fn reset(&mut self);

    /// Opens a connection and returns its number.
    fn connect(&mut self) -> usize;

    /// Sends bytes on a connection. A peer that is gone is found out by [`Target::receive`].
    fn send(&mut self, connection: usize, bytes: &[u8]);

    /// Appends what arrives on a connection next.
    fn receive(&mut self, connection: usize, into: &mut Vec<u8>) -> Received;

    /// Sends no more on a connection.
    fn half_close(&mut self, connection: usize);

    /// Lets time pass.
    fn advance(&mut self, by: Duration);

    /// Sets a clock that only moves when told to the real time; others are there already.
    fn follow_wall_clock(&mut self) {}

    /// The target's wall clock.
    fn unix_ms(&self) -> u64;
}

/// What a [`Target::receive`] came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Some bytes.
    Bytes,
    /// None, and none will come by waiting.
    Nothing,
    /// The server closed the connection.
    Closed,
}
