//! A Tokio socket as a turn sees it.

use bytes::BufMut;
use respire_net::Transport;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// A socket within one poll of its task. What would block has left the task's waker with the
/// socket, and Tokio remembers that it would: asking again costs no system call.
pub(crate) struct Polled<'p, 'c, S> {
    pub(crate) socket: &'p mut S,
    pub(crate) cx: &'p mut Context<'c>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for Polled<'_, '_, S> {
    /// Reads with `poll_read` and not with `try_read`: only the former takes a read that did not
    /// fill the buffer for proof that the socket is empty.
    fn read_some(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(buffer);
        now(Pin::new(&mut *self.socket).poll_read(self.cx, &mut buffer))?;
        Ok(buffer.filled().len())
    }

    fn read_onto(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let room = buffer.capacity() - buffer.len();
        let mut room = buffer.limit(room);
        now(pin!(self.socket.read_buf(&mut room)).poll(self.cx))
    }

    fn write_some(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let socket = Pin::new(&mut *self.socket);
        match slices {
            [only] => now(socket.poll_write(self.cx, only)),
            many => now(socket.poll_write_vectored(self.cx, many)),
        }
    }

    fn finish(&mut self) {
        // It ends our side at once or fails, and then there is no side left to end.
        let _ = Pin::new(&mut *self.socket).poll_shutdown(self.cx);
    }
}

fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}
