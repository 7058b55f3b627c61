//! The way into a script.

use super::answer::{self, Returned, Unwritten};
use super::names::{NAMES, Name};
use super::push_string;
use crate::lua::callable::Callable;
use crate::lua::caller::CALLER;
use mlua::ffi::{self, lua_State};
use mlua::{Lua, Result, Table, Value};
use respire_engine::{ArgList, Reply};
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Where a function finds its keys and arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inputs {
    /// In the globals `KEYS` and `ARGV`.
    Globals,
    /// In its two parameters.
    Parameters,
    /// It gets none.
    None,
}

/// One run of a function.
pub(crate) struct Visit<'v, 'r> {
    pub(crate) function: &'v Callable,
    pub(crate) inputs: Inputs,
    pub(crate) keys: &'v [&'v [u8]],
    pub(crate) args: ArgList<'v>,
    /// Where the value that it returns is written, in the protocol of its caller.
    pub(crate) reply: Option<&'v mut Reply<'r>>,
}

/// What makes a state run functions.
pub(crate) struct Entry {
    lua: Lua,
    /// The main thread of `lua`.
    state: *mut lua_State,
    /// The slots of the registry that hold the function that is called for an error, the function
    /// [`enter`], and the latest error.
    handler: c_int,
    enter: c_int,
    problem: c_int,
}

/// The upvalues of [`enter`].
const GLOBALS: c_int = ffi::lua_upvalueindex(1);
const FUNCTIONS: c_int = ffi::lua_upvalueindex(2);
const CALL: c_int = ffi::lua_upvalueindex(3);
const PCALL: c_int = ffi::lua_upvalueindex(4);
const KEYS: c_int = ffi::lua_upvalueindex(5);
const ARGV: c_int = ffi::lua_upvalueindex(6);

/// The number of upvalues before the [`NAMES`].
const OWN_UPVALUES: c_int = 6;

/// The upvalue with a name, in [`enter`].
pub(super) fn name_upvalue(name: Name) -> c_int {
    ffi::lua_upvalueindex(OWN_UPVALUES + 1 + name as c_int)
}

/// [`Visit`] while the function runs.
struct Running<'v, 'r> {
    visit: Visit<'v, 'r>,
    returned: std::result::Result<Returned, Unwritten>,
    /// A panic of Rust, which must not pass through Lua.
    panic: Option<Box<dyn Any + Send>>,
}

impl Entry {
    /// `functions` holds the callables, `globals` gets `KEYS` and `ARGV`, and `calls` are `redis.call` and
    /// `redis.pcall`.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn new(
        lua: &Lua,
        handler: &mlua::Function,
        (globals, functions): (&Table, &Table),
        calls: (mlua::Function, mlua::Function),
    ) -> Result<Self> {
        let mut own = std::ptr::null_mut();
        let own_state = &raw mut own;
        // SAFETY: `exec_raw` calls the closure protected, with five values on the stack, and the
        // closure owns nothing. It takes the five, pushes at most as many as there are upvalues,
        // leaves three numbers, and writes to a variable that outlives it.
        let slots: (c_int, c_int, c_int) = unsafe {
            lua.exec_raw(
                (handler, globals, functions, calls.0, calls.1),
                move |state| {
                    *own_state = state;
                    push_string(state, b"KEYS");
                    push_string(state, b"ARGV");
                    for name in NAMES {
                        push_string(state, name);
                    }
                    let upvalues = OWN_UPVALUES + NAMES.len() as c_int;
                    ffi::lua_pushcclosure(state, enter, upvalues);
                    let enter = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX);
                    let handler = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX);
                    // The slot is taken now, so that an error finds it without any memory.
                    ffi::lua_pushboolean(state, 0);
                    let problem = ffi::luaL_ref(state, ffi::LUA_REGISTRYINDEX);
                    for slot in [handler, enter, problem] {
                        ffi::lua_pushinteger(state, slot as ffi::lua_Integer);
                    }
                },
            )
        }?;
        Ok(Self {
            lua: lua.clone(),
            state: own,
            handler: slots.0,
            enter: slots.1,
            problem: slots.2,
        })
    }

    /// Calls a function. Returns `None` if it failed; [`Entry::problem`] tells why.
    pub(crate) fn run(
        &self,
        visit: Visit<'_, '_>,
    ) -> Option<std::result::Result<Returned, Unwritten>> {
        let mut running = Running {
            visit,
            returned: Ok(Returned::Other),
            panic: None,
        };
        // SAFETY: the state lives as long as `self.lua`. Nothing runs in it, or else a function of C,
        // which has this many free slots. None of the calls outside the protected one allocates or
        // fails, and the stack is left as it was. `running` outlives the call that gets its address.
        let succeeded = unsafe {
            let top = ffi::lua_gettop(self.state);
            ffi::lua_rawgeti_(self.state, ffi::LUA_REGISTRYINDEX, self.handler);
            ffi::lua_rawgeti_(self.state, ffi::LUA_REGISTRYINDEX, self.enter);
            ffi::lua_pushlightuserdata(self.state, (&raw mut running).cast::<c_void>());
            let status = ffi::lua_pcall(self.state, 1, 0, top + 1);
            if status != ffi::LUA_OK {
                ffi::lua_rawseti_(self.state, ffi::LUA_REGISTRYINDEX, self.problem);
            }
            ffi::lua_settop(self.state, top);
            status == ffi::LUA_OK
        };
        if let Some(panic) = running.panic {
            resume_unwind(panic);
        }
        succeeded.then_some(running.returned)
    }

    /// What the handler made of the latest error. It is forgotten.
    ///
    /// # Errors
    /// Out of memory.
    pub(crate) fn problem(&self) -> Result<Value> {
        let slot = self.problem;
        // SAFETY: `exec_raw` calls the closure protected, and it needs two slots and owns nothing.
        unsafe {
            self.lua.exec_raw((), move |state| {
                ffi::lua_rawgeti_(state, ffi::LUA_REGISTRYINDEX, slot);
                ffi::lua_pushboolean(state, 0);
                ffi::lua_rawseti_(state, ffi::LUA_REGISTRYINDEX, slot);
            })
        }
    }
}

