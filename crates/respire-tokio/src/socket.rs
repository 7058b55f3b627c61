//! A Tokio socket in the form that a turn uses.

use bytes::BufMut;
use respire_net::Transport;
use std::future::Future;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// A socket within one poll of its task. When an operation would block, the socket has the task's
/// waker, and Tokio remembers the state: a further attempt costs no system call.
pub(crate) struct Polled<'p, 'c, S> {
    pub(crate) socket: &'p mut S,
    pub(crate) cx: &'p mut Context<'c>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport for Polled<'_, '_, S> {
    /// Reads with `poll_read` and not with `try_read`: only `poll_read` takes a read that did not
    /// fill the buffer as proof that the socket is empty.
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
        // Either it shuts down our side at once, or it fails because that side is closed already.
        let _ = Pin::new(&mut *self.socket).poll_shutdown(self.cx);
    }
}

fn now<T>(poll: Poll<io::Result<T>>) -> io::Result<T> {
    match poll {
        Poll::Ready(result) => result,
        Poll::Pending => Err(ErrorKind::WouldBlock.into()),
    }
}
