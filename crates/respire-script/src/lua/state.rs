//! A state of Lua, in which one thread runs scripts.

use super::binding;
use super::callable::{Callable, Callables};
use super::caller::{CALLER, Caller, Stop};
use super::compiler::Compiler;
use super::failure::{self, Failure};
use super::heap::Heap;
use super::lib::{self, raise};
use super::library::{LibraryGlobals, Registered};
use super::raw::{Returned, Visit};
use super::{api, raw};
use crate::limits::STRING_BYTES_MAX;
use mlua::VmState;
use mlua::{Function, HookTriggers, Lua, LuaOptions, Result, StdLib, Table, Value};
use respire_engine::ArgList;
use std::cell::Cell;
use std::rc::Rc;

/// Instructions between two calls of [`Caller::pause`].
const PAUSE_INSTRUCTIONS: u32 = 10_000;

/// The reason why the running script was told to end.
#[derive(Default)]
pub(super) struct Stopped(Cell<Option<Stop>>);

impl Stopped {
    /// The error that ends the script; it cannot catch it.
    #[cold]
    pub(super) fn stop(&self, stop: Stop) -> mlua::Error {
        self.0.set(Some(stop));
        raise::fatal(stop.text())
    }
}

/// A state of Lua with the globals of scripts.
pub(crate) struct State {
    lua: Lua,
    callables: Rc<Callables>,
    entry: raw::Entry,
    /// Empties the tables that scripts see instead of others.
    clean: Function,
    compiler: Compiler,
    /// The table behind what scripts see as their globals.
    globals: Table,
    library_globals: LibraryGlobals,
    stopped: Rc<Stopped>,
    bytes_max: Cell<usize>,
    heap: Rc<Heap>,
}