/// What Lua calls to run a function.
unsafe extern "C-unwind" fn enter(state: *mut lua_State) -> c_int {
    // SAFETY: `Entry::run` alone calls this, protected, with the address of a `Running` that no one
    // else uses meanwhile. Its upvalues are those of `Entry::new`. What is borrowed here has no
    // destructor.
    unsafe {
        let running = ffi::lua_touserdata(state, 1).cast::<Running<'_, '_>>();
        let visit = &raw mut (*running).visit;
        let (keys, args) = ((*visit).keys, (*visit).args);
        ffi::lua_rawgeti_(state, FUNCTIONS, (*visit).function.slot());
        let function = ffi::lua_gettop(state);
        if (*visit).inputs != Inputs::None {
            push_list(state, keys.len(), keys.iter().copied());
            push_list(state, args.len(), args.iter());
        }
        if (*visit).inputs == Inputs::Globals {
            for (name, slot) in [(KEYS, function + 1), (ARGV, function + 2)] {
                ffi::lua_pushvalue(state, name);
                ffi::lua_pushvalue(state, slot);
                ffi::lua_rawset(state, GLOBALS);
            }
            if (*visit).function.is_bound() {
                ffi::lua_pushvalue(state, CALL);
                ffi::lua_pushvalue(state, PCALL);
            } else {
                ffi::lua_settop(state, function);
            }
        }
        let parameters = ffi::lua_gettop(state) - function;
        ffi::lua_call(state, parameters, 1);
        if (*visit).reply.is_some() {
            answer::make_room(state);
            let written = catch_unwind(AssertUnwindSafe(|| {
                if let Some(reply) = &mut (*visit).reply {
                    let proto = CALLER.with(|caller| caller.proto());
                    (*running).returned = answer::Writer::new(state, proto, reply).write();
                }
            }));
            if let Err(panic) = written {
                (*running).panic = Some(panic);
            }
        }
    }
    0
}

/// Pushes a list of strings.
///
/// # Safety
/// The state has two free slots, and the call is protected.
unsafe fn push_list<'a>(state: *mut lua_State, len: usize, items: impl Iterator<Item = &'a [u8]>) {
    // A request has fewer arguments than 2^31.
    // SAFETY: the caller's; each string is copied, and popped into the table on top.
    unsafe {
        ffi::lua_createtable(state, len as c_int, 0);
        for (at, item) in items.enumerate() {
            push_string(state, item);
            ffi::lua_rawseti_(state, -2, at as c_int + 1);
        }
    }
}
