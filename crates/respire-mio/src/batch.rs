//! Reads from connections that are ready together before it answers the first. While the kernel
//! copies the bytes of the next connection, memory loads the keys of the requests read before. One
//! connection at a time would wait for each load.

use crate::{Cause, Reactor, Registered, find};
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

impl<A: App> Reactor<A> {
    /// Serves every source of these events.
    pub(crate) fn take_events(&mut self, events: &Events, batch: &mut Batch) {
        for event in events {
            let token = event.token();
            let Some(entry) = find(&mut self.connections, token) else {
                self.take_wake(token);
                continue;
            };
            entry.socket.note_event(event);
            batch.tokens.push(token);
            if batch.tokens.len() == CONNECTIONS_MAX {
                self.serve_batch(batch);
            }
        }
        self.serve_batch(batch);
    }

    fn serve_batch(&mut self, batch: &mut Batch) {
        let Batch { tokens, buffers } = batch;
        if let [only] = tokens[..] {
            self.drive(only, Cause::Ready);
        } else {
            self.serve_together(tokens, buffers);
        }
        tokens.clear();
    }

    fn serve_together(&mut self, tokens: &[Token], buffers: &mut [Box<[u8]>]) {
        let mut arrivals = [const { None }; CONNECTIONS_MAX];
        for ((token, buffer), arrival) in tokens.iter().zip(buffers).zip(&mut arrivals) {
            self.guard(*token, |entry| {
                let socket = &mut entry.socket;
                *arrival = entry.connection.receive_ahead(socket, buffer);
            });
        }
        for (token, arrival) in tokens.iter().zip(&mut arrivals) {
            if let Some(arrival) = arrival {
                self.guard(*token, |entry| entry.connection.find_ahead(arrival));
            }
        }
        for (token, arrival) in tokens.iter().zip(arrivals) {
            self.drive(*token, arrival.map_or(Cause::Ready, Cause::Arrived));
        }
    }

    /// Runs a step of a connection, if it still exists. A panic ends that connection, as in a turn.
    fn guard(&mut self, token: Token, step: impl FnOnce(&mut Registered<A>)) {
        if let Some(entry) = find(&mut self.connections, token)
            && catch_unwind(AssertUnwindSafe(|| step(entry))).is_err()
        {
            self.finish(token);
        }
    }
}
