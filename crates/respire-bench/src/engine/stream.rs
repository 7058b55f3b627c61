//! A non-blocking socket of a connection, TCP or Unix.

use std::io::{self, Read, Write};

use mio::event::Source;
use mio::{Interest, Registry, Token};

use crate::target::Socket;

/// A TCP or Unix socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(mio::net::TcpStream),
    #[cfg(unix)]
    Unix(mio::net::UnixStream),
}

impl TryFrom<Socket> for Stream {
    type Error = io::Error;

    fn try_from(socket: Socket) -> io::Result<Self> {
        Ok(match socket {
            Socket::Tcp(socket) => {
                socket.set_nonblocking(true)?;
                Self::Tcp(mio::net::TcpStream::from_std(socket))
            }
            #[cfg(unix)]
            Socket::Unix(socket) => {
                socket.set_nonblocking(true)?;
                Self::Unix(mio::net::UnixStream::from_std(socket))
            }
        })
    }
}

impl Stream {
    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Tcp(stream) => stream,
            #[cfg(unix)]
            Self::Unix(stream) => stream,
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        registry.register(self.source(), token, Interest::READABLE)
    }

    /// Requests writable events as well. They are rare enough to stay enabled.
    pub(crate) fn watch_writable(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let both = Interest::READABLE | Interest::WRITABLE;
        registry.reregister(self.source(), token, both)
    }

    /// Bytes read, 0 at the end of the stream, `None` if there is nothing to read now.
    #[inline]
    pub(crate) fn read_some(&mut self, room: &mut [u8]) -> io::Result<Option<usize>> {
        settle(match self {
            Self::Tcp(stream) => stream.read(room),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(room),
        })
    }

    /// Bytes written; 0 if the socket takes none now.
    #[inline]
    pub(crate) fn write_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = settle(match self {
            Self::Tcp(stream) => stream.write(bytes),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(bytes),
        });
        Ok(written?.unwrap_or(0))
    }
}

fn settle(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(n) => Ok(Some(n)),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
            ) =>
        {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}
