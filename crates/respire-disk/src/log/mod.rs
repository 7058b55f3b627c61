//! The log: takes the changes of the store, and has two threads that write them to files.

// Floor: the threads
mod lanes;

// Floor: what threads that serve hand over, and the order of it
mod journal;
mod order;

// Floor: parts
mod folder;
mod kept;
mod marks;
mod stage;

pub(crate) use folder::{Folder, sync_dir};
pub(crate) use journal::Journal;
pub(crate) use kept::Kept;
pub(crate) use lanes::{Begin, Lanes, Shared};

#[cfg(test)]
mod tests;
