//! A consumer to which entries are delivered.

use super::access::{edit_quietly, no_group_to_read};
use crate::notify;
use respire_engine::Error;
use respire_store::{
    Delivery, Edited, EntryRef, Kind, Stream, StreamGroup, StreamId, StreamRef, StreamSlice, View,
};

/// A consumer of a stream, which need not exist yet.
#[derive(Clone, Copy)]
pub(super) struct Consumer<'a> {
    pub(super) key: &'a [u8],
    pub(super) group: &'a [u8],
    pub(super) name: &'a [u8],
}

/// An entry that another consumer did not acknowledge in time.
#[derive(Clone)]
pub(super) struct Stale {
    pub(super) id: StreamId,
    pub(super) entry: StreamSlice,
    /// When it was delivered last, in unix milliseconds, and how often.
    pub(super) delivered_ms: u64,
    pub(super) count: u64,
}

impl Consumer<'_> {
    /// Calls `f` with the stream and the group; `None` if one of them does not exist.
    pub(super) fn look<R>(
        self,
        view: &mut View<'_>,
        f: impl FnOnce(StreamRef<'_>, &StreamGroup) -> R,
    ) -> Option<R> {
        view.peek(self.key, |entry| {
            let stream = entry.and_then(|entry: EntryRef<'_>| entry.typed::<Stream>().ok())?;
            Some(f(stream, stream.group(self.group)?))
        })
    }

    /// Notes that the consumer gets entries that are new to the group.
    pub(super) fn deliver(
        self,
        view: &mut View<'_>,
        slice: &StreamSlice,
        no_ack: bool,
    ) -> Result<(), Error> {
        let now_ms = view.clock_ms();
        let consumer = (!no_ack).then_some(self.name);
        self.edit(view, |stream| {
            stream.deliver(self.group, slice, consumer, now_ms);
            stream.edit_group(self.group, |group, _| group.set_active(self.name, now_ms));
        })?;
        Ok(())
    }

    /// Delivers entries to the consumer that are pending since these times, except those that were acknowledged or
    /// delivered since, or deleted. The latter are added to `deleted`, and stay pending.
    pub(super) fn claim(
        self,
        view: &mut View<'_>,
        pending: &[(u64, StreamId)],
        deleted: &mut Vec<StreamId>,
    ) -> Result<Vec<Stale>, Error> {
        let now_ms = view.clock_ms();
        let claimed = self.edit(view, |stream| {
            let ids = pending.iter().map(|(_, id)| *id);
            let entries: Vec<StreamSlice> = stream.read().entries(ids).collect();
            stream.edit_group(self.group, |group, _| {
                let mut claimed = Vec::with_capacity(entries.len());
                for ((delivered_ms, id), entry) in pending.iter().copied().zip(entries) {
                    let found = group.pending_of(id);
                    let Some(found) = found.filter(|it| it.delivered_ms == delivered_ms) else {
                        continue;
                    };
                    if entry.is_empty() {
                        deleted.push(id);
                        continue;
                    }
                    let count = found.count;
                    let delivery = Delivery {
                        delivered_ms: now_ms,
                        count: count + 1,
                    };
                    group.claim(id, self.name, delivery);
                    claimed.push(Stale {
                        id,
                        entry,
                        delivered_ms,
                        count,
                    });
                }
                group.set_active(self.name, now_ms);
                claimed
            })
        })?;
        Ok(claimed.flatten().unwrap_or_default())
    }

    /// Returns up to `count` entries of the consumer behind an ID that it has not acknowledged, and notes that it gets
    /// them again. Those that were deleted have no entry.
    pub(super) fn read_history(
        self,
        view: &mut View<'_>,
        after: StreamId,
        count: usize,
    ) -> Result<Vec<(StreamId, StreamSlice)>, Error> {
        let now_ms = view.clock_ms();
        let history = self.edit(view, |stream| {
            let pending: Vec<StreamId> = stream
                .read()
                .group(self.group)
                .and_then(|group| group.consumer(self.name))
                .zip(after.next())
                .map(|(consumer, from)| consumer.pending(from).take(count).collect())
                .unwrap_or_default();
            let slices = stream.read().entries(pending.iter().copied());
            let slices: Vec<StreamSlice> = slices.collect();
            let entries: Vec<(StreamId, StreamSlice)> = pending.into_iter().zip(slices).collect();
            stream.edit_group(self.group, |group, _| {
                for (id, slice) in &entries {
                    if !slice.is_empty() {
                        group.deliver_again(*id, now_ms);
                    }
                }
            });
            entries
        })?;
        history.ok_or_else(|| no_group_to_read(self.key, self.group))
    }

    /// Changes the stream, and tells of the consumer if it is new.
    fn edit<R>(
        self,
        view: &mut View<'_>,
        f: impl FnOnce(&mut Stream) -> R,
    ) -> Result<Option<R>, Error> {
        let (now_ms, mut is_new) = (view.clock_ms(), false);
        let edited = edit_quietly(view, self.key, |stream| {
            let seen = |group: &mut StreamGroup, _: &_| group.see_consumer(self.name, now_ms);
            is_new = stream.edit_group(self.group, seen).unwrap_or(false);
            Edited::Unwatched(f(stream))
        })?;
        if is_new {
            view.update(self.key, |slot| slot.event(notify::XGROUP_CREATECONSUMER));
        }
        Ok(edited)
    }
}

/// Up to `count` entries of a group that were delivered `idle_ms` milliseconds ago or before, those first that were
/// delivered first.
pub(super) fn stale(
    (stream, group): (StreamRef<'_>, &StreamGroup),
    (now_ms, idle_ms): (u64, u64),
    count: usize,
) -> Vec<Stale> {
    let Some(until_ms) = now_ms.checked_sub(idle_ms) else {
        return Vec::new();
    };
    let mut wanted = count;
    loop {
        let found = group.delivered_first(until_ms, wanted);
        let is_all = found.len() < wanted;
        let entries = stream.entries(found.iter().map(|(_, id)| *id));
        let stale = found.iter().zip(entries).filter_map(|((_, id), entry)| {
            let pending = group.pending_of(*id)?;
            (!entry.is_empty()).then_some(Stale {
                id: *id,
                entry,
                delivered_ms: pending.delivered_ms,
                count: pending.count,
            })
        });
        let mut stale: Vec<Stale> = stale.collect();
        if is_all || stale.len() >= count {
            stale.truncate(count);
            return stale;
        }
        // Some of them were deleted.
        wanted = wanted.saturating_mul(2);
    }
}
