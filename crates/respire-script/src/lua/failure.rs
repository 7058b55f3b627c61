//! Why a script failed, and the error that its client gets.

use super::caller::Stop;
use super::lib::raise;
use super::raw::Unwritten;
use super::text::until_nul;
use mlua::{Function, Lua, Result, Table, Value};

/// The field of an error that says that it was counted when a call failed.
pub(super) const COUNTED: &str = "ignore_error_stats_update";

/// A failed script.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error's text, which begins with its code.
    text: Vec<u8>,
    /// The chunk and the line of the script that failed.
    place: Option<(Vec<u8>, Vec<u8>)>,
    /// Whether it is the error of a call, which counts only once.
    pub(crate) is_counted: bool,
    /// Whether and why the script was told to end.
    pub(crate) stop: Option<Stop>,
}

/// The function that is called where an error was raised. It makes a table of the error: its text, the
/// chunk and the line.
///
/// # Errors
/// Out of memory.
pub(super) fn handler(lua: &Lua) -> Result<Function> {
    lua.create_function(|lua, problem: Value| {
        let thrown = match &problem {
            Value::Error(error) => raise::thrown(lua, error)?,
            _ => problem,
        };
        let table = match thrown {
            Value::Table(table) => table,
            other => {
                let text = match &other {
                    Value::String(text) => until_nul(&text.as_bytes()).to_vec(),
                    Value::Nil => b"nil".to_vec(),
                    other => other.to_string()?.into_bytes(),
                };
                let table = lua.create_table()?;
                let text = [b"ERR ", &text[..]].concat();
                table.raw_set("err", lua.create_string(text)?)?;
                table
            }
        };
        add_place(lua, &table)?;
        Ok(table)
    })
}

/// Adds the innermost place in a script to an error.
fn add_place(lua: &Lua, table: &Table) -> Result<()> {
    for level in 1.. {
        let place = lua.inspect_stack(level, |debug| {
            let source = debug.source().source?.into_owned();
            Some((source, debug.current_line()?))
        });
        match place {
            None => return Ok(()),
            Some(Some((source, line))) if source.starts_with("@user_") => {
                table.raw_set("source", source)?;
                return table.raw_set("line", line);
            }
            Some(_) => {}
        }
    }
    Ok(())
}

impl Failure {
    /// What the handler has made of an error.
    pub(super) fn new(lua: &Lua, problem: Value, stop: Option<Stop>) -> Self {
        let mut failure = Self {
            stop,
            ..Self::out_of_memory()
        };
        match problem {
            Value::Table(table) => failure.take_table(&table),
            // The handler is not called for want of memory, and its own errors are texts.
            other => {
                if let Some(text) = lua.coerce_string(other).ok().flatten() {
                    failure.text = [b"ERR ", &text.as_bytes()[..]].concat();
                }
            }
        }
        if let Some(stop) = stop {
            failure.text = stop.text().into();
        }
        failure
    }

    pub(super) fn unwritten(why: Unwritten) -> Self {
        let (text, stop) = match why {
            Unwritten::Stopped(stop) => (stop.text(), Some(stop)),
            Unwritten::TooLong => ("ERR the script's reply is too long", None),
        };
        Self {
            text: text.into(),
            stop,
            ..Self::out_of_memory()
        }
    }

    pub(crate) fn out_of_memory() -> Self {
        Self {
            text: b"ERR not enough memory".to_vec(),
            place: None,
            is_counted: false,
            stop: None,
        }
    }

    fn take_table(&mut self, table: &Table) {
        let field = |name: &str| match table.raw_get(name) {
            Ok(Value::String(text)) => Some(text.as_bytes().to_vec()),
            Ok(Value::Integer(number)) => Some(number.to_string().into_bytes()),
            Ok(Value::Number(number)) => Some(number.to_string().into_bytes()),
            _ => None,
        };
        let text = field("err").unwrap_or_else(|| b"ERR unknown error".to_vec());
        self.text = until_nul(&text).to_vec();
        self.is_counted = matches!(table.raw_get(COUNTED), Ok(Value::Boolean(true)));
        self.place = field("source").zip(field("line"));
    }

    /// What went wrong, without where.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text for the client: what went wrong, in which script, and where.
    pub(crate) fn message(&self, script: &str) -> Vec<u8> {
        let mut message = self.text.clone();
        if let Some((source, line)) = &self.place {
            let parts = [
                b" script: ",
                script.as_bytes(),
                b", on ",
                source,
                b":",
                line,
                b".",
            ];
            message.extend_from_slice(&parts.concat());
        }
        message
    }
}
