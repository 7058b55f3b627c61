//! Serves other connections while a long call holds up the reactor's thread.

use crate::backlog::{note_events, take_deadlines, take_ready, take_sources, take_turns};
use crate::batch::{Batch, take_over};
use crate::{App, Shared};
use mio::Events;
use respire_engine::Relief;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// Readiness events taken from the system at a time, while a long call waits for them to be served.
const EVENTS_MAX: usize = 128;

thread_local! {
    /// Serves the other connections of the reactor that runs on this thread.
    static SERVE: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// Whether this thread serves connections during a long call.
    static IS_RELIEVED: Cell<bool> = const { Cell::new(false) };
}

/// The connections of the reactor that runs on the thread of a long call.
#[derive(Debug)]
pub(crate) struct OtherConnections;

impl OtherConnections {
    /// Has the reactor serve its connections during long calls, until the result is dropped.
    pub(crate) fn serve_on_this_thread<A: App>(reactor: &Shared<A>, batch: &Rc<Batch>) -> Serving {
        let (reactor, batch) = (Rc::clone(reactor), Rc::clone(batch));
        let events = RefCell::new(None);
        let serve = move || {
            let mut events = events.borrow_mut();
            let events = events.get_or_insert_with(|| Events::with_capacity(EVENTS_MAX));
            serve_others(&reactor, &batch, events);
        };
        SERVE.set(Some(Rc::new(serve)));
        Serving
    }
}

impl Relief for OtherConnections {
    fn relieve(&self) {
        let serve = SERVE.with_borrow(|serve| serve.as_ref().map(Rc::clone));
        // A long call that is served during a long call lets nobody else be served.
        if let Some(serve) = serve
            && !IS_RELIEVED.replace(true)
        {
            serve();
            IS_RELIEVED.set(false);
        }
    }

    /// # Panics
    /// If the thread would wait for itself. The command is then answered with an error.
    fn block(&self, wait: &mut dyn FnMut()) {
        assert!(
            !IS_RELIEVED.get(),
            "a command that is served during a long call would wait for that call's keys"
        );
        wait();
    }
}

/// The thread serves connections during long calls until this is dropped.
pub(crate) struct Serving;

impl Drop for Serving {
    fn drop(&mut self) {
        SERVE.set(None);
    }
}

/// Serves what is ready now, without waiting.
fn serve_others<A: App>(reactor: &Shared<A>, batch: &Batch, events: &mut Events) {
    // An error is reported again when the reactor itself polls.
    let polled = reactor.borrow_mut().poll.poll(events, Some(Duration::ZERO));
    if polled.is_ok() {
        note_events(reactor, events);
    }
    take_over(reactor, batch);
    take_sources(reactor);
    take_ready(reactor);
    take_turns(reactor);
    take_deadlines(reactor);
}
