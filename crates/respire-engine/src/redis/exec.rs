//! `EXEC`: runs the requests queued since `MULTI` in one atomic section.

use super::{Act, Rows};
use crate::client::transaction::Queue;
use crate::command::cx::InSection;
use crate::command::exec::{aborted, end_at_once, end_transaction};
use crate::command::{admit, after_ends};
use crate::session::Failed;
use crate::{
    App, ArgList, Cx, Error, Flags, Flow, Group, Keyspace, Now, Output, Reply, SectionScope, Spec,
};
use resp_codec::{Encoder, number};

pub(super) fn add_to<A: App>(rows: Rows<'_, A>) -> Rows<'_, A> {
    rows.add(Act {
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
        .with(Flags::IMMEDIATE)
        .with(Flags::EXEC),
    examples: &[
        ("MULTI", "+OK\r\n"),
        ("SET a 1", "+QUEUED\r\n"),
        ("GET a", "+QUEUED\r\n"),
        ("EXEC", "*2\r\n+OK\r\n$1\r\n1\r\n"),
        ("EXEC", "-ERR EXEC without MULTI\r\n"),
    ],
    ..Spec::EMPTY
};

fn exec<A: App>(cx: &mut Cx<'_, A>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
    let Some(queue) = cx.client.transaction.take_queue() else {
        reply.error("ERR EXEC without MULTI");
        return Flow::Replied;
    };
    let mark = reply.sink().mark();
    let flow = if let Err(error) = check(cx, &queue) {
        reply.error(error.text());
        Flow::Replied
    } else if cx.client.transaction.is_dirty(cx.now) {
        reply.null_array();
        Flow::Replied
    } else {
        run(cx, &queue, reply)
    };
    end_transaction(cx.client);
    match flow {
        // The queue had `DEBUG SLEEP`: the reply waits for that time, and not for killed
        // connections.
        Flow::RepliedAfter { .. } => {
            cx.client.pending_kill = None;
            flow
        }
        _ => after_ends(cx, (reply, mark), flow == Flow::Close),
    }
}

/// Checks whether the queue may run. Called before the section begins, because admitting a write
/// may have to evict other keys, which the section would block.
fn check<A: App>(cx: &Cx<'_, A>, queue: &Queue) -> Result<(), Error> {
    if queue.is_aborted() {
        return Err(Error::fixed(
            "EXECABORT Transaction discarded because of previous errors.",
        ));
    }
    for queued in queue.requests() {
        let spec = cx.engine.table.entry(queued.entry).spec();
        let needs_room = spec.flags.has(Flags::DENYOOM);
        admit(cx.engine, spec, needs_room, cx.now).map_err(|error| aborted(&error))?;
    }
    Ok(())
}

/// Enters the section, checks the watched keys again, and runs the queue.
fn run<A: App>(cx: &mut Cx<'_, A>, queue: &Queue, reply: &mut Reply<'_>) -> Flow {
    let (app, now) = (cx.app(), cx.now);
    let transaction = std::mem::take(&mut cx.client.transaction);
    let keys = keys(cx, queue).map(|mut keys| {
        keys.extend(transaction.watched());
        keys
    });
    let scope = keys
        .as_deref()
        .map_or(SectionScope::Everything, SectionScope::Keys);
    let mut flow = Flow::Replied;
    let mut body = |section: InSection<'_, A>| {
        flow = if transaction.is_dirty(now) {
            reply.null_array();
            Flow::Replied
        } else {
            run_queue(cx, queue, section, reply)
        };
    };
    in_section(app, queue.has_scripts(), &scope, now, &mut body);
    drop(keys);
    cx.client.transaction = transaction;
    flow
}

/// Runs `body` in a section, which can be widened if `has_scripts`.
fn in_section<A: App>(
    app: &A,
    has_scripts: bool,
    scope: &SectionScope<'_>,
    now: Now,
    body: &mut dyn FnMut(InSection<'_, A>),
) {
    if has_scripts {
        A::Keys::atomically_widening(app, scope, now, &mut |held, widen| {
            body(InSection {
                held,
                widen: Some(&mut *widen),
            });
        });
    } else {
        A::Keys::atomically(app, scope, now, &mut |held| {
            body(InSection { held, widen: None });
        });
    }
}

/// Runs the transaction of a log. An error is that of its first command that fails; those behind it do
/// not run.
pub(crate) fn replay_queue<A: App>(cx: &mut Cx<'_, A>, out: &mut Output) -> Result<(), Failed> {
    let Some(queue) = cx.client.transaction.take_queue() else {
        let message = "ERR EXEC without MULTI".to_owned();
        return Err(("EXEC".to_owned(), message));
    };
    let (app, now, keys) = (cx.app(), cx.now, keys(cx, &queue));
    let scope = keys
        .as_deref()
        .map_or(SectionScope::Everything, SectionScope::Keys);
    let mut result = Ok(());
    in_section(app, queue.has_scripts(), &scope, now, &mut |mut section| {
        let mut requests = queue.requests().iter();
        result = requests.try_for_each(|queued| {
            let request = queued.request();
            let mut cx = Cx {
                engine: cx.engine,
                conn: cx.conn,
                keys: cx.keys,
                client: cx.client,
                now,
                request: &request,
                hint: None,
                section: Some(section.reborrow()),
            };
            let found = (queued.entry, queued.name_len);
            let ran = cx.engine.run_replayed(found, &mut cx, request, out);
            ran.map_err(|message| (String::from_utf8_lossy(&request[0]).into_owned(), message))
        });
    });
    result
}

/// The keys of the queued requests, each with its database; `None` if the requests may use other
/// keys.
fn keys<'q, A: App>(cx: &Cx<'_, A>, queue: &'q Queue) -> Option<Vec<(u32, &'q [u8])>> {
    let mut keys = Vec::new();
    let mut db = cx.client.db;
    for queued in queue.requests() {
        let entry = cx.engine.table.entry(queued.entry);
        let spec = entry.spec();
        if spec.flags.has(Flags::ALL_KEYS) {
            return None;
        }
        let request = queued.request();
        if spec.name == super::connection::SELECT.name {
            let chosen = number::parse_i64(&request[1]).and_then(|index| u32::try_from(index).ok());
            db = chosen
                .filter(|db| *db < A::Keys::databases(cx.app()))
                .unwrap_or(db);
        }
        let mut found = |at| keys.extend(request.get(at).map(|key| (db, key)));
        entry.command().keys(request, &mut found).ok()?;
    }
    Some(keys)
}

fn run_queue<A: App>(
    cx: &mut Cx<'_, A>,
    queue: &Queue,
    mut section: InSection<'_, A>,
    reply: &mut Reply<'_>,
) -> Flow {
    let engine = cx.engine;
    let shared_buffer = cx.client.shared_buffer.take();
    let mut is_last = false;
    let mut wait_us = 0_u64;
    reply.array(queue.requests().len());
    for queued in queue.requests() {
        let before = reply.sink().len();
        let mark = reply.sink().mark();
        // A queued `HELLO` changes the protocol of later requests.
        let mut inner = Encoder::new(reply.sink(), cx.client.proto);
        let request = queued.request();
        cx.client.shared_buffer = queued.shared_buffer();
        let mut cx = Cx {
            engine,
            conn: cx.conn,
            keys: cx.keys,
            client: cx.client,
            now: cx.now,
            request: &request,
            hint: None,
            section: Some(section.reborrow()),
        };
        match engine.run(queued.entry, &mut cx, request, queued.name_len, &mut inner) {
            Flow::Replied => {}
            Flow::Pending => {
                inner.sink().cut(mark);
                let _is_error = end_at_once(engine, cx.client, queued.entry, &mut inner);
            }
            Flow::RepliedAfter { wait_us: more_us } => wait_us = wait_us.saturating_add(more_us),
            Flow::Close => is_last = true,
        }
        // A request without a reply (`CLIENT REPLY OFF`) still needs an element in the array.
        if reply.sink().len() == before {
            reply.ok();
        }
    }
    cx.client.shared_buffer = shared_buffer;
    if is_last {
        Flow::Close
    } else if wait_us == 0 {
        Flow::Replied
    } else {
        Flow::RepliedAfter { wait_us }
    }
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Server, check};
    use crate::session::SessionStep;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    #[test]
    fn exec_array_contains_subscription_confirmations() {
        let mut line = Server::new().connect();
        line.ask("HELLO 3\nMULTI\nUNSUBSCRIBE\nSUBSCRIBE a");
        assert_eq!(
            line.ask("EXEC"),
            "*2|>3|$11|unsubscribe|_|:0|>3|$9|subscribe|$1|a|:1|"
        );
    }

    #[test]
    fn exec_replies_to_all_requests_in_one_array() {
        check(&[
            ("MULTI", "+OK|"),
            ("SET a 1", "+QUEUED|"),
            ("SET a 1 what", "+QUEUED|"),
            ("GET a", "+QUEUED|"),
            ("EXEC", "*3|+OK|-ERR syntax error|$1|1|"),
            ("EXEC", "-ERR EXEC without MULTI|"),
            ("MULTI\nEXEC", "+OK|*0|"),
        ]);
    }

    #[test]
    fn exec_after_a_refused_request_runs_no_request() {
        const ABORT: &str = "-EXECABORT Transaction discarded because of previous errors.|";
        check(&[
            ("MULTI\nSET a 1", "+OK|+QUEUED|"),
            ("GET", "-ERR wrong number of arguments for 'get' command|"),
            ("EXEC", ABORT),
            ("GET a", "$-1|"),
            (
                "MULTI\nEXEC too much",
                concat!(
                    "+OK|-EXECABORT Transaction discarded because of: ",
                    "wrong number of arguments for 'exec' command|"
                ),
            ),
            ("EXEC", "-ERR EXEC without MULTI|"),
        ]);
    }

    #[test]
    fn exec_returns_null_if_a_watched_key_changed() {
        let server = Server::new();
        let (mut line, mut other) = (server.connect(), server.connect());
        assert_eq!(line.ask("WATCH a\nMULTI\nSET a 1"), "+OK|+OK|+QUEUED|");
        assert_eq!(other.ask("SET a 2"), "+OK|");
        assert_eq!(line.ask("EXEC\nGET a"), "*-1|$1|2|");
        assert_eq!(line.ask("HELLO 3\nWATCH a").split('|').next(), Some("%7"));
        assert_eq!(other.ask("SET a 3"), "+OK|");
        assert_eq!(line.ask("MULTI\nEXEC\nMULTI\nEXEC"), "+OK|_|+OK|*0|");
    }

    #[test]
    fn exec_section_covers_keys_of_requests_and_watched_keys() {
        let server = Server::new();
        let mut line = server.connect();
        let scope = |line: &mut super::super::testing::Line, requests: &str| {
            line.ask(&format!("MULTI\n{requests}\nEXEC"));
            server
                .engine
                .app()
                .scope
                .lock()
                .expect("not poisoned")
                .clone()
        };
        assert_eq!(scope(&mut line, "SET a 1\nPING\nCOPY b c"), "0:a 0:b 0:c");
        assert_eq!(
            scope(&mut line, "SET a 1\nSELECT 2\nGET b\nSELECT 99\nGET c"),
            "0:a 2:b 2:c"
        );
        assert_eq!(scope(&mut line, "GET a\nCOUNT"), "everything");
        line.ask("SELECT 1\nWATCH w\nSELECT 0");
        assert_eq!(scope(&mut line, "GET a"), "0:a 1:w");
    }

    #[test]
    fn exec_is_refused_if_one_of_its_requests_would_be() {
        let server = Server::new();
        let mut line = server.connect();
        assert_eq!(line.ask("MULTI\nSET a 1"), "+OK|+QUEUED|");
        server.engine.app().is_full.store(true, Ordering::Relaxed);
        assert_eq!(
            line.ask("EXEC"),
            "-EXECABORT Transaction discarded because of: OOM full|"
        );
        assert_eq!(
            line.ask("MULTI\nSET a 1\nGET a"),
            "+OK|-OOM full|-OOM full|"
        );
    }

    #[test]
    fn queued_requests_that_change_the_connection_affect_later_ones() {
        check(&[
            (
                "MULTI\nSELECT 2\nSET a 1\nSELECT 0\nGET a\nEXEC",
                concat!(
                    "+OK|+QUEUED|+QUEUED|+QUEUED|+QUEUED|",
                    "*4|+OK|+OK|+OK|$-1|"
                ),
            ),
            ("SELECT 2\nGET a", "+OK|$1|1|"),
        ]);
        let mut line = Server::new().connect();
        let replies = line.ask("MULTI\nGET a\nHELLO 3\nGET a\nEXEC");
        assert!(
            replies.contains("*3|$-1|%7|") && replies.ends_with("_|"),
            "{replies}"
        );
    }

    #[test]
    fn queued_requests_without_a_reply_are_null_in_the_array() {
        let mut line = Server::new().connect();
        line.ask("MULTI\nCLIENT REPLY OFF\nGET a");
        assert_eq!(line.ask("EXEC\nPING\nCLIENT REPLY ON"), "*2|+OK|$-1|+OK|");
    }

    #[test]
    fn delayed_requests_delay_the_whole_array() {
        let mut line = Server::new().connect();
        line.ask("MULTI\nNAP\nSET a 1\nNAP");
        assert_eq!(line.ask("EXEC\nPING"), "");
        line.pass(Duration::from_millis(39));
        assert_eq!(line.ask("PING"), "");
        line.pass(Duration::from_millis(1));
        assert_eq!(line.ask("PING"), "*3|+OK|+OK|+OK|+PONG|+PONG|+PONG|");
    }

    #[test]
    fn queued_kill_of_itself_closes_after_the_array() {
        let mut line = Server::new().connect();
        line.ask("MULTI\nCLIENT KILL SKIPME no\nPING");
        assert_eq!(line.ask("EXEC\nPING"), "*2|:1|+PONG|");
        assert!(matches!(line.step, SessionStep::Close(_)));
    }
}
