//! The table `redis` of scripts.

use super::caller::{CALLER, Refusal, Stop};
use super::exchange::{self, Exchange, Outcome};
use super::failure::COUNTED;
use super::lib::raise;
use super::state::Stopped;
use super::text::{until_nul, without_breaks_around};
use super::{SERVER_VERSION, lib, raw};
use mlua::{Lua, MultiValue, Result, Table, Value};
use respire_engine::Proto;
use std::rc::Rc;

/// Makes the table.
///
/// # Errors
/// Out of memory.
pub(super) fn table(lua: &Lua, stopped: &Rc<Stopped>) -> Result<Table> {
    let redis = lua.create_table()?;
    add_calls(lua, &redis, stopped)?;
    add_replies(lua, &redis)?;
    add_settings(lua, &redis)?;
    redis.raw_set("sha1hex", lib::sha1hex::function(lua)?)?;
    let (text, number) = SERVER_VERSION;
    redis.raw_set("REDIS_VERSION", text)?;
    redis.raw_set("REDIS_VERSION_NUM", number)?;
    for (name, value) in [
        ("LOG_DEBUG", 0),
        ("LOG_VERBOSE", 1),
        ("LOG_NOTICE", 2),
        ("LOG_WARNING", 3),
        ("REPL_NONE", 0),
        ("REPL_AOF", 1),
        ("REPL_SLAVE", 2),
        ("REPL_REPLICA", 2),
        ("REPL_ALL", 3),
    ] {
        redis.raw_set(name, value)?;
    }
    Ok(redis)
}

fn add_calls(lua: &Lua, redis: &Table, stopped: &Rc<Stopped>) -> Result<()> {
    for (name, raises) in [("call", true), ("pcall", false)] {
        let stopped = Rc::clone(stopped);
        let convert = lua.create_function(move |lua, ()| {
            exchange::take(|outcome, reply| convert(lua, outcome, reply, raises, &stopped))
        })?;
        redis.raw_set(name, raw::caller(lua, &convert)?)?;
    }
    let may_run = lua.create_function(move |lua, values: MultiValue| {
        let asked = exchange::ask(
            |exchange| fill(exchange, &values),
            |request| with_caller(lua, "redis.acl_check_cmd", |caller| caller.may_run(request)),
        );
        let may_run = asked.map_err(|text| failure(lua, text))??;
        may_run.ok_or_else(|| failure(lua, "Invalid command passed to redis.acl_check_cmd()"))
    })?;
    redis.raw_set("acl_check_cmd", may_run)
}

fn fill(exchange: &mut Exchange, values: &MultiValue) -> bool {
    values.iter().all(|value| {
        match value {
            Value::String(text) => exchange.push(&text.as_bytes()),
            Value::Integer(number) => exchange.push_number(*number as f64),
            Value::Number(number) => exchange.push_number(*number),
            _ => return false,
        }
        true
    })
}

/// The value that a call returns, or the error that it raises.
fn convert(
    lua: &Lua,
    outcome: Outcome,
    reply: &[u8],
    raises: bool,
    stopped: &Stopped,
) -> Result<Value> {
    match outcome {
        Outcome::Outside => {
            let text = "redis.call/pcall can only be called inside a script invocation";
            Err(failure(lua, text))
        }
        Outcome::Wrong(text) => finish_error(error_table(lua, text)?, raises),
        Outcome::Refused(Refusal::Stop(stop)) => Err(stopped.stop(stop)),
        Outcome::Refused(Refusal::Error(text)) => {
            let table = error_table(lua, text)?;
            table.raw_set(COUNTED, true)?;
            finish_error(table, raises)
        }
        Outcome::Called(_) => {
            let table = named_error(lua, error_text(reply))?;
            table.raw_set(COUNTED, true)?;
            finish_error(table, raises)
        }
    }
}

/// The text of a reply that is an error, in one line or in a blob behind its length.
fn error_text(reply: &[u8]) -> &[u8] {
    let reply = reply.strip_suffix(b"\r\n").unwrap_or(reply);
    let text = match reply.split_first() {
        Some((b'!', blob)) => blob.splitn(2, |byte| *byte == b'\n').nth(1),
        Some((_, text)) => Some(text),
        None => None,
    };
    text.unwrap_or_default()
}

fn finish_error(table: Table, raises: bool) -> Result<Value> {
    if raises {
        return Err(raise::value(Value::Table(table)));
    }
    Ok(Value::Table(table))
}

fn with_caller<R>(
    lua: &Lua,
    what: &str,
    ask: impl FnOnce(&mut dyn super::caller::Caller) -> R,
) -> Result<R> {
    if !CALLER.is_set() {
        let text = format!("{what} can only be called inside a script invocation");
        return Err(failure(lua, text));
    }
    Ok(CALLER.with(|caller| ask(caller)))
}

