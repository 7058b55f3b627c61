//! Commands on lists.

mod bmove;
mod element;
mod index;
mod insert;
mod len;
mod mpop;
mod mv;
mod pop;
mod pos;
mod push;
mod range;
mod rem;
mod set;
mod trim;
mod value_type;
mod wait;

use crate::errors::{SYNTAX, wrong_type};
use crate::family::Family;
use crate::kv::KvRow;
use crate::notify;
use crate::options::is_word;
use crate::value::index_range;
use respire_engine::Error;
use respire_store::{End, EntryRef, EventName, List, ListRef};
use std::ops::Range;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: Some(value_type::list_of),
};

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&bmove::BLMOVE, bmove::blmove).with_wait(bmove::wait_to_move),
    KvRow::new(&wait::BLMPOP, wait::blmpop).with_wait(wait::wait_to_mpop),
    KvRow::new(&wait::BLPOP, wait::blpop).with_wait(wait::wait_to_lpop),
    KvRow::new(&wait::BRPOP, wait::brpop).with_wait(wait::wait_to_rpop),
    KvRow::new(&bmove::BRPOPLPUSH, bmove::brpoplpush).with_wait(bmove::wait_to_rpoplpush),
    KvRow::new(&index::LINDEX, index::run),
    KvRow::new(&insert::LINSERT, insert::run),
    KvRow::new(&len::LLEN, len::run),
    KvRow::new(&mv::LMOVE, mv::lmove),
    KvRow::new(&mpop::LMPOP, mpop::run),
    KvRow::new(&pop::LPOP, pop::lpop),
    KvRow::new(&pos::LPOS, pos::run),
    KvRow::new(&push::LPUSH, push::lpush),
    KvRow::new(&push::LPUSHX, push::lpushx),
    KvRow::new(&range::LRANGE, range::run),
    KvRow::new(&rem::LREM, rem::run),
    KvRow::new(&set::LSET, set::run),
    KvRow::new(&trim::LTRIM, trim::run),
    KvRow::new(&pop::RPOP, pop::rpop),
    KvRow::new(&mv::RPOPLPUSH, mv::rpoplpush),
    KvRow::new(&push::RPUSH, push::rpush),
    KvRow::new(&push::RPUSHX, push::rpushx),
];

/// The list of a key that may be absent.
#[inline]
fn list_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<ListRef<'_>>, Error> {
    let list = entry.map(EntryRef::typed::<List>).transpose();
    list.map_err(wrong_type)
}

/// Parses `LEFT` or `RIGHT`.
fn end(word: &[u8]) -> Result<End, Error> {
    if is_word(word, "LEFT") {
        Ok(End::Left)
    } else if is_word(word, "RIGHT") {
        Ok(End::Right)
    } else {
        Err(SYNTAX)
    }
}

/// The event of a push at an end.
fn pushed(end: End) -> EventName {
    match end {
        End::Left => notify::LPUSH,
        End::Right => notify::RPUSH,
    }
}

/// The event of a pop from an end.
fn popped(end: End) -> EventName {
    match end {
        End::Left => notify::LPOP,
        End::Right => notify::RPOP,
    }
}

/// The index from the front that an argument means, which counts from the end if it is negative; `None` if there is no
/// such element.
fn index_of(index: i64, len: usize) -> Option<usize> {
    let at = if index < 0 {
        len.checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    (at < len).then_some(at)
}

/// The elements from index `start` to `stop`, which count from the end if they are negative; `None` if there are
/// none. Unlike a part of a string, a list has none if `stop` is before the first element.
fn range_of(start: i64, stop: i64, len: usize) -> Option<Range<usize>> {
    let is_before = stop < 0 && stop.unsigned_abs() > len as u64;
    index_range(start, stop, len).filter(|_| !is_before)
}
