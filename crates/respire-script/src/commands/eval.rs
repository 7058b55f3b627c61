//! `EVAL`, `EVALSHA`, `EVAL_RO`, `EVALSHA_RO`: run a script.

use super::ScriptRow;
use super::invoke::{Input, Invocation};
use crate::script::{Script, Sha};
use crate::scripts::Scripts;
use crate::thread::{self, Compiled, Thread};
use respire_engine::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, KeyFlag, KeySpec, Reply, Router,
    Spec, text,
};
use std::sync::Arc;

pub(super) fn add_to<A: App>(router: Router<A>, scripts: &Arc<Scripts>) -> Router<A> {
    let row = |spec, run| ScriptRow {
        spec,
        scripts: Arc::clone(scripts),
        run,
    };
    router
        .add(row(&EVAL, |scripts, cx, args, reply| {
            eval(scripts, cx, args, reply, false)
        }))
        .add(row(&EVAL_RO, |scripts, cx, args, reply| {
            eval(scripts, cx, args, reply, true)
        }))
        .add(row(&EVALSHA, |scripts, cx, args, reply| {
            evalsha(scripts, cx, args, reply, false)
        }))
        .add(row(&EVALSHA_RO, |scripts, cx, args, reply| {
            evalsha(scripts, cx, args, reply, true)
        }))
}

const FLAGS: Flags = Flags::NOSCRIPT
    .with(Flags::STALE)
    .with(Flags::SKIP_MONITOR)
    .with(Flags::NO_MANDATORY_KEYS)
    .with(Flags::MOVABLE_KEYS)
    .with(Flags::SCRIPT);

const UPDATES: KeySpec = KeySpec::counted(2)
    .update()
    .notes("We cannot tell how the keys will be used so we assume the worst, RW and UPDATE");

const READS: KeySpec = KeySpec::counted(2)
    .flags(&[KeyFlag::Ro, KeyFlag::Access])
    .notes("We cannot tell how the keys will be used so we assume the worst, RO and ACCESS");

const NUMBER: Arg = Arg::new("numkeys", ArgKind::Integer);
const KEYS: Arg = Arg::key("key", 0).optional().multiple();
const ARGS: Arg = Arg::new("arg", ArgKind::String).optional().multiple();
const SCRIPT: Arg = Arg::new("script", ArgKind::String);
const SHA: Arg = Arg::new("sha1", ArgKind::String);

static EVAL: Spec = Spec {
    name: "eval",
    summary: "Execute a Lua script server side",
    since: "2.6.0",
    complexity: "Depends on the script that is executed.",
    group: Group::Scripting,
    arity: Arity::at_least(3),
    flags: FLAGS.with(Flags::MAY_WRITE),
    keys: &[UPDATES],
    args: &[SCRIPT, NUMBER, KEYS, ARGS],
    examples: &[(
        "EVAL \"redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])\" 1 k v",
        "$1\r\nv\r\n",
    )],
    ..Spec::EMPTY
};

static EVAL_RO: Spec = Spec {
    name: "eval_ro",
    summary: "Execute a read-only Lua script server side",
    since: "7.0.0",
    flags: FLAGS.with(Flags::READONLY),
    keys: &[READS],
    args: &[SCRIPT, NUMBER, KEYS.multiple(), ARGS],
    examples: &[(
        "EVAL_RO \"return redis.call('GET', KEYS[1])\" 1 k",
        "$-1\r\n",
    )],
    ..EVAL
};

static EVALSHA: Spec = Spec {
    name: "evalsha",
    keys: &[KeySpec::counted(2).update()],
    args: &[SHA, NUMBER, KEYS, ARGS],
    examples: &[
        (
            "SCRIPT LOAD \"return ARGV[1]\"",
            "$40\r\n098e0f0d1448c0a81dafe820f66d460eb09263da\r\n",
        ),
        (
            "EVALSHA 098e0f0d1448c0a81dafe820f66d460eb09263da 0 a",
            "$1\r\na\r\n",
        ),
    ],
    ..EVAL
};

static EVALSHA_RO: Spec = Spec {
    name: "evalsha_ro",
    keys: &[KeySpec::counted(2).flags(&[KeyFlag::Ro, KeyFlag::Access])],
    args: &[SHA, NUMBER, KEYS, ARGS],
    examples: &[
        (
            "SCRIPT LOAD \"return ARGV[1]\"",
            "$40\r\n098e0f0d1448c0a81dafe820f66d460eb09263da\r\n",
        ),
        (
            "EVALSHA_RO 098e0f0d1448c0a81dafe820f66d460eb09263da 0 a",
            "$1\r\na\r\n",
        ),
    ],
    ..EVAL_RO
};

const NO_SCRIPT: Error = Error::fixed("NOSCRIPT No matching script. Please use EVAL.");

fn eval<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    is_read_only: bool,
) -> Result<(), Error> {
    let input = Input::parse(args, text::NOT_AN_INTEGER)?;
    let thread = thread::of(scripts)?;
    let sha = Sha::of(&args[0]);
    let compiled = match thread.compiled(scripts, sha) {
        Some(compiled) => compiled,
        None => {
            let added = scripts.add(&args[0], false, cx.now(), |script| {
                thread.check(script).map(drop)
            });
            thread.compile(added?)?
        }
    };
    invocation(scripts, &thread, &compiled).run(cx, &input, is_read_only, reply)
}

fn evalsha<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    is_read_only: bool,
) -> Result<(), Error> {
    if args[0].len() != Sha::DIGITS {
        return Err(NO_SCRIPT);
    }
    let input = Input::parse(args, text::NOT_AN_INTEGER)?;
    let thread = thread::of(scripts)?;
    let compiled = thread.named(scripts, &args[0])?.ok_or(NO_SCRIPT)?;
    invocation(scripts, &thread, &compiled).run(cx, &input, is_read_only, reply)
}

fn invocation<'r>(
    scripts: &'r Scripts,
    thread: &'r Thread,
    compiled: &'r Compiled,
) -> Invocation<'r, Script> {
    Invocation {
        scripts,
        thread,
        subject: &compiled.script,
        function: &compiled.function,
    }
}
