//! Loads the commands of a file of the log.

use super::{Failed, Refused, shown};
use crate::served::{Replay, Served};
use crate::status::Loading;
use core::sync::atomic::Ordering;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Bytes that are read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// The longest line that begins with `#`, with its end, as in Redis.
const LINE_BYTES_MAX: usize = 1024;

/// Runs the commands of a part of a file, which has been judged whole if it is of a log.
pub(super) fn load(
    path: &Path,
    range: Range<u64>,
    served: &dyn Served,
    loading: &Loading,
) -> Result<(), Failed> {
    if range.is_empty() {
        return Ok(());
    }
    let file = File::open(path).map_err(|error| Failed::io(path, error))?;
    let mut loader = Loader {
        path,
        file,
        replay: served.replay(),
        buffer: Vec::with_capacity(WINDOW_BYTES),
        at: 0,
        offset: range.start,
        end: range.end,
    };
    while loader.fill()? {
        let before = loader.offset;
        loader.run()?;
        loading
            .bytes_done
            .fetch_add(loader.offset - before, Ordering::Relaxed);
        loading.tell();
    }
    match loader.replay.open_transaction() {
        Some(offset) => Err(loader.refused(offset, "a transaction is not ended".to_owned())),
        None => Ok(()),
    }
}

struct Loader<'l> {
    path: &'l Path,
    file: File,
    replay: Box<dyn Replay + 'l>,
    buffer: Vec<u8>,
    /// What of the buffer was used.
    at: usize,
    /// The place in the file of the first byte that was not used.
    offset: u64,
    end: u64,
}

impl Loader<'_> {
    /// Reads on behind what is left in the buffer. Returns false at the end.
    fn fill(&mut self) -> Result<bool, Failed> {
        self.buffer.drain(..self.at);
        self.at = 0;
        let (before, left) = (self.buffer.len(), self.end - self.offset);
        let unread = left - before as u64;
        if unread == 0 {
            return match before {
                0 => Ok(false),
                _ => Err(self.refused(self.offset, "the file ends within a command".to_owned())),
            };
        }
        // A command that is larger than the window is read in steps that double.
        let wanted = unread.min(before.max(WINDOW_BYTES) as u64) as usize;
        self.buffer.resize(before + wanted, 0);
        let read = self
            .file
            .read_exact_at(&mut self.buffer[before..], self.offset + before as u64);
        read.map_err(|error| Failed::io(self.path, error))?;
        Ok(true)
    }

    /// Runs what is whole in the buffer.
    fn run(&mut self) -> Result<(), Failed> {
        loop {
            let rest = &self.buffer[self.at..];
            match rest.first() {
                None => return Ok(()),
                Some(b'#') => match rest
                    .iter()
                    .take(LINE_BYTES_MAX)
                    .position(|byte| *byte == b'\n')
                {
                    Some(line) => self.advance(line + 1),
                    None if rest.len() >= LINE_BYTES_MAX => {
                        return Err(self.refused(self.offset, "a line is too long".to_owned()));
                    }
                    None => return Ok(()),
                },
                Some(b'*') => {
                    let fed = self.replay.feed(rest, self.offset);
                    let used = fed.map_err(|error| {
                        let why = if error.command.is_empty() {
                            error.message
                        } else {
                            format!(
                                "the command '{}' cannot be loaded: {}",
                                error.command, error.message
                            )
                        };
                        self.refused(error.offset, why)
                    })?;
                    if used == 0 {
                        return Ok(());
                    }
                    self.advance(used);
                }
                Some(_) => {
                    return Err(self.refused(self.offset, "no command begins here".to_owned()));
                }
            }
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.at += bytes;
        self.offset += bytes as u64;
    }

    fn refused(&self, offset: u64, what: String) -> Failed {
        let command = format!("respire-server check {}", shown(self.path));
        Failed::Refused(Refused::new(self.path, offset, what, command))
    }
}
