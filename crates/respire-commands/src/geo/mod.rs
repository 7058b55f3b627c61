//! Commands on places: members of sorted sets whose scores are numbers of cells of the earth.

mod add;
mod cell;
mod find;
mod forms;
mod order;
mod position;
mod read;
mod request;
mod search;
mod shape;
mod unit;

use crate::family::Family;
use crate::kv::KvRow;
use crate::notify::EventClass;
use respire_store::EventName;

pub(crate) static FAMILY: Family = Family {
    rows: ROWS,
    containers: &[],
    restores: &[],
    list_of: None,
};

const SEARCH_STORED: EventName = EventClass::SortedSet.event("geosearchstore");
const RADIUS_STORED: EventName = EventClass::SortedSet.event("georadiusstore");

/// Sorted by name.
static ROWS: &[KvRow] = &[
    KvRow::new(&add::GEOADD, add::geoadd),
    KvRow::new(&position::GEODIST, position::geodist),
    KvRow::new(&position::GEOHASH, position::geohash),
    KvRow::new(&position::GEOPOS, position::geopos),
    KvRow::new(&forms::GEORADIUS, forms::georadius).with_keys(forms::radius_keys),
    KvRow::new(&forms::GEORADIUS_RO, forms::georadius_ro),
    KvRow::new(&forms::GEORADIUSBYMEMBER, forms::georadiusbymember)
        .with_keys(forms::radius_by_member_keys),
    KvRow::new(&forms::GEORADIUSBYMEMBER_RO, forms::georadiusbymember_ro),
    KvRow::new(&search::GEOSEARCH, search::geosearch),
    KvRow::new(&search::GEOSEARCHSTORE, search::geosearchstore),
];
