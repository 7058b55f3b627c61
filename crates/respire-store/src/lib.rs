#![doc = include_str!("../README.md")]

mod database;
mod entry;
mod evict;
mod expiry;
mod garbage;
mod hash;
mod iterate;
mod many;
mod packed;
mod prefetch;
mod raw;
mod scan;
mod section;
mod shard;
mod slot;
mod store;
mod table;
mod value;
mod view;
mod watch;
mod wheel;
mod whole;

pub use crate::evict::Policy;
pub use crate::expiry::Swept;
pub use crate::garbage::Freeing;
pub use crate::prefetch::Foreseen;
pub use crate::section::{Held, Scope, Section};
pub use crate::slot::{Access, EntryRef, Slot};
pub use crate::store::{Config, MemoryUse, Stats, Store};
pub use crate::value::{Encoding, Expiry, NewValue, Owned, SHARED_BYTES_MIN, StringRef, ValueRef};
pub use crate::view::View;
pub use crate::watch::Watch;
