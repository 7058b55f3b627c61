//! Judges a call by the description of its command.

use super::Finding;
use super::calls::Call;
use super::names::Value;
use resp_codec::Span;
use respire_engine::{App, ArgList, CommandEntry, CommandTable, Flags, KeyFind, Spec};

/// Reports what is wrong with a call, and where.
pub(super) fn check<A: App>(
    table: &CommandTable<A>,
    call: &Call<'_>,
    no_writes: bool,
    found: &mut dyn FnMut(Finding, usize),
) {
    let mut error = |text: String| found(Finding::error(1, text), call.at);
    let entry = match find(table, call) {
        Some(Ok(entry)) => entry,
        Some(Err(text)) => return error(text),
        None => return,
    };
    let spec = entry.spec();
    let name = spec.name.replace('|', " ").to_ascii_uppercase();
    if !may_have(spec, call) {
        return error(format!("wrong number of arguments for '{name}'"));
    }
    if spec.flags.has(Flags::NOSCRIPT) {
        return error(format!("scripts may not call '{name}'"));
    }
    if no_writes && spec.flags.has(Flags::WRITE) {
        error(format!("'{name}' writes, but the flag no-writes is set"));
    }
    for (at, value) in keys(entry, call) {
        let text = match value {
            Value::Literal(key) => {
                format!("the key '{}' of '{name}'", String::from_utf8_lossy(key))
            }
            Value::Computed => format!("the key of '{name}' (argument {at}) is computed and"),
            Value::Argument => format!("the key of '{name}' (argument {at}) is from ARGV and"),
            Value::Key | Value::Caller | Value::Unknown => continue,
        };
        found(
            Finding::warning(1, format!("{text} is not passed by KEYS")),
            call.at,
        );
    }
}

/// The command of a call, if its name is in the text, or what is wrong with the name.
fn find<'t, A: App>(
    table: &'t CommandTable<A>,
    call: &Call<'_>,
) -> Option<Result<&'t CommandEntry<A>, String>> {
    let Value::Literal(name) = *call.args.first()? else {
        return None;
    };
    let shown = String::from_utf8_lossy(name);
    let Some(at) = table.find_name(name) else {
        return Some(Err(format!("this server has no command '{shown}'")));
    };
    let entry = table.entry(at);
    if !entry.is_container() || call.args.len() < 2 {
        return Some(Ok(entry));
    }
    let Value::Literal(subcommand) = call.args[1] else {
        return None;
    };
    let inner = table.find_subcommand(at, subcommand);
    Some(inner.map(|at| table.entry(at)).ok_or_else(|| {
        let subcommand = String::from_utf8_lossy(subcommand);
        format!("'{shown}' has no subcommand '{subcommand}'")
    }))
}

/// Whether a command may have the arguments of a call, of which the last may stand for any number.
fn may_have(spec: &Spec, call: &Call<'_>) -> bool {
    let count = call.args.len();
    let is_exact = spec.arity.number() > 0;
    match call.is_open {
        true => !is_exact || count as i64 - 1 <= spec.arity.number(),
        false => spec.arity.accepts(count),
    }
}

/// The keys of a call, as far as they are known, with their positions.
fn keys<'s, A: App>(entry: &CommandEntry<A>, call: &Call<'s>) -> Vec<(usize, Value<'s>)> {
    let spec = entry.spec();
    let is_before_end = |find: KeyFind| matches!(find, KeyFind::Range { last, .. } if last < -1);
    let is_unclear = call.is_open && spec.keys.iter().any(|keys| is_before_end(keys.find));
    if is_unclear || !spec.arity.accepts(call.args.len()) {
        return Vec::new();
    }
    let (mut bytes, mut spans) = (Vec::new(), Vec::new());
    for value in &call.args {
        let text = match value {
            Value::Literal(text) => text,
            // Not a number, and no word of any command.
            _ => &b"\0"[..],
        };
        spans.push(Span::new(bytes.len() as u32, text.len() as u32));
        bytes.extend_from_slice(text);
    }
    let mut keys = Vec::new();
    let request = ArgList::new(&bytes, b"", &spans);
    let listed = entry.command().keys(request, &mut |at| {
        keys.extend(call.args.get(at).map(|value| (at, *value)));
    });
    // If their number is not known, neither are they.
    if listed.is_err() {
        keys.clear();
    }
    keys
}
