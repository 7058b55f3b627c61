//! Writes snapshots: the contents of a store at one moment, as a file that Redis loads.
//!
//! The moment is a [cut](respire_store::Store::cut) of the store, so nobody waits for a snapshot, and the process does
//! not fork. [`Saver`] goes through the cut and makes the bytes; a [`Sink`] takes them. [`Saver::save_to`] puts them
//! into a file that replaces the former one when it is complete and was read back.

// Floor: makes the bytes of a snapshot
mod saver;

// Floor: where they go
mod file;
mod verify;

// Floor: how fast, how far, and what may go wrong
mod duty;
mod error;
mod progress;

pub use duty::Duty;
pub use error::SaveError;
pub use file::Sink;
pub use progress::Progress;
pub use saver::{SaveOptions, Saved, Saver};
pub use verify::verify;

#[cfg(test)]
mod tests;
