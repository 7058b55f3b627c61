//! The decoding loops that the benches time: each decodes a whole input.

use std::hint::black_box;

use resp_codec::{CommandDecoder, FrameDecoder, Step};

/// Counts the arguments of all requests of `input`, which arrives in pieces of `piece` bytes.
///
/// # Panics
/// Panics if the input is invalid.
pub fn commands(decoder: &mut CommandDecoder, input: &[u8], piece: usize) -> usize {
    let (mut count, mut start, mut end) = (0, 0, piece.min(input.len()));
    while start < input.len() {
        match decoder.decode(&input[start..end]).expect("a good request") {
            Step::Ready { item, consumed } => {
                count += black_box(item.len());
                start += consumed;
            }
            Step::NeedMore { consumed, .. } => {
                start += consumed;
                end = (end + piece).min(input.len());
            }
        }
    }
    count
}

/// Counts the nulls in all replies of `input`, which arrives in pieces of `piece` bytes.
///
/// # Panics
/// Panics if the input is invalid.
pub fn frames(decoder: &mut FrameDecoder, input: &[u8], piece: usize) -> usize {
    let (mut count, mut start, mut end) = (0, 0, piece.min(input.len()));
    while start < input.len() {
        match decoder.decode(&input[start..end]).expect("a good reply") {
            Step::Ready { item, consumed } => {
                count += usize::from(black_box(item).is_null());
                start += consumed;
            }
            Step::NeedMore { consumed, .. } => {
                start += consumed;
                end = (end + piece).min(input.len());
            }
        }
    }
    count
}
