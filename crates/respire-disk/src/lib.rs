#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod check;
pub mod load;
pub mod record;
pub mod snapshot;
