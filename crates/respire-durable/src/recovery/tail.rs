//! What lies behind the last checksum line of a file, and behind damage.

use super::files::{Files, Place};
use crate::checksum::{self, LINE_BYTES_MAX, Sum};
use crc32fast::Hasher;
use std::io;
use std::ops::Range;

const WINDOW_BYTES: u64 = 1 << 20;
/// The most bytes that a power cut is expected to make uncertain. If a valid block lies farther
/// behind damage, the damage is older: so also where nothing is ever synced (`appendfsync no`).
const UNSYNCED_BYTES_MAX: u64 = 256 << 20;
/// What a disk writes as a whole.
const SECTOR_BYTES: u64 = 512;

/// Reads a range as a whole; the caller bounds it.
pub(super) fn read(
    files: &mut impl Files,
    place: Place,
    name: &str,
    range: Range<u64>,
) -> io::Result<Vec<u8>> {
    let len = usize::try_from(range.end - range.start).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while filled < len {
        match files.read_at(
            place,
            name,
            range.start + filled as u64,
            &mut bytes[filled..],
        )? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            some => filled += some.min(len - filled),
        }
    }
    Ok(bytes)
}

/// Calls a function with the range in windows of whole sectors, until it returns something.
fn windows<T>(
    files: &mut impl Files,
    (place, name): (Place, &str),
    range: Range<u64>,
    mut look: impl FnMut(u64, &[u8]) -> Option<T>,
) -> io::Result<Option<T>> {
    let mut at = range.start;
    while at < range.end {
        let end = ((at / SECTOR_BYTES * SECTOR_BYTES) + WINDOW_BYTES).min(range.end);
        let bytes = read(files, place, name, at..end)?;
        if let Some(found) = look(at, &bytes) {
            return Ok(Some(found));
        }
        at = end;
    }
    Ok(None)
}

/// Whether a range consists of zeros.
pub(super) fn is_zero(
    files: &mut impl Files,
    place: Place,
    name: &str,
    range: Range<u64>,
) -> io::Result<bool> {
    let other = windows(files, (place, name), range, |_, bytes| {
        bytes.iter().any(|byte| *byte != 0).then_some(())
    });
    Ok(other?.is_none())
}

/// Whether a range has a hole: zeros up to the end of a sector, or of the range. A power cut leaves
/// such in bytes that were not synced.
pub(super) fn has_hole(
    files: &mut impl Files,
    place: Place,
    name: &str,
    range: Range<u64>,
) -> io::Result<bool> {
    let hole = windows(files, (place, name), range, |at, bytes| {
        let to_border = SECTOR_BYTES - at % SECTOR_BYTES;
        let (head, rest) = bytes.split_at(bytes.len().min(to_border as usize));
        let mut sectors = std::iter::once(head).chain(rest.chunks(SECTOR_BYTES as usize));
        let ends_in_zero = |sector: &[u8]| sector.last() == Some(&0);
        sectors.any(ends_in_zero).then_some(())
    });
    Ok(hole?.is_some())
}

/// The search for evidence that damaged bytes were durable: a valid checksum line behind them that
/// says so.
pub(super) struct Search<'a> {
    pub(super) place: Place,
    pub(super) name: &'a str,
    /// The number of the increment.
    pub(super) seq: u64,
    /// Where the damage may begin: the end of what is kept.
    pub(super) from: u64,
    /// The end of the last valid checksum line: no block behind it begins earlier.
    pub(super) block_from: u64,
    pub(super) len: u64,
}

impl Search<'_> {
    /// What is wrong, if there is evidence. O(bytes), since blocks whose checksums are tried may
    /// be at most a few times what lies behind the damage.
    pub(super) fn evidence(&self, files: &mut impl Files) -> io::Result<Option<String>> {
        let mut budget = (self.len - self.block_from).saturating_mul(4) + WINDOW_BYTES;
        let mut at = self.block_from;
        while at < self.len {
            let end = self.len.min(at + WINDOW_BYTES);
            let bytes = read(files, self.place, self.name, at..end)?;
            let windows = bytes.windows(checksum::PREFIX.len()).enumerate();
            for (index, _) in windows.filter(|(_, window)| *window == checksum::PREFIX) {
                let found = at + index as u64;
                let evidence = self.look_at(files, found, &mut budget)?;
                if evidence.is_some() {
                    return Ok(evidence);
                }
            }
            // The prefix may lie across the border of two windows.
            at = if end == self.len {
                end
            } else {
                end - checksum::PREFIX.len() as u64 + 1
            };
        }
        Ok(None)
    }

    /// Looks at what may be a checksum line.
    fn look_at(
        &self,
        files: &mut impl Files,
        found: u64,
        budget: &mut u64,
    ) -> io::Result<Option<String>> {
        let end = self.len.min(found + LINE_BYTES_MAX as u64);
        let text = read(files, self.place, self.name, found..end)?;
        let newline = text.iter().position(|byte| *byte == b'\n');
        let text = newline.map_or(&[][..], |newline| &text[..=newline]);
        let Some(line) = checksum::parse(text) else {
            return Ok(None);
        };
        let start = found
            .checked_sub(line.len)
            .filter(|start| *start >= self.block_from);
        let is_far = found > self.from.saturating_add(UNSYNCED_BYTES_MAX);
        let Some(start) = start.filter(|_| line.durable > self.from || is_far) else {
            return Ok(None);
        };
        if line.len > *budget {
            return Ok(Some(
                "has too many lines that look like checksums".to_owned(),
            ));
        }
        *budget -= line.len;
        // Bytes that were dropped or doubled before it have moved the block.
        let mut sum = Sum::new(self.seq, line.at);
        sum.skip(self.crc(files, start..found)?, line.len);
        if !checksum::holds(text, &line, sum) {
            return Ok(None);
        }
        Ok(Some(if line.durable > self.from {
            let durable = line.durable;
            format!(
                "is damaged: a valid checksum line at offset {found} says that all before \
                 {durable} was durable"
            )
        } else {
            format!("is damaged: a valid block at offset {start} is too far behind for a torn end")
        }))
    }

    fn crc(&self, files: &mut impl Files, range: Range<u64>) -> io::Result<u32> {
        let mut hasher = Hasher::new();
        windows(files, (self.place, self.name), range, |_, bytes| {
            hasher.update(bytes);
            None::<()>
        })?;
        Ok(hasher.finalize())
    }
}
