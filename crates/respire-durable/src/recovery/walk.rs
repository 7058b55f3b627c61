//! Reads the commands and annotations of one file, in windows.

use super::files::{Files, Place};
use crate::checksum::LINE_BYTES_MAX;
use crc32fast::Hasher;
use resp_codec::{CommandDecoder, Limits, Step};
use std::io;
use std::ops::Range;

/// Commands of Redis's files may be larger than what a client may send by default.
const LIMITS: Limits = Limits {
    max_bulk: i32::MAX as u64 - 4096,
    max_args: i32::MAX as u32,
    max_frame: i32::MAX as u32,
    ..Limits::SERVER
};

/// The least window: a line of an annotation must fit, and reading less is slow.
const WINDOW_BYTES_MIN: usize = 4096;

/// What stands at the walker's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A whole command: see [`Walker::args`].
    Command,
    /// A line that begins with `#`: see [`Walker::item`].
    Annotation,
    /// Nothing: the file ends here.
    End,
    /// The file ends within the item that begins here.
    Short,
    /// Neither a command nor an annotation.
    Bad(&'static str),
}

/// Reads one file from front to back. Holds a window of it, or one command if that is larger.
#[derive(Debug)]
pub struct Walker {
    place: Place,
    name: String,
    len: u64,
    window: usize,
    buffer: Vec<u8>,
    /// The current item within the buffer.
    item: Range<usize>,
    /// The offset in the file of the buffer's first byte.
    base: u64,
    args: Vec<Range<usize>>,
    decoder: CommandDecoder,
    hasher: Hasher,
    /// The offset up to which the hasher has seen the file.
    hashed_to: u64,
}

impl Walker {
    /// A walker at offset `at` of a file of length `len`. It reads in windows of `window` bytes.
    #[must_use]
    pub fn new(place: Place, name: &str, range: Range<u64>, window: usize) -> Self {
        Self {
            place,
            name: name.to_owned(),
            len: range.end,
            window: window.max(WINDOW_BYTES_MIN),
            buffer: Vec::new(),
            item: 0..0,
            base: range.start,
            args: Vec::new(),
            decoder: CommandDecoder::new(LIMITS),
            hasher: Hasher::new(),
            hashed_to: range.start,
        }
    }

    /// The offset of the current item.
    #[must_use]
    pub const fn at(&self) -> u64 {
        self.base + self.item.start as u64
    }

    /// The offset behind the current item.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.base + self.item.end as u64
    }

    /// The bytes of the current item.
    #[must_use]
    pub fn item(&self) -> &[u8] {
        &self.buffer[self.item.clone()]
    }

    /// The arguments of the current command, its name first; none for an annotation.
    pub fn args(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.args.iter().map(|range| &self.buffer[range.clone()])
    }

    /// The current command's argument at `index`.
    #[must_use]
    pub fn arg(&self, index: usize) -> Option<&[u8]> {
        self.args
            .get(index)
            .map(|range| &self.buffer[range.clone()])
    }

    /// The next item. After [`Found::End`], [`Found::Short`] and [`Found::Bad`] it stays there.
    /// Amortized O(bytes of the item).
    ///
    /// # Errors
    /// Those of reading.
    pub fn next(&mut self, files: &mut impl Files) -> io::Result<Found> {
        self.item = self.item.end..self.item.end;
        self.args.clear();
        if self.rest().is_empty() && self.more(files, 1)? == 0 {
            return Ok(Found::End);
        }
        match self.rest()[0] {
            b'*' => self.command(files),
            b'#' => self.annotation(files),
            _ => Ok(Found::Bad(
                "neither a command nor an annotation begins here",
            )),
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.item.end..]
    }

    fn command(&mut self, files: &mut impl Files) -> io::Result<Found> {
        self.decoder.reset();
        loop {
            let start = self.item.start;
            let missing = match self.decoder.decode(&self.buffer[start..]) {
                Ok(Step::Ready { item, consumed }) if item.wire().len() == consumed => {
                    let ranges = item.spans().iter().map(|span| {
                        let at = start + span.at();
                        at..at + span.len()
                    });
                    self.args.extend(ranges);
                    self.item.end = start + consumed;
                    return Ok(Found::Command);
                }
                Ok(Step::NeedMore { consumed: 0, hint }) => hint,
                Ok(_) => return Ok(Found::Bad("a command without arguments")),
                Err(_) => return Ok(Found::Bad("a command is not well formed")),
            };
            let unread = self.len - self.base - self.buffer.len() as u64;
            if missing as u64 > unread || self.more(files, missing)? == 0 {
                return Ok(Found::Short);
            }
        }
    }

    fn annotation(&mut self, files: &mut impl Files) -> io::Result<Found> {
        if self.rest().len() < LINE_BYTES_MAX {
            self.more(files, LINE_BYTES_MAX)?;
        }
        let line = self.rest();
        let line = &line[..line.len().min(LINE_BYTES_MAX)];
        match line.iter().position(|byte| *byte == b'\n') {
            Some(at) => {
                self.item.end = self.item.start + at + 1;
                Ok(Found::Annotation)
            }
            None if line.len() < LINE_BYTES_MAX => Ok(Found::Short),
            None => Ok(Found::Bad("an annotation has more than 1,023 bytes")),
        }
    }

    /// Reads on: `missing` bytes, or a window if that is more. Returns the number of bytes read,
    /// which is smaller only at the end of the file.
    fn more(&mut self, files: &mut impl Files, missing: usize) -> io::Result<usize> {
        self.hash_to(self.at());
        self.buffer.drain(..self.item.start);
        self.base += self.item.start as u64;
        self.item = 0..0;
        let before = self.buffer.len();
        let unread = self.len - self.base - before as u64;
        let window = self.window.saturating_sub(before).max(missing) as u64;
        let wanted = usize::try_from(window.min(unread)).unwrap_or(usize::MAX);
        self.buffer.resize(before + wanted, 0);
        let mut filled = before;
        while filled < self.buffer.len() {
            let offset = self.base + filled as u64;
            let room = &mut self.buffer[filled..];
            match files.read_at(self.place, &self.name, offset, room)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => filled += bytes.min(wanted),
            }
        }
        Ok(wanted)
    }

    /// Lets the hasher see the file up to an offset, which lies in the current item or before it.
    fn hash_to(&mut self, offset: u64) {
        if let Some(from) = self.hashed_to.checked_sub(self.base)
            && offset > self.hashed_to
        {
            let bytes = from as usize..(offset - self.base) as usize;
            self.hasher.update(&self.buffer[bytes]);
            self.hashed_to = offset;
        }
    }

    /// The CRC-32 of the bytes from the last [`Walker::begin_block`] to the current item.
    pub(super) fn block_crc(&mut self) -> u32 {
        self.hash_to(self.at());
        self.hasher.clone().finalize()
    }

    /// A block begins behind the current item.
    pub(super) fn begin_block(&mut self) {
        self.hasher.reset();
        self.hashed_to = self.end();
    }
}
