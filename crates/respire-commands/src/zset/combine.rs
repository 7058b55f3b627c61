//! Reads several sets at one moment, and stores what is computed from them in one atomic step.
//!
//! Large sets are computed on without a lock, from snapshots. The result is stored if no source has changed in the
//! meantime.

use super::set_in;
use crate::Ctx;
use crate::notify;
use crate::work::work_begins;
use respire_engine::{Error, LongWork};
use respire_store::packed::listpack::Element;
use respire_store::{
    Elements, EntryRef, EventName, Expiry, Kind, Owned, Scope, Scored, SetRef, StringRef, ValueRef,
    View, Watch, ZSet, ZSetRef,
};
use std::borrow::Cow;

/// Up to this many elements are computed on while all keys are locked.
const LOCKED_ELEMENTS_MAX: usize = 1_000;

/// The number of attempts to compute on more elements without the locks. An attempt fails if a source changes in the
/// meantime. After the last one the result is computed under the locks.
const UNLOCKED_TRIES_MAX: u32 = 3;

/// The value of a source; `None` if its key is absent.
pub(crate) struct Source(Option<Owned>);

/// The elements of a source. The members of a set have the score 1.
#[derive(Clone, Copy)]
pub(super) enum Members<'s> {
    None,
    Sorted(ZSetRef<'s>),
    Set(SetRef<'s>),
}

impl Source {
    pub(super) fn new(entry: Option<EntryRef<'_>>) -> Self {
        Self(entry.map(EntryRef::owned))
    }

    pub(super) fn members(&self) -> Result<Members<'_>, Error> {
        match self.0.as_ref().map(Owned::value) {
            None => Ok(Members::None),
            Some(ValueRef::Set(set)) => Ok(Members::Set(set)),
            Some(value) => set_in(value).map(Members::Sorted),
        }
    }

    /// The source if it must be a sorted set.
    pub(crate) fn sorted_set(&self) -> Result<Option<ZSetRef<'_>>, Error> {
        self.0
            .as_ref()
            .map(|owned| set_in(owned.value()))
            .transpose()
    }
}

impl<'s> Members<'s> {
    pub(super) fn len(self) -> usize {
        match self {
            Members::None => 0,
            Members::Sorted(set) => set.len(),
            Members::Set(set) => set.len(),
        }
    }

    /// Calls `f` with each member and its score.
    pub(super) fn for_each(self, f: &mut dyn FnMut(Scored<'s>)) {
        match self {
            Members::None => {}
            Members::Sorted(set) => set.for_each(f),
            Members::Set(set) => set.for_each(&mut |member| match member {
                StringRef::Int(number) => f((Element::Int(number), 1.0)),
                StringRef::Bytes(bytes) => f((Element::Bytes(bytes), 1.0)),
                StringRef::Shared(bytes) => f((Element::Bytes(bytes), 1.0)),
            }),
        }
    }

    pub(super) fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Members::None => None,
            Members::Sorted(set) => set.score(member),
            Members::Set(set) => set.contains(member).then_some(1.0),
        }
    }
}

/// Reads sources at one moment. As in Redis, the keys behind one of another type are not looked up.
pub(super) fn read_all(ctx: &mut Ctx<'_>, keys: &[&[u8]]) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::with_capacity(keys.len());
    ctx.view.peek_many(keys.iter().copied(), |_, entry| {
        sources.push(Source::new(entry))
    });
    for (key, source) in keys.iter().zip(&sources) {
        // This counts the hit or miss, and reports a miss.
        ctx.read(key, |_| ());
        source.members()?;
    }
    Ok(sources)
}

/// Elements in any order, with members that differ.
pub(crate) type Found<'s> = Vec<(Cow<'s, [u8]>, f64)>;

/// What a request stores, and where.
pub(crate) struct Store<'a> {
    pub(crate) destination: &'a [u8],
    pub(crate) sources: Vec<&'a [u8]>,
    pub(crate) event: EventName,
}

/// Computes elements from the sources. Calls its second argument, a step, for each element that it looks at.
pub(crate) type Compute<'f> =
    &'f mut dyn for<'s> FnMut(&'s [Source], &mut dyn FnMut()) -> Result<Found<'s>, Error>;

/// Sources and whether they have changed since.
type Watched = Vec<(Source, Watch)>;

/// Stores what `compute` returns in the destination. Returns the number of elements; without any the destination is
/// removed.
pub(crate) fn store(
    ctx: &mut Ctx<'_>,
    request: Store<'_>,
    compute: Compute<'_>,
) -> Result<usize, Error> {
    let db = ctx.view.db();
    let keys = request.sources.iter().chain([&request.destination]);
    let keys: Vec<(u32, &[u8])> = keys.map(|key| (db, *key)).collect();
    let scope = Scope::Keys(&keys);
    let first = ctx.locked(&scope, |view, stats| {
        let (mut total, mut sources) = (0, Vec::with_capacity(request.sources.len()));
        for key in &request.sources {
            let source = view.read(key, |entry| {
                stats.looked_up(entry.is_some());
                Source::new(entry)
            });
            // As in Redis, the keys behind one of another type are not looked up.
            total += source.members()?.len();
            sources.push(source);
        }
        if total <= LOCKED_ELEMENTS_MAX {
            let set = made(view, compute(&sources, &mut || ())?, &mut || ());
            return Ok(Ok(put(view, &request, set)));
        }
        Ok(Err(watch(view, &request.sources)))
    })?;
    let mut watched = match first {
        Ok(len) => return Ok(len),
        Err(watched) => watched,
    };
    for _ in 0..UNLOCKED_TRIES_MAX {
        work_begins();
        let (sources, watches): (Vec<Source>, Vec<Watch>) = watched.into_iter().unzip();
        let mut work = ctx.long_work();
        let mut step = || work.iter_mut().for_each(LongWork::step);
        let found = compute(&sources, &mut step)?;
        let set = made(&ctx.view, found, &mut step);
        drop(work);
        let stored = ctx.locked(&scope, |view, _| {
            if watches.iter().any(|watch| watch.is_dirty(view.now_ms())) {
                return Err(watch(view, &request.sources));
            }
            Ok(put(view, &request, set))
        });
        match stored {
            Ok(len) => return Ok(len),
            Err(again) => watched = again,
        }
    }
    drop(watched);
    ctx.locked(&scope, |view, _| {
        let sources: Vec<Source> = request
            .sources
            .iter()
            .map(|key| view.peek(key, Source::new))
            .collect();
        let set = made(view, compute(&sources, &mut || ())?, &mut || ());
        Ok(put(view, &request, set))
    })
}

/// Reads locked keys, and watches them.
fn watch(view: &mut View<'_>, keys: &[&[u8]]) -> Watched {
    let mut read = |key: &[u8]| (view.peek(key, Source::new), view.watch(key));
    keys.iter().map(|key| read(key)).collect()
}

fn made(view: &View<'_>, elements: Found<'_>, step: &mut dyn FnMut()) -> ZSet {
    ZSet::from_elements(elements, &view.store().growth::<ZSet>(), step)
}

/// Stores a set in a locked key, and returns its length.
fn put(view: &mut View<'_>, request: &Store<'_>, set: ZSet) -> usize {
    let len = set.read().len();
    view.update(request.destination, |slot| {
        if len > 0 {
            slot.set(set, Expiry::Clear);
            slot.event(request.event);
        } else if slot.remove() {
            slot.event(notify::DEL);
        }
    });
    len
}
