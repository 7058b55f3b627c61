//! What `XREADGROUP` reads of one stream, in steps: no step takes long, and between them others can use the key.

use super::batches::Batches;
use super::consumer::{Consumer, Stale};
use super::entries::{reply_elements, reply_entries, reply_entry_with, reply_one};
use super::ids::reply_id;
use super::xread_request::{GroupRead, Request};
use respire_engine::{Error, Reply};
use respire_store::{StreamGroup, StreamId, StreamRange, StreamRef, StreamSlice, View};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// Entries that a step reads.
pub(super) const STEP_ENTRIES_MAX: usize = 512;

/// About the bytes of an entry in a reply.
pub(super) const ENTRY_BYTES: usize = 100;

/// Up to so many pending entries are searched for stale ones under the lock of their key.
const LOCKED_PENDING_MAX: usize = 4_096;

/// What a consumer reads of a stream, and what it got so far.
pub(super) struct Reading<'a> {
    to: Consumer<'a>,
    /// How many entries it may still get.
    left: usize,
    no_ack: bool,
    /// Stale entries that the stream no longer has.
    deleted: Vec<StreamId>,
    next: Next,
    given: Given,
}

/// What the next step does.
enum Next {
    /// Looks for stale entries.
    Search(Search),
    /// Looks for them in a snapshot of the group.
    SearchShared(Search, Arc<StreamGroup>),
    /// Claims entries that were delivered at these times. If there are none left, the search goes on.
    Claim(VecDeque<(u64, StreamId)>, Option<Search>),
    /// Reads new entries up to this ID; `None` is the last one.
    New(Option<StreamId>),
    /// Reads entries behind this ID again.
    History(StreamId),
    Nothing,
}

/// A search for entries that are pending for some time.
#[derive(Clone, Copy)]
struct Search {
    idle_ms: u64,
    /// How many are looked for, with those that were found before.
    wanted: usize,
}

impl Search {
    fn in_group(self, group: &StreamGroup, now_ms: u64) -> Vec<(u64, StreamId)> {
        let until_ms = now_ms.checked_sub(self.idle_ms);
        until_ms.map_or_else(Vec::new, |until_ms| {
            group.delivered_first(until_ms, self.wanted)
        })
    }
}

/// The entries that a consumer gets of a stream.
enum Given {
    New(StreamSlice),
    /// Entries with their IDs; those that were deleted have no entry.
    History(Batches<(StreamId, StreamSlice)>),
    /// The reply to a request with `CLAIM`.
    WithClaimed(Claimed),
}

/// Entries that were claimed, and new ones.
#[derive(Default)]
pub(super) struct Claimed {
    pub(super) stale: Batches<Stale>,
    pub(super) new: StreamSlice,
    pub(super) now_ms: u64,
}

impl<'a> Reading<'a> {
    pub(super) fn new(to: Consumer<'a>, read: GroupRead, request: &Request<'_>) -> Self {
        let (next, given) = match (read, request.claim_idle_ms) {
            (GroupRead::History(after), _) => {
                (Next::History(after), Given::History(Batches::default()))
            }
            (GroupRead::New, None) => (Next::New(None), Given::New(StreamSlice::default())),
            (GroupRead::New, Some(idle_ms)) => (
                Next::Search(Search {
                    idle_ms,
                    wanted: request.count_max(),
                }),
                Given::WithClaimed(Claimed::default()),
            ),
        };
        Self {
            to,
            left: request.count_max(),
            no_ack: request.no_ack,
            deleted: Vec::new(),
            next,
            given,
        }
    }

