//! Replies with entries that are pending, as `XPENDING` and `XINFO STREAM FULL` do.

use super::reading::STEP_ENTRIES_MAX;
use crate::streamed::reply_parts;
use respire_engine::Reply;
use respire_store::{Pending, StreamGroup, StreamId};
use std::sync::Arc;

/// Which of the entries that are pending in a group.
#[derive(Clone)]
pub(super) struct PendingRange {
    /// Those that were delivered to this consumer last; `None` are all.
    pub(super) consumer: Option<Box<[u8]>>,
    pub(super) from: StreamId,
    pub(super) to: StreamId,
    /// Those that were delivered at this time or before, in unix milliseconds; `None` are all.
    pub(super) until_ms: Option<i64>,
}

impl PendingRange {
    /// Those of a consumer, or all.
    pub(super) fn all(consumer: Option<&[u8]>) -> Self {
        Self {
            consumer: consumer.map(Into::into),
            from: StreamId::MIN,
            to: StreamId::MAX,
            until_ms: None,
        }
    }

    /// Calls `f` with the entries until it returns false.
    pub(super) fn for_each(&self, group: &StreamGroup, f: &mut dyn FnMut(Pending<'_>) -> bool) {
        let mut take = |pending: Pending<'_>| {
            if pending.id > self.to {
                return false;
            }
            let delivered_ms = pending.delivered_ms.cast_signed();
            let is_wanted = self.until_ms.is_none_or(|until| delivered_ms <= until);
            !is_wanted || f(pending)
        };
        match &self.consumer {
            None => {
                group.pending(self.from).all(&mut take);
            }
            Some(name) => {
                let of = group.consumer(name).into_iter();
                let ids = of.flat_map(|consumer| consumer.pending(self.from));
                ids.filter_map(|id| group.pending_of(id)).all(&mut take);
            }
        }
    }

    /// The number of entries, up to `count_max`. Calls `step` with each that it looks at.
    pub(super) fn count(
        &self,
        group: &StreamGroup,
        count_max: usize,
        step: &mut dyn FnMut(),
    ) -> usize {
        let mut count = 0;
        if count_max > 0 {
            self.for_each(group, &mut |_| {
                count += 1;
                step();
                count < count_max
            });
        }
        count
    }

    /// Replies with an array of the first entries, of which there are at least `count`, as the peer reads them.
    pub(super) fn reply(
        mut self,
        reply: &mut Reply<'_>,
        (group, count): (Arc<StreamGroup>, usize),
        mut one: impl FnMut(&mut Reply<'_>, &Pending<'_>) + Send + 'static,
    ) {
        reply.array(count);
        let (parts, mut left) = (count.div_ceil(STEP_ENTRIES_MAX), count);
        reply_parts(reply, (count, ENTRY_BYTES), parts, move |_, reply| {
            let (mut last, mut of_part) = (None, left.min(STEP_ENTRIES_MAX));
            left -= of_part;
            self.for_each(&group, &mut |pending| {
                one(reply, &pending);
                last = Some(pending.id);
                of_part -= 1;
                of_part > 0
            });
            self.from = last.and_then(StreamId::next).unwrap_or(StreamId::MAX);
        });
    }
}

/// About the bytes of an entry in a reply.
const ENTRY_BYTES: usize = 64;
