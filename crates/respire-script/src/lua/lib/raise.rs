//! Errors of Rust functions, as scripts see them.
//!
//! `mlua` hands a script the error of a Rust function as a userdata. Scripts expect a string with the
//! place of the call before it, or a table. So the functions of these libraries fail with [`error`],
//! [`text`] or [`value`], and [`install`] gives the script a `pcall`, an `xpcall` and a
//! `coroutine.resume` that unpack the userdata. Whoever calls the script from Rust uses [`thrown`].
//!
//! A wrapper in Lua around each function, which calls Lua's own `error`, was the other way. It costs
//! each call a second one, and `return cjson.decode(x)` would lose the place: Lua 5.1 forgets the
//! line of a tail call of a Lua function, and remembers it for a C function.

use mlua::{Error, Function, Lua, Result, Table, Value};
use std::fmt;

/// What a Rust function raised.
#[derive(Debug)]
enum Raised {
    /// A text. It need not be UTF-8: it quotes what the script passed.
    Text(Vec<u8>),
    /// Any other value: a table of `redis.call`, or what a function of the script raised.
    Value(Value),
    /// A text that no `pcall` of the script catches.
    Fatal(Vec<u8>),
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Fatal(text) => f.write_str(&String::from_utf8_lossy(text)),
            Self::Value(value) => write!(f, "(error object is a {} value)", value.type_name()),
        }
    }
}

impl std::error::Error for Raised {}

/// An error of the running function with the place of its caller before it, as `luaL_error` of C.
#[cold]
pub(crate) fn error(lua: &Lua, message: impl AsRef<[u8]>) -> Error {
    error_at(lua, 1, message)
}

/// [`error`] with the place of another caller: 2 is the caller of the caller.
#[cold]
pub(crate) fn error_at(lua: &Lua, level: usize, message: impl AsRef<[u8]>) -> Error {
    let mut full = place(lua, level).into_bytes();
    full.extend_from_slice(message.as_ref());
    text(full)
}

/// An error without a place.
#[cold]
pub(crate) fn text(message: impl Into<Vec<u8>>) -> Error {
    Error::external(Raised::Text(message.into()))
}

/// Any value as an error.
#[cold]
pub(crate) fn value(value: Value) -> Error {
    Error::external(Raised::Value(value))
}

/// An error that ends the script: its `pcall` does not catch it.
#[cold]
pub(crate) fn fatal(message: impl Into<Vec<u8>>) -> Error {
    Error::external(Raised::Fatal(message.into()))
}

/// Whether an error is one of [`fatal`].
pub(crate) fn is_fatal(error: &Error) -> bool {
    matches!(raised(error), Some(Raised::Fatal(_)))
}

/// What a script sees of an error.
///
/// # Errors
/// Out of memory.
pub(crate) fn thrown(lua: &Lua, error: &Error) -> Result<Value> {
    let text = match raised(error) {
        Some(Raised::Value(value)) => return Ok(value.clone()),
        Some(Raised::Text(text) | Raised::Fatal(text)) => text.clone(),
        None => match innermost(error) {
            Error::RuntimeError(text) => text.clone().into_bytes(),
            Error::MemoryError(_) => b"not enough memory".to_vec(),
            other => other.to_string().into_bytes(),
        },
    };
    lua.create_string(text).map(Value::String)
}

fn raised(error: &Error) -> Option<&Raised> {
    match innermost(error) {
        Error::ExternalError(error) => error.downcast_ref(),
        _ => None,
    }
}

/// The error without what `mlua` wraps around it on its way.
fn innermost(mut error: &Error) -> &Error {
    while let Error::CallbackError { cause, .. } | Error::WithContext { cause, .. } = error {
        error = cause;
    }
    error
}

/// The place of a caller of the running function, as `luaL_where`: `user_script:3: `, or nothing if
/// that is no Lua function.
fn place(lua: &Lua, level: usize) -> String {
    let found = lua.inspect_stack(level, |debug| {
        let line = debug.current_line()?;
        let source = debug.source().short_src?.into_owned();
        Some(format!("{source}:{line}: "))
    });
    found.flatten().unwrap_or_default()
}

/// An error about an argument of the running function, as `luaL_argerror`: it names the function as
/// the script called it.
#[cold]
pub(crate) fn argument(lua: &Lua, number: usize, problem: &[u8]) -> Error {
    argument_at(lua, 1, number, problem)
}

/// [`argument`] with the place of another caller: 2 is the caller of the caller.
#[cold]
pub(crate) fn argument_at(lua: &Lua, level: usize, number: usize, problem: &[u8]) -> Error {
    let named = lua.inspect_stack(0, |debug| {
        let names = debug.names();
        let method = names.name_what == Some("method");
        (names.name.map(|name| name.into_owned()), method)
    });
    let (name, method) = named.unwrap_or_default();
    let name = name.as_deref().unwrap_or("?");
    let start = match (number, method) {
        (1, true) => format!("calling '{name}' on bad self ("),
        (_, true) => format!("bad argument #{} to '{name}' (", number.saturating_sub(1)),
        (_, false) => format!("bad argument #{number} to '{name}' ("),
    };
    error_at(lua, level, [start.as_bytes(), problem, b")"].concat())
}

