//! Defines the `CONFIG` settings of the store.

mod sizes;

use crate::kv::{HasKv, Kv};
use crate::notify::Mask;
use resp_codec::number::parse_i64;
use respire_engine::{Setting, parse_memory};
use respire_store::{Kind, Limits, List, Policy, Store};
use sizes::NOT_AN_INTEGER;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The settings of the store; the defaults are those of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tuning {
    /// The memory limit in bytes; 0 means none.
    pub(crate) memory_bytes_max: u64,
    pub(crate) policy: Policy,
    pub(crate) samples: u32,
    pub(crate) lfu_log_factor: u32,
    pub(crate) lfu_decay_minutes: u32,
    /// Whether a flush without `SYNC` or `ASYNC` frees memory in steps.
    pub(crate) flushes_in_steps: bool,
    /// The size of a list's chunks: a number of elements or, if negative, a step of bytes.
    pub(crate) list_size: i32,
    /// Has no effect, because lists are not compressed.
    pub(crate) list_compress_depth: u32,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            memory_bytes_max: 0,
            policy: Policy::NoEviction,
            samples: 5,
            lfu_log_factor: 10,
            lfu_decay_minutes: 1,
            flushes_in_steps: false,
            list_size: -2,
            list_compress_depth: 0,
        }
    }
}

impl Tuning {
    /// Whether memory is limited and eviction ranks keys by when or how often they were used.
    pub(crate) fn ranks_by_use(&self) -> bool {
        use Policy::{AllKeysLfu, AllKeysLru, VolatileLfu, VolatileLru};
        self.memory_bytes_max != 0
            && matches!(
                self.policy,
                AllKeysLru | AllKeysLfu | VolatileLru | VolatileLfu
            )
    }

    pub(crate) fn apply(&self, store: &Store) {
        let narrow = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        store.set_lfu(narrow(self.lfu_log_factor), narrow(self.lfu_decay_minutes));
        store.set_max_memory(self.memory_bytes_max, self.policy, self.samples);
        store.set_limits::<List>(chunk_limits(self.list_size));
    }
}

/// The limits of a list's chunk, from the number that Redis takes for them.
fn chunk_limits(size: i32) -> Limits {
    match u32::try_from(size) {
        // With a number of elements, the limit of bytes is the default.
        Ok(elements) => Limits {
            elements: elements.clamp(1, 0x7fff),
            ..List::LIMITS
        },
        // -1 is 4 KiB, and each step twice as much, up to 64 KiB for -5.
        Err(_) => Limits {
            bytes: (2 << 10) << size.unsigned_abs().min(5),
            ..List::LIMITS
        },
    }
}

/// The `CONFIG` settings of the [`Kv`] of an application: `maxmemory`, `maxmemory-policy`,
/// `maxmemory-samples`, `lfu-log-factor`, `lfu-decay-time`, `lazyfree-lazy-user-flush`,
/// `list-max-listpack-size`, `list-compress-depth`, `notify-keyspace-events`,
/// `hll-sparse-max-bytes`, `databases` and the limits of small values, such as
/// `hash-max-listpack-entries`.
pub(crate) fn settings<A: HasKv>(app: &Arc<A>) -> Vec<Setting> {
    let databases = app.kv().store().databases();
    let rows = vec![
        Setting::read_only("databases", move || databases.to_string()),
        row(
            app,
            "lazyfree-lazy-user-flush",
            |t| if t.flushes_in_steps { "yes" } else { "no" },
            |kv, text| {
                let flushes_in_steps = yes_no(text)?;
                kv.tune(|tuning| tuning.flushes_in_steps = flushes_in_steps);
                Ok(())
            },
        ),
        row(
            app,
            "lfu-decay-time",
            |t| t.lfu_decay_minutes,
            |kv, text| {
                let minutes = number(text, 0..=i32::MAX)?;
                kv.tune(|tuning| tuning.lfu_decay_minutes = minutes);
                Ok(())
            },
        ),
        row(
            app,
            "lfu-log-factor",
            |t| t.lfu_log_factor,
            |kv, text| {
                let factor = number(text, 0..=i32::MAX)?;
                kv.tune(|tuning| tuning.lfu_log_factor = factor);
                Ok(())
            },
        ),
        row(
            app,
            "maxmemory",
            |t| t.memory_bytes_max,
            |kv, text| {
                let bytes = parse_memory(text).ok_or("argument must be a memory value")?;
                kv.tune(|tuning| tuning.memory_bytes_max = bytes);
                Ok(())
            },
        ),
        row(
            app,
            "maxmemory-policy",
            |t| t.policy.name(),
            |kv, text| {
                let policy = Policy::from_name(text.as_bytes()).ok_or(POLICIES)?;
                kv.tune(|tuning| tuning.policy = policy);
                Ok(())
            },
        ),
        row(
            app,
            "maxmemory-samples",
            |t| t.samples,
            |kv, text| {
                let samples = number(text, 1..=i32::MAX)?;
                kv.tune(|tuning| tuning.samples = samples);
                Ok(())
            },
        ),
        notifications(app),
    ];
    rows.into_iter().chain(sizes::settings(app)).collect()
}

