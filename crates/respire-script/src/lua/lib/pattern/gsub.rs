//! `string.gsub`.

use super::super::args::{Args, to_int, type_name};
use super::super::raise;
use super::matcher::{Capture, ESCAPE, Matcher};
use super::{Tools, captures, problem};
use mlua::{Function, Lua, LuaString, MultiValue, Result, Table, Value};

/// What a match is replaced by.
enum Replacement {
    Text(LuaString),
    Table(Table),
    Function(Function),
}

struct Gsub<'a, 'b> {
    lua: &'a Lua,
    tools: &'a Tools,
    matcher: &'a mut Matcher<'b, mlua::Error>,
    subject: &'a [u8],
    out: Vec<u8>,
}

/// The text with its matches replaced, and how many were.
pub(super) fn gsub(lua: &Lua, args: &Args<'_>, tools: &Tools) -> Result<(LuaString, i64)> {
    let subject = args.string(1)?;
    let pattern = args.string(2)?;
    let count_max = match args.is_none_or_nil(4) {
        true => i64::MAX,
        false => i64::from(to_int(args.integer(4)?)),
    };
    let replacement = match args.get(3) {
        Some(Value::Table(table)) => Replacement::Table(table.clone()),
        Some(Value::Function(function)) => Replacement::Function(function.clone()),
        Some(Value::String(_) | Value::Integer(_) | Value::Number(_)) => {
            Replacement::Text(args.string(3)?)
        }
        _ => return Err(args.problem(3, "string/function/table expected")),
    };
    let (text, pattern) = (subject.as_bytes(), pattern.as_bytes());
    let (anchored, pattern) = match pattern.strip_prefix(b"^") {
        Some(rest) => (true, rest),
        None => (false, &*pattern),
    };
    let mut matcher = Matcher::new(&text, pattern, &*tools.spend);
    let out = Vec::with_capacity(text.len());
    let mut gsub = Gsub {
        lua,
        tools,
        matcher: &mut matcher,
        subject: &text,
        out,
    };
    let count = gsub.run(&replacement, anchored, count_max)?;
    if count == 0 {
        drop(gsub);
        return Ok((subject.clone(), 0));
    }
    Ok((lua.create_string(gsub.out)?, count))
}

impl Gsub<'_, '_> {
    fn run(&mut self, replacement: &Replacement, anchored: bool, count_max: i64) -> Result<i64> {
        let mut at = 0;
        let mut count = 0;
        while count < count_max {
            let found = self.matcher.match_at(at);
            let end = found.map_err(|found| problem(self.lua, found))?;
            if let Some(end) = end {
                count += 1;
                self.replace(replacement, at, end)?;
            }
            match end {
                Some(end) if end > at => at = end,
                _ => match self.subject.get(at) {
                    Some(byte) => {
                        self.out.push(*byte);
                        at += 1;
                    }
                    None => break,
                },
            }
            if anchored {
                break;
            }
        }
        self.add(at, self.subject.len())?;
        Ok(count)
    }

    fn check(&self) -> Result<()> {
        if self.out.len() > self.tools.string_bytes_max {
            return Err(raise::error(self.lua, "resulting string too large"));
        }
        Ok(())
    }

    /// Appends a part of the subject.
    fn add(&mut self, start: usize, end: usize) -> Result<()> {
        self.out.extend_from_slice(&self.subject[start..end]);
        self.check()
    }

    fn capture(&self, index: usize, start: usize, end: usize) -> Result<Capture> {
        let found = self.matcher.capture(index, start, end);
        found.map_err(|found| problem(self.lua, found))
    }

    fn replace(&mut self, replacement: &Replacement, start: usize, end: usize) -> Result<()> {
        let value = match replacement {
            Replacement::Text(text) => return self.template(&text.as_bytes(), start, end),
            Replacement::Table(table) => {
                let key = match self.capture(0, start, end)? {
                    Capture::Position(place) => Value::Integer(place as i64),
                    Capture::Part(start, end) => {
                        Value::String(self.lua.create_string(&self.subject[start..end])?)
                    }
                };
                table.get(key)?
            }
            Replacement::Function(function) => {
                let mut arguments =
                    captures(self.lua, self.matcher, self.subject, Some((start, end)))?;
                arguments.push_front(Value::Function(function.clone()));
                self.call(arguments)?
            }
        };
        match value {
            Value::Nil | Value::Boolean(false) => self.add(start, end),
            Value::String(text) => {
                self.out.extend_from_slice(&text.as_bytes());
                self.check()
            }
            Value::Integer(_) | Value::Number(_) => {
                if let Some(text) = self.lua.coerce_string(value)? {
                    self.out.extend_from_slice(&text.as_bytes());
                }
                self.check()
            }
            other => {
                let kind = type_name(&other);
                let text = format!("invalid replacement value (a {kind})");
                Err(raise::error(self.lua, text))
            }
        }
    }

    /// Calls a function of the script by Lua's own `pcall`, which gives us whatever it raises; `mlua`
    /// would make a text of it.
    fn call(&self, arguments: MultiValue) -> Result<Value> {
        let (ok, result): (bool, Value) = self.tools.pcall.call(arguments)?;
        match result {
            result if ok => Ok(result),
            Value::Error(error) => Err(*error),
            other => Err(raise::value(other)),
        }
    }

    /// Appends a replacement text: `%0` is the match, `%1` to `%9` are captures, and `%` before
    /// anything else is dropped. As in C, a `%` at the end brings the zero byte behind it.
    fn template(&mut self, text: &[u8], start: usize, end: usize) -> Result<()> {
        let mut rest = text;
        while let Some(at) = memchr::memchr(ESCAPE, rest) {
            self.out.extend_from_slice(&rest[..at]);
            let letter = rest.get(at + 1).copied().unwrap_or_default();
            match letter {
                b'0' => self.add(start, end)?,
                b'1'..=b'9' => match self.capture(usize::from(letter - b'1'), start, end)? {
                    Capture::Position(place) => {
                        self.out.extend_from_slice(place.to_string().as_bytes());
                    }
                    Capture::Part(start, end) => self.add(start, end)?,
                },
                other => self.out.push(other),
            }
            self.check()?;
            rest = rest.get(at + 2..).unwrap_or_default();
        }
        self.out.extend_from_slice(rest);
        self.check()
    }
}
