//! A socket that counts the bytes it sends and receives, whatever the protocol.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The byte counts of all sockets that share it.
#[derive(Debug, Default)]
pub(super) struct ByteCounts {
    sent: AtomicU64,
    received: AtomicU64,
}

impl ByteCounts {
    /// Bytes sent and received.
    pub(super) fn both(&self) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&self.sent), read(&self.received))
    }
}

/// A connection that counts bytes as the system sends and delivers them.
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    byte_counts: Arc<ByteCounts>,
}

impl Counted {
    pub(super) fn new(stream: TcpStream, byte_counts: Arc<ByteCounts>) -> Self {
        Self {
            stream,
            byte_counts,
        }
    }

    fn written(&self, result: io::Result<usize>) -> Poll<io::Result<usize>> {
        if let Ok(count) = &result {
            let count = *count as u64;
            self.byte_counts.sent.fetch_add(count, Ordering::Relaxed);
        }
        Poll::Ready(result)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, room))?;
        let count = (room.filled().len() - before) as u64;
        self.byte_counts
            .received
            .fetch_add(count, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        self.written(result)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, slices));
        self.written(result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
