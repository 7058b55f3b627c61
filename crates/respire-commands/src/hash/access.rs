//! Reads hashes: under the key's lock, or as a snapshot without it.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::work::work_begins;
use respire_engine::Error;
use respire_store::{EntryRef, Hash, HashRef, Owned, ValueRef};

/// A hash of up to this many parts is read under its key's lock: at most a few hundred fields.
const LOCKED_PARTS_MAX: usize = 2;

/// The hash of a key that may be absent, or the error WRONGTYPE.
#[inline(always)]
pub(super) fn hash_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<HashRef<'_>>, Error> {
    let hash = entry.map(EntryRef::typed::<Hash>);
    hash.transpose().map_err(wrong_type)
}

/// The hash of a snapshot of one.
pub(super) fn hash_of(snapshot: &Owned) -> HashRef<'_> {
    match snapshot.value() {
        ValueRef::Hash(hash) => hash,
        other => unreachable!("invariant: it was a hash, not a {}", other.type_name()),
    }
}

impl Ctx<'_> {
    /// Runs `f` on a hash, if the key exists, or returns a snapshot of it if it is large; counts the
    /// hit or miss.
    pub(super) fn read_or_snapshot<R>(
        &mut self,
        key: &[u8],
        f: impl FnOnce(Option<HashRef<'_>>) -> R,
    ) -> Result<Result<R, Owned>, Error> {
        let found = self.read(key, |entry| {
            let hash = hash_if_any(entry)?;
            let is_long = hash.is_some_and(|hash| hash.parts() > LOCKED_PARTS_MAX);
            match entry.filter(|_| is_long) {
                Some(entry) => Ok(Err(entry.owned())),
                None => Ok(Ok(f(hash))),
            }
        })?;
        if found.is_err() {
            work_begins();
        }
        Ok(found)
    }
}
