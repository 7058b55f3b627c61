//! The targets that a transcript can be played on.

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
    /// The tags that scripts use for this target.
    fn tags(&self) -> &[&'static str];

    /// Resets the server: no key, no connection, initial settings.
    fn reset(&mut self);

    /// Opens a connection and returns its number.
    fn connect(&mut self) -> usize;

    /// Sends bytes on a connection. [`Target::receive`] reports a peer that is gone.
    fn send(&mut self, connection: usize, bytes: &[u8]);

    /// Appends the bytes that arrive next on a connection.
    fn receive(&mut self, connection: usize, into: &mut Vec<u8>) -> Received;

    /// Closes our sending direction of a connection.
    fn half_close(&mut self, connection: usize);

    /// Lets time pass.
    fn advance(&mut self, by: Duration);

    /// Sets a clock that only moves on request to the real time; other clocks already follow it.
    fn follow_wall_clock(&mut self) {}

    /// The target's wall clock.
    fn unix_ms(&self) -> u64;
}

/// The result of [`Target::receive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes have arrived.
    Bytes,
    /// No bytes have arrived, and waiting will bring none.
    Nothing,
    /// The server closed the connection.
    Closed,
}
