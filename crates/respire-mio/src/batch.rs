//! Reads from connections that are ready together before it answers the first. While the kernel
//! copies the bytes of the next connection, memory loads the keys of the requests read before. One
//! connection at a time would wait for each load.

use crate::slot::Slot;
use crate::{Cause, Shared, drive, find, take_wake};
use mio::{Events, Token};
use respire_engine::App;
use respire_net::{Limits, arrival_buffer};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most connections that are read from before the first is answered. With more, their keys
/// would be no more likely to be loaded, and the replies would wait longer.
const CONNECTIONS_MAX: usize = 8;

/// Connections that became ready, in order, and a read buffer for each.
pub(crate) struct Batch {
    tokens: Vec<Token>,
    buffers: Vec<Box<[u8]>>,
}

impl Batch {
    pub(crate) fn new(limits: &Limits) -> Self {
        let buffer = || arrival_buffer(limits);
        Self {
            tokens: Vec::with_capacity(CONNECTIONS_MAX),
            buffers: std::iter::repeat_with(buffer)
                .take(CONNECTIONS_MAX)
                .collect(),
        }
    }
}

/// Serves every source of these events.
pub(crate) fn take_events<A: App>(reactor: &Shared<A>, events: &Events, batch: &mut Batch) {
    for event in events {
        let token = event.token();
        let mut this = reactor.borrow_mut();
        let noted = find(&mut this.connections, token).map(|slot| slot.note_event(event));
        drop(this);
        match noted {
            Some(true) => batch.tokens.push(token),
            Some(false) => {}
            None => take_wake(reactor, token),
        }
        if batch.tokens.len() == CONNECTIONS_MAX {
            serve_batch(reactor, batch);
        }
    }
    serve_batch(reactor, batch);
}

fn serve_batch<A: App>(reactor: &Shared<A>, batch: &mut Batch) {
    let Batch { tokens, buffers } = batch;
    if let [only] = tokens[..] {
        drive(reactor, only, Cause::Ready);
    } else {
        serve_together(reactor, tokens, buffers);
    }
    tokens.clear();
}

fn serve_together<A: App>(reactor: &Shared<A>, tokens: &[Token], buffers: &mut [Box<[u8]>]) {
    let mut arrivals = [const { None }; CONNECTIONS_MAX];
    for ((token, buffer), arrival) in tokens.iter().zip(buffers).zip(&mut arrivals) {
        guard(reactor, *token, |slot| {
            let Some(entry) = slot.entry() else {
                return;
            };
            *arrival = entry.connection.receive_ahead(&mut entry.socket, buffer);
            if arrival.is_some() {
                slot.reserve();
            }
        });
    }
    for (token, arrival) in tokens.iter().zip(&mut arrivals) {
        if let Some(arrival) = arrival {
            guard(reactor, *token, |slot| {
                if let Some(entry) = slot.reserved() {
                    entry.connection.find_ahead(arrival);
                }
            });
        }
    }
    for (token, arrival) in tokens.iter().zip(&arrivals) {
        if let Some(arrival) = arrival {
            guard(reactor, *token, |slot| {
                if let Some(entry) = slot.reserved() {
                    entry.connection.warm_ahead(arrival);
                }
            });
        }
    }
    for (token, arrival) in tokens.iter().zip(arrivals) {
        drive(
            reactor,
            *token,
            arrival.map_or(Cause::Ready, Cause::Arrived),
        );
    }
}

/// Runs a step of a connection, if it still exists. A panic ends that connection, as in a turn.
fn guard<A: App>(reactor: &Shared<A>, token: Token, step: impl FnOnce(&mut Slot<A>)) {
    let mut this = reactor.borrow_mut();
    if let Some(slot) = find(&mut this.connections, token)
        && catch_unwind(AssertUnwindSafe(|| step(slot))).is_err()
    {
        let freed = this.free_slot(token);
        drop(this);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(freed)));
    }
}
