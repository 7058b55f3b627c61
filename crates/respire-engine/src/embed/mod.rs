//! Interfaces for a service: its own commands, and a client to test them.

mod later;
#[cfg(feature = "msgpack")]
pub(crate) mod msgpack;
mod new;
pub(crate) mod router;
pub(crate) mod test_client;
mod typed;
