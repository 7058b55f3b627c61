//! Writes the key-value service's fields of `INFO`.

use crate::kv::Kv;
use respire_engine::{InfoWriter, Now};

/// Writes the fields of a section, whose name is in lower case.
pub(crate) fn write(kv: &Kv, section: &str, now: Now, out: &mut InfoWriter) {
    match section {
        "memory" => memory(kv, out),
        "persistence" => out.field("rdb_changes_since_last_save", kv.unsaved_changes()),
        "stats" => stats(kv, out),
        "keyspace" => keyspace(kv, now, out),
        _ => {}
    }
}

fn memory(kv: &Kv, out: &mut InfoWriter) {
    let memory = kv.store().memory();
    let used = memory.total() as u64;
    let peak = kv.stats.note_memory(used);
    let tuning = kv.tuning();
    out.bytes("used_memory", used);
    out.bytes("used_memory_peak", peak);
    out.field("used_memory_peak_perc", percentage(used, peak));
    out.field("used_memory_overhead", memory.overhead);
    out.field("used_memory_dataset", memory.dataset);
    out.field(
        "used_memory_dataset_perc",
        percentage(memory.dataset as u64, used),
    );
    out.bytes("maxmemory", tuning.memory_bytes_max);
    out.field("maxmemory_policy", tuning.policy.name());
    let bytes = |name| out.get(name).and_then(|bytes| bytes.parse().ok());
    if let Some(resident) = bytes("used_memory_rss") {
        let at_start: u64 = bytes("used_memory_rss_startup").unwrap_or_default();
        // The resident memory at startup includes the empty store.
        let without_data = at_start.saturating_sub(kv.stats.memory_at_start());
        fragmentation(used + without_data, resident, out);
    }
    out.field("lazyfree_pending_objects", memory.pending_keys);
    out.field(
        "lazyfreed_objects",
        kv.stats.removed(kv.store()).freed_later_keys,
    );
}

/// Compares the memory of the process with the memory of the keys plus that of the process without
/// keys. Without the latter, a server with few keys would show a ratio in the thousands and alarm
/// dashboards.
fn fragmentation(used: u64, resident: u64, out: &mut InfoWriter) {
    let ratio = resident as f64 / used.max(1) as f64;
    out.field("mem_fragmentation_ratio", format_args!("{ratio:.2}"));
    let bytes = i128::from(resident) - i128::from(used);
    out.field("mem_fragmentation_bytes", bytes);
}

fn stats(kv: &Kv, out: &mut InfoWriter) {
    let (counted, removed) = (&kv.stats, kv.stats.removed(kv.store()));
    out.field("expired_keys", removed.expired_keys);
    out.field("evicted_keys", removed.evicted_keys);
    out.field("keyspace_hits", counted.hits());
    out.field("keyspace_misses", counted.misses());
}

fn keyspace(kv: &Kv, now: Now, out: &mut InfoWriter) {
    let store = kv.store();
    for db in (0..store.databases()).filter(|db| !store.is_empty(*db)) {
        let (keys, expires) = (store.len(db), store.expires_len(db));
        let avg_ttl = store.avg_ttl_ms(db, now.unix_ms());
        out.field(
            &format!("db{db}"),
            format_args!("keys={keys},expires={expires},avg_ttl={avg_ttl}"),
        );
    }
}

fn percentage(part: u64, whole: u64) -> String {
    format!("{:.2}%", part as f64 * 100.0 / whole.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_store::{Config, Expiry, Freeing, Store};
    use std::time::Duration;

    fn lines(kv: &Kv, section: &str) -> String {
        let now = Now::new(Duration::ZERO, Duration::from_secs(1000));
        let mut out = InfoWriter::default();
        write(kv, section, now, &mut out);
        out.text().to_owned()
    }

    #[test]
    fn keyspace_lists_the_databases_that_have_keys() {
        let kv = Kv::new(Store::new(Config::default()));
        assert_eq!(lines(&kv, "keyspace"), "");
        kv.store()
            .view(3, 1)
            .update(b"k", |slot| slot.set(b"v", Expiry::Clear));
        assert_eq!(lines(&kv, "keyspace"), "db3:keys=1,expires=0,avg_ttl=0\r\n");
    }

    #[test]
    fn memory_section_has_the_limit_and_the_policy() {
        let kv = Kv::new(Store::new(Config::default()));
        kv.tune(|tuning| tuning.memory_bytes_max = 3 << 19);
        let text = lines(&kv, "memory");
        assert!(
            text.contains("maxmemory:1572864\r\nmaxmemory_human:1.50M\r\n"),
            "{text}"
        );
        assert!(text.contains("maxmemory_policy:noeviction\r\n"), "{text}");
    }

    #[test]
    fn fragmentation_is_shown_if_the_resident_memory_is_known() {
        let kv = Kv::new(Store::new(Config::default()));
        let now = Now::new(Duration::ZERO, Duration::from_secs(1000));
        assert!(!lines(&kv, "memory").contains("mem_fragmentation_ratio"));
        kv.store()
            .view(0, 1)
            .update(b"k", |slot| slot.set(b"v", Expiry::Clear));
        let used = kv.store().memory().total();
        let mut out = InfoWriter::default();
        out.field("used_memory_rss", used * 3 / 2);
        write(&kv, "memory", now, &mut out);
        assert_eq!(out.get("mem_fragmentation_ratio"), Some("1.50"));
        let more = (used / 2).to_string();
        assert_eq!(out.get("mem_fragmentation_bytes"), Some(more.as_str()));
    }

    #[test]
    fn memory_of_the_process_without_keys_does_not_count_as_fragmentation() {
        let kv = Kv::new(Store::new(Config::default()));
        let empty = kv.store().memory().total() as u64;
        let now = Now::new(Duration::ZERO, Duration::from_secs(1000));
        let ratio = |resident: u64| {
            let mut out = InfoWriter::default();
            out.field("used_memory_rss", resident);
            out.field("used_memory_rss_startup", 10_000_000 + empty);
            write(&kv, "memory", now, &mut out);
            out.get("mem_fragmentation_ratio").map(str::to_owned)
        };
        assert_eq!(ratio(10_000_000 + empty).as_deref(), Some("1.00"));
        kv.store()
            .view(0, 1)
            .update(b"k", |slot| slot.set(&[b'v'; 10_000_000], Expiry::Clear));
        let grown = kv.store().memory().total() as u64 - empty;
        assert_eq!(ratio(10_000_000 + empty + grown).as_deref(), Some("1.00"));
        assert_eq!(
            ratio(10_000_000 + empty + 3 * grown).as_deref(),
            Some("2.00")
        );
    }

    #[test]
    fn flushed_keys_are_pending_until_they_are_freed() {
        let kv = Kv::new(Store::new(Config::default()));
        kv.store()
            .view(0, 1)
            .update(b"k", |slot| slot.set(b"v", Expiry::Clear));
        kv.store().view(0, 1).flush(Freeing::InSteps);
        assert!(
            lines(&kv, "memory").ends_with("lazyfree_pending_objects:1\r\nlazyfreed_objects:0\r\n")
        );
        kv.store().sweep(1, 10);
        assert!(
            lines(&kv, "memory").ends_with("lazyfree_pending_objects:0\r\nlazyfreed_objects:1\r\n")
        );
    }
}
