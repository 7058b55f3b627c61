//! Reads from connections that are ready together before it answers the first. While the kernel
//! copies the bytes of the next connection, memory loads the keys of the requests read before. One
//! connection at a time would wait for each load.
//!
//! If one of them then runs a long call, the others are served during it, from the same buffers
//! ([`take_over`]).

use crate::slot::Slot;
use crate::{Cause, Registered, Shared, drive, find};
use mio::Token;
use respire_engine::App;
use respire_net::{Arrival, Limits, arrival_buffer};
use std::cell::{Cell, RefCell};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most connections that are read from before the first is answered. With more, their keys
/// would be no more likely to be loaded, and the replies would wait longer.
const CONNECTIONS_MAX: usize = 8;

/// Connections that are served together, in order.
pub(crate) struct Batch {
    seats: [Seat; CONNECTIONS_MAX],
}

/// A connection of a batch, and what was read ahead from it.
struct Seat {
    /// `None` once it is served.
    token: Cell<Option<Token>>,
    /// The result of reading ahead, with the number of bytes; `None` if nothing was read.
    read: Cell<Option<io::Result<usize>>>,
    buffer: RefCell<Box<[u8]>>,
}

impl Batch {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            seats: std::array::from_fn(|_| Seat {
                token: Cell::new(None),
                read: Cell::new(None),
                buffer: RefCell::new(arrival_buffer(limits)),
            }),
        }
    }

    /// Takes connections that are ready. Returns their seats.
    fn fill<A: App>(&self, reactor: &Shared<A>) -> &[Seat] {
        let ready = &mut reactor.borrow_mut().backlog.ready;
        let count = ready.len().min(CONNECTIONS_MAX);
        let seats = &self.seats[..count];
        for (seat, token) in seats.iter().zip(ready.drain(..count)) {
            seat.token.set(Some(token));
        }
        seats
    }
}

/// Serves every connection that is ready.
pub(crate) fn serve_ready<A: App>(reactor: &Shared<A>, batch: &Batch) {
    loop {
        match batch.fill(reactor) {
            [] => return,
            [only] => serve(reactor, only, None),
            seats => serve_together(reactor, seats),
        }
    }
}

/// Serves the connections of the batch that are not served yet, during a long call of another one.
pub(crate) fn take_over<A: App>(reactor: &Shared<A>, batch: &Batch) {
    for seat in &batch.seats {
        serve(reactor, seat, None);
    }
}

fn serve_together<A: App>(reactor: &Shared<A>, seats: &[Seat]) {
    let mut buffers = [const { None }; CONNECTIONS_MAX];
    let mut arrivals = [const { None }; CONNECTIONS_MAX];
    for ((seat, buffer), arrival) in seats.iter().zip(&mut buffers).zip(&mut arrivals) {
        guard(reactor, seat, |slot| {
            let Some(Registered { socket, connection }) = slot.entry() else {
                return;
            };
            let read = connection.read_ahead(socket, &mut seat.buffer.borrow_mut());
            if let Some(Ok(len)) = read {
                let bytes = &buffer.insert(seat.buffer.borrow())[..len];
                *arrival = Some(connection.look_ahead(bytes));
            }
            if read.is_some() {
                seat.read.set(read);
                slot.reserve();
            }
        });
    }
    for (seat, arrival) in seats.iter().zip(&mut arrivals) {
        if let Some(arrival) = arrival {
            guard(reactor, seat, |slot| {
                if let Some(entry) = slot.reserved() {
                    entry.connection.find_ahead(arrival);
                }
            });
        }
    }
    for (seat, arrival) in seats.iter().zip(&arrivals) {
        if let Some(arrival) = arrival {
            guard(reactor, seat, |slot| {
                if let Some(entry) = slot.reserved() {
                    entry.connection.warm_ahead(arrival);
                }
            });
        }
    }
    for (seat, arrival) in seats.iter().zip(arrivals) {
        serve(reactor, seat, arrival);
    }
}

/// Drives the connection of a seat, unless that was done: it begins with what was read ahead, if there is
/// something. `arrival` is the same, looked ahead to.
fn serve<A: App>(reactor: &Shared<A>, seat: &Seat, arrival: Option<Arrival<'_, A>>) {
    let Some(token) = seat.token.take() else {
        return;
    };
    match (arrival, seat.read.take()) {
        (Some(arrival), _) => drive(reactor, token, Cause::Arrived(arrival)),
        (None, Some(read)) => {
            let buffer = seat.buffer.borrow();
            let arrival = Arrival::new(read.map(|len| &buffer[..len]));
            drive(reactor, token, Cause::Arrived(arrival));
        }
        (None, None) => drive(reactor, token, Cause::Ready),
    }
}

/// Runs a step of a connection, if it still exists. A panic ends that connection, as in a turn.
fn guard<A: App>(reactor: &Shared<A>, seat: &Seat, step: impl FnOnce(&mut Slot<A>)) {
    let Some(token) = seat.token.get() else {
        return;
    };
    let mut this = reactor.borrow_mut();
    if let Some(slot) = find(&mut this.connections, token)
        && catch_unwind(AssertUnwindSafe(|| step(slot))).is_err()
    {
        let freed = this.free_slot(token);
        drop(this);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(freed)));
    }
}
