//! Reads sets: small ones under their key's lock, large ones as snapshots without it.

use super::picked::Picked;
use crate::Ctx;
use crate::errors::wrong_type;
use crate::streamed::reply_parts;
use crate::value::reply_string;
use crate::work::work_begins;
use respire_engine::{Error, Reply};
use respire_store::{Elements, EntryRef, Kind, Owned, Set, SetRef, ValueRef};

/// Up to this number of members, a set is read under its key's lock. That takes some microseconds.
pub(super) const LOCKED_MEMBERS_MAX: usize = 1000;

/// The set of a key that may be absent, or the error WRONGTYPE.
#[inline]
pub(super) fn set_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<SetRef<'_>>, Error> {
    let set = entry.map(EntryRef::typed::<Set>);
    set.transpose().map_err(wrong_type)
}

/// A set as it was at one moment. It shares the members of a large one with the key.
pub(super) struct Snapshot(Owned);

impl Snapshot {
    /// The snapshot of a key, or the error WRONGTYPE. O(1) for a large set, O(bytes) for a small one.
    pub(super) fn if_any(entry: Option<EntryRef<'_>>) -> Result<Option<Self>, Error> {
        set_if_any(entry)?;
        Ok(entry.map(|entry| Self(entry.owned())))
    }

    /// The snapshot of a value, if it is a set.
    pub(super) fn of(owned: Owned) -> Option<Self> {
        matches!(owned.value(), ValueRef::Set(_)).then_some(Self(owned))
    }

    pub(super) fn set(&self) -> SetRef<'_> {
        match self.0.value() {
            ValueRef::Set(set) => set,
            _ => unreachable!("invariant: it was checked"),
        }
    }
}

/// Reads a set, and counts the hit or miss. `f` runs under the key's lock if the set has at most
/// `members_max` members, and otherwise later on a snapshot. `None` if there is no such key.
pub(super) fn read_set<R>(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    members_max: usize,
    f: impl FnOnce(SetRef<'_>) -> R,
) -> Result<Option<R>, Error> {
    let mut f = Some(f);
    let mut run = |set: SetRef<'_>| f.take().map(|f| f(set));
    let read = ctx.read(key, |entry| {
        Ok(match set_if_any(entry)? {
            Some(set) if set.len() > members_max => Err(Snapshot::if_any(entry)?),
            set => Ok(set.and_then(&mut run)),
        })
    })?;
    Ok(match read {
        Ok(done) => done,
        Err(snapshot) => {
            work_begins();
            snapshot.and_then(|snapshot| run(snapshot.set()))
        }
    })
}

/// The bytes of a member in a usual reply.
pub(super) const MEMBER_BYTES: usize = 24;

/// Replies with the members of a large set while the client reads them, from a snapshot. The memory
/// for the reply is bounded.
pub(super) fn stream_members(reply: &mut Reply<'_>, snapshot: Snapshot) {
    let set = snapshot.set();
    reply.set(set.len());
    Picked::all(set).reply(snapshot, reply);
}

/// Writes the members of a set of the command's own, without their number, while the client reads them.
pub(super) fn stream_set(reply: &mut Reply<'_>, set: Set) {
    let (len, parts) = (set.read().len(), set.read().parts());
    reply_parts(reply, (len, MEMBER_BYTES), parts, move |part, reply| {
        set.read()
            .for_part(part, |member| reply_string(reply, member));
    });
}

/// Replies with the members as a set.
pub(super) fn reply_members(reply: &mut Reply<'_>, set: SetRef<'_>) {
    reply.set(set.len());
    write_members(reply, set);
}

/// Writes the members, without their number.
pub(super) fn write_members(reply: &mut Reply<'_>, set: SetRef<'_>) {
    for part in 0..set.parts() {
        set.for_part(part, |member| reply_string(reply, member));
    }
}
