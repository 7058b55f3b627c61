#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// Floor: a server's data
mod disk;
mod rows;

// Floor: the thread that writes snapshots and rewrites the log
mod begin;
mod keeper;

// Floor: what is on disk when a server starts
mod recovery;

// Floor: the log
mod log;

// Floor: what all of them tell and ask
mod gates;
mod served;
mod settings;
mod status;

// Floor: judgement and repair of files, for people
pub mod check;

// Floor: files
pub mod load;
pub mod record;
pub mod snapshot;

// Floor: the clock
mod clock;

pub use disk::Disk;
pub use recovery::{Failed, Refused};
pub use rows::SPECS;
pub use served::Libraries;
pub use settings::{Policy, SavePoint, Settings, Values};
