//! `FUNCTION`: loads, lists, moves and removes libraries of functions.

mod delete;
mod help;
mod list;
mod load;
mod payload;
mod stats;

use super::{Run, ScriptRow};
use crate::scripts::Scripts;
use respire_engine::{App, Arity, Command, Error, Group, Router, Spec, text};
use std::sync::Arc;

pub(super) fn add_to<A: App>(router: Router<A>, scripts: &Arc<Scripts>) -> Router<A> {
    let row = |spec, run: Run<A>| {
        let scripts = Arc::clone(scripts);
        Box::new(ScriptRow { spec, scripts, run }) as Box<dyn Command<A>>
    };
    let container = ScriptRow {
        spec: &FUNCTION,
        scripts: Arc::clone(scripts),
        run: |_, cx, _, _| Err(text::unknown_subcommand("function", &cx.request()[1])),
    };
    router.container(
        container,
        [
            row(&load::SPEC, load::run),
            row(&list::SPEC, list::run),
            row(&delete::DELETE, delete::delete),
            row(&delete::FLUSH, delete::flush),
            row(&payload::DUMP, payload::dump),
            row(&payload::RESTORE, payload::restore),
            row(&stats::STATS, stats::stats),
            row(&stats::KILL, stats::kill),
            row(&help::SPEC, help::run),
        ],
    )
}

static FUNCTION: Spec = Spec {
    name: "function",
    summary: "A container for function commands",
    since: "7.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Scripting,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

/// The tips of the subcommands that change libraries.
const CHANGE_TIPS: &[&str] = &["request_policy:all_shards", "response_policy:all_succeeded"];

/// The library of the examples.
const EXAMPLE: (&str, &str) = (
    "FUNCTION LOAD REPLACE \"#!lua name=examples\\nredis.register_function('one', function() \
     return 1 end)\"",
    "$8\r\nexamples\r\n",
);

/// Removes the library of the examples.
const EXAMPLE_END: (&str, &str) = ("FUNCTION DELETE examples", "+OK\r\n");

/// The error for too many arguments.
fn wrong_syntax(subcommand: &[u8]) -> Error {
    let subcommand = String::from_utf8_lossy(subcommand);
    let text = format!(
        "unknown subcommand or wrong number of arguments for '{subcommand}'. Try FUNCTION HELP."
    );
    Error::new("ERR", text)
}