    pub(super) fn key(&self) -> &'a [u8] {
        self.to.key
    }

    pub(super) fn is_over(&self) -> bool {
        self.left == 0 || matches!(self.next, Next::Nothing)
    }

    /// Whether nothing was read. A request for entries that were delivered before has a reply even then.
    pub(super) fn is_empty(&self) -> bool {
        match &self.given {
            Given::New(slice) => slice.is_empty(),
            Given::History(_) => false,
            Given::WithClaimed(claimed) => claimed.is_empty(),
        }
    }

    /// Reads up to `count` entries. If the key or the group is gone since the first step, nothing follows.
    pub(super) fn step(&mut self, view: &mut View<'_>, count: usize) -> Result<(), Error> {
        let count = count.min(self.left);
        self.next = match std::mem::replace(&mut self.next, Next::Nothing) {
            Next::Search(search) => self.search(view, search, count)?,
            Next::SearchShared(search, group) => {
                let found = search.in_group(&group, view.now_ms());
                drop(group);
                self.found(view, search, found, count)?
            }
            Next::Claim(stale, search) => self.claim(view, (stale, search), count)?,
            Next::New(until) => self.read_new(view, until, count)?,
            Next::History(after) => self.read_history(view, after, count)?,
            Next::Nothing => Next::Nothing,
        };
        Ok(())
    }

    fn search(&mut self, view: &mut View<'_>, search: Search, count: usize) -> Result<Next, Error> {
        let now_ms = view.now_ms();
        let is_free = count <= STEP_ENTRIES_MAX && self.left > 0;
        let shared = self.to.look(view, |stream, group| {
            match is_free && group.pending_len() > LOCKED_PENDING_MAX {
                true => Err(stream.share_group(self.to.group)),
                false => Ok(search.in_group(group, now_ms)),
            }
        });
        match shared {
            Some(Ok(found)) => self.found(view, search, found, count),
            Some(Err(Some(group))) => Ok(Next::SearchShared(search, group)),
            Some(Err(None)) | None => Ok(Next::Nothing),
        }
    }

    fn found(
        &mut self,
        view: &mut View<'_>,
        search: Search,
        mut found: Vec<(u64, StreamId)>,
        count: usize,
    ) -> Result<Next, Error> {
        let is_all = found.len() < search.wanted;
        if let Given::WithClaimed(given) = &self.given {
            let before = given.stale.iter().map(|it| it.id);
            let before: HashSet<StreamId> = before.chain(self.deleted.iter().copied()).collect();
            if !before.is_empty() {
                found.retain(|(_, id)| !before.contains(id));
            }
        }
        let more = (!is_all).then_some(Search {
            wanted: search.wanted.saturating_mul(2),
            ..search
        });
        self.claim(view, (found.into(), more), count)
    }

    fn claim(
        &mut self,
        view: &mut View<'_>,
        (mut stale, more): (VecDeque<(u64, StreamId)>, Option<Search>),
        count: usize,
    ) -> Result<Next, Error> {
        let some: Vec<(u64, StreamId)> = stale.drain(..count.min(stale.len())).collect();
        let mut left = count;
        if !some.is_empty() {
            let claimed = self.to.claim(view, &some, &mut self.deleted)?;
            left -= claimed.len();
            self.left -= claimed.len();
            if let Given::WithClaimed(given) = &mut self.given {
                given.now_ms = view.now_ms();
                given.stale.push(claimed);
            }
        }
        match more {
            _ if !stale.is_empty() => Ok(Next::Claim(stale, more)),
            // Some of those that were found are deleted.
            Some(search) if self.left > 0 => self.search(view, search, left),
            _ => self.read_new(view, None, left),
        }
    }

    fn read_new(
        &mut self,
        view: &mut View<'_>,
        until: Option<StreamId>,
        count: usize,
    ) -> Result<Next, Error> {
        let found = self.to.look(view, |stream, group| {
            let until = until.unwrap_or(stream.marks().last_id);
            (new_entries(stream, group, until, count), until)
        });
        let Some((slice, until)) = found.filter(|(slice, _)| !slice.is_empty()) else {
            return Ok(match count {
                0 => Next::New(until),
                _ => Next::Nothing,
            });
        };
        self.to.deliver(view, &slice, self.no_ack)?;
        self.left -= slice.len();
        let next = match slice.len() < count {
            true => Next::Nothing,
            false => Next::New(Some(until)),
        };
        match &mut self.given {
            Given::New(new) | Given::WithClaimed(Claimed { new, .. }) => new.append(slice),
            Given::History(_) => unreachable!("invariant: it reads new entries"),
        }
        Ok(next)
    }

    fn read_history(
        &mut self,
        view: &mut View<'_>,
        after: StreamId,
        count: usize,
    ) -> Result<Next, Error> {
        let read = self.to.read_history(view, after, count)?;
        self.left -= read.len();
        let next = match read.last() {
            Some((last, _)) if read.len() == count => Next::History(*last),
            _ => Next::Nothing,
        };
        if let Given::History(history) = &mut self.given {
            history.push(read);
        }
        Ok(next)
    }

    pub(super) fn reply(self, reply: &mut Reply<'_>) {
        match self.given {
            Given::New(slice) => reply_entries(reply, slice),
            Given::History(history) => reply_history(reply, history),
            Given::WithClaimed(claimed) => claimed.reply(reply),
        }
    }
}

/// Up to `count` entries that are new to a group, up to an ID.
pub(super) fn new_entries(
    stream: StreamRef<'_>,
    group: &StreamGroup,
    until: StreamId,
    count: usize,
) -> StreamSlice {
    let Some(from) = group.last_id.next() else {
        return StreamSlice::default();
    };
    stream.slice(&StreamRange {
        from,
        to: until,
        count,
        ..StreamRange::default()
    })
}

fn reply_history(reply: &mut Reply<'_>, history: Batches<(StreamId, StreamSlice)>) {
    reply.array(history.len());
    history.reply(reply, ENTRY_BYTES, |reply, (id, slice)| {
        if slice.is_empty() {
            reply.array(2);
            reply_id(reply, id);
            reply.null_array();
        } else {
            reply_one(reply, &slice);
        }
    });
}

impl Claimed {
    pub(super) fn is_empty(&self) -> bool {
        self.stale.len() == 0 && self.new.is_empty()
    }

    /// Replies with the entries: each with the milliseconds since its last delivery, and the number of deliveries.
    pub(super) fn reply(self, reply: &mut Reply<'_>) {
        reply.array(self.stale.len() + self.new.len());
        let Self { stale, new, now_ms } = self;
        stale.reply(reply, ENTRY_BYTES, move |reply, it| {
            let idle_ms = now_ms.saturating_sub(it.delivered_ms);
            it.entry.for_each(&mut |entry| {
                reply_entry_with(reply, &entry, 2);
                reply.int(idle_ms.cast_signed());
                reply.int(it.count.cast_signed());
            });
        });
        reply_elements(reply, new, |reply, entry| {
            reply_entry_with(reply, entry, 2);
            reply.int(0);
            reply.int(0);
        });
    }
}
