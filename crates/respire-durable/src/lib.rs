#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

// Floor: a disk in memory
#[cfg(feature = "sim")]
pub mod sim;

// Floor: the log that grows, and the judgement of files when a server starts
pub mod log;
pub mod recovery;

// Floor: what the files consist of
pub mod checksum;
pub mod manifest;

pub use log::Log;
