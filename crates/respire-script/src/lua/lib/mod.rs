//! The libraries that Redis gives to scripts.
