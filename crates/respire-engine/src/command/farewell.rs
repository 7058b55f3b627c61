//! The reply of `CLIENT KILL`, which comes when the connections it killed have ended.

use crate::client::later::Farewell;
use crate::reply::output::Mark;
use crate::{App, Cx, Flow, Reply};
use std::sync::Arc;
use std::time::Duration;

/// How long the reply waits at most. A connection in the midst of a command that takes longer ends
/// after that command, and the reply comes before.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// What follows the reply that was written since `mark`: it waits for the end of the connections
/// that the command killed, if there are any. `is_last`: the connection ends with it.
pub(crate) fn after_ends<A: App>(
    cx: &mut Cx<'_, A>,
    (reply, mark): (&mut Reply<'_>, Mark),
    is_last: bool,
) -> Flow {
    let Some(parting) = &mut cx.client.parting else {
        return if is_last { Flow::Close } else { Flow::Replied };
    };
    parting.is_last = is_last;
    let killed = std::mem::take(&mut parting.killed);
    let later = cx.later().prepared(WAIT_MAX, reply.sink().split_off(mark));
    let farewell = Farewell::new(later);
    for client in killed {
        client.keep_until_end(Arc::clone(&farewell));
    }
    Flow::Pending
}
