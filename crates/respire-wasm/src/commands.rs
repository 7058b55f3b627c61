//! The command table, in the form that completion and help on the page use.

use crate::engine::commands;
use respire_engine::{Arg, ArgKind, KeyBegin, KeyFind, Spec};
use serde::Serialize;

/// A command or subcommand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct CommandInfo {
    /// Its name in upper case; a subcommand's name follows its container's: `CLIENT LIST`.
    pub name: String,
    /// The family it belongs to.
    pub group: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its syntax: `SET key value [NX | XX]`.
    pub syntax: String,
    /// The number of words, including the name; if negative, at least that many.
    pub arity: i32,
    /// The Redis version that introduced it.
    pub since: &'static str,
    /// Its complexity.
    pub complexity: &'static str,
    /// Its flags, as Redis names them.
    pub flags: Vec<&'static str>,
    /// The position of the first key, of the last key, and the step between keys; 0 without keys.
    pub keys: [i32; 3],
    /// An example line.
    pub example: Option<&'static str>,
    /// The grammar of its arguments.
    pub args: Vec<ArgInfo>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct ArgInfo {
    /// Its name.
    pub name: &'static str,
    /// Its type: `key`, `string`, `integer`, `pure-token`, `oneof`, `block` and the like.
    pub kind: &'static str,
    /// The word before it, or the word that it consists of.
    pub token: Option<&'static str>,
    /// Whether it is optional.
    pub optional: bool,
    /// Whether it may be repeated.
    pub multiple: bool,
    /// The choices of a `oneof`, the parts of a `block`.
    pub parts: Vec<ArgInfo>,
}

/// All commands and subcommands, by name.
///
/// ```
/// let table = respire_wasm::command_table();
/// let get = table.iter().find(|command| command.name == "GET").unwrap();
/// assert_eq!(get.syntax, "GET key");
/// ```
#[must_use]
pub fn command_table() -> Vec<CommandInfo> {
    let mut table: Vec<_> = commands().all().map(|entry| info(entry.spec())).collect();
    table.sort_by(|a, b| a.name.cmp(&b.name));
    table
}

fn info(spec: &Spec) -> CommandInfo {
    let name = spec.name.replace('|', " ").to_ascii_uppercase();
    CommandInfo {
        syntax: syntax(&name, spec.args),
        name,
        group: spec.group.name(),
        summary: spec.summary,
        arity: spec.arity.number() as i32,
        since: spec.since,
        complexity: spec.complexity,
        flags: spec.flags.names().collect(),
        keys: keys(spec),
        example: spec.examples.first().map(|(line, _)| *line),
        args: spec.args.iter().map(arg_info).collect(),
    }
}

fn arg_info(arg: &Arg) -> ArgInfo {
    ArgInfo {
        name: arg.name,
        kind: arg.kind.name(),
        token: arg.token,
        optional: arg.optional,
        multiple: arg.multiple,
        parts: arg.parts.iter().map(arg_info).collect(),
    }
}

fn keys(spec: &Spec) -> [i32; 3] {
    let first = spec.keys.first();
    let place = first.and_then(|keys| match (keys.begin, keys.find) {
        (KeyBegin::Index(first), KeyFind::Range { last, step, .. }) => {
            let last = if last >= 0 { first + last } else { last };
            Some([first.into(), last.into(), step.into()])
        }
        _ => None,
    });
    place.unwrap_or([0; 3])
}

/// The syntax of a command.
fn syntax(name: &str, args: &[Arg]) -> String {
    let mut text = name.to_owned();
    for arg in args {
        text.push(' ');
        text.push_str(&grammar(arg));
    }
    text
}

/// The syntax of one argument: optional in brackets, repeated with dots.
fn grammar(arg: &Arg) -> String {
    let inner = match arg.kind {
        ArgKind::PureToken => arg.token.unwrap_or(arg.name).to_owned(),
        ArgKind::OneOf => parts(arg, " | "),
        ArgKind::Block => parts(arg, " "),
        _ => arg.name.to_owned(),
    };
    let token = match arg.kind {
        ArgKind::PureToken => None,
        _ => arg.token,
    };
    // An empty token is not shown: the argument is written alone.
    let token = token.filter(|token| !token.is_empty());
    let one = match token {
        Some(token) => format!("{token} {inner}"),
        None => inner.clone(),
    };
    let all = match (arg.multiple, arg.multiple_token) {
        (true, true) => format!("{one} [{one} ...]"),
        (true, false) => format!("{one} [{inner} ...]"),
        (false, _) => one,
    };
    match (arg.optional, arg.kind) {
        (true, _) => format!("[{all}]"),
        (false, ArgKind::OneOf) => format!("<{all}>"),
        (false, _) => all,
    }
}

fn parts(arg: &Arg, between: &str) -> String {
    let parts: Vec<String> = arg.parts.iter().map(grammar).collect();
    parts.join(between)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(name: &str) -> CommandInfo {
        let mut table = command_table().into_iter();
        table
            .find(|command| command.name == name)
            .expect("the command exists")
    }

    #[test]
    fn syntax_matches_the_documents() {
        assert_eq!(find("MSET").syntax, "MSET key value [key value ...]");
        let set = find("SET").syntax;
        assert!(set.starts_with("SET key value [NX | XX"), "{set}");
        assert!(set.contains("[EX seconds | PX milliseconds"), "{set}");
    }

    #[test]
    fn table_has_keys_and_subcommands() {
        assert_eq!(find("MGET").keys, [1, -1, 1]);
        assert_eq!(find("SWAPDB").keys, [0, 0, 0]);
        assert_eq!(find("CLIENT LIST").group, "connection");
        assert!(find("GET").example.is_some());
    }
}
