//! Redis's packed forms of small collections, byte for byte, so that `DUMP` copies them.

pub mod intset;
pub mod listpack;