fn notifications<A: HasKv>(app: &Arc<A>) -> Setting {
    let (reader, writer) = (Arc::clone(app), Arc::clone(app));
    Setting::mutable(
        "notify-keyspace-events",
        move || reader.kv().notifications.chosen().letters(),
        move |text| {
            let kv = writer.kv();
            let mask = Mask::parse(text).ok_or(EVENT_CLASSES)?;
            kv.notifications.choose(mask, kv.store());
            Ok(())
        },
    )
    .checked()
}

const EVENT_CLASSES: &str = "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";

const POLICIES: &str = "argument(s) must be one of the following: volatile-lru, volatile-lfu, \
    volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction";

fn row<A: HasKv, V: Display + 'static>(
    app: &Arc<A>,
    name: &'static str,
    get: fn(&Tuning) -> V,
    set: fn(&Kv, &str) -> Result<(), String>,
) -> Setting {
    let (reader, writer) = (Arc::clone(app), Arc::clone(app));
    Setting::mutable(
        name,
        move || get(&reader.kv().tuning()).to_string(),
        move |text| set(writer.kv(), text),
    )
    .checked()
}

fn yes_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("argument must be 'yes' or 'no'".to_owned()),
    }
}

/// Parses a number within a range that has no negative numbers.
fn number(text: &str, range: RangeInclusive<i32>) -> Result<u32, String> {
    Ok(signed(text, range)?.unsigned_abs())
}

/// Parses a number within a range.
fn signed(text: &str, range: RangeInclusive<i32>) -> Result<i32, String> {
    let number = parse_i64(text.as_bytes()).ok_or(NOT_AN_INTEGER)?;
    let valid = i32::try_from(number).ok().filter(|it| range.contains(it));
    valid.ok_or_else(|| {
        let (min, max) = (range.start(), range.end());
        format!("argument must be between {min} and {max} inclusive")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_store::Config;

    fn set(name: &str, value: &str) -> Result<String, String> {
        let kv = Arc::new(Kv::new(Store::new(Config::default())));
        let rows = settings(&kv);
        let row = rows
            .iter()
            .find(|row| row.name() == name)
            .expect("a row of this name");
        row.set(value).map(|()| row.get())
    }

    #[test]
    fn setting_returns_its_new_value() {
        for (name, value, shown) in [
            ("maxmemory", "1kb", "1024"),
            ("hll-sparse-max-bytes", "3kb", "3072"),
            ("maxmemory-policy", "AllKeys-LRU", "allkeys-lru"),
            ("maxmemory-samples", "10", "10"),
            ("lfu-log-factor", "0", "0"),
            ("lazyfree-lazy-user-flush", "YES", "yes"),
            ("lfu-decay-time", "2147483647", "2147483647"),
            ("list-max-listpack-size", "-5", "-5"),
            ("list-max-ziplist-size", "128", "128"),
            ("list-compress-depth", "1", "1"),
            ("notify-keyspace-events", "mnKE$g", "g$nKEm"),
            ("hash-max-listpack-entries", "5", "5"),
            ("hash-max-ziplist-value", "1kb", "1024"),
            ("zset-max-listpack-entries", "5", "5"),
            ("zset-max-ziplist-value", "1kb", "1024"),
            ("stream-node-max-bytes", "8kb", "8192"),
            ("stream-node-max-entries", "0", "0"),
        ] {
            assert_eq!(set(name, value).as_deref(), Ok(shown), "{name}");
        }
    }

    #[test]
    fn size_of_chunks_is_a_number_of_elements_or_a_step_of_bytes() {
        for (size, elements, bytes) in [
            (i32::MIN, u32::MAX, 64 << 10),
            (-5, u32::MAX, 64 << 10),
            (-2, u32::MAX, 8 << 10),
            (-1, u32::MAX, 4 << 10),
            (0, 1, 8 << 10),
            (128, 128, 8 << 10),
            (i32::MAX, 32_767, 8 << 10),
        ] {
            assert_eq!(chunk_limits(size), Limits { elements, bytes }, "{size}");
        }
        assert_eq!(chunk_limits(Tuning::default().list_size), List::LIMITS);
    }

    #[test]
    fn invalid_setting_is_refused_with_the_error_of_redis() {
        for (name, value, reason) in [
            ("maxmemory", "lots", "argument must be a memory value"),
            ("maxmemory-policy", "fifo", POLICIES),
            (
                "maxmemory-samples",
                "0",
                "argument must be between 1 and 2147483647 inclusive",
            ),
            (
                "lfu-log-factor",
                "-1",
                "argument must be between 0 and 2147483647 inclusive",
            ),
            (
                "lfu-decay-time",
                "x",
                "argument couldn't be parsed into an integer",
            ),
            (
                "lazyfree-lazy-user-flush",
                "1",
                "argument must be 'yes' or 'no'",
            ),
            (
                "hll-sparse-max-bytes",
                "-1",
                "argument must be a memory value",
            ),
            (
                "hll-sparse-max-bytes",
                "9223372036854775808",
                "argument must be between 0 and 9223372036854775807 inclusive",
            ),
            ("notify-keyspace-events", "Kq", EVENT_CLASSES),
            ("databases", "3", "can't set immutable config"),
            (
                "hash-max-ziplist-entries",
                "-1",
                "argument must be between 0 and 9223372036854775807 inclusive",
            ),
        ] {
            assert_eq!(set(name, value), Err(reason.to_owned()), "{name}");
        }
    }
}
