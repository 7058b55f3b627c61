//! Ends transactions, and makes the replies to an `EXEC` that is refused.

use crate::client::later::Answer;
use crate::{App, Client, End, Engine, Error, Flags, Reply, Spec};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Ends the connection's transaction, if any, and its watches.
pub(crate) fn end_transaction(client: &mut Client) {
    client.transaction.end();
    client.shared.is_in_multi.store(false, Ordering::Relaxed);
    client.shared.queued_commands.store(0, Ordering::Relaxed);
    client.shared.watched_keys.store(0, Ordering::Relaxed);
}

/// The reply to an `EXEC` that is refused because of `error`.
pub(crate) fn aborted(error: &Error) -> Error {
    let text = error.text();
    let reason = text.strip_prefix(b"ERR ").unwrap_or(text);
    let aborted: &[u8] = b"EXECABORT Transaction discarded because of: ";
    Error::owned([aborted, reason].concat())
}

/// The reply to a request that is refused because of `error`. A refused `EXEC` ends its
/// transaction.
#[cold]
pub(crate) fn refused(spec: &Spec, client: &mut Client, error: Error) -> Error {
    if spec.flags.has(Flags::EXEC) {
        end_transaction(client);
        return aborted(&error);
    }
    error
}

/// Answers a deferred call at once inside `EXEC`, where it must not wait: with its answer if it has
/// one, otherwise with its deadline's fallback, otherwise with an error. Returns whether it is an error.
#[cold]
pub(crate) fn end_at_once<A: App>(
    engine: &Engine<A>,
    client: &mut Client,
    at: u32,
    reply: &mut Reply<'_>,
) -> bool {
    let call = client.call.take();
    client.task = None;
    let answer = call.as_ref().and_then(|call| {
        if call.is_answered() {
            client.shared.note_others();
        }
        call.expire(u64::MAX);
        call.take()
    });
    let proto = reply.proto();
    let answer = answer.unwrap_or_else(|| Answer::new(proto, CANNOT_WAIT));
    if let Some(call) = call {
        call.cancel();
    }
    if answer.is_error {
        engine.stats.count_error(answer.code(proto));
    }
    if let Some(panic) = &answer.panic {
        engine.note_panic(engine.table.entry(at), &**panic);
    }
    let end = if answer.is_error { End::Err } else { End::Ok };
    engine.ended(at, &client.shared, Duration::ZERO, end);
    reply.sink().append(answer.output);
    answer.is_error
}

/// The error for a command that would have to wait inside `EXEC`.
const CANNOT_WAIT: Error =
    Error::fixed("ERR the command would have to wait, which it cannot inside EXEC or a script");
