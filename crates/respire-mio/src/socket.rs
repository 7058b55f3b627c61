//! A mio socket with its last known readiness, in the form that a turn uses.

use mio::event::Event;
use mio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use mio::{Interest, Registry, Token};
use respire_net::{Listeners, Origin, Refusal, Service, Transport};
use rustix::buffer::spare_capacity;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

/// A listening socket.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(crate) fn all(listeners: Listeners) -> io::Result<Vec<Self>> {
        let tcp = listeners.tcp.into_iter().map(|listener| {
            let local = listener.local_addr()?;
            Ok(Self::Tcp(TcpListener::from_std(listener), local))
        });
        let unix = listeners.unix.into_iter();
        let unix =
            unix.map(|(listener, path)| Ok(Self::Unix(UnixListener::from_std(listener), path)));
        tcp.chain(unix).collect()
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        match self {
            Self::Tcp(listener, _) => registry.register(listener, token, Interest::READABLE),
            Self::Unix(listener, _) => registry.register(listener, token, Interest::READABLE),
        }
    }

    pub(crate) fn accept(&self) -> io::Result<(Stream, Origin)> {
        match self {
            Self::Tcp(listener, local) => {
                let (stream, peer) = listener.accept()?;
                stream.set_nodelay(true)?;
                let local = if local.ip().is_unspecified() {
                    stream.local_addr()?
                } else {
                    *local
                };
                let origin = Origin::tcp(peer, local, stream.as_raw_fd());
                Ok((Stream::Tcp(stream), origin))
            }
            Self::Unix(listener, path) => {
                let (stream, _) = listener.accept()?;
                let origin = Origin::unix(path, stream.as_raw_fd());
                Ok((Stream::Unix(stream), origin))
            }
        }
    }
}

/// A connected socket of either kind.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Sends the refusal to the peer, and closes.
    pub(crate) fn refuse<A: respire_engine::App>(self, service: &Service<A>, refusal: Refusal) {
        match self {
            Self::Tcp(stream) => service.refuse(stream, refusal),
            Self::Unix(stream) => service.refuse(stream, refusal),
        }
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }

    fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let room = spare_capacity(buffer);
        let read = match self {
            Self::Tcp(stream) => rustix::io::read(stream, room),
            Self::Unix(stream) => rustix::io::read(stream, room),
        };
        Ok(read?)
    }

    fn write(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self, slices) {
            (Self::Tcp(stream), [only]) => stream.write(only),
            (Self::Tcp(stream), many) => stream.write_vectored(many),
            (Self::Unix(stream), [only]) => stream.write(only),
            (Self::Unix(stream), many) => stream.write_vectored(many),
        }
    }
}

/// A connected socket and its last known readiness, which saves useless system calls.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: Stream,
    is_readable: bool,
    is_writable: bool,
    /// The peer's end was reported. From then on a short read does not prove that the socket is
    /// empty, because the end has no further edge.
    is_read_closed: bool,
}

impl Socket {
    /// Registers a socket for both directions, edge-triggered, for as long as it lives.
    pub(crate) fn register(stream: Stream, registry: &Registry, token: Token) -> io::Result<Self> {
        let both = Interest::READABLE | Interest::WRITABLE;
        let mut stream = stream;
        match &mut stream {
            Stream::Tcp(stream) => registry.register(stream, token, both)?,
            Stream::Unix(stream) => registry.register(stream, token, both)?,
        }
        Ok(Self {
            stream,
            is_readable: false,
            is_writable: true,
            is_read_closed: false,
        })
    }

    /// Stores the readiness from an event.
    pub(crate) fn note_event(&mut self, event: &Event) {
        let has_failed = event.is_error();
        self.is_read_closed |= event.is_read_closed();
        self.is_readable |= event.is_readable() || event.is_read_closed() || has_failed;
        self.is_writable |= event.is_writable() || event.is_write_closed() || has_failed;
    }

    /// Takes the socket as ready for anything: its readiness was reported and not seen.
    pub(crate) fn note_any(&mut self) {
        self.is_read_closed = true;
        self.is_readable = true;
        self.is_writable = true;
    }

    /// Stores what a read into `room` bytes says about readiness.
    fn note_read(&mut self, result: &io::Result<usize>, room: usize) {
        self.is_readable = match result {
            Ok(read) => *read == room || self.is_read_closed,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
    }
}

impl Transport for Socket {
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_readable {
            return Err(ErrorKind::WouldBlock.into());
        }
        let result = self.stream.read(buffer);
        self.note_read(&result, buffer.len());
        result
    }

    fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        if !self.is_readable {
            return Err(ErrorKind::WouldBlock.into());
        }
        let room = buffer.capacity() - buffer.len();
        let result = self.stream.read_onto(buffer);
        self.note_read(&result, room);
        result
    }

    fn write_some(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        if !self.is_writable {
            return Err(ErrorKind::WouldBlock.into());
        }
        let result = self.stream.write(slices);
        match &result {
            Ok(written) => {
                self.is_writable =
                    *written == slices.iter().map(|slice| slice.len()).sum::<usize>();
            }
            Err(error) => self.is_writable = error.kind() != ErrorKind::WouldBlock,
        }
        result
    }

    fn finish(&mut self) {
        // Either it shuts down our side at once, or it fails because that side is closed already.
        let _ = match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
        };
    }
}
