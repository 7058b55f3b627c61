//! Reads a snapshot back, without looking at its keys.

use std::io::{self, Read, Seek, SeekFrom};

use respire_rdb::file::{Chunk, Event, Fault, Reader, Step, Sum, What};

/// Bytes read at once.
const READ_BYTES: usize = 256 << 10;

/// A file, read from its start.
struct Window<'f, F> {
    file: &'f mut F,
    /// What was read and not used yet.
    bytes: Vec<u8>,
    /// The checksum of what was used.
    sum: Sum,
}

impl<F: Read> Window<'_, F> {
    /// Reads until the window has this many bytes, or the file ends.
    fn fill(&mut self, least: usize) -> io::Result<()> {
        let missing = least.saturating_sub(self.bytes.len()) as u64;
        self.file.take(missing).read_to_end(&mut self.bytes)?;
        Ok(())
    }

    fn use_up(&mut self, len: usize) {
        self.sum = self.sum.then(Sum::of(&self.bytes[..len]));
        self.bytes.drain(..len);
    }

    /// Uses the bytes of a chunk up, and returns whether they are there and have its checksum.
    fn check(&mut self, chunk: Chunk) -> io::Result<Result<(), What>> {
        let (mut left, mut sum) = (chunk.len, Sum::default());
        while left > 0 {
            self.fill(usize::try_from(left).unwrap_or(READ_BYTES).min(READ_BYTES))?;
            let len = self
                .bytes
                .len()
                .min(usize::try_from(left).unwrap_or(READ_BYTES));
            if len == 0 {
                return Ok(Err(What::Cut));
            }
            sum = sum.then(Sum::of(&self.bytes[..len]));
            self.bytes.drain(..len);
            left -= len as u64;
        }
        self.sum = self.sum.then(sum);
        let (written, computed) = (chunk.crc, sum.crc());
        Ok(if written == 0 || written == computed {
            Ok(())
        } else {
            let seq = chunk.seq;
            Err(What::ChunkChecksum {
                seq,
                written,
                computed,
            })
        })
    }
}

/// Reads a snapshot from its start, and checks that it is whole: the checksum of each chunk and of the whole, the order
/// of its chunks, and its end. It does not look into the chunks, so it needs little memory. A file without checksums has
/// only its lengths checked. Calls `step` for each 256 KiB or less.
///
/// # Errors
/// If the file cannot be read; within, if something is wrong with it.
pub fn verify<F: Read + Seek>(
    file: &mut F,
    step: &mut dyn FnMut(),
) -> io::Result<Result<(), Fault>> {
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(0))?;
    let mut reader = Reader::new(end);
    let mut window = Window {
        file,
        bytes: Vec::new(),
        sum: Sum::default(),
    };
    let (mut least, mut chunks) = (READ_BYTES, 0);
    loop {
        step();
        window.fill(least)?;
        let at = reader.offset();
        let (event, len) = match reader.step(&window.bytes) {
            Ok(Step::Item(event, len)) => (event, len),
            Ok(Step::More(more)) if more > window.bytes.len() && at + more as u64 <= end => {
                least = more;
                continue;
            }
            Ok(Step::More(_)) => return Ok(Err(Fault::at(at, What::Cut))),
            Err(fault) => return Ok(Err(fault)),
        };
        let (chunk, checksum) = match event {
            Event::Chunk(chunk) => (Some(chunk), None),
            Event::End { checksum } => (None, Some(checksum)),
            _ => (None, None),
        };
        if let Some(checksum) = checksum {
            return Ok(check_end(checksum, (at, len), (end, window.sum)));
        }
        window.use_up(len);
        if let Some(chunk) = chunk {
            if chunk.seq != chunks {
                let what = What::Chunk("it is not the next one");
                return Ok(Err(Fault::at(at, what)));
            }
            chunks += 1;
            if let Err(what) = window.check(chunk)? {
                return Ok(Err(Fault::at(at, what)));
            }
            if let Err(fault) = reader.skip_chunk(chunk.len) {
                return Ok(Err(fault));
            }
        }
    }
}

/// Checks the end, which begins at `at` and has this length, of a file of this many bytes with this checksum before it.
fn check_end(
    checksum: Option<u64>,
    (at, len): (u64, usize),
    (end, sum): (u64, Sum),
) -> Result<(), Fault> {
    let behind = end - (at + len as u64);
    if behind > 0 {
        return Err(Fault::at(at, What::Behind(behind)));
    }
    // The checksum includes the opcode of the end.
    let computed = sum.then(Sum::of(&[END])).crc();
    match checksum {
        Some(written) if written != computed => {
            Err(Fault::at(at, What::Checksum { written, computed }))
        }
        _ => Ok(()),
    }
}

/// The opcode of the end.
const END: u8 = 255;