impl State {
    /// A new state. It takes about 100 KB.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new() -> Result<Self> {
        let libraries = StdLib::STRING | StdLib::TABLE | StdLib::MATH;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(false))?;
        let stopped = Rc::new(Stopped::default());
        let globals = lua.create_table()?;
        let natives = lua.globals();
        for name in KEPT {
            globals.raw_set(*name, natives.raw_get::<Value>(*name)?)?;
        }
        let limits = lib::Limits {
            string_bytes_max: STRING_BYTES_MAX,
            spend: pause(&stopped),
        };
        lib::install(&lua, &globals, &limits)?;
        let redis = api::table(&lua, &stopped)?;
        let calls: (Function, Function) = (redis.raw_get("call")?, redis.raw_get("pcall")?);
        globals.raw_set("redis", redis)?;
        let refusal = "Attempt to modify a readonly table";
        let (front, clean, front_of, load) = lua
            .load(include_str!("sandbox.lua"))
            .set_name("=sandbox")
            .call::<(Table, Function, Function, Function)>((&globals, refusal))?;
        let compiler = Compiler { load, front };
        compiler.add_loaders(&lua, &globals)?;
        let callables = Callables::new(&lua)?;
        let handler = failure::handler(&lua)?;
        let entry = raw::Entry::new(&lua, &handler, (&globals, &callables.table), calls)?;
        let library_globals = LibraryGlobals::new(&lua, &globals, &front_of, &compiler)?;
        let spend = pause(&stopped);
        let triggers = HookTriggers::new().every_nth_instruction(PAUSE_INSTRUCTIONS);
        let heap = Rc::new(Heap::default());
        let grown = Rc::clone(&heap);
        lua.set_global_hook(triggers, move |lua, _| {
            grown.look(lua);
            spend().map(|()| VmState::Continue)
        })?;
        heap.collect(&lua);
        Ok(Self {
            lua,
            callables,
            entry,
            clean,
            compiler,
            globals,
            library_globals,
            stopped,
            bytes_max: Cell::new(0),
            heap,
        })
    }

    /// Compiles a script.
    ///
    /// # Errors
    /// The compiler's message.
    pub(crate) fn compile(&self, body: &[u8]) -> std::result::Result<Function, Vec<u8>> {
        self.compiler.compile(&self.lua, body, b"@user_script")
    }

    /// Compiles a script for being run.
    ///
    /// # Errors
    /// The compiler's message.
    pub(crate) fn script(&self, body: &[u8]) -> std::result::Result<Callable, Vec<u8>> {
        // A script that has as many local names as Lua allows has no room for more.
        let bound = binding::bound(body).and_then(|bound| self.compile(&bound).ok());
        let (function, is_bound) = match bound {
            Some(function) => (function, true),
            None => (self.compile(body)?, false),
        };
        let callable = self.callables.add(&function, is_bound);
        callable.map_err(|_| b"not enough memory".to_vec())
    }

    /// Makes a function callable.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn callable(&self, function: &Function) -> Result<Callable> {
        self.callables.add(function, false)
    }

    /// Loads a library: compiles its code, which begins behind its first line, and runs it.
    ///
    /// # Errors
    /// The text for the client, without its first code.
    pub(crate) fn load_library(
        &self,
        code: &[u8],
        caller: &mut dyn Caller,
    ) -> std::result::Result<Vec<Registered>, Vec<u8>> {
        self.library_globals.load(&self.lua, code, |compiled| {
            let function = self.callable(compiled);
            let function = function.map_err(|_| Failure::out_of_memory())?;
            let visit = Visit {
                function: &function,
                inputs: raw::Inputs::None,
                keys: &[],
                args: ArgList::new(b"", b"", &[]),
                reply: None,
            };
            self.run(visit, caller).map(drop)
        })
    }

    /// Runs a compiled script, or a function of a library. Its reply is written.
    ///
    /// # Errors
    /// Why it failed. Then nothing is written.
    pub(crate) fn run(
        &self,
        visit: Visit<'_, '_>,
        caller: &mut dyn Caller,
    ) -> std::result::Result<Returned, Failure> {
        self.stopped.0.set(None);
        if let Some(returned) = CALLER.set(caller, || self.entry.run(visit)) {
            return returned.map_err(Failure::unwritten);
        }
        Err(match self.entry.problem() {
            Ok(problem) => Failure::new(&self.lua, problem, self.stopped.0.take()),
            Err(_) => Failure::out_of_memory(),
        })
    }

    /// Collects garbage if there is much of it. Called after a script, with nothing of it in use.
    /// `is_pure`: the script cannot have written into the tables that it sees instead of others.
    pub(crate) fn tidy_up(&self, is_pure: bool) {
        if !is_pure {
            // It fails only for want of memory, and then the next one does it.
            let _ = self.clean.call::<()>(());
        }
        self.heap.tidy_up(&self.lua);
    }

    /// A function that returns the value that `make` makes.
    ///
    /// # Errors
    /// Those of `make`, or out of memory.
    pub(crate) fn returning(&self, make: impl FnOnce(&Lua) -> Result<Value>) -> Result<Callable> {
        let value = make(&self.lua)?;
        let function = self.lua.create_function(move |_, ()| Ok(value.clone()))?;
        self.callable(&function)
    }

    /// Collects all garbage. Called with nothing of a script in use. O(the memory of the state).
    pub(crate) fn collect_garbage(&self) {
        self.heap.collect(&self.lua);
    }

    /// Limits the memory of the state, in bytes; 0 is no limit.
    pub(crate) fn limit_memory(&self, bytes_max: usize) {
        if self.bytes_max.replace(bytes_max) != bytes_max {
            // It fails only in states that others allocate.
            let _ = self.lua.set_memory_limit(bytes_max);
        }
    }

    /// Whether scripts have a global of this name, or libraries. `KEYS` and `ARGV` exist from a script's
    /// first run on.
    pub(crate) fn has_global(&self, name: &[u8], of_libraries: bool) -> bool {
        let found = self.find_global(name, of_libraries);
        found.iter().any(|value| !value.is_nil())
    }

    /// Whether a global has a member of this name, or is no table.
    pub(crate) fn has_member(&self, global: &[u8], name: &[u8], of_libraries: bool) -> bool {
        let found = self.find_global(global, of_libraries);
        found.iter().any(|value| match value {
            Value::Nil => false,
            Value::Table(table) => {
                let name = self.lua.create_string(name);
                let member: Result<Value> = name.and_then(|name| table.get(name));
                member.is_ok_and(|member| !member.is_nil())
            }
            _ => true,
        })
    }

    fn find_global(&self, name: &[u8], of_libraries: bool) -> [Value; 2] {
        let found = self.lua.create_string(name).and_then(|name| {
            if of_libraries {
                return self.library_globals.get(&name);
            }
            Ok([self.globals.raw_get(name)?, Value::Nil])
        });
        found.unwrap_or([Value::Nil, Value::Nil])
    }

    /// The bytes that the state uses.
    pub(crate) fn used_bytes(&self) -> usize {
        self.lua.used_memory()
    }
}

/// Lets the server do other things, and ends the script if it must.
fn pause(stopped: &Rc<Stopped>) -> Rc<dyn Fn() -> Result<()>> {
    let stopped = Rc::clone(stopped);
    Rc::new(move || {
        if !CALLER.is_set() {
            return Ok(());
        }
        let paused = CALLER.with(|caller| caller.pause());
        paused.map_err(|stop| stopped.stop(stop))
    })
}

/// Lua's own globals that scripts have.
const KEPT: &[&str] = &[
    "_VERSION",
    "assert",
    "collectgarbage",
    "coroutine",
    "error",
    "gcinfo",
    "getmetatable",
    "ipairs",
    "math",
    "next",
    "pairs",
    "pcall",
    "rawequal",
    "rawget",
    "rawset",
    "select",
    "setmetatable",
    "string",
    "table",
    "tonumber",
    "tostring",
    "type",
    "unpack",
    "xpcall",
];
