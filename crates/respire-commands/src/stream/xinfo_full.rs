//! `XINFO STREAM key FULL`: describes a stream with its entries, groups and consumers.

use super::entries::reply_entries;
use super::ids::reply_id;
use super::pending::PendingRange;
use super::xinfo::{reply_marks, reply_progress};
use respire_engine::Reply;
use respire_store::{Consumer, Owned, StreamGroup, StreamRange, StreamRef, ValueRef};
use std::sync::Arc;

/// Replies with up to `count` elements of each list; 0 is no limit.
pub(super) fn reply_full(reply: &mut Reply<'_>, snapshot: &Owned, count: usize) {
    let ValueRef::Stream(stream) = snapshot.value() else {
        unreachable!("invariant: it was a stream");
    };
    let count = match count {
        0 => usize::MAX,
        count => count,
    };
    reply.map(9);
    reply_marks(reply, stream);
    reply.bulk("entries");
    reply_entries(
        reply,
        stream.slice(&StreamRange {
            count,
            ..StreamRange::default()
        }),
    );
    reply.bulk("groups");
    reply.array(stream.groups_len());
    for (name, _) in stream.groups() {
        if let Some(group) = stream.share_group(name) {
            reply_group(reply, stream, (name, &group), count);
        }
    }
}

fn reply_group(
    reply: &mut Reply<'_>,
    stream: StreamRef<'_>,
    (name, group): (&[u8], &Arc<StreamGroup>),
    count: usize,
) {
    reply.map(7);
    reply.bulk("name");
    reply.bulk(name);
    reply_progress(reply, group, stream.marks());
    reply.bulk("pel-count");
    reply.int(group.pending_len() as i64);
    reply.bulk("pending");
    let shared = (Arc::clone(group), group.pending_len().min(count));
    PendingRange::all(None).reply(reply, shared, |reply, pending| {
        reply.array(4);
        reply_id(reply, pending.id);
        reply.bulk(pending.consumer.name());
        reply.int(pending.delivered_ms.cast_signed());
        reply.int(pending.count.cast_signed());
    });
    reply.bulk("consumers");
    reply.array(group.consumers_len());
    for consumer in group.consumers() {
        reply_consumer(reply, group, consumer, count);
    }
}

fn reply_consumer(
    reply: &mut Reply<'_>,
    group: &Arc<StreamGroup>,
    consumer: &Consumer,
    count: usize,
) {
    reply.map(4);
    reply.bulk("name");
    reply.bulk(consumer.name());
    reply.bulk("seen-time");
    reply.int(consumer.seen_ms.cast_signed());
    reply.bulk("pel-count");
    reply.int(consumer.pending_len() as i64);
    reply.bulk("pending");
    let shared = (Arc::clone(group), consumer.pending_len().min(count));
    PendingRange::all(Some(consumer.name())).reply(reply, shared, |reply, pending| {
        reply.array(3);
        reply_id(reply, pending.id);
        reply.int(pending.delivered_ms.cast_signed());
        reply.int(pending.count.cast_signed());
    });
}
