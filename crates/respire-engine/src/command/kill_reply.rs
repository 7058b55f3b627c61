//! Delays the reply of `CLIENT KILL` until the connections that it killed are closed.

use crate::client::later::KillReply;
use crate::reply::output::Mark;
use crate::{App, Cx, Flow, Reply};
use std::sync::Arc;
use std::time::Duration;

/// The longest that the reply waits. A connection that runs a longer command closes after that
/// command, and after the reply.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Returns how to continue after the reply written since `mark`: it waits until the connections
/// that the command killed are closed, if there are any. With `is_last` the connection closes after
/// the reply.
pub(crate) fn after_ends<A: App>(
    cx: &mut Cx<'_, A>,
    (reply, mark): (&mut Reply<'_>, Mark),
    is_last: bool,
) -> Flow {
    let Some(pending_kill) = &mut cx.client.pending_kill else {
        return if is_last { Flow::Close } else { Flow::Replied };
    };
    pending_kill.is_last = is_last;
    let killed = std::mem::take(&mut pending_kill.killed);
    let later = cx.later().prepared(WAIT_MAX, reply.sink().split_off(mark));
    let kill_reply = KillReply::new(later);
    for client in killed {
        client.hold_until_closed(Arc::clone(&kill_reply));
    }
    Flow::Pending
}
