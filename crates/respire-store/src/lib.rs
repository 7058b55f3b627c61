#![doc = include_str!("../README.md")]

// Floor: a database at a given time, as commands use it
mod view;

// Floor: all databases together
mod store;

// Floor: one key, under its shard's write lock
mod slot;

// Floor: a shard under its write lock
mod shard;

// Floor: a database: its shards and their counters, deadlines and watches
mod database;

// Floor: old states of keys that are handed to a running cut
mod images;

// Floor: reports of changes to observers
mod observe;

// Floor: the entries of a shard
mod table;

// Floor: a key with its value and expiry
mod entry;

// Floor: the types of value
pub mod segments;
mod types;

// Floor: the packed forms of small values
pub mod packed;

// Floor: hashes, prefetches, decimal text, sorting, and counters for tests
mod decimal;
mod hash;
mod places;
mod raw;
mod visits;

pub use crate::database::{Freeing, Served, Wait, Watch};
pub use crate::entry::{Access, EntryRef, Expiry, Owned, Policy};
pub use crate::observe::{Cause, Effect, Event, EventName, Interest, Observer, ObserverId, Ticket};
pub use crate::places::{Place, TextRanks};
pub use crate::slot::{Edited, Slot};
pub use crate::store::{
    Batch, Config, Cut, CutDatabase, CutRunning, Foreseen, Held, MemoryUse, Present, Relief, Scope,
    Section, Stats, Store, Swept, Widener, WideningSection,
};
pub use crate::types::{
    Bound, Change, Consumer, Deletion, Delivery, Elements, Encoding, End, Growth, Hash, HashRef,
    Keep, Kind, Limits, List, ListIter, ListRef, NewValue, Pairs, Pending, Ranked, References,
    SHARED_BYTES_MIN, ScoreText, Scored, Set, SetRef, Step, Stream, StreamBlocks, StreamEntry,
    StreamFields, StreamGroup, StreamId, StreamMarks, StreamParts, StreamRange, StreamRef,
    StreamSlice, StringRef, Trim, Trimmed, Trimming, ValueRef, WrongType, ZSet, ZSetRef,
};
#[cfg(any(test, feature = "toy"))]
pub use crate::types::{Stack, StackRef};
pub use crate::view::{View, Waiter};
#[cfg(any(test, feature = "toy"))]
pub use crate::visits::with_visits;

#[cfg(test)]
mod fuzzed;

// The fuzzer's checks name the crate as its users do.
#[cfg(test)]
extern crate self as respire_store;
