//! Waits for entries: `XREAD` and `XREADGROUP` with `BLOCK`.

use super::access::stream_if_any;
use super::batches::Batches;
use super::consumer::{Consumer, stale};
use super::entries::reply_entries;
use super::reading::{Claimed, new_entries};
use super::xread::{begin, begin_stream};
use super::xread_request::{Request, slice_after};
use crate::Ctx;
use crate::block::{self, NullArray, Take};
use respire_engine::{ArgList, Bytes, Error, IntoReply, Later, Reply};
use respire_store::{Stream, StreamId, StreamSlice, View};

const KEY_LOST: Error = Error::fixed("UNBLOCKED the stream key no longer exists");
const GROUP_LOST: Error =
    Error::fixed("NOGROUP the consumer group this client was blocked on no longer exists");

/// The entries of one stream.
struct Found {
    key: Bytes,
    slice: StreamSlice,
}

impl IntoReply for Found {
    fn into_reply(self, reply: &mut Reply<'_>) {
        begin(reply, 1);
        begin_stream(reply, &self.key);
        reply_entries(reply, self.slice);
    }
}

/// Waits for entries behind IDs.
struct Read {
    /// Each key with its first ID.
    after: Vec<(Bytes, StreamId)>,
    count: usize,
}

impl Take for Read {
    type Taken = Found;

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Found, Error>> {
        let (key, after) = self.after.iter().find(|(it, _)| it == key)?;
        let slice = view.peek(key, |entry| {
            let stream = stream_if_any(entry).ok()??;
            Some(slice_after(stream, *after, self.count))
        })?;
        let key = key.clone();
        (!slice.is_empty()).then_some(Ok(Found { key, slice }))
    }

    fn take(&self, _view: &mut View<'_>, _key: &[u8]) {}
}

pub(super) fn wait_to_read(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    let request = match Request::parse(args, false) {
        Ok(request) => request,
        Err(error) => return answer(later, error),
    };
    let (mut after, mut at, mut error) = (Vec::new(), 0, None);
    let keys: Vec<&[u8]> = request.keys().collect();
    // The command has counted its look-ups. What is added from here on is behind `$`.
    ctx.view.read_many(request.keys(), |_, entry| {
        match request.after(at, entry) {
            Ok((Some(id), _)) => after.push((Bytes::copy_from_slice(keys[at]), id)),
            Ok((None, _)) => {}
            Err(wrong) => error = Some(wrong),
        }
        at += 1;
    });
    if let Some(error) = error {
        return answer(later, error);
    }
    let take = Read {
        after,
        count: request.count_after_waiting(),
    };
    let timeout = request.block.flatten();
    block::for_keys(ctx, request.keys(), (timeout, NullArray), later, take);
}

/// Waits for entries that are new to a group, or pending for so long that they may be claimed.
struct ReadAsGroup {
    group: Bytes,
    consumer: Bytes,
    count: usize,
    no_ack: bool,
    claim_idle_ms: Option<u64>,
}

/// The entries that a group has for a consumer that waited.
struct FoundByGroup {
    key: Bytes,
    entries: Claimed,
    has_claim: bool,
}

impl IntoReply for FoundByGroup {
    fn into_reply(self, reply: &mut Reply<'_>) {
        begin(reply, 1);
        begin_stream(reply, &self.key);
        match self.has_claim {
            true => self.entries.reply(reply),
            false => reply_entries(reply, self.entries.new),
        }
    }
}

impl ReadAsGroup {
    fn to<'a>(&'a self, key: &'a [u8]) -> Consumer<'a> {
        Consumer {
            key,
            group: &self.group,
            name: &self.consumer,
        }
    }

    /// The entries; if there are none, the time from which there is one to claim.
    fn entries(
        &self,
        view: &mut View<'_>,
        key: &[u8],
    ) -> Result<Result<Claimed, Option<u64>>, Error> {
        let now_ms = view.now_ms();
        view.peek(key, |entry| {
            let stream = entry.and_then(|entry| entry.typed::<Stream>().ok());
            let stream = stream.ok_or(KEY_LOST)?;
            let group = stream.group(&self.group).ok_or(GROUP_LOST)?;
            let stale = match self.claim_idle_ms {
                Some(idle_ms) => stale((stream, group), (now_ms, idle_ms), self.count),
                None => Vec::new(),
            };
            let left = self.count - stale.len();
            let mut claimed = Batches::default();
            claimed.push(stale);
            let found = Claimed {
                stale: claimed,
                new: new_entries(stream, group, StreamId::MAX, left),
                now_ms,
            };
            if !found.is_empty() {
                return Ok(Ok(found));
            }
            let next = self.claim_idle_ms.and_then(|idle_ms| {
                let first = group.delivered_first(u64::MAX, 1);
                let at_ms = first.first()?.0.saturating_add(idle_ms);
                // What is old enough by now was deleted.
                (at_ms > now_ms).then_some(at_ms)
            });
            Ok(Err(next))
        })
    }
}

impl Take for ReadAsGroup {
    type Taken = FoundByGroup;

    const SEES_LOSS: bool = true;

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<FoundByGroup, Error>> {
        match self.entries(view, key) {
            Ok(Ok(entries)) => Some(Ok(FoundByGroup {
                key: Bytes::copy_from_slice(key),
                entries,
                has_claim: self.claim_idle_ms.is_some(),
            })),
            Ok(Err(next)) => {
                if let Some(at_ms) = next {
                    view.rouse_at(key, at_ms);
                }
                None
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let Ok(Ok(found)) = self.entries(view, key) else {
            return;
        };
        let to = self.to(key);
        if found.stale.len() > 0 {
            let stale = found.stale.iter();
            let pending: Vec<(u64, StreamId)> = stale.map(|it| (it.delivered_ms, it.id)).collect();
            let claimed = to.claim(view, &pending, &mut Vec::new());
            debug_assert!(claimed.is_ok_and(|it| it.len() == pending.len()));
        }
        if !found.new.is_empty() {
            let delivered = to.deliver(view, &found.new, self.no_ack);
            debug_assert!(delivered.is_ok());
        }
    }

    fn lost(&self) -> Option<Error> {
        Some(KEY_LOST)
    }
}

pub(super) fn wait_to_read_as_group(ctx: &mut Ctx<'_>, args: ArgList<'_>, later: Later) {
    let request = match Request::parse(args, true) {
        Ok(request) => request,
        Err(error) => return answer(later, error),
    };
    let Some((group, consumer)) = request.group else {
        return;
    };
    // If the key or the group is gone since the command ran, the first look says so.
    let take = ReadAsGroup {
        group: Bytes::copy_from_slice(group),
        consumer: Bytes::copy_from_slice(consumer),
        count: request.count_after_waiting(),
        no_ack: request.no_ack,
        claim_idle_ms: request.claim_idle_ms,
    };
    let timeout = request.block.flatten();
    block::for_keys(ctx, request.keys(), (timeout, NullArray), later, take);
}

fn answer(later: Later, error: Error) {
    // Nobody waits for the answer of a client that is gone.
    let _is_answered = later.reply(Err::<(), _>(error));
}
