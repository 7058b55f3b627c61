//! Defines the `CONFIG` settings of the sizes up to which values are kept small.

use super::{number, row, signed};
use crate::kv::HasKv;
use resp_codec::number::parse_i64;
use respire_engine::{Setting, parse_memory};
use respire_store::{Hash, Kind, Limits, Set, Stream, ZSet};
use std::sync::Arc;

/// The settings, with the old names of some.
pub(super) fn settings<A: HasKv>(app: &Arc<A>) -> Vec<Setting> {
    let rows = vec![
        elements_max::<Hash, A>(app, "hash-max-listpack-entries"),
        elements_max::<Hash, A>(app, "hash-max-ziplist-entries"),
        element_bytes_max::<Hash, A>(app, "hash-max-listpack-value"),
        element_bytes_max::<Hash, A>(app, "hash-max-ziplist-value"),
        hll_sparse(app),
        elements_max::<Set, A>(app, "set-max-intset-entries"),
        elements_max::<ZSet, A>(app, "zset-max-listpack-entries"),
        elements_max::<ZSet, A>(app, "zset-max-ziplist-entries"),
        element_bytes_max::<ZSet, A>(app, "zset-max-listpack-value"),
        element_bytes_max::<ZSet, A>(app, "zset-max-ziplist-value"),
        elements_max::<Stream, A>(app, "stream-node-max-entries"),
        element_bytes_max::<Stream, A>(app, "stream-node-max-bytes"),
    ];
    rows.into_iter().chain(lists(app)).collect()
}

/// The largest number of elements of a small value of type `K`.
fn elements_max<K: Kind, A: HasKv>(app: &Arc<A>, name: &'static str) -> Setting {
    let (reader, writer) = (Arc::clone(app), Arc::clone(app));
    Setting::mutable(
        name,
        move || reader.kv().store().limits::<K>().elements.to_string(),
        move |text| {
            let elements = limit(parse_i64(text.as_bytes()).ok_or(NOT_AN_INTEGER)?)?;
            let store = writer.kv().store();
            store.set_limits::<K>(Limits {
                elements,
                ..store.limits::<K>()
            });
            Ok(())
        },
    )
    .checked()
}

/// The largest number of bytes of an element of a small value of type `K`.
fn element_bytes_max<K: Kind, A: HasKv>(app: &Arc<A>, name: &'static str) -> Setting {
    let (reader, writer) = (Arc::clone(app), Arc::clone(app));
    Setting::mutable(
        name,
        move || reader.kv().store().limits::<K>().bytes.to_string(),
        move |text| {
            let bytes = parse_memory(text).ok_or("argument must be a memory value")?;
            let bytes = limit(i64::try_from(bytes).unwrap_or(i64::MAX))?;
            let store = writer.kv().store();
            store.set_limits::<K>(Limits {
                bytes,
                ..store.limits::<K>()
            });
            Ok(())
        },
    )
    .checked()
}

/// Converts a limit of small values. One above 32 bits has no other effect than the largest.
fn limit(number: i64) -> Result<u32, String> {
    match u64::try_from(number) {
        Ok(number) => Ok(u32::try_from(number).unwrap_or(u32::MAX)),
        Err(_) => Err("argument must be between 0 and 9223372036854775807 inclusive".to_owned()),
    }
}

pub(super) const NOT_AN_INTEGER: &str = "argument couldn't be parsed into an integer";

fn hll_sparse<A: HasKv>(app: &Arc<A>) -> Setting {
    let (reader, writer) = (Arc::clone(app), Arc::clone(app));
    Setting::mutable(
        "hll-sparse-max-bytes",
        move || reader.kv().hll_sparse_bytes_max().to_string(),
        move |text| {
            let bytes = parse_memory(text).ok_or("argument must be a memory value")?;
            let signed = i64::try_from(bytes).ok();
            let bytes = signed
                .and_then(|bytes| usize::try_from(bytes).ok())
                .ok_or_else(|| format!("argument must be between 0 and {} inclusive", i64::MAX))?;
            writer.kv().set_hll_sparse_bytes_max(bytes);
            Ok(())
        },
    )
    .checked()
}

fn lists<A: HasKv>(app: &Arc<A>) -> [Setting; 3] {
    [
        row(
            app,
            "list-compress-depth",
            |t| t.list_compress_depth,
            |kv, text| {
                let depth = number(text, 0..=i32::MAX)?;
                kv.tune(|tuning| tuning.list_compress_depth = depth);
                Ok(())
            },
        ),
        list_size(app, "list-max-listpack-size"),
        list_size(app, "list-max-ziplist-size"),
    ]
}

/// A row of the size of a list's chunks, by its name or its old one.
fn list_size<A: HasKv>(app: &Arc<A>, name: &'static str) -> Setting {
    row(
        app,
        name,
        |t| t.list_size,
        |kv, text| {
            let size = signed(text, i32::MIN..=i32::MAX)?;
            kv.tune(|tuning| tuning.list_size = size);
            Ok(())
        },
    )
}
