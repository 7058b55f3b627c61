//! The null server: sends replies of the right sizes without reading the requests.
//!
//! The sizes of requests and replies follow from the load, and their order from the mix. So the
//! number of bytes received determines the number of bytes to send, without parsing and without a
//! store. Only reading, writing and waiting remain, which every server must do.

use std::io::{self, Write};

use mio::net::TcpListener;
use mio::{Events, Interest, Poll, Token};

use crate::cli::NullServerArgs;
use crate::engine::Stream;
use crate::error::{Error, Result};
use crate::workload::{Wire, Workload};

const LISTENER: Token = Token(usize::MAX);
const READ_BYTES: usize = 64 * 1024;

/// Computes how many reply bytes are due for a number of request bytes.
#[derive(Debug)]
pub struct Exchange {
    /// Request and reply bytes up to the end of each place of the mix.
    ends: Vec<(u64, u64)>,
    /// The replies of whole rounds of the mix, at least one, in order.
    replies: Vec<u8>,
}

impl Exchange {
    /// The exchange of a load whose keys are all stored.
    pub fn new(load: &Workload) -> Self {
        let wire = Wire::new(load);
        let mut round = Vec::new();
        let mut ends = Vec::new();
        let mut asked = 0;
        let mut stored = !matches!(load.mix, crate::workload::Mix::Cycle);
        for place in load.mix.places() {
            wire.write_reply(&mut round, place.kind, stored);
            asked += wire.request_len(place.kind) as u64;
            ends.push((asked, round.len() as u64));
            stored = true;
        }
        let rounds = READ_BYTES.div_ceil(round.len()) + 1;
        Self {
            ends,
            replies: round.repeat(rounds),
        }
    }

    /// The reply bytes due in all after `received` bytes of requests.
    #[inline]
    pub fn owed(&self, received: u64) -> u64 {
        let (asked, answered) = self.ends[self.ends.len() - 1];
        let rest = received % asked;
        let whole = self.ends.partition_point(|end| end.0 <= rest);
        let part = whole.checked_sub(1).map_or(0, |last| self.ends[last].1);
        received / asked * answered + part
    }

    /// The reply bytes after the first `sent`, up to `owed`, as many as are contiguous.
    #[inline]
    fn next(&self, sent: u64, owed: u64) -> &[u8] {
        let (_, answered) = self.ends[self.ends.len() - 1];
        let from = (sent % answered) as usize;
        let count = (owed - sent).min((self.replies.len() - from) as u64) as usize;
        &self.replies[from..from + count]
    }
}

struct Peer {
    stream: Stream,
    received: u64,
    sent: u64,
    watches_writable: bool,
}

/// Listens, prints the address, and serves until it is killed.
///
/// # Errors
/// [`Error::Flag`] of the load, or [`Error::Io`] if it cannot listen.
pub fn serve(args: &NullServerArgs, out: &mut dyn Write) -> Result<bool> {
    let exchange = Exchange::new(&args.load.workload()?);
    let listener = std::net::TcpListener::bind(("127.0.0.1", args.port))
        .map_err(Error::io(format!("--port {}", args.port)))?;
    let address = listener.local_addr().map_err(Error::io("own address"))?;
    writeln!(out, "listening on {address}")
        .and_then(|()| out.flush())
        .map_err(Error::io("standard output"))?;
    let mut server = Server::new(listener, exchange).map_err(Error::io("epoll"))?;
    loop {
        server.turn().map_err(Error::io("epoll"))?;
    }
}

struct Server {
    poll: Poll,
    events: Events,
    listener: TcpListener,
    exchange: Exchange,
    peers: Vec<Option<Peer>>,
    room: Vec<u8>,
}

