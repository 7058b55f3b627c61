//! Decoders kept along a frame, so that what one knows anywhere within it is found without decoding
//! the frame from its start.

use resp_codec::annotate::{ByteSet, Mode, Prefix};
use resp_codec::{Error, Limits};

/// Bytes between two kept decoders. What a decoder holds is bounded by the depth that the limits
/// allow, so that all of them are a fraction of the frame.
const SPACING_BYTES: usize = 64 << 10;

/// The decoders kept along one frame.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// The frame's number.
    frame: usize,
    /// At its start, and behind each [`SPACING_BYTES`] that were looked at.
    kept: Vec<Prefix>,
}

/// What a decoder knows behind some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// Bytes the frame lacks at least.
    pub(super) need: usize,
    /// The bytes that may come next.
    pub(super) expected: ByteSet,
}

impl Checkpoints {
    /// Those of a frame at which nothing was looked yet.
    pub(super) fn new(frame: usize, mode: Mode, limits: Limits) -> Self {
        Self {
            frame,
            kept: vec![Prefix::new(mode, limits)],
        }
    }

    pub(super) fn frame(&self) -> usize {
        self.frame
    }

    /// What a decoder knows behind `start`, the frame's bytes from its first one on. O(n) in the
    /// bytes behind the last checkpoint, which are [`SPACING_BYTES`] at most where the frame was looked
    /// at that far before.
    ///
    /// # Errors
    /// The decoder's, where there is an error in them.
    pub(super) fn look(&mut self, start: &[u8]) -> Result<Known, Error> {
        let wanted = start.len() / SPACING_BYTES;
        while self.kept.len() <= wanted {
            let reached = self.kept.len() * SPACING_BYTES;
            let mut next = self.kept[self.kept.len() - 1].clone();
            next.advance(&start[..reached])?;
            self.kept.push(next);
        }
        let mut here = self.kept[wanted].clone();
        let need = here.advance(start)?;
        Ok(Known {
            need,
            expected: here.expected(start),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits::CLIENT;

    /// A long frame: its size, its depth, and how it ends are chosen.
    fn long_frame() -> impl Strategy<Value = (Vec<u8>, Mode)> {
        let values = prop_oneof![
            Just(&b":12345\r\n"[..]),
            Just(&b"%1\r\n+key\r\n*2\r\n$5\r\nhello\r\n_\r\n"[..]),
            Just(&b"*?\r\n$?\r\n;3\r\nabc\r\n;0\r\n=5\r\ntxt:v\r\n.\r\n"[..]),
        ];
        let tail = prop::sample::select(vec![&b""[..], b"x", b"\r\n", b"$9"]);
        let reply =
            (values, 1..40_000usize, 0..120usize, tail).prop_map(|(value, count, depth, tail)| {
                let mut bytes = b"*1\r\n".repeat(depth);
                bytes.extend_from_slice(format!("*{count}\r\n").as_bytes());
                // One is missing where the tail is no value.
                bytes.extend(value.repeat(count - 1));
                bytes.extend_from_slice(tail);
                (bytes, Mode::Replies)
            });
        let request = (1..30_000usize, 0..9usize).prop_map(|(count, torn)| {
            let mut bytes = format!("*{count}\r\n").into_bytes();
            bytes.extend(b"$6\r\nvalue!\r\n".repeat(count));
            bytes.truncate(bytes.len() - torn);
            (bytes, Mode::Requests)
        });
        let binary = (1..30_000u32, 0..9usize).prop_map(|(count, torn)| {
            let mut bytes = b"\x10".to_vec();
            bytes.extend(count.to_le_bytes());
            bytes.extend(b"\x04\0\0\0four".repeat(count as usize));
            bytes.truncate(bytes.len() - torn);
            (bytes, Mode::BinaryRequests)
        });
        let tagged = (1..30_000u32, 0..60usize).prop_map(|(count, depth)| {
            let mut bytes = b"*\x01\0\0\0".repeat(depth);
            bytes.push(b'*');
            bytes.extend(count.to_le_bytes());
            bytes.extend(b"~\x02\0\0\0#\x01+\x02\0\0\0OK".repeat(count as usize));
            (bytes, Mode::BinaryReplies)
        });
        prop_oneof![3 => reply, 1 => request, 1 => binary, 1 => tagged]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn checkpoints_know_what_decoding_from_the_start_tells(
            (bytes, mode) in long_frame(),
            offsets in prop::collection::vec(any::<prop::sample::Index>(), 1..8),
        ) {
            let mut checkpoints = Checkpoints::new(0, mode, LIMITS);
            for offset in offsets {
                let start = &bytes[..offset.index(bytes.len())];
                let mut fresh = Prefix::new(mode, LIMITS);
                let known = fresh.advance(start).map(|need| Known {
                    need,
                    expected: fresh.expected(start),
                });
                let looked = checkpoints.look(start);
                // An error's place is counted from where it was looked from.
                prop_assert_eq!(looked.as_ref().ok(), known.as_ref().ok());
                prop_assert_eq!(looked.is_err(), known.is_err());
            }
            prop_assert!(checkpoints.kept.len() <= bytes.len() / SPACING_BYTES + 1);
        }
    }
}
