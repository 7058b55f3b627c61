//! `SCRIPT`: loads, lists, forgets and kills scripts.

use super::ScriptRow;
use crate::run::BUSY_FUNCTION;
use crate::script::Sha;
use crate::scripts::Scripts;
use crate::thread;
use respire_engine::{
    App, Arg, ArgKind, ArgList, Arity, Command, Cx, Error, Flags, Group, Reply, Router, Spec, text,
};
use std::sync::Arc;

pub(super) fn add_to<A: App>(router: Router<A>, scripts: &Arc<Scripts>) -> Router<A> {
    let row = |spec, run| {
        let scripts = Arc::clone(scripts);
        Box::new(ScriptRow { spec, scripts, run }) as Box<dyn Command<A>>
    };
    let container = ScriptRow {
        spec: &SCRIPT,
        scripts: Arc::clone(scripts),
        run: |_, cx, _, _| Err(text::unknown_subcommand("script", &cx.request()[1])),
    };
    router.container(
        container,
        [
            row(&LOAD, load),
            row(&EXISTS, exists),
            row(&FLUSH, flush),
            row(&KILL, kill),
            row(&DEBUG, debug),
            row(&HELP, help),
        ],
    )
}

static SCRIPT: Spec = Spec {
    name: "script",
    summary: "A container for Lua scripts management commands",
    since: "2.6.0",
    complexity: "Depends on subcommand.",
    group: Group::Scripting,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

static LOAD: Spec = Spec {
    name: "script|load",
    summary: "Load the specified Lua script into the script cache.",
    complexity: "O(N) with N being the length in bytes of the script body.",
    arity: Arity::exactly(3),
    flags: Flags::NOSCRIPT.with(Flags::STALE),
    args: &[Arg::new("script", ArgKind::String)],
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    examples: &[(
        "SCRIPT LOAD \"return 1\"",
        "$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n",
    )],
    ..SCRIPT
};

static EXISTS: Spec = Spec {
    name: "script|exists",
    summary: "Check existence of scripts in the script cache.",
    complexity: "O(N) with N being the number of scripts to check (so checking a single script is \
                 an O(1) operation).",
    arity: Arity::at_least(3),
    flags: Flags::NOSCRIPT,
    args: &[Arg::new("sha1", ArgKind::String).multiple()],
    tips: &[
        "request_policy:all_shards",
        "response_policy:agg_logical_and",
    ],
    examples: &[
        ("SCRIPT LOAD \"return 1\"", LOADED),
        (
            "SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db other",
            "*2\r\n:1\r\n:0\r\n",
        ),
    ],
    ..SCRIPT
};

const LOADED: &str = "$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n";

static FLUSH: Spec = Spec {
    name: "script|flush",
    summary: "Remove all the scripts from the script cache.",
    complexity: "O(N) with N being the number of scripts in cache",
    flags: Flags::NOSCRIPT,
    args: &[Arg::one_of(
        "async",
        &[Arg::word("async", "ASYNC"), Arg::word("sync", "SYNC")],
    )
    .optional()
    .since("6.2.0")],
    tips: &["request_policy:all_nodes", "response_policy:all_succeeded"],
    history: &[(
        "6.2.0",
        "Added the `ASYNC` and `SYNC` flushing mode modifiers.",
    )],
    examples: &[("SCRIPT FLUSH", "+OK\r\n")],
    ..SCRIPT
};

static KILL: Spec = Spec {
    name: "script|kill",
    summary: "Kill the script currently in execution.",
    complexity: "O(1)",
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT.with(Flags::ALLOW_BUSY),
    tips: &["request_policy:all_shards", "response_policy:one_succeeded"],
    examples: &[(
        "SCRIPT KILL",
        "-NOTBUSY No scripts in execution right now.\r\n",
    )],
    ..SCRIPT
};

static DEBUG: Spec = Spec {
    name: "script|debug",
    summary: "Set the debug mode for executed scripts.",
    since: "3.2.0",
    complexity: "O(1)",
    arity: Arity::exactly(3),
    flags: Flags::NOSCRIPT,
    args: &[Arg::one_of(
        "mode",
        &[
            Arg::word("yes", "YES"),
            Arg::word("sync", "SYNC"),
            Arg::word("no", "NO"),
        ],
    )],
    examples: &[("SCRIPT DEBUG NO", "+OK\r\n")],
    ..SCRIPT
};

static HELP: Spec = Spec {
    name: "script|help",
    summary: "Show helpful text about the different subcommands",
    since: "5.0.0",
    complexity: "O(1)",
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    ..SCRIPT
};

fn load<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let thread = thread::of(scripts)?;
    let script = scripts.add(&args[0], true, cx.now(), |script| {
        thread.check(script).map(drop)
    })?;
    thread.note_bytes(scripts);
    reply.bulk(script.sha.to_string());
    Ok(())
}

