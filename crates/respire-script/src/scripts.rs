//! What all connections share of scripts: the cache, the settings, the counters.

use crate::cache::Cache;
use crate::library::Registry;
use crate::running::Running;
use crate::script::{Script, Sha};
use respire_engine::{Error, Extension, InfoWriter, Now, Setting, parse_memory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The scripts of a server, and how they run.
#[derive(Debug)]
pub(crate) struct Scripts {
    cache: RwLock<Cache>,
    /// Counts `SCRIPT FLUSH`. Threads drop what they have compiled when it changes.
    epoch: AtomicU64,
    evicted: AtomicU64,
    /// Milliseconds after which a script that has not written is ended; 0 is never.
    time_limit_ms: AtomicU64,
    /// Bytes that the Lua state of a thread may use; 0 is no limit.
    bytes_max: AtomicU64,
    /// Bytes that the Lua states of all threads used when each last ran a script.
    state_bytes: AtomicU64,
    pub(crate) running: Running,
    pub(crate) libraries: Registry,
}

/// The default of `script-time-limit`, in milliseconds.
const TIME_LIMIT_MS: u64 = 60_000;

/// The default of `script-memory-max`, in bytes.
const BYTES_MAX: u64 = 256 << 20;

impl Default for Scripts {
    fn default() -> Self {
        Self {
            cache: RwLock::default(),
            epoch: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            time_limit_ms: AtomicU64::new(TIME_LIMIT_MS),
            bytes_max: AtomicU64::new(BYTES_MAX),
            state_bytes: AtomicU64::new(0),
            running: Running::default(),
            libraries: Registry::default(),
        }
    }
}

impl Scripts {
    /// The script of this name, if the server knows it.
    pub(crate) fn get(&self, sha: Sha) -> Option<Arc<Script>> {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        cache.get(sha)
    }

    /// Adds a script to the cache. `check` compiles it first, if it is new.
    ///
    /// # Errors
    /// If its first line has unknown flags, or `check` fails.
    pub(crate) fn add(
        &self,
        body: &[u8],
        is_loaded: bool,
        now: Now,
        check: impl FnOnce(&Script) -> Result<(), Error>,
    ) -> Result<Arc<Script>, Error> {
        let sha = Sha::of(body);
        if let Some(script) = self.get(sha)
            && (!is_loaded || script.is_loaded())
        {
            return Ok(script);
        }
        let script = Script::new(sha, body).map_err(|text| Error::new("ERR", text))?;
        check(&script)?;
        script.use_at(now.monotonic_us());
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        let (script, has_evicted) = cache.add(script, is_loaded);
        if has_evicted {
            self.evicted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(script)
    }

    /// Forgets all scripts.
    pub(crate) fn flush(&self) {
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        let flushed = std::mem::take(&mut *cache);
        self.epoch.fetch_add(1, Ordering::Release);
        drop(cache);
        drop(flushed);
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    pub(crate) fn time_limit_ms(&self) -> u64 {
        self.time_limit_ms.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes_max(&self) -> usize {
        self.bytes_max.load(Ordering::Relaxed) as usize
    }

    /// Takes note that the state of a thread uses other memory than before.
    pub(crate) fn note_state_bytes(&self, before: usize, after: usize) {
        let change = (after as u64).wrapping_sub(before as u64);
        self.state_bytes.fetch_add(change, Ordering::Relaxed);
    }
}

impl Extension for Scripts {
    fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
        match section {
            "memory" => {
                let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
                let states = self.state_bytes.load(Ordering::Relaxed);
                out.field("used_memory_vm_eval", states);
                out.field("used_memory_lua", states);
                out.field("used_memory_scripts_eval", cache.bytes());
                out.field("number_of_cached_scripts", cache.len());
                let libraries = self.libraries.table();
                out.field("number_of_functions", libraries.function_count());
                out.field("number_of_libraries", libraries.libraries().len());
                // Functions run in the states of scripts.
                out.field("used_memory_vm_functions", 0);
                out.field("used_memory_vm_total", states);
                out.field("used_memory_functions", libraries.bytes());
                let total = cache.bytes() + libraries.bytes();
                out.field("used_memory_scripts", total);
            }
            "stats" => out.field("evicted_scripts", self.evicted.load(Ordering::Relaxed)),
            _ => {}
        }
    }

    fn settings(self: Arc<Self>) -> Vec<Setting> {
        let number = |text: &str| {
            text.parse()
                .map_err(|_| "argument couldn't be parsed into an integer".to_owned())
        };
        let (shown, set) = (Arc::clone(&self), Arc::clone(&self));
        let time_limit = Setting::mutable(
            "script-time-limit",
            move || shown.time_limit_ms().to_string(),
            move |text| {
                set.time_limit_ms.store(number(text)?, Ordering::Relaxed);
                Ok(())
            },
        );
        let (shown, set) = (Arc::clone(&self), self);
        let memory = Setting::mutable(
            "script-memory-max",
            move || shown.bytes_max.load(Ordering::Relaxed).to_string(),
            move |text| {
                let bytes = parse_memory(text).ok_or("argument must be a memory value")?;
                set.bytes_max.store(bytes, Ordering::Relaxed);
                Ok(())
            },
        );
        vec![time_limit.checked(), memory.checked()]
    }

    fn reset_stats(&self) {
        self.evicted.store(0, Ordering::Relaxed);
    }
}