/// The table of an error whose text may have a code after a `-`. Without it, the code is `ERR`.
fn error_table(lua: &Lua, text: impl AsRef<[u8]>) -> Result<Table> {
    let text = without_breaks_around(until_nul(text.as_ref()));
    let full = match text.strip_prefix(b"-") {
        Some(text) if text.contains(&b' ') => text.to_vec(),
        Some(text) => [b"ERR ", text].concat(),
        None => [b"ERR ", text].concat(),
    };
    named_error(lua, &full)
}

/// A table with the text of an error, which begins with its code.
fn named_error(lua: &Lua, text: &[u8]) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("err", lua.create_string(text)?)?;
    Ok(table)
}

/// An error of a function of this table.
#[cold]
pub(super) fn failure(lua: &Lua, text: impl AsRef<[u8]>) -> mlua::Error {
    let raised = error_table(lua, text).map(Value::Table);
    raised.map_or_else(|error| error, raise::value)
}

fn add_replies(lua: &Lua, redis: &Table) -> Result<()> {
    let status = lua.create_function(|lua, values: MultiValue| match one_string(&values) {
        Some(text) => {
            let table = lua.create_table()?;
            table.raw_set("ok", text)?;
            Ok(table)
        }
        None => error_table(lua, "wrong number or type of arguments"),
    })?;
    redis.raw_set("status_reply", status)?;
    let error = lua.create_function(|lua, values: MultiValue| match one_string(&values) {
        Some(Value::String(text)) => {
            let text = text.as_bytes();
            let dashed: &[u8] = if text.first() == Some(&b'-') {
                b""
            } else {
                b"-"
            };
            error_table(lua, [dashed, &text].concat())
        }
        _ => error_table(lua, "wrong number or type of arguments"),
    })?;
    redis.raw_set("error_reply", error)
}

fn one_string(values: &MultiValue) -> Option<Value> {
    let only = values.front().filter(|_| values.len() == 1)?;
    only.is_string().then(|| only.clone())
}

fn add_settings(lua: &Lua, redis: &Table) -> Result<()> {
    let set_proto = lua.create_function(|lua, values: MultiValue| {
        if values.len() != 1 {
            return Err(failure(lua, "redis.setresp() requires one argument."));
        }
        let proto = match number(lua, values.front())? as i64 {
            2 => Proto::Resp2,
            3 => Proto::Resp3,
            _ => return Err(failure(lua, "RESP version must be 2 or 3.")),
        };
        with_caller(lua, "redis.setresp", |caller| caller.set_proto(proto))
    })?;
    redis.raw_set("setresp", set_proto)?;
    let set_repl = lua.create_function(|lua, values: MultiValue| {
        if values.len() != 1 {
            return Err(failure(lua, "redis.set_repl() requires two arguments."));
        }
        if number(lua, values.front())? as i64 & !3 != 0 {
            let text =
                "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.";
            return Err(failure(lua, text));
        }
        // Effects of scripts always reach the observers of the store.
        Ok(())
    })?;
    redis.raw_set("set_repl", set_repl)?;
    let log = lua.create_function(|lua, values: MultiValue| log(lua, &values))?;
    redis.raw_set("log", log)?;
    redis.raw_set("replicate_commands", lua.create_function(|_, ()| Ok(true))?)?;
    redis.raw_set("breakpoint", lua.create_function(|_, ()| Ok(false))?)?;
    redis.raw_set("debug", lua.create_function(|_, _: MultiValue| Ok(()))?)
}

fn log(lua: &Lua, values: &MultiValue) -> Result<()> {
    if values.len() < 2 {
        let text = "redis.log() requires two arguments or more.";
        return Err(failure(lua, text));
    }
    let level = values.front();
    if level.is_none_or(|level| !level.is_number() && !level.is_integer()) {
        let text = "First argument must be a number (log level).";
        return Err(failure(lua, text));
    }
    let level = number(lua, level)? as i64;
    let Some(level) = u8::try_from(level).ok().filter(|level| *level <= 3) else {
        return Err(failure(lua, "Invalid debug level."));
    };
    let mut line = Vec::new();
    for value in values.iter().skip(1) {
        if let Some(text) = lua.coerce_string(value.clone())? {
            if !line.is_empty() {
                line.push(b' ');
            }
            line.extend_from_slice(&text.as_bytes());
        }
    }
    with_caller(lua, "redis.log", |caller| caller.log(level, &line))
}

/// A number as C's `lua_tonumber` reads it: 0 if it is none.
fn number(lua: &Lua, value: Option<&Value>) -> Result<f64> {
    let value = value.cloned().unwrap_or(Value::Nil);
    Ok(lua.coerce_number(value)?.unwrap_or(0.0))
}

impl Stop {
    /// The text of the error that the client gets.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Killed => "ERR Script killed by user with SCRIPT KILL...",
            Self::TimeLimit => "ERR the script was ended: it ran for longer than script-time-limit",
            Self::LoadTimeout => "ERR FUNCTION LOAD timeout",
            Self::Shutdown => "ERR the script was ended: the server stops",
            Self::Undeclared => {
                "ERR the script wrote before it used a key that it had not declared; run it again"
            }
        }
    }
}
