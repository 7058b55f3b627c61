//! The annotations that the log writes between commands: checksum lines and times.
//!
//! Redis skips every line that begins with `#` and is shorter than 1,024 bytes, also between
//! `MULTI` and `EXEC`. So an unchanged Redis 7.0 loads a log with these lines.
//!
//! A block is what lies between two checksum lines. Its line stands behind it:
//!
//! ```text
//! #RS:seq=1734;off=88211;id=8f2c…;at=18103;len=5120;dur=16384;crc=0badcafe\r\n
//! ```
//!
//! The checksum covers the number of the file, the offset of the block in it, the bytes of the
//! block, and the line up to `crc=`. So a block at another place or from another file is noticed.

use crc32fast::Hasher;
use resp_codec::number::{I64_BYTES_MAX, format_i64};
use std::io::Write;

/// What every checksum line begins with.
pub const PREFIX: &[u8] = b"#RS:seq=";
/// What every annotation of ours begins with.
pub const ANNOTATION: &[u8] = b"#RS:";
/// What a line with a time begins with, in Redis's logs and in ours.
pub const TIME: &[u8] = b"#TS:";
/// What a file of ours begins with; the number of the increment follows.
pub const FILE: &[u8] = b"#RS:file=";
/// Stands before a `SELECT` at the start of a block. A `SELECT` directly behind a checksum line is
/// Redis's, which has gone on with our file.
pub const DATABASE: &[u8] = b"#RS:db\r\n";
/// The length from which Redis does not skip an annotation, with its line end.
pub const LINE_BYTES_MAX: usize = 1023;

/// The hexadecimal digits of a replication id.
pub const ID_BYTES: usize = 40;

/// What a checksum line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The ticket of the last unit that lies before the line.
    pub seq: u64,
    /// The replication offset behind that unit.
    pub offset: u64,
    /// The id of the replication history, if there is one: 40 lower-case hexadecimal digits.
    pub id: Option<[u8; ID_BYTES]>,
    /// The offset of the block before the line.
    pub at: u64,
    /// The bytes of that block.
    pub len: u64,
    /// How many bytes of the file were known to be durable when the line was written.
    pub durable: u64,
    /// The checksum.
    pub crc: u32,
}

/// The checksum of a block, as it grows.
#[derive(Clone, Debug)]
pub struct Sum {
    hasher: Hasher,
}

impl Sum {
    /// The checksum of an empty block at offset `at` of increment `file`.
    pub fn new(file: u64, at: u64) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(&file.to_le_bytes());
        hasher.update(&at.to_le_bytes());
        Self { hasher }
    }

    /// Adds bytes of the block. O(length).
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
    }

    /// Adds `len` bytes whose CRC-32 is `crc`, without looking at them.
    pub fn skip(&mut self, crc: u32, len: u64) {
        self.hasher.combine(&Hasher::new_with_initial_len(crc, len));
    }

    fn finish(mut self, line: &[u8]) -> u32 {
        self.hasher.update(line);
        self.hasher.finalize()
    }
}

/// Appends the checksum line of a block whose bytes `sum` has seen; `line.crc` is ignored.
///
/// ```
/// use respire_durable::checksum::{self, Line, Sum};
/// let mut sum = Sum::new(1, 0);
/// sum.update(b"*1\r\n$4\r\nPING\r\n");
/// let line = Line { seq: 7, offset: 0, id: None, at: 0, len: 14, durable: 0, crc: 0 };
/// let mut out = Vec::new();
/// checksum::write(&mut out, &line, sum.clone());
/// assert!(out.starts_with(b"#RS:seq=7;off=0;at=0;len=14;dur=0;crc="));
/// let parsed = checksum::parse(&out).unwrap();
/// assert_eq!(parsed.seq, 7);
/// assert!(checksum::holds(&out, &parsed, sum));
/// ```
pub fn write(out: &mut Vec<u8>, line: &Line, sum: Sum) {
    let start = out.len();
    out.extend_from_slice(PREFIX);
    number(out, line.seq);
    out.extend_from_slice(b";off=");
    number(out, line.offset);
    if let Some(id) = &line.id {
        out.extend_from_slice(b";id=");
        out.extend_from_slice(id);
    }
    out.extend_from_slice(b";at=");
    number(out, line.at);
    out.extend_from_slice(b";len=");
    number(out, line.len);
    out.extend_from_slice(b";dur=");
    number(out, line.durable);
    out.extend_from_slice(b";crc=");
    let crc = sum.finish(&out[start..]);
    // Writing to a `Vec` does not fail.
    let _ = write!(out, "{crc:08x}\r\n");
}

fn number(out: &mut Vec<u8>, value: u64) {
    // Tickets, offsets and lengths stay below 2^63.
    let mut room = [0; I64_BYTES_MAX];
    let value = i64::try_from(value).unwrap_or(i64::MAX);
    out.extend_from_slice(format_i64(value, &mut room));
}

