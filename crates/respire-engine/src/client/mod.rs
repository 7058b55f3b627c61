//! Connections: their own state, the state that others see, and messages, late replies and pauses
//! from others.

mod clients;
pub(crate) mod gates;
pub(crate) mod guard;
pub(crate) mod later;
pub(crate) mod mailbox;
pub(crate) mod pause;
mod publisher;
pub(crate) mod pubsub;
pub(crate) mod pusher;
pub(crate) mod sampler;
mod shared_buffer;
mod state;
pub(crate) mod transaction;
pub(crate) mod tunables;
mod wake;

pub use clients::Clients;
pub use publisher::Publisher;
pub(crate) use shared_buffer::SharedBuffer;
pub use state::{Client, ClientShared, Names, Peer, ReplyMode};
pub(crate) use state::{Tally, USER};
pub use wake::{NoWake, Wake};