fn exists<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.array(args.len());
    for name in args.iter() {
        let script = Sha::parse(name).and_then(|sha| scripts.get(sha));
        reply.int(i64::from(script.is_some()));
    }
    Ok(())
}

fn flush<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is_mode =
        |word: &[u8]| word.eq_ignore_ascii_case(b"async") || word.eq_ignore_ascii_case(b"sync");
    if args.len() > 1 || args.get(0).is_some_and(|word| !is_mode(word)) {
        return Err(Error::fixed(
            "ERR SCRIPT FLUSH only support SYNC|ASYNC option",
        ));
    }
    scripts.flush();
    reply.ok();
    Ok(())
}

fn kill<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    scripts.running.kill(false).into_reply(BUSY_FUNCTION)?;
    reply.ok();
    Ok(())
}

/// There is no debugger to be turned on.
fn debug<A: App>(
    _: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let is = |word: &[u8]| args[0].eq_ignore_ascii_case(word);
    if is(b"no") {
        reply.ok();
        Ok(())
    } else if is(b"yes") || is(b"sync") {
        Err(Error::fixed("ERR SCRIPT DEBUG is not supported"))
    } else {
        Err(Error::fixed("ERR Use SCRIPT DEBUG YES/SYNC/NO"))
    }
}

fn help<A: App>(
    _: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.array(HELP_LINES.len());
    HELP_LINES.iter().for_each(|line| reply.simple(line));
    Ok(())
}

const HELP_LINES: &[&str] = &[
    "SCRIPT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "DEBUG (YES|SYNC|NO)",
    "    Set the debug mode for subsequent scripts executed.",
    "EXISTS <sha1> [<sha1> ...]",
    "    Return information about the existence of the scripts in the script cache.",
    "FLUSH [ASYNC|SYNC]",
    "    Flush the Lua scripts cache. Very dangerous on replicas.",
    "    When called without the optional mode argument, the behavior is determined by the",
    "    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
    "    * ASYNC: Asynchronously flush the scripts cache.",
    "    * SYNC: Synchronously flush the scripts cache.",
    "KILL",
    "    Kill the currently executing Lua script.",
    "LOAD <script>",
    "    Load a script into the scripts cache without executing it.",
    "HELP",
    "    Prints this help.",
];

#[cfg(test)]
mod tests {
    use crate::commands::testing::client;
    use respire_engine::TestClient;

    fn state_bytes(client: &mut TestClient<()>) -> u64 {
        let reply = client.call("INFO memory");
        let text = String::from_utf8_lossy(reply.raw()).into_owned();
        let mut lines = text.lines();
        let line = lines.find_map(|line| line.strip_prefix("used_memory_lua:"));
        line.and_then(|bytes| bytes.parse().ok()).expect("a field")
    }

    #[test]
    fn flush_gives_back_the_memory_of_compiled_scripts() {
        let mut client = client();
        assert_eq!(client.call("EVAL \"return 1\" 0"), 1);
        let before = state_bytes(&mut client);
        for number in 0..300 {
            let body = format!("local t = {{ {} }} return {number}", "'x', ".repeat(100));
            assert_eq!(client.call(["EVAL", &body, "0"]), number);
        }
        let full = state_bytes(&mut client);
        assert!(full > 4 * before, "{before} {full}");
        assert_eq!(client.call("SCRIPT FLUSH"), "OK");
        assert_eq!(client.call("EVAL \"return 1\" 0"), 1);
        let after = state_bytes(&mut client);
        assert!(after < 2 * before, "{before} {after}");
    }
}
