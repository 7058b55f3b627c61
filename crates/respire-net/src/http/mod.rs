//! As much HTTP as a page and a scrape need: one request a connection, everything bounded.

mod exchange;
mod listener;

pub(crate) use exchange::{Answer, Bounds, Status};
pub(crate) use listener::{Bound, Serving};
