//! The items that only the driver of a connection needs: the session, the events it is told, and the steps
//! it asks for.

pub use crate::session::{Ahead, CloseReason, Session, SessionEvent, SessionStep};
