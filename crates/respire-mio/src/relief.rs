//! Serves other connections while a long call holds up the reactor's thread.

use crate::{App, Cause, Shared, drive, find, take_deadlines, take_turns, take_wake};
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
    pub(crate) fn serve_on_this_thread<A: App>(reactor: &Shared<A>) -> Serving {
        let reactor = Rc::clone(reactor);
        let events = RefCell::new(None);
        let serve = move || {
            let mut events = events.borrow_mut();
            let events = events.get_or_insert_with(|| Events::with_capacity(EVENTS_MAX));
            serve_others(&reactor, events);
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
fn serve_others<A: App>(reactor: &Shared<A>, events: &mut Events) {
    // An error is reported again when the reactor itself polls.
    if reactor
        .borrow_mut()
        .poll
        .poll(events, Some(Duration::ZERO))
        .is_err()
    {
        return;
    }
    for event in &*events {
        let token = event.token();
        let mut this = reactor.borrow_mut();
        let noted = find(&mut this.connections, token).map(|slot| slot.note_event(event));
        drop(this);
        match noted {
            Some(true) => drive(reactor, token, Cause::Ready),
            Some(false) => {}
            None => take_wake(reactor, token),
        }
    }
    take_turns(reactor);
    take_deadlines(reactor);
}