impl Server {
    fn new(listener: std::net::TcpListener, exchange: Exchange) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let mut listener = TcpListener::from_std(listener);
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(1024),
            listener,
            exchange,
            peers: Vec::new(),
            room: vec![0; READ_BYTES],
        })
    }

    fn turn(&mut self) -> io::Result<()> {
        match self.poll.poll(&mut self.events, None) {
            Err(e) if e.kind() != io::ErrorKind::Interrupted => return Err(e),
            _ => {}
        }
        for event in &self.events {
            if event.token() == LISTENER {
                accept(&self.listener, &self.poll, &mut self.peers)?;
                continue;
            }
            let slot = &mut self.peers[event.token().0];
            let Some(peer) = slot else { continue };
            let moved = peer.serve(&self.exchange, &mut self.room);
            if !matches!(moved, Ok(true)) {
                *slot = None;
                continue;
            }
            if peer.sent < self.exchange.owed(peer.received) && !peer.watches_writable {
                peer.watches_writable = true;
                peer.stream
                    .watch_writable(self.poll.registry(), event.token())?;
            }
        }
        Ok(())
    }
}

fn accept(listener: &TcpListener, poll: &Poll, peers: &mut Vec<Option<Peer>>) -> io::Result<()> {
    loop {
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            // The peer left before it was accepted.
            Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => continue,
            Err(e) => return Err(e),
        };
        stream.set_nodelay(true)?;
        let mut stream = Stream::Tcp(stream);
        let index = peers
            .iter()
            .position(Option::is_none)
            .unwrap_or(peers.len());
        stream.register(poll.registry(), Token(index))?;
        let peer = Some(Peer {
            stream,
            received: 0,
            sent: 0,
            watches_writable: false,
        });
        match peers.get_mut(index) {
            Some(free) => *free = peer,
            None => peers.push(peer),
        }
    }
}

impl Peer {
    /// Reads and answers the available requests; returns `false` once the peer has closed.
    fn serve(&mut self, exchange: &Exchange, room: &mut [u8]) -> io::Result<bool> {
        loop {
            let full = match self.stream.read_some(room)? {
                None => false,
                Some(0) => return Ok(false),
                Some(count) => {
                    self.received += count as u64;
                    count == room.len()
                }
            };
            let owed = exchange.owed(self.received);
            while self.sent < owed {
                match self.stream.write_some(exchange.next(self.sent, owed))? {
                    0 => break,
                    count => self.sent += count as u64,
                }
            }
            if !full {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{Mix, Protocol};

    #[test]
    fn replies_are_due_at_the_end_of_each_request() {
        let load = Workload::mixed(1, 2);
        let (set, get) = {
            let wire = Wire::new(&load);
            use crate::workload::Kind;
            (
                wire.request_len(Kind::Set) as u64,
                wire.request_len(Kind::Get) as u64,
            )
        };
        let exchange = Exchange::new(&load);
        let (ok, value) = (5, 9);
        for (received, owed) in [
            (0, 0),
            (set - 1, 0),
            (set, ok),
            (set + get - 1, ok),
            (set + get, ok + value),
            (set + 2 * get, ok + 2 * value),
            (1000 * (set + 2 * get) + set, 1000 * (ok + 2 * value) + ok),
        ] {
            assert_eq!(exchange.owed(received), owed, "{received}");
        }
    }

    #[test]
    fn replies_continue_where_the_last_write_ended() {
        let exchange = Exchange::new(&Workload::mixed(0, 1));
        assert_eq!(exchange.next(4, 9).len(), 5);
        assert!(exchange.next(9 * 1000, 9 * 1001).starts_with(b"$3\r\nabc"));
        let much = exchange.next(0, u64::MAX);
        assert!(much.len() >= READ_BYTES);
    }

    #[test]
    fn binary_cycle_replaces_no_value_at_first() {
        let load = Workload {
            protocol: Protocol::Binary,
            mix: Mix::Cycle,
            ..Workload::mixed(1, 1)
        };
        let exchange = Exchange::new(&load);
        assert_eq!(exchange.next(0, 18), b"\0\0\0\0\x03\0\0\0abc\x03\0\0\0abc");
    }
}
