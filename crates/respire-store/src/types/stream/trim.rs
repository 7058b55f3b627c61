//! Trims a stream: removes its first entries.

use super::{Stream, StreamId};

/// What a trim keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// The last entries, so many.
    Last(u64),
    /// The entries with this ID or a larger one.
    From(StreamId),
}

/// How a stream is trimmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// What is kept.
    pub keep: Keep,
    /// Whether only whole blocks are removed, which costs little.
    pub is_approximate: bool,
    /// The largest number of entries to remove.
    pub entries_max: u64,
}

impl Stream {
    /// Removes the first entries. Returns their number. O(blocks removed), and O(block) if a part of one is removed.
    ///
    /// ```
    /// use respire_store::{Keep, Kind, Stream, StreamId, Trim};
    ///
    /// let mut stream = Stream::default();
    /// for ms in 1..=10 {
    ///     let pairs = [(&b"n"[..], &b"1"[..])];
    ///     stream.add(StreamId { ms, seq: 0 }, pairs.into_iter(), &Stream::LIMITS);
    /// }
    /// let trim = Trim { keep: Keep::Last(4), is_approximate: false, entries_max: u64::MAX };
    /// assert_eq!(stream.trim(&trim), 6);
    /// assert_eq!(stream.marks().first_id, StreamId { ms: 7, seq: 0 });
    /// ```
    pub fn trim(&mut self, trim: &Trim) -> u64 {
        let mut removed = 0;
        while let Some((master, block)) = self.blocks.get(0) {
            let read = block.read(*master);
            let length = self.marks.length;
            let (live, excess) = (read.live, length.saturating_sub(trim.last()));
            if excess == 0 || live > trim.entries_max.saturating_sub(removed) {
                break;
            }
            let is_whole = match trim.keep {
                Keep::Last(_) => live <= excess,
                // Redis takes deleted entries into account where it removes only whole blocks.
                Keep::From(from) => {
                    let last = match trim.is_approximate {
                        true => read.before(read.end()),
                        false => read.last(),
                    };
                    last.is_none_or(|last| last.entry.id() < from)
                }
            };
            if is_whole {
                self.blocks.remove(0);
                removed += live;
                self.marks.length -= live;
                continue;
            }
            if !trim.is_approximate {
                removed += self.trim_block(trim.keep, excess);
            }
            break;
        }
        if removed > 0 {
            self.find_first();
        }
        removed
    }

    /// Removes entries of the first block, of which some remain. Returns their number.
    fn trim_block(&mut self, keep: Keep, excess: u64) -> u64 {
        let Some((master, block)) = self.blocks.get(0) else {
            return 0;
        };
        let (master, read) = (*master, block.read(*master));
        let found = read.between(read.start(), read.end());
        let places: Vec<_> = match keep {
            Keep::Last(_) => found
                .take(usize::try_from(excess).unwrap_or(usize::MAX))
                .map(|found| found.place)
                .collect(),
            Keep::From(from) => found
                .take_while(|found| found.entry.id() < from)
                .map(|found| found.place)
                .collect(),
        };
        let count = places.len() as u64;
        if count > 0 {
            self.blocks
                .edit(0, |block| block.delete_all(master, places.into_iter()));
            self.marks.length -= count;
        }
        count
    }
}

impl Trim {
    /// The number of entries that are kept at least.
    fn last(&self) -> u64 {
        match self.keep {
            Keep::Last(last) => last,
            Keep::From(_) => 0,
        }
    }
}