/// Reads a whole checksum line, with its line end. `None` if a byte is not as [`write()`] writes it.
pub fn parse(text: &[u8]) -> Option<Line> {
    let rest = text.strip_prefix(PREFIX)?;
    let (seq, rest) = digits(rest)?;
    let (offset, mut rest) = digits(rest.strip_prefix(b";off=")?)?;
    let mut id = None;
    if let Some(after) = rest.strip_prefix(b";id=") {
        let (hex, after) = after.split_first_chunk::<ID_BYTES>()?;
        if !hex.iter().all(|byte| is_hex(*byte)) {
            return None;
        }
        id = Some(*hex);
        rest = after;
    }
    let (at, rest) = digits(rest.strip_prefix(b";at=")?)?;
    let (len, rest) = digits(rest.strip_prefix(b";len=")?)?;
    let (durable, rest) = digits(rest.strip_prefix(b";dur=")?)?;
    let (hex, end) = rest.strip_prefix(b";crc=")?.split_first_chunk::<8>()?;
    if end != b"\r\n" || !hex.iter().all(|byte| is_hex(*byte)) {
        return None;
    }
    let crc = u32::from_str_radix(str::from_utf8(hex).ok()?, 16).ok()?;
    Some(Line {
        seq,
        offset,
        id,
        at,
        len,
        durable,
        crc,
    })
}

/// Whether the checksum of the line `text`, parsed as `line`, is that of the block before it.
pub fn holds(text: &[u8], line: &Line, sum: Sum) -> bool {
    const CRC_AND_END: usize = 10;
    let covered = text.len().saturating_sub(CRC_AND_END);
    sum.finish(&text[..covered]) == line.crc
}

/// Appends `#TS:` and the time in unix seconds, as Redis does with `aof-timestamp-enabled`.
pub fn write_time(out: &mut Vec<u8>, unix_s: u64) {
    out.extend_from_slice(TIME);
    number(out, unix_s);
    out.extend_from_slice(b"\r\n");
}

/// The time of a line that begins with `#TS:`, in unix seconds. Reads digits as C's `strtol` does,
/// as Redis writes them.
pub fn parse_time(text: &[u8]) -> Option<u64> {
    let (time, rest) = digits(text.strip_prefix(TIME)?)?;
    matches!(rest, b"\r\n" | b"\n").then_some(time)
}

/// Appends the first line of a file of ours.
pub fn write_file(out: &mut Vec<u8>, file: u64) {
    out.extend_from_slice(FILE);
    number(out, file);
    out.extend_from_slice(b"\r\n");
}

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// A number without sign or leading zeros, and what follows it.
pub(crate) fn digits(text: &[u8]) -> Option<(u64, &[u8])> {
    let len = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(len);
    let canonical = len == 1 || (len > 1 && len < I64_BYTES_MAX && digits[0] != b'0');
    if !canonical {
        return None;
    }
    let value = str::from_utf8(digits).ok()?.parse().ok()?;
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(id: bool) -> (Vec<u8>, Sum) {
        let mut sum = Sum::new(3, 512);
        sum.update(b"block");
        let line = Line {
            seq: u64::try_from(i64::MAX).unwrap(),
            offset: 10,
            at: 512,
            id: id.then_some([b'a'; ID_BYTES]),
            len: 5,
            durable: 512,
            crc: 0,
        };
        let mut out = Vec::new();
        write(&mut out, &line, sum.clone());
        (out, sum)
    }

    #[test]
    fn line_is_read_as_written() {
        for id in [false, true] {
            let (text, sum) = line(id);
            assert!(text.len() <= LINE_BYTES_MAX);
            let parsed = parse(&text).unwrap();
            assert_eq!(parsed.seq, u64::try_from(i64::MAX).unwrap());
            assert_eq!((parsed.offset, parsed.len, parsed.durable), (10, 5, 512));
            assert_eq!(parsed.id.is_some(), id);
            assert!(holds(&text, &parsed, sum));
        }
    }

    #[test]
    fn each_changed_byte_of_a_line_is_noticed() {
        let (text, sum) = line(true);
        for at in 0..text.len() {
            for flip in 1..=255 {
                let mut changed = text.clone();
                changed[at] ^= flip;
                let accepted =
                    parse(&changed).is_some_and(|line| holds(&changed, &line, sum.clone()));
                assert!(!accepted, "byte {at} ^ {flip}");
            }
        }
    }

    #[test]
    fn block_of_another_file_or_place_is_noticed() {
        let (text, _) = line(false);
        let parsed = parse(&text).unwrap();
        for (file, at) in [(4, 512), (3, 513), (512, 3)] {
            let mut sum = Sum::new(file, at);
            sum.update(b"block");
            assert!(!holds(&text, &parsed, sum));
        }
    }

    #[test]
    fn skipped_bytes_count_as_seen() {
        let mut seen = Sum::new(1, 2);
        seen.update(b"hello, world");
        let mut skipped = Sum::new(1, 2);
        skipped.skip(crc32fast::hash(b"hello, "), 7);
        skipped.update(b"world");
        assert_eq!(seen.finish(b"x"), skipped.finish(b"x"));
    }

    #[test]
    fn time_is_read_as_written() {
        let mut out = Vec::new();
        write_time(&mut out, 1_700_000_000);
        assert_eq!(out, b"#TS:1700000000\r\n");
        assert_eq!(parse_time(&out), Some(1_700_000_000));
        assert_eq!(parse_time(b"#TS:x\r\n"), None);
    }
}
