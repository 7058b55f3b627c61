//! How a service brings commands of its own, and how it tries them out.

mod later;
#[cfg(feature = "msgpack")]
pub(crate) mod msgpack;
mod new;
pub(crate) mod router;
pub(crate) mod test_client;
mod typed;
