//! Reads hashes: under the key's lock, or as a snapshot without it.

use crate::Ctx;
use crate::errors::wrong_type;
use crate::work::work_begins;
use respire_engine::Error;
use respire_store::{EntryRef, Hash, HashRef, Kind, ValueRef};

/// A hash of up to this many parts is read under its key's lock: at most a few hundred fields.
const LOCKED_PARTS_MAX: usize = 2;

/// The hash of a key that may be absent, or the error WRONGTYPE.
#[inline(always)]
pub(super) fn hash_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<HashRef<'_>>, Error> {
    let hash = entry.map(EntryRef::typed::<Hash>);
    hash.transpose().map_err(wrong_type)
}

impl Ctx<'_> {
    /// Runs `f` on a hash, if the key exists, and counts the hit or miss. `f` may read the whole
    /// hash: if that is large, `f` gets a snapshot and runs without the key's lock.
    pub(super) fn read_hash<R>(
        &mut self,
        key: &[u8],
        f: impl FnOnce(Option<HashRef<'_>>) -> R,
    ) -> Result<R, Error> {
        let mut f = Some(f);
        let mut run = |hash: Option<HashRef<'_>>| {
            let f = f.take().expect("invariant: it is called once");
            f(hash)
        };
        let found = self.read(key, |entry| {
            let hash = hash_if_any(entry)?;
            let is_long = hash.is_some_and(|hash| hash.parts() > LOCKED_PARTS_MAX);
            match entry.filter(|_| is_long) {
                Some(entry) => Ok(Err(entry.owned())),
                None => Ok(Ok(run(hash))),
            }
        })?;
        Ok(found.unwrap_or_else(|owned| {
            work_begins();
            match owned.value() {
                ValueRef::Hash(hash) => run(Some(hash)),
                other => unreachable!(
                    "invariant: it was a {}, not a {}",
                    Hash::NAME,
                    other.type_name()
                ),
            }
        }))
    }
}
