//! Large replies that are produced while they are written, so that they are never in memory as a
//! whole.

use crate::{IntoReply, Output, Proto, Reply};
use bytes::Bytes;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The source of the bytes of a [`Stream`].
///
/// The thread that serves the connection calls it, when the peer has read the earlier bytes. It
/// should return at once. If the bytes take time, collect them first and reply
/// [later](crate::Later).
///
/// Implemented by any `FnMut(usize) -> Option<Bytes>`.
pub trait Body: Send + 'static {
    /// The next bytes, preferably at most `bytes_max`; `None` if there are no more.
    fn pull(&mut self, bytes_max: usize) -> Option<Bytes>;
}

impl<F: FnMut(usize) -> Option<Bytes> + Send + 'static> Body for F {
    fn pull(&mut self, bytes_max: usize) -> Option<Bytes> {
        self(bytes_max)
    }
}

/// The number of bytes to ask a body for at a time. A connection holds one such piece.
const PULL_BYTES_MAX: usize = 64 << 10;

/// A reply of known length that is pulled from its [`Body`] in pieces, as the peer reads it.
///
/// The body must produce exactly this length. If it ends early or panics, the connection is closed,
/// because there is no other way left to tell the peer. Bytes beyond the length are dropped.
///
/// ```
/// use respire_engine::{Router, Stream};
///
/// let router = Router::new(()).command("ZEROS", |_, ()| {
///     Stream::from_read(1 << 30, std::io::repeat(b'0'))
/// });
/// ```
pub struct Stream {
    /// `None` only while it is dropped.
    body: Option<Box<dyn Body>>,
    left: usize,
    /// Whether `left` is a guess, and the body's end is the end.
    is_guess: bool,
    /// Bytes that the body returned beyond what was taken.
    spare: Bytes,
}

impl Stream {
    /// Creates a stream of `len` bytes from `body`.
    #[must_use]
    pub fn new(len: usize, body: impl Body) -> Self {
        Self {
            body: Some(Box::new(body)),
            left: len,
            is_guess: false,
            spare: Bytes::new(),
        }
    }

    /// Creates a stream of about `len` bytes from `body`, which ends it. It is a part of an aggregate, whose
    /// header tells the number of elements and not of bytes.
    pub(crate) fn of_elements(len: usize, body: impl Body) -> Self {
        let mut stream = Self::new(len.max(1), body);
        stream.is_guess = true;
        stream
    }

    /// Creates a stream of `len` bytes from a reader, such as a file. Reads should not block.
    #[must_use]
    pub fn from_read(len: usize, mut from: impl Read + Send + 'static) -> Self {
        Self::new(len, move |bytes_max: usize| {
            let mut bytes = vec![0; bytes_max];
            loop {
                match from.read(&mut bytes) {
                    Ok(0) => return None,
                    Ok(read) => {
                        bytes.truncate(read);
                        return Some(Bytes::from(bytes));
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => return None,
                }
            }
        })
    }

    /// The number of remaining bytes, at least 1 if that is a guess and there are more.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// The next piece, of at least one byte. Call it only while bytes remain.
    pub(crate) fn pull(&mut self) -> Result<Bytes, Broken> {
        if self.is_guess {
            return self.pull_elements();
        }
        let bytes_max = self.left.min(PULL_BYTES_MAX);
        if self.spare.is_empty() {
            self.spare = self.pull_body(bytes_max)?.ok_or(Broken)?;
        }
        let piece = self.spare.split_to(self.spare.len().min(bytes_max));
        self.left -= piece.len();
        Ok(piece)
    }

    /// The next piece of a stream whose length is a guess.
    fn pull_elements(&mut self) -> Result<Bytes, Broken> {
        let piece = match std::mem::take(&mut self.spare) {
            spare if spare.is_empty() => self.pull_body(PULL_BYTES_MAX)?.ok_or(Broken)?,
            spare => spare,
        };
        // The piece after it tells whether there is one.
        self.left = match self.pull_body(PULL_BYTES_MAX)? {
            Some(next) => {
                self.spare = next;
                self.left.saturating_sub(piece.len()).max(self.spare.len())
            }
            None => 0,
        };
        Ok(piece)
    }

    /// The next bytes of the body, at least one; `None` at its end.
    fn pull_body(&mut self, bytes_max: usize) -> Result<Option<Bytes>, Broken> {
        let body = self.body.as_mut().ok_or(Broken)?;
        let pulled = catch_unwind(AssertUnwindSafe(|| body.pull(bytes_max)));
        let pulled = pulled.map_err(|_| Broken)?;
        if pulled.as_ref().is_some_and(Bytes::is_empty) {
            return Err(Broken);
        }
        Ok(pulled)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        discard(self.body.take());
    }
}

/// Drops a service's value on a thread that serves others too. A panic while dropping is a defect
/// of the service: the panic hook reports it, and it must not affect other connections.
pub(crate) fn discard<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

impl IntoReply for Stream {
    fn into_reply(self, reply: &mut Reply<'_>) {
        let is_binary = matches!(reply.proto(), Proto::Binary | Proto::BinaryPlain);
        if is_binary && u32::try_from(self.left).is_err() {
            return reply.error("ERR reply is too large for the binary protocol");
        }
        reply.bulk_with(self.left, |out: &mut Output| out.put_stream(self));
    }
}

/// The error if a [`Stream`] did not produce the announced bytes: the connection must be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a streamed reply broke off")
    }
}

