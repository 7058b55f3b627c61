//! What a file is read from.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that can be read at any place, by several threads at once.
pub trait Source: Sync {
    /// The number of bytes.
    ///
    /// # Errors
    /// If it cannot be found out.
    fn bytes(&self) -> io::Result<u64>;

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// # Errors
    /// If there are not as many, or they cannot be read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

impl Source for File {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(buffer, offset)
    }
}

impl Source for &[u8] {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let from = usize::try_from(offset).ok();
        let found = from.and_then(|from| self.get(from..)?.get(..buffer.len()));
        let bytes = found.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }
}

/// A window that moves through a source.
pub(super) struct Window<'s> {
    source: &'s dyn Source,
    /// The bytes of the source.
    end: u64,
    /// Where the buffer begins in the source.
    start: u64,
    buffer: Vec<u8>,
    /// Where the window begins in the buffer.
    at: usize,
    /// How much the window has at least after it grew.
    step: usize,
}

/// What a window has at first, and behind a jump: enough for the field before a chunk.
const STEP_MIN: usize = 1 << 10;
const STEP_MAX: usize = 1 << 20;

impl<'s> Window<'s> {
    pub(super) fn new(source: &'s dyn Source, end: u64) -> Self {
        Self {
            source,
            end,
            start: 0,
            buffer: Vec::new(),
            at: 0,
            step: STEP_MIN,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer[self.at..]
    }

    /// The bytes before the window, back to a place in the source at or behind the last jump or growth.
    pub(super) fn bytes_from(&self, offset: u64) -> &[u8] {
        &self.buffer[(offset - self.start) as usize..self.at]
    }

    /// The place of the window in the source.
    pub(super) fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    pub(super) fn advance(&mut self, bytes: usize) {
        self.at += bytes;
    }

    pub(super) fn jump(&mut self, offset: u64) {
        self.start = offset;
        self.buffer.clear();
        self.at = 0;
        self.step = STEP_MIN;
    }

    /// Makes the window at least this long. It at least doubles, so that a value which is read again from its start
    /// costs O(length) in all.
    pub(super) fn grow(&mut self, least: usize) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.start += self.at as u64;
        self.at = 0;
        let len = self.buffer.len();
        let left = usize::try_from(self.end - self.start).unwrap_or(usize::MAX);
        let wanted = least.max(2 * len).max(self.step).min(left);
        if wanted < least {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.step = (2 * self.step).min(STEP_MAX);
        self.buffer.resize(wanted, 0);
        let offset = self.start + len as u64;
        self.source.read_at(&mut self.buffer[len..], offset)
    }
}
