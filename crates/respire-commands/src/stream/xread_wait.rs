//! Waits for entries: `XREAD` and `XREADGROUP` with `BLOCK`.

use super::access::stream_if_any;
use super::entries::reply_entries;
use super::xread::{begin, begin_stream};
use super::xread_request::{Request, slice_after};
use super::xreadgroup::Consumer;
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

/// Waits for entries that are new to a group.
struct ReadAsGroup {
    group: Bytes,
    consumer: Bytes,
    count: usize,
    no_ack: bool,
}

impl ReadAsGroup {
    fn entries(&self, view: &mut View<'_>, key: &[u8]) -> Result<StreamSlice, Error> {
        view.peek(key, |entry| {
            let stream = entry.and_then(|entry| entry.typed::<Stream>().ok());
            let stream = stream.ok_or(KEY_LOST)?;
            let group = stream.group(&self.group).ok_or(GROUP_LOST)?;
            Ok(slice_after(stream, group.last_id, self.count))
        })
    }
}

impl Take for ReadAsGroup {
    type Taken = Found;

    const SEES_LOSS: bool = true;

    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Found, Error>> {
        match self.entries(view, key) {
            Ok(slice) if slice.is_empty() => None,
            Ok(slice) => {
                let key = Bytes::copy_from_slice(key);
                Some(Ok(Found { key, slice }))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn take(&self, view: &mut View<'_>, key: &[u8]) {
        let Ok(slice) = self.entries(view, key) else {
            return;
        };
        let to = Consumer {
            key,
            group: &self.group,
            name: &self.consumer,
        };
        let delivered = to.deliver(view, &slice, self.no_ack);
        debug_assert!(delivered.is_ok());
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
    };
    let timeout = request.block.flatten();
    block::for_keys(ctx, request.keys(), (timeout, NullArray), later, take);
}

fn answer(later: Later, error: Error) {
    // Nobody waits for the answer of a client that is gone.
    let _is_answered = later.reply(Err::<(), _>(error));
}
