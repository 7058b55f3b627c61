//! Writes snapshots of a store, and loads them.
