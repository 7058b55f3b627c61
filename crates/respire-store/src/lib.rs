#![doc = include_str!("../README.md")]

mod database;
mod edit;
mod entry;
mod evict;
mod expiry;
mod garbage;
mod hash;
mod hooks;
mod iterate;
mod many;
mod observe;
mod packed;
mod prefetch;
mod raw;
mod report;
mod scan;
mod section;
mod shard;
mod slot;
mod store;
mod table;
mod types;
mod unit;
mod value;
mod view;
mod watch;
mod wheel;
mod whole;

pub use crate::edit::Edited;
pub use crate::evict::Policy;
pub use crate::expiry::Swept;
pub use crate::garbage::Freeing;
pub use crate::observe::{Cause, Effect, Event, EventName, Interest, Observer, ObserverId, Ticket};
pub use crate::prefetch::Foreseen;
pub use crate::section::{Held, Scope, Section};
pub use crate::slot::{Access, EntryRef, Slot};
pub use crate::store::{Config, MemoryUse, Stats, Store};
#[cfg(any(test, feature = "toy"))]
pub use crate::types::Stack;
pub use crate::types::{
    Encoding, Kind, NewValue, SHARED_BYTES_MIN, StringRef, ValueRef, WrongType,
};
pub use crate::value::{Expiry, Owned};
pub use crate::view::View;
pub use crate::watch::Watch;