/// Replaces `pcall`, `xpcall` and `coroutine.resume` in a table of globals by functions that give the
/// script what was raised, and not `mlua`'s userdata. Fatal errors pass through them. As in Redis,
/// `pcall` makes a text of a table that has one as `err`.
///
/// A successful call costs one more call of a Lua function.
///
/// # Errors
/// Out of memory.
pub(crate) fn install(lua: &Lua, globals: &Table) -> Result<()> {
    let unpack = lua.create_function(|lua, problem: Value| match problem {
        Value::Error(error) if is_fatal(&error) => Err(*error),
        Value::Error(error) => thrown(lua, &error),
        other => Ok(other),
    })?;
    let coroutine: Option<Table> = globals.raw_get("coroutine")?;
    let resume = match &coroutine {
        Some(table) => table.raw_get("resume")?,
        None => Value::Nil,
    };
    let (pcall, xpcall): (Function, Function) =
        (globals.raw_get("pcall")?, globals.raw_get("xpcall")?);
    let kind: Function = globals.raw_get("type")?;
    let (pcall, xpcall, resume): (Function, Function, Function) = lua
        .load(include_str!("raise.lua"))
        .set_name("=pcall")
        .call((pcall, xpcall, resume, kind, unpack))?;
    globals.raw_set("pcall", pcall)?;
    globals.raw_set("xpcall", xpcall)?;
    if let Some(coroutine) = coroutine {
        coroutine.raw_set("resume", resume)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> Lua {
        let lua = Lua::new();
        install(&lua, &lua.globals()).unwrap();
        let fail = lua.create_function(|lua, ()| Err::<(), _>(error(lua, b"it \xff failed")));
        lua.globals().set("fail", fail.unwrap()).unwrap();
        let wrong = lua.create_function(|lua, ()| Err::<(), _>(argument(lua, 2, b"too long")));
        lua.globals().set("wrong", wrong.unwrap()).unwrap();
        let end = lua.create_function(|_, ()| Err::<(), _>(fatal("killed")));
        lua.globals().set("kill", end.unwrap()).unwrap();
        let table = lua.create_function(|lua, ()| {
            let table = lua.create_table()?;
            table.set("err", "no")?;
            Err::<(), _>(value(Value::Table(table)))
        });
        lua.globals().set("raise_table", table.unwrap()).unwrap();
        lua
    }

    fn answer(script: &str) -> Vec<u8> {
        let lua = state();
        let text: mlua::LuaString = lua.load(script).set_name("@user_script").eval().unwrap();
        text.as_bytes().to_vec()
    }

    #[test]
    fn error_is_a_string_with_the_place_of_the_call() {
        let script = "local ok, e = pcall(function()\nfail()\nend) return e";
        assert_eq!(answer(script), b"user_script:2: it \xff failed");
    }

    #[test]
    fn tail_call_keeps_its_place() {
        let script = "local ok, e = pcall(function()\nreturn fail()\nend) return e";
        assert_eq!(answer(script), b"user_script:2: it \xff failed");
    }

    #[test]
    fn error_of_a_function_that_pcall_itself_calls_has_no_place() {
        assert_eq!(answer("return select(2, pcall(fail))"), b"it \xff failed");
        let nameless = answer("return select(2, pcall(wrong))");
        assert_eq!(nameless, b"bad argument #2 to '?' (too long)");
    }

    #[test]
    fn argument_error_names_the_function_as_it_was_called() {
        let script = "return select(2, pcall(function() wrong() end))";
        let expected = b"user_script:1: bad argument #2 to 'wrong' (too long)";
        assert_eq!(answer(script), expected);
        let script = "local t = {go = wrong} return select(2, pcall(function() t:go() end))";
        let expected = b"user_script:1: bad argument #1 to 'go' (too long)";
        assert_eq!(answer(script), expected);
    }

    #[test]
    fn table_is_raised_as_it_is() {
        let script = "local ok, e = xpcall(raise_table, function(e) return e end)
            return type(e) .. e.err";
        assert_eq!(answer(script), b"tableno");
    }

    #[test]
    fn pcall_makes_a_text_of_a_table_that_has_one() {
        let script = "local ok, e = pcall(raise_table) return e";
        assert_eq!(answer(script), b"no");
        let script = "local ok, e = pcall(error, {err = true}) return type(e)";
        assert_eq!(answer(script), b"table");
    }

    #[test]
    fn handler_of_xpcall_gets_the_text() {
        let script = "return select(2, xpcall(fail, function(e) return '<' .. e .. '>' end))";
        assert_eq!(answer(script), b"<it \xff failed>");
    }

    #[test]
    fn coroutine_gives_its_error_to_whoever_resumes_it() {
        let script = "return select(2, coroutine.resume(coroutine.create(function() fail() end)))";
        assert_eq!(answer(script), b"user_script:1: it \xff failed");
    }

    #[test]
    fn fatal_error_is_not_caught() {
        let lua = state();
        for script in [
            "return pcall(kill)",
            "return pcall(pcall, kill)",
            "return xpcall(kill, function() return 1 end)",
            "return coroutine.resume(coroutine.create(function() kill() end))",
        ] {
            let problem = lua.load(script).exec().unwrap_err();
            assert!(is_fatal(&problem), "{script}: {problem}");
        }
    }

    #[test]
    fn pcall_returns_as_many_results_as_its_function() {
        for (call, count) in [
            ("pcall(function() end)", "1"),
            ("pcall(function() return nil, nil end)", "3"),
            ("xpcall(function() end, error)", "1"),
            ("coroutine.resume(coroutine.create(function() end))", "1"),
            ("pcall(error)", "2"),
        ] {
            let script = format!("return tostring(select('#', {call}))");
            assert_eq!(answer(&script), count.as_bytes(), "{call}");
        }
    }

    #[test]
    fn pcall_passes_arguments_and_results_on() {
        let script = "local function f(...) return select('#', ...), ... end
            return table.concat({tostring(pcall(f, nil, 2, nil)), select(2, pcall(f, nil, 2, nil))}, ' ', 1, 2)";
        assert_eq!(answer(script), b"true 3");
    }
}
