//! Functions of Lua's own libraries that loop in C for as long as their arguments say, with pauses.
//!
//! Lua lets the server do other things every so many instructions, and a function of C is one
//! instruction. So a function that may run for long counts its steps here, over all its calls, and
//! pauses every [`STEPS`] of them. Most call Lua's own function then, on the same frame of Lua's stack:
//! its errors name the function and the line as ever.
//!
//! Functions of Lua that fail jump over the frames of Rust between them and the protected call. No frame
//! here has anything to drop.
#![expect(unsafe_code, reason = "the stack of Lua is used directly")]

use mlua::ffi::{self, lua_State};
use mlua::{Function, Lua, Result, Table};
use std::cell::Cell;
use std::ffi::c_int;

/// Steps between two pauses. One takes about ten nanoseconds.
const STEPS: u64 = 10_000;

/// Bytes that a function of strings reads or writes in one step.
const BYTES_PER_STEP: usize = 16;

/// The longest list that is sorted without a pause. The worst order takes 4 milliseconds.
const SORTED_MAX: usize = 1_024;

thread_local! {
    /// The steps since the last pause.
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Replaces the functions in the tables `string` and `table`. `pause` ends the script by an error.
///
/// # Errors
/// Out of memory.
pub(super) fn install(lua: &Lua, string: &Table, table: &Table, pause: &Function) -> Result<()> {
    let all: [(&Table, &str, ffi::lua_CFunction); 11] = [
        (string, "format", on_strings),
        (string, "lower", on_strings),
        (string, "reverse", on_strings),
        (string, "upper", on_strings),
        (table, "concat", concat),
        (table, "foreach", with_callback),
        (table, "foreachi", with_callback),
        (table, "insert", insert),
        (table, "maxn", maxn),
        (table, "remove", remove),
        (table, "sort", sort),
    ];
    for (library, name, function) in all {
        let own: Function = library.raw_get(name)?;
        // SAFETY: `exec_raw` calls the closure protected, with the two functions on the stack. The
        // closure replaces them by one, and owns nothing.
        let paused: Function = unsafe {
            lua.exec_raw((pause, own), |state| {
                ffi::lua_pushcclosure(state, function, 2);
            })?
        };
        library.raw_set(name, paused)?;
    }
    Ok(())
}

/// Where the functions find `pause`, and Lua's own function or a callback.
const PAUSE: c_int = ffi::lua_upvalueindex(1);
const OWN: c_int = ffi::lua_upvalueindex(2);

/// Counts steps, and pauses if it is time.
///
/// # Safety
/// The state is valid, belongs to a running function with [`PAUSE`], and has a free slot.
unsafe fn spend(state: *mut lua_State, steps: u64) {
    let taken = TAKEN.get().saturating_add(steps);
    if taken < STEPS {
        TAKEN.set(taken);
        return;
    }
    TAKEN.set(0);
    // SAFETY: the caller's.
    unsafe {
        ffi::lua_pushvalue(state, PAUSE);
        ffi::lua_call(state, 0, 0);
    }
}

/// Goes on with Lua's own function.
///
/// # Safety
/// The state is valid, and belongs to a running function with [`OWN`].
unsafe fn own(state: *mut lua_State) -> c_int {
    // SAFETY: `OWN` is a function of C without upvalues, which uses nothing but the stack.
    unsafe { ffi::lua_tocfunction(state, OWN).map_or(0, |own| own(state)) }
}

/// The length of the table in a slot, or nothing if there is another value. Of a table with holes it
/// may be far more than the table's elements.
///
/// # Safety
/// The state is valid.
unsafe fn list_len(state: *mut lua_State, slot: c_int) -> Option<c_int> {
    // SAFETY: the caller's; both functions take any slot.
    unsafe {
        let is_table = ffi::lua_type(state, slot) == ffi::LUA_TTABLE;
        // As C's `int`.
        is_table.then(|| ffi::lua_objlen(state, slot) as c_int)
    }
}

/// What C's `luaL_checkint` makes of a number.
///
/// # Safety
/// The state is valid, and the slot has a number or a text of one.
unsafe fn int(state: *mut lua_State, slot: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { ffi::lua_tointeger(state, slot) as c_int }
}

unsafe extern "C-unwind" fn on_strings(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state. Strings stay as they are; no number is converted.
    unsafe {
        let mut bytes = 0;
        for slot in 1..=ffi::lua_gettop(state) {
            if ffi::lua_type(state, slot) == ffi::LUA_TSTRING {
                bytes += ffi::lua_objlen(state, slot);
            }
        }
        spend(state, (bytes / BYTES_PER_STEP) as u64);
        own(state)
    }
}

unsafe extern "C-unwind" fn concat(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state. Lua's own ends at the first hole, so it takes no more
    // steps than the table has elements.
    unsafe {
        let len = list_len(state, 1).unwrap_or_default();
        spend(state, u64::from(len.unsigned_abs()));
        own(state)
    }
}

unsafe extern "C-unwind" fn insert(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state and at least `LUA_MINSTACK` free slots. Without three
    // arguments of the right types, Lua's own takes no step or refuses them.
    unsafe {
        if ffi::lua_gettop(state) != 3 || ffi::lua_isnumber(state, 2) == 0 {
            return own(state);
        }
        let Some(len) = list_len(state, 1) else {
            return own(state);
        };
        let (mut at, to) = (len.wrapping_add(1), int(state, 2));
        let moves = i64::from(at) - i64::from(to);
        if moves < STEPS as i64 {
            spend(state, moves.max(0) as u64);
            return own(state);
        }
        while at > to {
            ffi::lua_rawgeti_(state, 1, at - 1);
            ffi::lua_rawseti_(state, 1, at);
            at -= 1;
            spend(state, 1);
        }
        ffi::lua_rawseti_(state, 1, to);
    }
    0
}

unsafe extern "C-unwind" fn remove(state: *mut lua_State) -> c_int {
    // SAFETY: as in `insert`.
    unsafe {
        if ffi::lua_isnumber(state, 2) == 0 {
            return own(state);
        }
        let Some(len) = list_len(state, 1) else {
            return own(state);
        };
        let mut at = int(state, 2);
        let moves = i64::from(len) - i64::from(at);
        if at < 1 || moves < STEPS as i64 {
            // Nothing is moved if the place is outside the list.
            spend(state, if at < 1 { 0 } else { moves.max(0) as u64 });
            return own(state);
        }
        ffi::lua_rawgeti_(state, 1, at);
        while at < len {
            ffi::lua_rawgeti_(state, 1, at + 1);
            ffi::lua_rawseti_(state, 1, at);
            at += 1;
            spend(state, 1);
        }
        ffi::lua_pushnil(state);
        ffi::lua_rawseti_(state, 1, len);
    }
    1
}

unsafe extern "C-unwind" fn maxn(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state and at least `LUA_MINSTACK` free slots. `lua_next` pops
    // the key that it gets, and the table is not changed.
    unsafe {
        ffi::luaL_checktype(state, 1, ffi::LUA_TTABLE);
        let mut greatest = 0.0;
        ffi::lua_pushnil(state);
        while ffi::lua_next(state, 1) != 0 {
            ffi::lua_settop(state, -2);
            if ffi::lua_type(state, -1) == ffi::LUA_TNUMBER {
                let key = ffi::lua_tonumber(state, -1);
                greatest = if key > greatest { key } else { greatest };
            }
            spend(state, 1);
        }
        ffi::lua_pushnumber(state, greatest);
    }
    1
}

unsafe extern "C-unwind" fn sort(state: *mut lua_State) -> c_int {
    // SAFETY: as in `with_callback`.
    unsafe {
        let len = list_len(state, 1).unwrap_or_default();
        let has_order = ffi::lua_type(state, 2) > ffi::LUA_TNIL;
        if has_order {
            return with_callback(state);
        }
        if usize::try_from(len).is_ok_and(|len| len > SORTED_MAX) {
            ffi::lua_settop(state, 1);
            ffi::lua_pushvalue(state, PAUSE);
            ffi::lua_pushnil(state);
            ffi::lua_pushcclosure(state, counted, 2);
        } else {
            // A comparison and a move, ten times an element.
            spend(state, 20 * u64::from(len.unsigned_abs()));
        }
        own(state)
    }
}

/// A function with a callback. Instructions of a callback in Lua are counted by Lua; calls of any other
/// are counted here.
unsafe extern "C-unwind" fn with_callback(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state and at least `LUA_MINSTACK` free slots.
    unsafe {
        if ffi::lua_iscfunction(state, 2) != 0 {
            ffi::lua_pushvalue(state, PAUSE);
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushcclosure(state, counted, 2);
            ffi::lua_replace(state, 2);
        }
        own(state)
    }
}

/// A callback that counts its calls: another function, or Lua's own order if there is none.
unsafe extern "C-unwind" fn counted(state: *mut lua_State) -> c_int {
    // SAFETY: Lua calls this with a valid state, at least `LUA_MINSTACK` free slots and two arguments.
    unsafe {
        spend(state, 2);
        if ffi::lua_type(state, OWN) == ffi::LUA_TNIL {
            let is_less = ffi::lua_lessthan(state, 1, 2);
            ffi::lua_pushboolean(state, is_less);
        } else {
            ffi::lua_pushvalue(state, OWN);
            ffi::lua_insert(state, 1);
            ffi::lua_call(state, ffi::lua_gettop(state) - 1, 1);
        }
    }
    1
}

#[cfg(test)]
mod tests {
    use super::super::{Limits, raise, tests};
    use mlua::Lua;
    use std::cell::Cell;
    use std::rc::Rc;

    /// A state that ends a script at its pause number `pauses_max`, and the pauses so far.
    fn ending_state(pauses_max: usize) -> (Lua, Rc<Cell<usize>>) {
        let lua = Lua::new();
        let pauses = Rc::new(Cell::new(0));
        let counted = Rc::clone(&pauses);
        let spend = move || {
            counted.set(counted.get() + 1);
            match counted.get() < pauses_max {
                true => Ok(()),
                false => Err(raise::fatal("it took too long")),
            }
        };
        let limits = Limits {
            string_bytes_max: 1 << 20,
            spend: Rc::new(spend),
        };
        super::super::install(&lua, &lua.globals(), &limits).unwrap();
        (lua, pauses)
    }

    /// A table of 31 elements whose length is 335,544,320.
    const HOLES: &str = "local t = {1, 1, 1, 1} for i = 26, 0, -1 do t[5 * 2^i] = 1 end ";

    #[test]
    fn loops_that_last_as_long_as_their_arguments_say_can_be_ended() {
        for script in [
            "table.insert({}, -2^31, 1)",
            "table.insert(t, 1, 1)",
            "table.remove(t, 1)",
            "table.foreachi(t, getmetatable)",
            "table.sort(t, rawequal)",
            "pcall(table.sort, {1, 2, 3, 4, 5}, function() return true end)
             while true do table.maxn({1}) end",
            "local list = {} for i = 1, 20000 do list[i] = i % 7 end
             while true do table.sort(list) end",
            "while true do table.sort({1, 3, 2}) end",
            "local list = {} for i = 1, 5000 do list[i] = i end
             while true do table.insert(list, 1, 1) table.remove(list, 1) end",
            "while true do table.foreach({1, 2, 3}, type) end",
            "while true do table.concat({'a', 'b', 'c'}) end",
            "local text = string.rep('x', 100000)
             while true do text:lower() text:upper() text:reverse() string.format('%q', text) end",
        ] {
            let (lua, pauses) = ending_state(20);
            let script = format!("{HOLES} assert(#t == 335544320) pcall(function() {script} end)");
            let ended = lua.load(&script).exec();
            assert!(
                ended.as_ref().is_err_and(raise::is_fatal),
                "{script}: {ended:?}"
            );
            assert_eq!(pauses.get(), 20, "{script}");
        }
    }

    #[test]
    fn short_calls_do_not_pause() {
        let (lua, pauses) = ending_state(2);
        super::TAKEN.set(0);
        let script = "local list = {} for i = 1, 100 do table.insert(list, 1, i) end
            table.sort(list) return table.concat(list, ' ', 1, 3)";
        let text: String = lua.load(script).eval().unwrap();
        assert_eq!((text.as_str(), pauses.get()), ("1 2 3", 0));
    }

    #[test]
    fn results_and_errors_are_those_of_lua() {
        let (own, paused) = (Lua::new(), tests::state());
        let make = "local t = {} local n = 7 for i = 1, SIZE do n = (n * 16807) % 2147483647 \
                    t[i] = n % 5000 end ";
        for body in [
            "table.insert(t, 'x')",
            "table.insert(t, 3, 'x')",
            "table.insert(t, -30000, 'x') return t[-30000], t[1], t[2]",
            "table.insert(t, 90000, 'x') return t[90000]",
            "table.insert(t, '2', 'x')",
            "table.insert(t)",
            "table.insert(t, 1, 2, 3)",
            "table.insert(t, 'y', 2)",
            "table.insert(1, 1, 2)",
            "table.insert()",
            "return table.remove(t)",
            "return table.remove(t, 1), table.remove(t, 1)",
            "return table.remove(t, 0)",
            "return table.remove(t, -2^31)",
            "return table.remove(t, 99999)",
            "return table.remove(t, {})",
            "return table.remove({}, 1)",
            "return table.remove()",
            "table.sort(t)",
            "table.sort(t, nil)",
            "table.sort(t, function(a, b) return a > b end)",
            "table.sort(t, function() return true end)",
            "table.sort(t, math.max)",
            "table.sort(t, rawequal)",
            "table.sort(t, 1)",
            "table.sort(1)",
            "t[1] = 'x' table.sort(t)",
            "t[1] = {} table.sort(t)",
            "return table.maxn(t), table.maxn({[2.5] = 1, [-1] = 2, x = 3})",
            "return table.maxn(1)",
            "return table.foreach(t, tonumber)",
            "return table.foreachi(t, function(i, v) if v > 4000 then return i end end)",
            "return table.foreach(t, ipairs)",
            "return table.foreachi(t, 1)",
            "return table.concat(t, ',', 2, 4)",
            "return table.concat(t, ',', 2, 2^31 - 1)",
            "return table.concat({{}})",
            "return ('aB'):upper(), ('aB'):lower(), ('ab'):reverse(), ('%5.1f %q'):format(1, 'x')",
            "return string.upper()",
            "return ('x'):format({}), ('%d'):format('x')",
        ] {
            for size in [0, 1, 5, 3000, 20000] {
                let script = format!(
                    "local function run() {} do {body} end return #t, table.concat(t, ' ') end
                     local function line(...)
                       local all = {{...}}
                       for i = 1, select('#', ...) do all[i] = tostring(all[i]) end
                       return table.concat(all, '|')
                     end
                     return line(pcall(function()\n return run()\n end))",
                    make.replace("SIZE", &size.to_string())
                );
                let answer = |lua: &Lua| lua.load(&script).set_name("=s").eval::<String>();
                let (expected, found) = (answer(&own).unwrap(), answer(&paused).unwrap());
                assert!(found == expected, "{size} {body}: {found} {expected}");
            }
        }
    }
}
