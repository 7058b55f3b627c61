//! The items that only the driver of a connection needs: the session, its events and its steps.

pub use crate::session::{Ahead, CloseReason, Session, SessionEvent, SessionStep};
