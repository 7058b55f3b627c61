//! Why a script failed, and the error that its client gets.

use super::caller::Stop;
use super::lib::raise;
use mlua::{Error, Lua, Value};

/// A failed script.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error's text, which begins with its code.
    text: Vec<u8>,
    /// The chunk and the line of the script that failed.
    place: Option<(String, String)>,
    /// Whether the error is counted already, as that of a command.
    pub(crate) is_counted: bool,
    /// Whether and why the script was told to end.
    pub(crate) stop: Option<Stop>,
}

impl Failure {
    pub(super) fn new(lua: &Lua, error: &Error, stop: Option<Stop>) -> Self {
        let mut failure = Self {
            text: Vec::new(),
            place: place_of(error),
            is_counted: false,
            stop,
        };
        if let Some(stop) = stop {
            failure.text = stop.text().into();
            return failure;
        }
        match raise::thrown(lua, error) {
            Ok(Value::Table(table)) => failure.take_table(&table),
            Ok(Value::String(text)) => {
                let text = text.as_bytes();
                failure.text = [b"ERR ", without_trace(&text)].concat();
            }
            Ok(Value::Nil) => failure.text = b"ERR nil".to_vec(),
            Ok(other) => {
                let text = lua.coerce_string(other).ok().flatten();
                let text = text.map_or_else(Vec::new, |text| text.as_bytes().to_vec());
                failure.text = [b"ERR ", &text[..]].concat();
            }
            Err(_) => failure.text = b"ERR not enough memory".to_vec(),
        }
        failure
    }

    fn take_table(&mut self, table: &mlua::Table) {
        let field = |name: &str| match table.raw_get(name) {
            Ok(Value::String(text)) => Some(text.as_bytes().to_vec()),
            Ok(Value::Integer(number)) => Some(number.to_string().into_bytes()),
            Ok(Value::Number(number)) => Some(number.to_string().into_bytes()),
            _ => None,
        };
        self.text = field("err").unwrap_or_else(|| b"ERR unknown error".to_vec());
        if let (Some(source), Some(line)) = (field("source"), field("line")) {
            let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
            self.place = Some((text(source), text(line)));
        }
        self.is_counted = matches!(
            table.raw_get("ignore_error_stats_update"),
            Ok(Value::Boolean(true))
        );
    }

    /// The text for the client: what went wrong, in which script, and where.
    pub(crate) fn message(&self, script: &str) -> Vec<u8> {
        let mut message = self.text.clone();
        if let Some((source, line)) = &self.place {
            let place = format!(" script: {script}, on {source}:{line}.");
            message.extend_from_slice(place.as_bytes());
        }
        message
    }
}

const TRACE: &str = "\nstack traceback:\n";

/// A message without the trace of the stack that `mlua` appends.
fn without_trace(text: &[u8]) -> &[u8] {
    let trace = TRACE.as_bytes();
    let at = text.windows(trace.len()).rposition(|part| part == trace);
    &text[..at.unwrap_or(text.len())]
}

/// The innermost place of a script in the trace of an error.
fn place_of(error: &Error) -> Option<(String, String)> {
    let trace = match error {
        Error::CallbackError { traceback, .. } => traceback.as_str(),
        Error::RuntimeError(text) => &text[text.rfind(TRACE)?..],
        _ => return None,
    };
    trace.lines().find_map(|frame| {
        let frame = frame.trim_start();
        let (source, rest) = frame.split_once(':')?;
        let (line, _) = rest.split_once(':')?;
        let is_script =
            source.starts_with("user_") && line.bytes().all(|byte| byte.is_ascii_digit());
        is_script.then(|| (format!("@{source}"), line.to_owned()))
    })
}
