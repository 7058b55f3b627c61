//! Decodes the same bytes in pieces, as a socket may deliver them.

use super::Document;
use super::index::{Decoder, Next};

/// The number of words in a row of [`Document::reads`].
pub const READ_WORDS: usize = 6;

/// The most reads of one call.
const READS_MAX: usize = 1 << 20;

/// The results of a read.
const NEEDS_MORE: u32 = 0;
const FAILED: u32 = 1;
const ALL_CONSUMED: u32 = 2;

impl Document {
    /// Passes the bytes to a new decoder read by read, cut at these offsets (in any order), and
    /// returns [`READ_WORDS`] words per read: its result (0 more bytes are needed, 1 an error, 2
    /// all bytes are consumed); its first and last offset; the number of frames it completed; the
    /// number of bytes needed at least, or the error's offset; the number of bytes kept for the
    /// next read. Decoding stops at an error.
    ///
    /// # Errors
    /// At more than a million cuts, or when they do not ascend.
    pub fn reads(&self, cuts: &[u32]) -> Result<Vec<u32>, String> {
        if cuts.len() >= READS_MAX {
            return Err(format!(
                "more than {READS_MAX} reads are not looked at at once"
            ));
        }
        let end = self.bytes.len() as u32;
        let inner = cuts.iter().copied().filter(|cut| (1..end).contains(cut));
        let mut ends: Vec<u32> = inner.chain([end]).collect();
        if !ends.is_sorted() {
            return Err("cuts ascend".to_owned());
        }
        ends.dedup();
        let mut decoder = Decoder::new(self.mode, self.limits);
        let (mut rows, mut from, mut kept) = (Vec::new(), 0, 0);
        for to in ends {
            let read = read(&mut decoder, &self.bytes[..to as usize], &mut kept);
            let tail = if read.outcome == FAILED {
                0
            } else {
                to - kept as u32
            };
            rows.extend([read.outcome, from, to, read.frames, read.detail, tail]);
            if read.outcome == FAILED {
                break;
            }
            from = to;
        }
        Ok(rows)
    }
}

struct Read {
    outcome: u32,
    frames: u32,
    detail: u32,
}

/// Decodes the bytes after `at`, and moves `at` after the consumed bytes.
fn read(decoder: &mut Decoder, bytes: &[u8], at: &mut usize) -> Read {
    let mut frames = 0;
    loop {
        match decoder.next(&bytes[*at..]) {
            Ok(Next::Frame { blank, len, .. }) => {
                *at += blank + len;
                frames += 1;
            }
            Ok(Next::More { blank, need }) => {
                *at += blank;
                let is_empty = *at == bytes.len();
                return Read {
                    outcome: if is_empty { ALL_CONSUMED } else { NEEDS_MORE },
                    frames,
                    detail: if is_empty { 0 } else { need as u32 },
                };
            }
            Err(error) => {
                return Read {
                    outcome: FAILED,
                    frames,
                    detail: (*at + error.offset) as u32,
                };
            }
        }
    }
}
