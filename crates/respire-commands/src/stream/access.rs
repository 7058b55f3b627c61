//! Finds streams and groups, and the errors of commands on them.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::work::work_begins;
use respire_engine::{Error, LongWork};
use respire_store::{Edited, EntryRef, Stream, StreamParts, StreamRef, View};

/// The stream of a key that may be absent, or the error WRONGTYPE.
#[inline(always)]
pub(super) fn stream_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<StreamRef<'_>>, Error> {
    let stream = entry.map(EntryRef::typed::<Stream>);
    stream.transpose().map_err(wrong_type)
}

impl Ctx<'_> {
    /// Runs `f` on a stream, if the key exists, and counts the hit or miss.
    pub(super) fn read_stream<R>(
        &mut self,
        key: &[u8],
        f: impl FnOnce(Option<StreamRef<'_>>) -> R,
    ) -> Result<R, Error> {
        self.read(key, |entry| stream_if_any(entry).map(f))
    }

    /// Changes a stream without an event, if the key exists, and counts the hit or miss.
    pub(super) fn edit_stream<R>(
        &mut self,
        key: &[u8],
        f: impl FnOnce(&mut Stream) -> Edited<R>,
    ) -> Result<Option<R>, Error> {
        let edited = self.read_and_update(key, |slot| slot.edit_without_event(f));
        edited.map_err(wrong_type)
    }
}

/// Changes a stream without an event, if the key exists.
pub(super) fn edit_quietly<R>(
    view: &mut View<'_>,
    key: &[u8],
    f: impl FnOnce(&mut Stream) -> Edited<R>,
) -> Result<Option<R>, Error> {
    let edited = view.update(key, |slot| slot.edit_without_event(f));
    edited.map_err(wrong_type)
}

/// Lets others be served between two steps of long work on a key, each of so many entries. The caller holds no key.
pub(super) fn others_first(
    ctx: &Ctx<'_>,
    key: &[u8],
    (long, entries): (&mut Option<LongWork<'_>>, usize),
) {
    work_begins();
    if let Some(long) = long {
        (0..entries).for_each(|_| long.step());
        ctx.kv.store().give_way(ctx.view.db(), key);
    }
}

/// Frees parts of a stream in steps, between which others are served.
pub(super) fn free(ctx: &Ctx<'_>, mut parts: StreamParts) {
    if parts.is_empty() {
        return;
    }
    work_begins();
    let mut long = ctx.long_work();
    while !parts.is_empty() {
        parts.free_some();
        // A step takes some ten microseconds.
        long.iter_mut()
            .for_each(|long| (0..16).for_each(|_| long.step()));
    }
}

/// Joins the parts of an error that quotes names, each of which ends at its first NUL, as in Redis.
fn quoting(parts: &[&[u8]]) -> Error {
    let shown = parts
        .iter()
        .filter_map(|part| part.split(|byte| *byte == 0).next());
    Error::owned(shown.collect::<Vec<_>>().concat())
}

/// The key or its group does not exist, in `XPENDING`, `XCLAIM` and `XAUTOCLAIM`.
pub(super) fn no_group(key: &[u8], group: &[u8]) -> Error {
    quoting(&[
        b"NOGROUP No such key '",
        key,
        b"' or consumer group '",
        group,
        b"'",
    ])
}

/// The same in `XREADGROUP`.
pub(super) fn no_group_to_read(key: &[u8], group: &[u8]) -> Error {
    let option = b"' in XREADGROUP with GROUP option";
    quoting(&[
        b"NOGROUP No such key '",
        key,
        b"' or consumer group '",
        group,
        option,
    ])
}

/// The group does not exist, in `XGROUP` and `XINFO`.
pub(super) fn no_group_of_key(key: &[u8], group: &[u8]) -> Error {
    quoting(&[
        b"NOGROUP No such consumer group '",
        group,
        b"' for key name '",
        key,
        b"'",
    ])
}
