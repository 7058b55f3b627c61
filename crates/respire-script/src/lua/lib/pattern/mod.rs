//! `string.find`, `match`, `gmatch` and `gsub` of Lua 5.1 in place of the C ones, whose time and
//! depth have no bound.

mod class;
mod gsub;
mod matcher;

use super::args::Args;
use super::{Limits, raise};
pub(crate) use matcher::{Capture, Matcher, Problem};
use mlua::{Function, IntoLuaMulti, Lua, LuaString, MultiValue, Result, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// The characters that mean something in a pattern.
const SPECIALS: &[u8] = b"^$*+?.([%-";

/// What the functions share.
struct Tools {
    spend: Rc<dyn Fn() -> Result<()>>,
    string_bytes_max: usize,
    /// Lua's own.
    pcall: Function,
}

/// Replaces the functions in the table of Lua's `string`. `pcall` is Lua's own.
///
/// # Errors
/// Out of memory.
pub(crate) fn install(lua: &Lua, string: &Table, pcall: Function, limits: &Limits) -> Result<()> {
    let tools = Rc::new(Tools {
        spend: limits.spend.clone(),
        string_bytes_max: limits.string_bytes_max,
        pcall,
    });
    let shared = tools.clone();
    let find = lua.create_function(move |lua, values: MultiValue| {
        find(lua, &Args::new(lua, values), &shared, true)
    })?;
    let shared = tools.clone();
    let matching = lua.create_function(move |lua, values: MultiValue| {
        self::find(lua, &Args::new(lua, values), &shared, false)
    })?;
    let shared = tools.clone();
    let gmatch = lua.create_function(move |lua, values: MultiValue| {
        gmatch(lua, &Args::new(lua, values), &shared)
    })?;
    let gsub = lua.create_function(move |lua, values: MultiValue| {
        gsub::gsub(lua, &Args::new(lua, values), &tools)
    })?;
    string.raw_set("find", find)?;
    string.raw_set("match", matching)?;
    string.raw_set("gfind", &gmatch)?;
    string.raw_set("gmatch", gmatch)?;
    string.raw_set("gsub", gsub)
}

fn problem(lua: &Lua, problem: Problem<mlua::Error>) -> mlua::Error {
    match problem {
        Problem::Text(text) => raise::error(lua, text),
        Problem::Stopped(error) => error,
    }
}

/// The captures of a match as values. If there are none, the whole match, if it is given.
fn captures(
    lua: &Lua,
    matcher: &Matcher<'_, mlua::Error>,
    subject: &[u8],
    whole: Option<(usize, usize)>,
) -> Result<MultiValue> {
    let count = match whole {
        Some(_) => matcher.level().max(1),
        None => matcher.level(),
    };
    let (start, end) = whole.unwrap_or_default();
    let mut values = MultiValue::with_capacity(count + 2);
    for index in 0..count {
        let capture = matcher.capture(index, start, end);
        values.push_back(match capture.map_err(|found| problem(lua, found))? {
            Capture::Position(place) => Value::Integer(place as i64),
            Capture::Part(start, end) => Value::String(lua.create_string(&subject[start..end])?),
        });
    }
    Ok(values)
}

/// Where a search begins, from 0: a negative place counts from the end.
fn start(place: i64, len: usize) -> usize {
    let place = if place < 0 {
        place.saturating_add(len as i64 + 1)
    } else {
        place
    };
    usize::try_from(place.saturating_sub(1))
        .unwrap_or_default()
        .min(len)
}

/// `string.find`, and `string.match` if `find` is not set.
fn find(lua: &Lua, args: &Args<'_>, tools: &Tools, find: bool) -> Result<MultiValue> {
    let (subject, pattern) = (args.string(1)?, args.string(2)?);
    let (subject, pattern) = (subject.as_bytes(), pattern.as_bytes());
    let start = start(args.integer_or(3, 1)?, subject.len());
    if find && (args.truth(4) || is_plain(&pattern)) {
        return match memchr::memmem::find(&subject[start..], &pattern) {
            Some(at) => (start + at + 1, start + at + pattern.len()).into_lua_multi(lua),
            None => Value::Nil.into_lua_multi(lua),
        };
    }
    let (anchored, pattern) = match pattern.strip_prefix(b"^") {
        Some(rest) => (true, rest),
        None => (false, &*pattern),
    };
    let mut matcher = Matcher::new(&subject, pattern, &*tools.spend);
    for at in start..=subject.len() {
        let found = matcher.match_at(at);
        if let Some(end) = found.map_err(|found| problem(lua, found))? {
            if !find {
                return captures(lua, &matcher, &subject, Some((at, end)));
            }
            let mut values = captures(lua, &matcher, &subject, None)?;
            values.push_front(Value::Integer(end as i64));
            values.push_front(Value::Integer(at as i64 + 1));
            return Ok(values);
        }
        if anchored {
            break;
        }
    }
    Value::Nil.into_lua_multi(lua)
}

/// Whether nothing in a pattern is special. As for C, it ends at a zero byte for this question.
fn is_plain(pattern: &[u8]) -> bool {
    let special = pattern
        .iter()
        .find(|byte| **byte == 0 || SPECIALS.contains(byte));
    special.is_none_or(|byte| *byte == 0)
}

/// A function that gives the captures of the next match at each call.
fn gmatch(lua: &Lua, args: &Args<'_>, tools: &Rc<Tools>) -> Result<Function> {
    let (subject, pattern): (LuaString, LuaString) = (args.string(1)?, args.string(2)?);
    let tools = tools.clone();
    let next = Cell::new(0);
    lua.create_function(move |lua, ()| {
        let (subject, pattern) = (subject.as_bytes(), pattern.as_bytes());
        let mut matcher = Matcher::new(&subject, &pattern, &*tools.spend);
        for at in next.get()..=subject.len() {
            let found = matcher.match_at(at);
            if let Some(end) = found.map_err(|found| problem(lua, found))? {
                // An empty match goes on at the next place.
                next.set(if end == at { end + 1 } else { end });
                return captures(lua, &matcher, &subject, Some((at, end)));
            }
        }
        Ok(MultiValue::new())
    })
}

#[cfg(test)]
mod tests;
