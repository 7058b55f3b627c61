//! What all connections share of scripts: the cache, the settings, the counters.

use crate::cache::Cache;
use crate::library::Registry;
use crate::limits::{BYTES_MAX, TIME_LIMIT_MS};
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
    /// Bytes that the Lua states of all threads used when each was last used.
    state_bytes: AtomicU64,
    /// Of them, those of the code of libraries.
    function_bytes: AtomicU64,
    pub(crate) running: Running,
    pub(crate) libraries: Registry,
}

/// The memory that a thread uses for scripts, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ThreadBytes {
    /// Its state of Lua.
    pub(crate) state: usize,
    /// Of them, the code of libraries.
    pub(crate) functions: usize,
}

impl Default for Scripts {
    fn default() -> Self {
        Self {
            cache: RwLock::default(),
            epoch: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            time_limit_ms: AtomicU64::new(TIME_LIMIT_MS),
            bytes_max: AtomicU64::new(BYTES_MAX),
            state_bytes: AtomicU64::new(0),
            function_bytes: AtomicU64::new(0),
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

    /// Takes note that a thread uses other memory than before.
    pub(crate) fn note_bytes(&self, before: ThreadBytes, after: ThreadBytes) {
        let note = |total: &AtomicU64, before: usize, after: usize| {
            let change = (after as u64).wrapping_sub(before as u64);
            total.fetch_add(change, Ordering::Relaxed);
        };
        note(&self.state_bytes, before.state, after.state);
        note(&self.function_bytes, before.functions, after.functions);
    }

    fn memory_info(&self, out: &mut InfoWriter) {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        let libraries = self.libraries.table();
        let states = self.state_bytes.load(Ordering::Relaxed);
        let of_functions = self.function_bytes.load(Ordering::Relaxed).min(states);
        out.bytes("used_memory_lua", states - of_functions);
        out.field("used_memory_vm_eval", states - of_functions);
        out.field("used_memory_scripts_eval", cache.bytes());
        out.field("number_of_cached_scripts", cache.len());
        out.field("number_of_functions", libraries.function_count());
        out.field("number_of_libraries", libraries.libraries().len());
        out.field("used_memory_vm_functions", of_functions);
        out.bytes("used_memory_vm_total", states);
        out.field("used_memory_functions", libraries.bytes());
        let total = cache.bytes() + libraries.bytes();
        out.bytes("used_memory_scripts", total as u64);
    }
}

impl Extension for Scripts {
    fn info(&self, section: &str, _: Now, out: &mut InfoWriter) {
        match section {
            "memory" => self.memory_info(out),
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

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client, load};
    use respire_engine::TestClient;

    /// A field of `INFO`.
    fn field(client: &mut TestClient<()>, name: &str) -> u64 {
        let info = client.call("INFO").text().to_owned();
        let value = info.lines().find_map(|line| {
            let (field, value) = line.split_once(':')?;
            (field == name).then(|| value.parse().unwrap())
        });
        value.unwrap_or_else(|| panic!("{name} in {info}"))
    }

    #[test]
    fn info_counts_scripts_and_functions() {
        let client = &mut client();
        for name in [
            "used_memory_vm_functions",
            "used_memory_scripts_eval",
            "used_memory_functions",
            "number_of_cached_scripts",
            "number_of_functions",
            "number_of_libraries",
            "evicted_scripts",
        ] {
            assert_eq!(field(client, name), 0, "{name}");
        }
        client.call(["SCRIPT", "LOAD", "return 1"]);
        client.call(["EVAL", "return 2", "0"]);
        assert_eq!(field(client, "number_of_cached_scripts"), 2);
        let of_scripts = field(client, "used_memory_scripts_eval");
        assert!(of_scripts >= 16, "{of_scripts}");
        let code = "local function help() return 1 end
            redis.register_function('f', function() return help() end)
            redis.register_function('g', function() return 2 end)";
        load(client, code);
        assert_eq!(field(client, "number_of_functions"), 2);
        assert_eq!(field(client, "number_of_libraries"), 1);
        let of_functions = field(client, "used_memory_functions");
        assert!(of_functions >= code.len() as u64, "{of_functions}");
        let all = field(client, "used_memory_scripts");
        assert_eq!(all, of_scripts + of_functions);
    }

    #[test]
    fn info_splits_the_memory_of_lua() {
        let client = &mut client();
        let sizes = |client: &mut TestClient<()>| {
            let eval = field(client, "used_memory_vm_eval");
            let functions = field(client, "used_memory_vm_functions");
            assert_eq!(field(client, "used_memory_lua"), eval);
            assert_eq!(field(client, "used_memory_vm_total"), eval + functions);
            (eval, functions)
        };
        client.call(["SCRIPT", "LOAD", "return 1"]);
        let (eval, none) = sizes(client);
        assert!(eval > 20_000 && none == 0, "{eval} {none}");
        let code = |lines: &str| {
            let body = lines.repeat(100);
            format!("redis.register_function('f', function() local x = 1 {body} return x end)")
        };
        load(client, &code("x = x + 2 "));
        let (_, short) = sizes(client);
        assert!((500..20_000).contains(&short), "{short}");
        load(client, &code("x = x + 2 x = x * 3 x = x - 1 "));
        let (_, long) = sizes(client);
        assert!(long > short, "{long} {short}");
        client.call("FUNCTION FLUSH");
        client.call("FCALL f 0");
        client.call(["EVAL", "return 1", "0"]);
        assert_eq!(sizes(client).1, 0, "the thread has forgotten the library");
    }

    #[test]
    fn evicted_scripts_are_counted_until_they_are_reset() {
        let client = &mut client();
        for number in 0..503 {
            client.call(["EVAL", &*format!("return {number}"), "0"]);
        }
        assert_eq!(field(client, "evicted_scripts"), 3);
        assert_eq!(field(client, "number_of_cached_scripts"), 500);
        client.call("CONFIG RESETSTAT");
        assert_eq!(field(client, "evicted_scripts"), 0);
    }
}
