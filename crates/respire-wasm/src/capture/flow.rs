//! Reassembles one direction of a TCP connection: orders its segments by their bytes.

/// Flags of a piece.
pub(super) const TRIMMED: u32 = 1;
pub(super) const OUT_OF_ORDER: u32 = 2;
pub(super) const AFTER_GAP: u32 = 4;
pub(super) const FIN: u32 = 8;
pub(super) const RESET: u32 = 16;

/// A segment as captured.
#[derive(Clone, Copy, Debug)]
struct Arrival<'b> {
    /// The position of its first byte, counted from the start of the stream.
    start: i64,
    payload: &'b [u8],
    time_us: u64,
    packet: u32,
    flags: u32,
}

/// The part of a segment with new bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) offset: u32,
    pub(super) len: u32,
    pub(super) time_us: u64,
    pub(super) packet: u32,
    pub(super) flags: u32,
    /// The number of bytes before it that were not captured.
    pub(super) missing: u32,
}

/// The segments of one direction.
#[derive(Debug, Default)]
pub(super) struct Flow<'b> {
    /// The sequence number and position of the previous segment.
    last: Option<(u32, i64)>,
    /// The sequence number of the segment that opened the direction, if it was captured.
    opened_by: Option<u32>,
    /// The furthest position so far.
    furthest: i64,
    arrivals: Vec<Arrival<'b>>,
}

/// The reassembled segments of a direction.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) bytes: Vec<u8>,
    pub(super) pieces: Vec<Piece>,
    pub(super) gaps: u32,
    /// Whether the first byte is the first of the connection.
    pub(super) has_start: bool,
}

impl<'b> Flow<'b> {
    /// Sets the start: the first byte will have the number after this one.
    pub(super) fn start(&mut self, sequence: u32) {
        if self.last.is_none() {
            self.last = Some((sequence.wrapping_add(1), 0));
            self.opened_by = Some(sequence);
        }
    }

    /// Whether a segment that opens with this number is a retransmission of the opening one.
    pub(super) fn is_opened_by(&self, sequence: u32) -> bool {
        self.opened_by == Some(sequence)
    }

    /// Whether any segment was captured.
    pub(super) fn has_segments(&self) -> bool {
        self.last.is_some()
    }

    /// Adds a segment, in the order of arrival.
    pub(super) fn arrive(
        &mut self,
        sequence: u32,
        payload: &'b [u8],
        time_us: u64,
        packet: u32,
        flags: u32,
    ) {
        // Sequence numbers wrap: choose the position closest to the previous one.
        let start = match self.last {
            Some((last, place)) => place + i64::from(sequence.wrapping_sub(last).cast_signed()),
            None => 0,
        };
        self.last = Some((sequence, start));
        let is_late = !payload.is_empty() && start < self.furthest;
        self.furthest = self.furthest.max(start + payload.len() as i64);
        if !payload.is_empty() || flags != 0 {
            self.arrivals.push(Arrival {
                start,
                payload,
                time_us,
                packet,
                flags: flags | if is_late { OUT_OF_ORDER } else { 0 },
            });
        }
    }

    /// Whether the direction has content or has ended.
    pub(super) fn has_content(&self) -> bool {
        !self.arrivals.is_empty()
    }

    /// Reassembles the segments. Of bytes captured twice, the first copy is kept. Missing bytes are
    /// left out, and counted at the segment after them.
    pub(super) fn join(mut self) -> Joined {
        self.arrivals
            .sort_by_key(|arrival| (arrival.start, arrival.packet));
        let mut joined = Joined {
            has_start: self.opened_by.is_some(),
            ..Joined::default()
        };
        let first = self.arrivals.first().map_or(0, |arrival| arrival.start);
        let mut end = if self.opened_by.is_some() { 0 } else { first };
        for arrival in &self.arrivals {
            let mut flags = arrival.flags;
            let known = usize::try_from(end - arrival.start).unwrap_or(0);
            let known = known.min(arrival.payload.len());
            let new = &arrival.payload[known..];
            if known > 0 {
                flags |= TRIMMED;
            }
            if new.is_empty() && arrival.flags & (FIN | RESET) == 0 {
                continue;
            }
            let missing = if new.is_empty() {
                0
            } else {
                u32::try_from(arrival.start - end).unwrap_or(0)
            };
            if missing > 0 {
                flags |= AFTER_GAP;
                joined.gaps += 1;
            }
            joined.pieces.push(Piece {
                offset: joined.bytes.len() as u32,
                len: new.len() as u32,
                time_us: arrival.time_us,
                packet: arrival.packet,
                flags,
                missing,
            });
            joined.bytes.extend_from_slice(new);
            end = end.max(arrival.start + arrival.payload.len() as i64);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gaps_and_ends_are_reported() {
        let mut flow = Flow::default();
        flow.start(u32::MAX - 1);
        flow.arrive(u32::MAX, b"ab", 1, 1, 0);
        flow.arrive(4, b"ef", 2, 2, 0);
        flow.arrive(6, b"", 3, 3, FIN);
        let joined = flow.join();
        assert_eq!((joined.bytes.as_slice(), joined.gaps), (&b"abef"[..], 1));
        let flags: Vec<u32> = joined.pieces.iter().map(|piece| piece.flags).collect();
        assert_eq!(flags, [0, AFTER_GAP, FIN]);
        let missing: Vec<u32> = joined.pieces.iter().map(|piece| piece.missing).collect();
        assert_eq!(missing, [0, 3, 0]);
    }

    #[test]
    fn late_and_repeated_segments_are_put_in_order() {
        let mut flow = Flow::default();
        flow.arrive(100, b"abc", 1, 1, 0);
        flow.arrive(106, b"ghi", 2, 2, 0);
        flow.arrive(102, b"cdef", 3, 3, 0);
        flow.arrive(100, b"abc", 4, 4, 0);
        let joined = flow.join();
        assert_eq!(
            (joined.bytes.as_slice(), joined.gaps),
            (&b"abcdefghi"[..], 0)
        );
        let packets: Vec<_> = joined
            .pieces
            .iter()
            .map(|piece| (piece.packet, piece.flags))
            .collect();
        assert_eq!(packets, [(1, 0), (3, TRIMMED | OUT_OF_ORDER), (2, 0)]);
    }

    proptest! {
        #[test]
        fn any_order_and_any_repeats_give_the_same_bytes(
            bytes in prop::collection::vec(any::<u8>(), 1..60),
            cuts in prop::collection::vec((0..60usize, 1..20usize), 0..30),
            isn in any::<u32>(),
        ) {
            let mut flow = Flow::default();
            flow.start(isn);
            let first = isn.wrapping_add(1);
            for (at, len) in &cuts {
                let at = at % bytes.len();
                let end = (at + len).min(bytes.len());
                flow.arrive(first.wrapping_add(at as u32), &bytes[at..end], 0, 1, 0);
            }
            flow.arrive(first, &bytes, 0, 2, 0);
            let joined = flow.join();
            prop_assert_eq!(&joined.bytes, &bytes);
            prop_assert_eq!(joined.gaps, 0);
            let sum: u32 = joined.pieces.iter().map(|piece| piece.len).sum();
            prop_assert_eq!(sum as usize, bytes.len());
        }
    }
}
