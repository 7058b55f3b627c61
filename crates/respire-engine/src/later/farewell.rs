//! The reply of `CLIENT KILL`, which comes when the connections it killed have ended.

use super::Later;
use crate::output::Mark;
use crate::{App, Cx, Flow, Reply};
use std::sync::Arc;
use std::time::Duration;

/// How long the reply waits at most. A connection in the midst of a command that takes longer ends
/// after that command, and the reply comes before.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Kept by every killed connection until it has ended: the last to drop it has the reply sent.
#[derive(Debug)]
pub(crate) struct Farewell(Later);

impl Drop for Farewell {
    fn drop(&mut self) {
        self.0.hasten();
    }
}

/// What follows the reply that was written since `mark`: it waits for the end of the connections
/// that the command killed, if there are any. `is_last`: the connection ends with it.
pub(crate) fn after_ends<A: App>(
    cx: &mut Cx<'_, A>,
    (reply, mark): (&mut Reply<'_>, Mark),
    is_last: bool,
) -> Flow {
    let killed = std::mem::take(&mut cx.client.killed);
    if killed.is_empty() {
        return if is_last { Flow::Close } else { Flow::Replied };
    }
    cx.client.is_leaving = is_last;
    let later = cx.later().prepared(WAIT_MAX, reply.sink().split_off(mark));
    let farewell = Arc::new(Farewell(later));
    for client in killed {
        client.keep_until_end(Arc::clone(&farewell));
    }
    Flow::Pending
}
