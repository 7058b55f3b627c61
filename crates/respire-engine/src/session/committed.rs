//! Turns of a session whose changes are kept by [`Commits`]: their replies have tickets.

use super::{Session, SessionEvent, SessionStep};
use crate::command::commits::CommitTurn;
use crate::{App, Commits, Now, Output};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What keeps the changes of a session's commands, and what its driver has to wait for.
pub(super) struct Committed {
    commits: Arc<dyn Commits>,
    /// The ticket that the driver has not taken yet.
    ticket: u64,
}

impl Committed {
    pub(super) fn new(commits: &Arc<dyn Commits>) -> Box<Self> {
        Box::new(Self {
            commits: Arc::clone(commits),
            ticket: 0,
        })
    }
}

impl<A: App> Session<A> {
    /// Takes an event in a turn that [`Commits`] brackets.
    #[inline(never)]
    pub(super) fn serve_committed(
        &mut self,
        event: SessionEvent<'_, A>,
        now: Now,
        out: &mut Output,
    ) -> SessionStep {
        let Some(mut committed) = self.committed.take() else {
            return self.take_event(event, now, out);
        };
        let turn = CommitTurn::enter(&*committed.commits);
        let step = self.take_event(event, now, out);
        let mut ticket = turn.leave();
        if self.core.client.shared.take_others() {
            ticket = ticket.max(committed.commits.last());
        }
        committed.ticket = committed.ticket.max(ticket);
        self.committed = Some(committed);
        step
    }

    /// What keeps the changes of this session's commands, if anything does.
    #[must_use]
    pub fn commits(&self) -> Option<&Arc<dyn Commits>> {
        self.committed.as_ref().map(|committed| &committed.commits)
    }

    /// The ticket that must be kept ([`Commits::is_kept`]) before the driver may write what calls of
    /// [`Session::serve`] have appended since the last call of this function. 0 if nothing must be
    /// waited for.
    #[inline]
    pub fn take_ticket(&mut self) -> u64 {
        match &mut self.committed {
            Some(committed) => std::mem::take(&mut committed.ticket),
            None => 0,
        }
    }

    /// Says whether replies are held from now on. A peer that waits for them is not idle.
    pub fn set_held(&mut self, is_held: bool, now: Now) {
        let shared = &self.core.client.shared;
        if shared.is_held.swap(is_held, Ordering::Relaxed) && !is_held {
            let last = &shared.last_active_us;
            last.store(now.monotonic_us(), Ordering::Relaxed);
        }
    }

    /// Whether more requests may be answered before the output is written.
    #[must_use]
    pub fn has_room(&self, out: &Output) -> bool {
        out.len() < self.engine.limits.output_bytes_max
    }
}

#[cfg(test)]
mod tests {
    use crate::redis::testing::{Line, Server};
    use crate::{Commits, Wake};
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// Records what it is called with.
    #[derive(Default)]
    struct Record {
        calls: Mutex<Vec<String>>,
        /// The ticket of every turn, and the last one of all.
        ticket: AtomicU64,
        last: AtomicU64,
    }

    impl Record {
        fn add(&self, call: &str) {
            let mut calls = self.calls.lock().expect("no test panics with it held");
            calls.push(call.to_owned());
        }

        fn take(&self) -> String {
            let mut calls = self.calls.lock().expect("no test panics with it held");
            std::mem::take(&mut *calls).join(" ")
        }
    }

    impl Commits for Record {
        fn enter(&self) {
            self.add("(");
        }

        fn leave(&self) -> u64 {
            self.add(")");
            self.ticket.load(Ordering::Relaxed)
        }

        fn note_read(&self, db: u32, key: &[u8]) {
            self.add(&format!("{db}:{}", key.escape_ascii()));
        }

        fn note_read_all(&self) {
            self.add("all");
        }

        fn last(&self) -> u64 {
            self.last.load(Ordering::Relaxed)
        }

        fn is_kept(&self, _: u64) -> bool {
            false
        }

        fn wake_when_kept(&self, _: u64, _: Arc<dyn Wake>) {}
    }

    fn server() -> (Server, Arc<Record>) {
        let (server, record) = (Server::new(), Arc::new(Record::default()));
        server.engine.set_commits(Arc::clone(&record) as _);
        (server, record)
    }

    /// What one turn with these requests calls.
    fn calls(line: &mut Line, record: &Record, requests: &str) -> String {
        record.take();
        line.ask(requests);
        record.take()
    }

    #[test]
    fn turns_and_housekeeping_are_bracketed() {
        let (server, record) = server();
        let mut line = server.connect();
        assert_eq!(calls(&mut line, &record, "PING\nGET a"), "( )");
        assert_eq!(calls(&mut line, &record, "PANIC"), "( )");
        server.engine.tick(line.now);
        assert_eq!(record.take(), "( )");
    }

    #[test]
    fn keys_that_commands_use_are_noted_while_reads_are() {
        let (server, record) = server();
        let mut line = server.connect();
        server.engine.set_notes_reads(true);
        let expected = [
            ("PING\nINFO\nSELECT 2\nNOPE", "( )"),
            ("GET a\nCOPY b c", "( 2:a 2:b 2:c )"),
            ("SET a 1\nGET", "( 2:a )"),
            ("COUNT", "( all )"),
            ("SELECT 0\nMULTI\nGET a\nSELECT 1\nGET b\nCOUNT", "( )"),
            ("EXEC", "( 0:a 1:b all )"),
        ];
        for (requests, noted) in expected {
            assert_eq!(calls(&mut line, &record, requests), noted, "{requests}");
        }
        server.engine.set_notes_reads(false);
        assert_eq!(calls(&mut line, &record, "GET a\nCOUNT"), "( )");
    }

    #[test]
    fn ticket_of_turns_is_taken_once() {
        let (server, record) = server();
        let mut line = server.connect();
        for ticket in [5, 3] {
            record.ticket.store(ticket, Ordering::Relaxed);
            line.ask("PING");
        }
        assert_eq!(
            (line.session.take_ticket(), line.session.take_ticket()),
            (5, 0)
        );
    }

    #[test]
    fn delayed_reply_waits_for_the_last_ticket() {
        let (server, record) = server();
        let mut line = server.connect();
        record.last.store(9, Ordering::Relaxed);
        assert_eq!(
            (line.ask("NAP").as_str(), line.session.take_ticket()),
            ("", 0)
        );
        line.pass(Duration::from_millis(20));
        assert_eq!(
            (line.poll().as_str(), line.session.take_ticket()),
            ("+OK|", 9)
        );
    }

    #[test]
    fn messages_wait_for_the_last_ticket_while_reads_are_noted() {
        let (server, record) = server();
        let (mut subscriber, mut publisher) = (server.connect(), server.connect());
        subscriber.ask("SUBSCRIBE news");
        record.last.store(9, Ordering::Relaxed);
        for (notes_reads, ticket) in [(false, 0), (true, 9)] {
            server.engine.set_notes_reads(notes_reads);
            publisher.ask("PUBLISH news x");
            assert!(subscriber.poll().contains("message"));
            assert_eq!(subscriber.session.take_ticket(), ticket);
        }
    }
}
