//! Compiles a script, or loads a library, as the server does it.

use super::Finding;
use super::bytecode::Prototype;
use crate::library::{self, Loading, Stopwatch};
use crate::limits::{BYTES_MAX, LOAD_LIMIT_MS};
use crate::lua::State;
use crate::script::{Script, Sha};

/// A script or library without mistakes of grammar.
pub(super) struct Compiled<'t> {
    /// What Lua compiles: the text without what stands on its first line, if that is a header.
    pub(super) code: &'t [u8],
    pub(super) is_library: bool,
    /// Whether commands that write are refused.
    pub(super) no_writes: bool,
    pub(super) main: Prototype,
    pub(super) state: State,
}

/// Compiles a text.
///
/// # Errors
/// The first mistake.
pub(super) fn compile(text: &[u8]) -> Result<Compiled<'_>, Finding> {
    let state = State::new().map_err(|error| Finding::error(1, error.to_string()))?;
    state.limit_memory(BYTES_MAX as usize);
    match is_library(text) {
        true => library(state, text),
        false => script(state, text),
    }
}

/// Whether the first line has a name, as only libraries do.
fn is_library(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.starts_with(b"#!")
        && line
            .windows(5)
            .any(|part| part.eq_ignore_ascii_case(b"name="))
}

fn script(state: State, text: &[u8]) -> Result<Compiled<'_>, Finding> {
    let script = Script::new(Sha::of(text), text).map_err(|error| Finding::error(1, error))?;
    let code = &text[text.len() - script.code().len()..];
    let main = prototype(&state, code)?;
    Ok(Compiled {
        code,
        is_library: false,
        no_writes: script.flags.is_some_and(|flags| flags.no_writes),
        main,
        state,
    })
}

fn library(state: State, text: &[u8]) -> Result<Compiled<'_>, Finding> {
    let stopwatch = Stopwatch::default();
    let mut loading = Loading::new(&stopwatch, LOAD_LIMIT_MS, false);
    let loaded = library::load(&state, text, &mut loading, |_| false);
    let (library, registered) = loaded.map_err(|error| at_its_line(error.text()))?;
    let code = &text[library.code_at()..];
    let main = prototype(&state, code)?;
    Ok(Compiled {
        code,
        is_library: true,
        // It is not known which function makes a call.
        no_writes: registered.iter().all(|one| one.flags.no_writes),
        main,
        state,
    })
}

fn prototype(state: &State, code: &[u8]) -> Result<Prototype, Finding> {
    let function = state.compile(code).map_err(|text| at_its_line(&text))?;
    Prototype::read(&function.dump(false))
        .ok_or_else(|| Finding::error(1, "the compiled code cannot be read"))
}

/// A message of the compiler, or of a library that was loaded, at the line that it names.
fn at_its_line(message: &[u8]) -> Finding {
    let text = String::from_utf8_lossy(message);
    let text = text.strip_prefix("ERR ").unwrap_or(&text);
    for place in ["user_script:", "user_function:"] {
        let Some((before, behind)) = text.split_once(place) else {
            continue;
        };
        let Some((line, rest)) = behind.split_once(':') else {
            continue;
        };
        if let Ok(line) = line.trim().parse() {
            let what = before.trim_end_matches('@');
            return Finding::error(line, format!("{what}{}", rest.trim_start()));
        }
    }
    Finding::error(1, text)
}