impl std::error::Error for Broken {}

#[cfg(test)]
mod tests {
    use super::*;
    use resp_codec::{Encoder, Sink};
    use std::io::IoSlice;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn put(out: &mut Output, stream: Stream) {
        stream.into_reply(&mut Encoder::new(out, Proto::Resp3));
    }

    #[test]
    fn stream_is_pulled_only_as_far_as_it_is_written() {
        const LEN: usize = 10 * PULL_BYTES_MAX + 7;
        let pulled = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&pulled);
        let mut out = Output::new();
        out.put(b"+before\r\n");
        let body = move |bytes_max: usize| {
            count.fetch_add(bytes_max, Ordering::Relaxed);
            Some(Bytes::from(vec![b'x'; bytes_max]))
        };
        put(&mut out, Stream::new(LEN, body));
        out.put(b"+after\r\n");
        let owed = out.len();
        assert_eq!(out.to_vec(), format!("+before\r\n${LEN}\r\n").as_bytes());
        assert_eq!(pulled.load(Ordering::Relaxed), 0);

        let (mut written, mut steps) = (Vec::new(), 0);
        while !out.is_empty() {
            out.pull().expect("the body has enough");
            assert!(out.capacity() < 2 * PULL_BYTES_MAX);
            let taken: usize = {
                let mut slices = [IoSlice::new(&[]); 4];
                let filled = out.fill(&mut slices);
                let all: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
                // Simulates a socket that takes an odd number of bytes at a time.
                let taken = all.len().min(50_001);
                written.extend_from_slice(&all[..taken]);
                taken
            };
            out.advance(taken);
            steps += 1;
            assert!(steps < 100, "no progress");
        }
        let mut expected = format!("+before\r\n${LEN}\r\n").into_bytes();
        expected.extend(vec![b'x'; LEN]);
        expected.extend_from_slice(b"\r\n+after\r\n");
        assert_eq!(written, expected);
        assert_eq!(written.len(), owed);
        assert_eq!(pulled.load(Ordering::Relaxed), LEN);
    }

    #[test]
    fn long_body_is_cut_and_short_body_is_an_error() {
        let mut out = Output::new();
        let generous = Some(Bytes::from(vec![b'y'; 5 * PULL_BYTES_MAX]));
        put(
            &mut out,
            Stream::new(2 * PULL_BYTES_MAX, move |_| generous.clone()),
        );
        let all = out.take();
        assert_eq!(all.len(), 2 * PULL_BYTES_MAX + "$131072\r\n\r\n".len());

        for broken in [
            Stream::from_read(10, &b"short"[..]),
            Stream::new(10, |_| Some(Bytes::new())),
            Stream::new(10, |_| panic!("a defect, on purpose")),
        ] {
            let mut out = Output::new();
            put(&mut out, broken);
            let owed = out.len();
            assert_eq!(owed, "$10\r\n0123456789\r\n".len());
            loop {
                let first = out.first().len();
                out.advance(first);
                if let Err(error) = out.pull() {
                    assert_eq!(error, Broken);
                    break;
                }
                assert!(!out.is_empty(), "it must break");
            }
        }
    }

    #[test]
    fn stream_of_elements_ends_with_its_body_whatever_length_was_guessed() {
        for guess in [0, 1, 100, 250_000, usize::MAX >> 1] {
            let mut left = 5;
            let body = move |_: usize| {
                left -= 1;
                (left >= 0).then(|| Bytes::from(vec![b'0' + left as u8; 50_000]))
            };
            let mut out = Output::new();
            out.put(b"*5\r\n");
            out.put_stream(Stream::of_elements(guess, body));
            out.put(b"+after\r\n");
            let all = out.take();
            assert_eq!(all.len(), 4 + 250_000 + 8, "{guess}");
            assert!(all.starts_with(b"*5\r\n44") && all.ends_with(b"00+after\r\n"));
        }
        let mut out = Output::new();
        out.put_stream(Stream::of_elements(9, |_| None));
        assert_eq!(out.pull(), Err(Broken));
    }

    #[test]
    fn stream_can_be_cut_and_appended_like_other_pieces() {
        let mut out = Output::new();
        out.put(b"keep");
        let mark = out.mark();
        out.put(b"-and-");
        out.put_stream(Stream::from_read(4, &b"more"[..]));
        out.put(b"!");
        let taken = out.split_off(mark);
        assert_eq!((out.to_vec(), out.len()), (b"keep".to_vec(), 4));
        assert_eq!(taken.len(), 10);
        out.append(taken);
        assert_eq!(out.take(), b"keep-and-more!");
        assert!(out.is_empty() && out.capacity() < 64);
    }

    #[test]
    fn binary_protocol_refuses_lengths_that_it_cannot_express() {
        let mut out = Output::new();
        let mut reply = Encoder::new(&mut out, Proto::Binary);
        Stream::from_read(5 << 30, std::io::empty()).into_reply(&mut reply);
        assert_eq!(reply.error_count(), 1);
        let mut out = Output::new();
        let mut reply = Encoder::new(&mut out, Proto::Binary);
        Stream::from_read(2, &b"ab"[..]).into_reply(&mut reply);
        assert_eq!(out.take(), b"$\x02\0\0\0ab");
    }
}
