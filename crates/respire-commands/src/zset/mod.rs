//! Commands on sorted sets.

pub(crate) mod add;
mod bounds;
pub(crate) mod combine;
mod count;
mod intercard;
mod mpop;
mod operation;
mod pop;
mod random;
mod range;
mod range_forms;
mod rangestore;
mod rank;
mod rem;
mod remrange;
pub(crate) mod reply;
mod scan;
mod score;
mod store;
mod union;
mod value_type;
mod wait;

use crate::errors::WRONG_TYPE;
use crate::family::Family;
use crate::kv::KvRow;
use crate::notify::EventClass;
use respire_engine::Error;
use respire_store::{EntryRef, EventName, ValueRef, ZSetRef};

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: value_type::RESTORES,
    list_of: None,
};

const fn event(name: &'static str) -> EventName {
    EventClass::SortedSet.event(name)
}

const ADDED: EventName = event("zadd");
const DIFFERENCE_STORED: EventName = event("zdiffstore");
const INCREMENTED: EventName = event("zincr");
const INTERSECTION_STORED: EventName = event("zinterstore");
const LEX_RANGE_REMOVED: EventName = event("zremrangebylex");
const MAX_POPPED: EventName = event("zpopmax");
const MIN_POPPED: EventName = event("zpopmin");
const RANGE_STORED: EventName = event("zrangestore");
const RANK_RANGE_REMOVED: EventName = event("zremrangebyrank");
const REMOVED: EventName = event("zrem");
const SCORE_RANGE_REMOVED: EventName = event("zremrangebyscore");
const UNION_STORED: EventName = event("zunionstore");

/// Returns the set of a key; `None` if the key is absent.
pub(crate) fn set_of(entry: Option<EntryRef<'_>>) -> Result<Option<ZSetRef<'_>>, Error> {
    entry.map(|entry| set_in(entry.value())).transpose()
}

pub(crate) fn set_in(value: ValueRef<'_>) -> Result<ZSetRef<'_>, Error> {
    match value {
        ValueRef::ZSet(set) => Ok(set),
        _ => Err(WRONG_TYPE),
    }
}

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&wait::BZMPOP, wait::bzmpop).with_wait(wait::wait_to_mpop),
    KvRow::new(&wait::BZPOPMAX, wait::bzpopmax).with_wait(wait::wait_to_pop_max),
    KvRow::new(&wait::BZPOPMIN, wait::bzpopmin).with_wait(wait::wait_to_pop_min),
    KvRow::new(&add::ZADD, add::zadd),
    KvRow::new(&score::ZCARD, score::zcard),
    KvRow::new(&count::ZCOUNT, count::zcount),
    KvRow::new(&union::ZDIFF, union::zdiff),
    KvRow::new(&store::ZDIFFSTORE, store::zdiffstore),
    KvRow::new(&add::ZINCRBY, add::zincrby),
    KvRow::new(&union::ZINTER, union::zinter),
    KvRow::new(&intercard::ZINTERCARD, intercard::zintercard),
    KvRow::new(&store::ZINTERSTORE, store::zinterstore),
    KvRow::new(&count::ZLEXCOUNT, count::zlexcount),
    KvRow::new(&mpop::ZMPOP, mpop::zmpop),
    KvRow::new(&score::ZMSCORE, score::zmscore),
    KvRow::new(&pop::ZPOPMAX, pop::zpopmax),
    KvRow::new(&pop::ZPOPMIN, pop::zpopmin),
    KvRow::new(&random::ZRANDMEMBER, random::zrandmember),
    KvRow::new(&range::ZRANGE, range::zrange),
    KvRow::new(&range_forms::ZRANGEBYLEX, range_forms::zrangebylex),
    KvRow::new(&range_forms::ZRANGEBYSCORE, range_forms::zrangebyscore),
    KvRow::new(&rangestore::ZRANGESTORE, rangestore::zrangestore),
    KvRow::new(&rank::ZRANK, rank::zrank),
    KvRow::new(&rem::ZREM, rem::zrem),
    KvRow::new(&remrange::ZREMRANGEBYLEX, remrange::zremrangebylex),
    KvRow::new(&remrange::ZREMRANGEBYRANK, remrange::zremrangebyrank),
    KvRow::new(&remrange::ZREMRANGEBYSCORE, remrange::zremrangebyscore),
    KvRow::new(&range_forms::ZREVRANGE, range_forms::zrevrange),
    KvRow::new(&range_forms::ZREVRANGEBYLEX, range_forms::zrevrangebylex),
    KvRow::new(
        &range_forms::ZREVRANGEBYSCORE,
        range_forms::zrevrangebyscore,
    ),
    KvRow::new(&rank::ZREVRANK, rank::zrevrank),
    KvRow::new(&scan::ZSCAN, scan::zscan),
    KvRow::new(&score::ZSCORE, score::zscore),
    KvRow::new(&union::ZUNION, union::zunion),
    KvRow::new(&store::ZUNIONSTORE, store::zunionstore),
];
