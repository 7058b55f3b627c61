//! Writes the key-value service's metrics for monitoring.

use crate::kv::Kv;
use respire_engine::Metrics;

pub(crate) fn write(kv: &Kv, out: &mut Metrics) {
    let store = kv.store();
    let (memory, removed) = (store.memory(), kv.stats.removed(store));
    let used = memory.total() as u64;
    let (peak, most) = (kv.stats.note_memory(used), kv.tuning().memory_bytes_max);
    for (name, help, bytes) in [
        ("respire_memory_used_bytes", "Memory of the data.", used),
        ("respire_memory_peak_bytes", "The most it was.", peak),
        (
            "respire_memory_max_bytes",
            "maxmemory; 0 for no bound.",
            most,
        ),
    ] {
        out.gauge(name, help, &[], bytes as f64);
    }
    for db in (0..store.databases()).filter(|db| !store.is_empty(*db)) {
        let number = db.to_string();
        let label = [("db", &*number)];
        out.gauge("respire_keys", "Keys.", &label, store.len(db) as f64);
        let (name, help) = ("respire_expiring_keys", "Keys that expire.");
        out.gauge(name, help, &label, store.expires_len(db) as f64);
    }
    for (name, help, count) in [
        (
            "respire_expired_keys",
            "Keys removed because their time had come.",
            removed.expired_keys,
        ),
        (
            "respire_evicted_keys",
            "Keys removed to make room.",
            removed.evicted_keys,
        ),
        (
            "respire_keyspace_hits",
            "Keys that reads found.",
            kv.stats.hits(),
        ),
        (
            "respire_keyspace_misses",
            "Keys that reads did not find.",
            kv.stats.misses(),
        ),
    ] {
        out.counter(name, help, &[], count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use respire_engine::metrics::Value;
    use respire_store::{Config, Expiry, Store};

    #[test]
    fn metrics_of_the_store_are_written() {
        let kv = Kv::new(Store::new(Config::default()));
        for (db, key) in [(0, b"a"), (3, b"a"), (3, b"b")] {
            let mut view = kv.store().view(db, 1);
            view.update(key, |slot| slot.set(b"v", Expiry::At(1000)));
        }
        kv.tune(|tuning| tuning.memory_bytes_max = 1 << 20);
        let mut out = Metrics::default();
        write(&kv, &mut out);
        let family = |name: &str| {
            let found = out.families().iter().find(|family| family.name == name);
            found.expect("a family of this name").samples.clone()
        };
        let keys = family("respire_expiring_keys");
        assert_eq!(keys[1].labels, [("db", "3".to_owned())]);
        assert_eq!(
            (&keys[0].value, &keys[1].value),
            (&Value::Gauge(1.0), &Value::Gauge(2.0))
        );
        assert_eq!(
            family("respire_memory_max_bytes")[0].value,
            Value::Gauge(1_048_576.0)
        );
        assert_eq!(family("respire_evicted_keys")[0].value, Value::Counter(0.0));
        assert_ne!(
            family("respire_memory_used_bytes")[0].value,
            Value::Gauge(0.0)
        );
    }
}
