//! What is ready and has yet to be served. A long call may begin at any time: its connections are served
//! from the same lists then, so it holds up nothing that the system has told already.

use crate::{Cause, Reactor, Shared, WAKER, accept_ready, drive, find};
use mio::{Events, Token};
use respire_engine::App;
use respire_net::clock;
use std::collections::VecDeque;

/// Sources that are ready, and that the system does not report again.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// Connections that can read or write.
    pub(crate) ready: VecDeque<Token>,
    /// Listeners, and the waker.
    sources: VecDeque<Token>,
    /// Connections that were woken.
    woken: VecDeque<Token>,
    /// Connections and listeners whose deadline has passed.
    due: VecDeque<Token>,
}

/// Takes note of these events.
pub(crate) fn note_events<A: App>(reactor: &Shared<A>, events: &Events) {
    let mut this = reactor.borrow_mut();
    let Reactor {
        connections,
        backlog,
        ..
    } = &mut *this;
    for event in events {
        let token = event.token();
        match find(connections, token).map(|slot| slot.note_event(event)) {
            Some(true) => backlog.ready.push_back(token),
            // It is being driven, and has taken note.
            Some(false) => {}
            None => backlog.sources.push_back(token),
        }
    }
}

/// Takes the next token of a list.
fn next<A: App>(
    reactor: &Shared<A>,
    of: impl Fn(&mut Backlog) -> &mut VecDeque<Token>,
) -> Option<Token> {
    of(&mut reactor.borrow_mut().backlog).pop_front()
}

/// Handles the events of listeners and of the waker; an event of a closed connection does nothing.
pub(crate) fn take_sources<A: App>(reactor: &Shared<A>) {
    while let Some(token) = next(reactor, |backlog| &mut backlog.sources) {
        if token == WAKER {
            let mut this = reactor.borrow_mut();
            let woken = this.wakes.take();
            this.backlog.woken.extend(woken);
        } else {
            accept_ready(reactor, token);
        }
    }
    while let Some(token) = next(reactor, |backlog| &mut backlog.woken) {
        drive(reactor, token, Cause::Wake);
    }
}

/// Drives the connections that are ready, one after another.
pub(crate) fn take_ready<A: App>(reactor: &Shared<A>) {
    while let Some(token) = next(reactor, |backlog| &mut backlog.ready) {
        drive(reactor, token, Cause::Ready);
    }
}

/// Gives one turn to every source in `again`; a source that needs more is appended again.
pub(crate) fn take_turns<A: App>(reactor: &Shared<A>) {
    let count = reactor.borrow().again.len();
    for _ in 0..count {
        let mut this = reactor.borrow_mut();
        let Some(token) = this.again.pop_front() else {
            return;
        };
        let slot = find(&mut this.connections, token);
        let is_connection = slot.map(|slot| slot.is_queued = false).is_some();
        drop(this);
        if is_connection {
            drive(reactor, token, Cause::Ready);
        } else {
            accept_ready(reactor, token);
        }
    }
}

/// Handles the deadlines that have passed.
pub(crate) fn take_deadlines<A: App>(reactor: &Shared<A>) {
    note_due(&mut reactor.borrow_mut());
    while let Some(token) = next(reactor, |backlog| &mut backlog.due) {
        let mut this = reactor.borrow_mut();
        let slot = find(&mut this.connections, token);
        let is_connection = slot.map(|slot| slot.armed_us = None).is_some();
        drop(this);
        if is_connection {
            drive(reactor, token, Cause::Deadline);
        } else {
            accept_ready(reactor, token);
        }
    }
}

/// Moves the deadlines that have passed to the backlog.
fn note_due<A: App>(this: &mut Reactor<A>) {
    let Some(first) = this.deadlines.first() else {
        return;
    };
    let now = clock::now();
    if first.0 > now.monotonic_us() {
        return;
    }
    let later = this
        .deadlines
        .split_off(&(now.monotonic_us() + 1, Token(0)));
    let due = std::mem::replace(&mut this.deadlines, later);
    this.backlog
        .due
        .extend(due.into_iter().map(|(_, token)| token));
}
