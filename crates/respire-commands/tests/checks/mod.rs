//! What must hold of a session whatever its driver does: shared by the tests and the fuzzer.

mod peer;
mod source;

use peer::{Desk, Peer};
use respire_engine::Engine;
use respire_engine::driver::SessionEvent;
use source::Source;
use std::time::Duration;

/// How many operations one input makes at most.
const OPERATIONS_MAX: usize = 200;

/// What a driver does, or what befalls it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// So many bytes arrive.
    Feed(usize),
    /// They arrive, and are read to the session's room if it has one.
    Room(usize),
    /// They arrive, and are looked ahead to.
    Ahead(usize),
    /// They arrive, and another session looked ahead to them.
    Foreign(usize),
    /// They are looked ahead to, and before they are served comes a turn.
    Late(usize),
    /// A turn, though nothing has happened.
    Turn,
    /// Time passes, and whoever is due has a turn.
    Pass(Duration),
    /// The oldest call is answered.
    Answer,
}

/// Reads requests and operations from any bytes. A session that is driven by the operations answers what
/// one answers that is given all requests at once.
pub(crate) fn check_session_ops(data: &[u8]) {
    let mut source = Source::new(data);
    let limits = source.limits();
    let is_binary = source.is_binary();
    let requests = source.requests(is_binary);

    let whole = Peer::new(&peer::engine(limits)).finish(&requests);
    let engine = peer::engine(limits);
    let (mut peer, mut other) = (Peer::new(&engine), Peer::new(&engine));
    let mut rest = &requests[..];
    for _ in 0..OPERATIONS_MAX {
        let Some(operation) = source.operation() else {
            break;
        };
        rest = apply(operation, &mut peer, &mut other, rest, &engine);
    }
    let answered = peer.finish(rest);
    assert!(
        answered == whole,
        "of {}: {} and not {}",
        requests.escape_ascii(),
        answered.escape_ascii(),
        whole.escape_ascii()
    );
}

/// Whatever is done to several sessions of an engine, none panics, and one that has closed stays closed.
pub(crate) fn check_sessions_together(data: &[u8]) {
    let mut source = Source::new(data);
    let engine = peer::engine(source.limits());
    let mut peers = [0; 3].map(|_| Peer::new(&engine));
    for _ in 0..OPERATIONS_MAX {
        let Some(operation) = source.operation() else {
            break;
        };
        let [peer, other, third] = &mut peers;
        match source.byte() % 16 {
            0 => other.kill(),
            1 => peer.tell(SessionEvent::End),
            2 => peer.tell(SessionEvent::Stop),
            3 => *third = Peer::new(&engine),
            _ => {
                let requests = source.requests(false);
                let rest = apply(operation, peer, other, &requests, &engine);
                peer.feed(rest);
            }
        }
        third.tell(SessionEvent::Turn);
        peers.rotate_left(1);
    }
    for peer in peers {
        peer.finish(b"");
    }
}

/// Does it with the front of `bytes`; what is left of them.
fn apply<'b>(
    operation: Operation,
    peer: &mut Peer,
    other: &mut Peer,
    bytes: &'b [u8],
    engine: &Engine<Desk>,
) -> &'b [u8] {
    let front = |len: usize| &bytes[..len.min(bytes.len())];
    let taken = match operation {
        Operation::Feed(len) => peer.feed(front(len)),
        Operation::Room(len) => peer.feed_room(front(len)),
        Operation::Ahead(len) => peer.feed_ahead(front(len), None, false),
        Operation::Foreign(len) => peer.feed_ahead(front(len), Some(other), false),
        Operation::Late(len) => peer.feed_ahead(front(len), None, true),
        Operation::Turn => {
            peer.tell(SessionEvent::Turn);
            0
        }
        Operation::Pass(time) => {
            peer.pass(time);
            0
        }
        Operation::Answer => {
            engine.app().answer();
            peer.tell(SessionEvent::Turn);
            0
        }
    };
    &bytes[taken..]
}
