//! The items that only the driver of a connection needs: the session, its events and its
//! steps; and the session of a log.

pub use crate::session::{
    Ahead, CloseReason, Replay, ReplayError, Session, SessionEvent, SessionStep,
};
