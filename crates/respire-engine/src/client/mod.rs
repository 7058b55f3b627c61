//! A connection as the others see it, and what reaches it from them: messages, late replies, pauses.

mod clients;
pub(crate) mod guard;
pub(crate) mod later;
mod lent;
pub(crate) mod mailbox;
pub(crate) mod pause;
mod publisher;
pub(crate) mod pubsub;
pub(crate) mod pusher;
pub(crate) mod sampler;
mod state;
pub(crate) mod transaction;
pub(crate) mod tunables;
mod wake;

pub use clients::Clients;
pub(crate) use lent::Lent;
pub use publisher::Publisher;
pub(crate) use state::USER;
pub use state::{Client, ClientShared, Names, Peer, ReplyMode};
pub use wake::{NoWake, Wake};
