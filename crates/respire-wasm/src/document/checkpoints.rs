//! Decoder states kept along a frame, so that the state at any place is found without decoding the
//! frame from its start.

use resp_codec::annotate::{ByteSet, Mode, Prefix};
use resp_codec::{Error, Limits};

/// The number of bytes between two checkpoints. The size of a decoder is bounded by the nesting
/// depth that the limits allow, so all checkpoints together take a fraction of the frame.
const SPACING_BYTES: usize = 64 << 10;

/// The checkpoints of one frame.
#[derive(Debug)]
pub(super) struct Checkpoints {
    /// The frame's number.
    frame: usize,
    /// One at the start, and one after every [`SPACING_BYTES`] that have been decoded.
    kept: Vec<Prefix>,
}

/// The state of a decoder after some bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The number of bytes missing at least.
    pub(super) need: usize,
    /// The bytes that may come next.
    pub(super) expected: ByteSet,
}

impl Checkpoints {
    /// The checkpoints of a frame that has not been decoded yet.
    pub(super) fn new(frame: usize, mode: Mode, limits: Limits) -> Self {
        Self {
            frame,
            kept: vec![Prefix::new(mode, limits)],
        }
    }

    pub(super) fn frame(&self) -> usize {
        self.frame
    }

    /// The state of the decoder after `start`, the frame's bytes from its first one on. O(n) in the
    /// bytes after the last checkpoint, which are at most [`SPACING_BYTES`] if the frame has been
    /// decoded this far before.
    ///
    /// # Errors
    /// The error of the decoder, if these bytes have one.
    pub(super) fn state_after(&mut self, start: &[u8]) -> Result<Known, Error> {
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

    /// A long frame with random size, depth and end.
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
                // Leave one out if the tail is not a value.
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
        fn checkpoints_give_the_same_state_as_decoding_from_the_start(
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
                let state = checkpoints.state_after(start);
                // The offset of an error counts from where decoding started.
                prop_assert_eq!(state.as_ref().ok(), known.as_ref().ok());
                prop_assert_eq!(state.is_err(), known.is_err());
            }
            prop_assert!(checkpoints.kept.len() <= bytes.len() / SPACING_BYTES + 1);
        }
    }
}
