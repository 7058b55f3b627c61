//! When the garbage of scripts is collected.

use mlua::Lua;
use mlua::state::{GcIncParams, GcMode};
use std::cell::Cell;
use std::ffi::c_int;

/// Garbage that short scripts may leave before it is collected. Collecting it takes about 0.3 ms.
const GARBAGE_BYTES: usize = 1 << 20;

/// The memory of a state in which a collection takes less time than its steps would. A state without
/// scripts uses about 100 KB.
const SMALL_BYTES: usize = 1 << 20;

/// Lua begins a collection when the memory is so many per cent of what the last one left.
const PAUSE_PERCENT: usize = 200;

/// Collects the garbage of a state.
///
/// Lua collects in steps, while scripts run, and each collection goes through all that is in use. Short
/// scripts leave little, so most of the time would be spent on the 100 KB that every state uses. Here the
/// garbage of short scripts is collected between two of them, at once, when there is enough of it. A script
/// that uses much memory has it collected in Lua's steps while it runs.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// The state uses more bytes than this when there is garbage to collect.
    collect_at: Cell<usize>,
    /// The running script has used much memory, and collects in steps.
    is_stepping: Cell<bool>,
}

impl Heap {
    /// Called from time to time while a script runs.
    pub(super) fn look(&self, lua: &Lua) {
        if !self.is_stepping.get() && lua.used_memory() > self.collect_at.get() {
            self.is_stepping.set(true);
            set_pause(lua, PAUSE_PERCENT);
            // This also begins a collection, as the latest pause may be long.
            lua.gc_restart();
        }
    }

    /// Called when a script has ended.
    pub(super) fn tidy_up(&self, lua: &Lua) {
        if self.is_stepping.get() || lua.used_memory() > self.collect_at.get() {
            self.collect(lua);
        }
    }

    /// Collects all garbage. No script runs.
    #[cold]
    pub(super) fn collect(&self, lua: &Lua) {
        self.is_stepping.set(false);
        collect(lua);
        let used = lua.used_memory();
        if used > SMALL_BYTES {
            // Going through this much at once would let others wait.
            self.collect_at.set(used.saturating_mul(4));
            set_pause(lua, PAUSE_PERCENT);
            return;
        }
        self.collect_at.set(used + GARBAGE_BYTES);
        set_pause(lua, 200 + 100 * GARBAGE_BYTES / used.max(1));
        // The pause counts from the end of a collection.
        collect(lua);
    }
}

fn collect(lua: &Lua) {
    // It fails if a finalizer does, and there are none.
    let _ = lua.gc_collect();
}

fn set_pause(lua: &Lua, percent: usize) {
    let percent = c_int::try_from(percent).unwrap_or(c_int::MAX);
    let params = GcIncParams::default().pause(percent);
    lua.gc_set_mode(GcMode::Incremental(params));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> (Lua, Heap) {
        let (lua, heap) = (Lua::new(), Heap::default());
        heap.collect(&lua);
        (lua, heap)
    }

    #[test]
    fn short_scripts_leave_garbage_until_there_is_enough() {
        let (lua, heap) = heap();
        let (mut used, mut collections) = (lua.used_memory(), 0);
        let before = used;
        for _ in 0..4_000 {
            lua.load("local t = {{}, {}, {}}").exec().unwrap();
            heap.tidy_up(&lua);
            collections += usize::from(lua.used_memory() < used);
            used = lua.used_memory();
            assert!(used < before + 2 * GARBAGE_BYTES, "{used}");
        }
        assert!((1..20).contains(&collections), "{collections}");
    }

    #[test]
    fn script_that_uses_much_memory_collects_while_it_runs() {
        let (lua, heap) = heap();
        lua.set_memory_limit(64 << 20).unwrap();
        for _ in 0..1_000 {
            lua.load("s = string.rep('x', 1000000)").exec().unwrap();
            heap.look(&lua);
        }
        assert!(heap.is_stepping.get());
        lua.load("s = nil").exec().unwrap();
        heap.tidy_up(&lua);
        assert!(!heap.is_stepping.get());
        assert!(lua.used_memory() < SMALL_BYTES, "{}", lua.used_memory());
    }

    #[test]
    fn state_with_many_scripts_is_not_collected_after_each() {
        let (lua, heap) = heap();
        lua.load("t = {} for i = 1, 20000 do t[i] = {} end")
            .exec()
            .unwrap();
        heap.tidy_up(&lua);
        assert!(lua.used_memory() > SMALL_BYTES);
        assert!(heap.collect_at.get() > 2 * lua.used_memory());
    }
}
