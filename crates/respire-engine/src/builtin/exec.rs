//! `EXEC`: runs what `MULTI` queued, all of it in one atomic section.

use super::{Act, settled};
use crate::transaction::Queue;
use crate::{App, Args, Cx, Error, Flags, Flow, Group, Reply, Router, Scope, Spec};
use resp_codec::{Encoder, number};
use std::any::Any;
use std::time::Duration;

pub(super) fn add_to<A: App>(router: Router<A>) -> Router<A> {
    router.add(Act {
        spec: &EXEC,
        run: exec,
    })
}

static EXEC: Spec = Spec {
    name: "exec",
    summary: "Execute all commands issued after MULTI",
    since: "1.2.0",
    complexity: "Depends on commands in the transaction",
    group: Group::Transactions,
    flags: Flags::NOSCRIPT
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::SKIP_SLOWLOG)
        .with(Flags::IMMEDIATE),
    ..Spec::EMPTY
};

fn exec<A: App>(cx: &mut Cx<'_, A>, _: Args<'_>, reply: &mut Reply<'_>) -> Flow {
    let Some(queue) = cx.client.transaction.take_queue() else {
        reply.error("ERR EXEC without MULTI");
        return Flow::Replied;
    };
    let flow = if let Err(error) = check(cx, &queue) {
        reply.error(error.text());
        Flow::Replied
    } else if cx.client.transaction.is_dirty(cx.now) {
        reply.null_array();
        Flow::Replied
    } else {
        run(cx, &queue, reply)
    };
    settled(cx.client);
    flow
}

/// Whether the queue may run at all. Asked before the section begins, because admitting a write
/// may take evicting other keys, which the section would be in the way of.
fn check<A: App>(cx: &Cx<'_, A>, queue: &Queue) -> Result<(), Error> {
    if queue.is_spoilt() {
        return Err(Error::fixed(
            "EXECABORT Transaction discarded because of previous errors.",
        ));
    }
    for queued in queue.requests() {
        let spec = cx.engine.table.entry(queued.entry).spec();
        cx.app().admit(spec, cx.now).map_err(|error| {
            Error::owned(format!(
                "EXECABORT Transaction discarded because of: {error}"
            ))
        })?;
    }
    Ok(())
}

/// The reply to an `EXEC` that is refused for this reason.
pub(crate) fn aborted(error: &Error) -> Error {
    let reason = error.text().trim_start_matches("ERR ");
    Error::owned(format!(
        "EXECABORT Transaction discarded because of: {reason}"
    ))
}

/// Takes the section, looks at the watched keys once more, and runs the queue.
fn run<A: App>(cx: &mut Cx<'_, A>, queue: &Queue, reply: &mut Reply<'_>) -> Flow {
    let (app, now) = (cx.app(), cx.now);
    let transaction = std::mem::take(&mut cx.client.transaction);
    let keys = keys(cx, queue).map(|mut keys| {
        keys.extend(transaction.watched());
        keys
    });
    let scope = keys.as_deref().map_or(Scope::Everything, Scope::Keys);
    let mut flow = Flow::Replied;
    app.atomically(&scope, now, &mut |held| {
        flow = if transaction.is_dirty(now) {
            reply.null_array();
            Flow::Replied
        } else {
            run_queue(cx, queue, held, reply)
        };
    });
    drop(keys);
    cx.client.transaction = transaction;
    flow
}

/// The keys the queued requests name, each with its database; `None` when that does not cover what
/// they do.
fn keys<'q, A: App>(cx: &Cx<'_, A>, queue: &'q Queue) -> Option<Vec<(u32, &'q [u8])>> {
    let mut keys = Vec::new();
    let mut db = cx.client.db;
    for queued in queue.requests() {
        let entry = cx.engine.table.entry(queued.entry);
        let spec = entry.spec();
        if spec.flags.any(Flags::ALL_KEYS.with(Flags::OTHER_DB)) {
            return None;
        }
        let request = queued.request();
        if spec.name == super::connection::SELECT.name {
            let chosen = number::parse_i64(&request[1]).and_then(|index| u32::try_from(index).ok());
            db = chosen.filter(|db| *db < cx.app().databases()).unwrap_or(db);
        }
        let mut found = |at| keys.extend(request.get(at).map(|key| (db, key)));
        entry.command().keys(request, &mut found).ok()?;
    }
    Some(keys)
}

fn run_queue<A: App>(
    cx: &mut Cx<'_, A>,
    queue: &Queue,
    held: &mut dyn Any,
    reply: &mut Reply<'_>,
) -> Flow {
    let engine = cx.engine;
    let mut is_last = false;
    let mut wait = Duration::ZERO;
    reply.array(queue.requests().len());
    for queued in queue.requests() {
        let before = reply.sink().len();
        // `HELLO` among the queued changes the protocol of those behind it.
        let mut inner = Encoder::new(reply.sink(), cx.client.proto);
        let mut cx = Cx {
            engine,
            conn: cx.conn,
            client: cx.client,
            now: cx.now,
            held: Some(held),
        };
        match engine.run(
            queued.entry,
            &mut cx,
            queued.request(),
            queued.name_len,
            &mut inner,
        ) {
            Flow::Replied => {}
            Flow::RepliedAfter(due) => wait = wait.saturating_add(due),
            Flow::Close => is_last = true,
        }
        // What says nothing (`CLIENT REPLY OFF`) still has its place in the array.
        if reply.sink().len() == before {
            reply.ok();
        }
    }
    if is_last {
        Flow::Close
    } else if wait.is_zero() {
        Flow::Replied
    } else {
        Flow::RepliedAfter(wait)
    }
}
