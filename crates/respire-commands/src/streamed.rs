//! Replies of many elements that are written while the client reads them, from a snapshot of their value.
//!
//! The memory for such a reply is bounded, and the key is not locked meanwhile.

use crate::work::work_begins;
use resp_codec::{Encoder, Proto, Sink};
use respire_engine::Reply;

/// The elements of an array, a map or a set, in the order of the reply.
pub(crate) trait Elements: Send + 'static {
    /// Writes elements, beginning with number `from`: at least one, and until `is_full` returns true or there are no
    /// more. Returns the number of the next element.
    fn write<S: Sink>(
        &self,
        from: usize,
        encoder: &mut Encoder<'_, S>,
        is_full: impl Fn(&mut S) -> bool,
    ) -> usize;
}

/// Writes `count` elements, which have about `bytes` bytes; the header must have been written.
pub(crate) fn reply(elements: impl Elements, count: usize, bytes: usize, reply: &mut Reply<'_>) {
    work_begins();
    if matches!(reply.proto(), Proto::Binary | Proto::BinaryPlain) {
        elements.write(0, reply, |_| false);
        return;
    }
    let (proto, mut next) = (reply.proto(), 0);
    let body = move |bytes_max: usize| {
        if next == count {
            return None;
        }
        let mut piece = Vec::with_capacity(bytes_max + bytes_max / 8);
        let mut encoder = Encoder::new(&mut piece, proto);
        next = elements.write(next, &mut encoder, |piece| piece.len() >= bytes_max);
        Some(piece.into())
    };
    reply.sink().put_elements(bytes, body);
}
