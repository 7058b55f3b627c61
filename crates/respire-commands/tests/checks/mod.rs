//! Checks what must hold for a session whatever its driver does; the tests and the fuzzer share it.

mod peer;
mod source;

use peer::{Peer, TestApp};
use respire_engine::Engine;
use respire_engine::driver::SessionEvent;
use source::Source;
use std::time::Duration;

/// The most operations that one input makes.
const OPERATIONS_MAX: usize = 200;

/// An operation of the driver, or an event from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// This many bytes arrive.
    Feed(usize),
    /// Bytes arrive, and are read into the session's room if it has one.
    Room(usize),
    /// Bytes arrive, and the session looks ahead to them.
    Ahead(usize),
    /// Bytes arrive, and another session looks ahead to them.
    Foreign(usize),
    /// Bytes arrive, the session looks ahead to them, and a turn comes before they are served.
    Late(usize),
    /// A turn without any event.
    Turn,
    /// Time passes, and the session has a turn if its timeout is due.
    Pass(Duration),
    /// The oldest deferred call gets its reply.
    Answer,
}

/// Reads requests and operations from arbitrary bytes. Checks that a session driven by the
/// operations gives the same replies as one that gets all requests at once.
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
    let replies = peer.finish(rest);
    assert!(
        replies == whole,
        "of {}: {} and not {}",
        requests.escape_ascii(),
        replies.escape_ascii(),
        whole.escape_ascii()
    );
}

/// Checks that no operation on several sessions of an engine panics, and that a closed session
/// stays closed.
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
            1 => peer.serve(SessionEvent::End),
            2 => peer.serve(SessionEvent::Stop),
            3 => *third = Peer::new(&engine),
            _ => {
                let requests = source.requests(false);
                let rest = apply(operation, peer, other, &requests, &engine);
                peer.feed(rest);
            }
        }
        third.serve(SessionEvent::Turn);
        peers.rotate_left(1);
    }
    for peer in peers {
        peer.finish(b"");
    }
}

/// Applies an operation to the front of `bytes`; returns the rest.
fn apply<'b>(
    operation: Operation,
    peer: &mut Peer,
    other: &mut Peer,
    bytes: &'b [u8],
    engine: &Engine<TestApp>,
) -> &'b [u8] {
    let front = |len: usize| &bytes[..len.min(bytes.len())];
    let taken = match operation {
        Operation::Feed(len) => peer.feed(front(len)),
        Operation::Room(len) => peer.feed_room(front(len)),
        Operation::Ahead(len) => peer.feed_ahead(front(len), None, false),
        Operation::Foreign(len) => peer.feed_ahead(front(len), Some(other), false),
        Operation::Late(len) => peer.feed_ahead(front(len), None, true),
        Operation::Turn => {
            peer.serve(SessionEvent::Turn);
            0
        }
        Operation::Pass(time) => {
            peer.pass(time);
            0
        }
        Operation::Answer => {
            engine.app().answer();
            peer.serve(SessionEvent::Turn);
            0
        }
    };
    &bytes[taken..]
}
