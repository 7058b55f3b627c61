//! `EVAL`, `EVALSHA`, `EVAL_RO`, `EVALSHA_RO`: run a script.

use super::ScriptRow;
use crate::lua::Failure;
use crate::lua::caller::{Caller as _, Stop};
use crate::run::{Permits, ScriptCalls};
use crate::script::{Script, Sha};
use crate::scripts::Scripts;
use crate::thread::{self, Thread};
use mlua::Function;
use resp_codec::number;
use respire_engine::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, KeyFlag, KeySpec, Keyspace, Reply,
    Router, Spec, text,
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
    flags: FLAGS,
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
    let input = Input::parse(args)?;
    let thread = thread::of(scripts)?;
    let sha = Sha::of(&args[0]);
    let (script, function) = match thread.compiled(scripts, sha) {
        Some(compiled) => compiled,
        None => {
            let added = scripts.add(&args[0], false, cx.now(), |script| {
                thread.check(script).map(drop)
            });
            let script = added?;
            let function = thread.compile(&script)?;
            (script, function)
        }
    };
    Running {
        scripts,
        thread: &thread,
        script: &script,
        function: &function,
    }
    .run(cx, &input, is_read_only, reply)
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
    let input = Input::parse(args)?;
    let sha = Sha::parse(&args[0]).ok_or(NO_SCRIPT)?;
    let thread = thread::of(scripts)?;
    let (script, function) = match thread.compiled(scripts, sha) {
        Some(compiled) => compiled,
        None => {
            let script = scripts.get(sha).ok_or(NO_SCRIPT)?;
            let function = thread.compile(&script)?;
            (script, function)
        }
    };
    Running {
        scripts,
        thread: &thread,
        script: &script,
        function: &function,
    }
    .run(cx, &input, is_read_only, reply)
}

/// The keys and the arguments of a script.
struct Input<'a> {
    keys: Vec<&'a [u8]>,
    args: ArgList<'a>,
}

impl<'a> Input<'a> {
    /// Reads the number of keys, the keys and the arguments, which follow the script.
    fn parse(args: ArgList<'a>) -> Result<Self, Error> {
        let number = number::parse_i64(&args[1]).ok_or(text::NOT_AN_INTEGER)?;
        if number > args.len() as i64 - 2 {
            return Err(Error::fixed(
                "ERR Number of keys can't be greater than number of args",
            ));
        }
        let Ok(number) = usize::try_from(number) else {
            return Err(Error::fixed("ERR Number of keys can't be negative"));
        };
        Ok(Self {
            keys: args.skip(2).iter().take(number).collect(),
            args: args.skip(2 + number),
        })
    }
}

/// A script that is about to run.
struct Running<'r> {
    scripts: &'r Arc<Scripts>,
    thread: &'r Thread,
    script: &'r Script,
    function: &'r Function,
}

impl Running<'_> {
    fn run<A: App>(
        &self,
        cx: &mut Cx<'_, A>,
        input: &Input<'_>,
        is_read_only: bool,
        reply: &mut Reply<'_>,
    ) -> Result<(), Error> {
        self.script.use_at(cx.now().monotonic_us());
        // Inside `EXEC` room was made before its section began; evicting now would need others.
        let is_full = !cx.is_in_section() && A::Keys::make_room(cx.app(), cx.now()).is_err();
        let permits = Permits::new(self.script.flags, is_read_only, is_full)?;
        self.thread.state.limit_memory(self.scripts.bytes_max());
        let mut end = self.attempt(cx, input, permits, reply);
        if let End::Again = end {
            self.script.mark_widening();
            end = self.attempt(cx, input, permits, reply);
        }
        self.thread.tidy_up(self.scripts, self.script);
        match end {
            End::Replied => Ok(()),
            End::Again => Err(Error::fixed(
                "ERR the script's section could not be widened",
            )),
            End::Failed(error) => Err(error),
        }
    }

    /// Runs the script once.
    fn attempt<A: App>(
        &self,
        cx: &mut Cx<'_, A>,
        input: &Input<'_>,
        permits: Permits,
        reply: &mut Reply<'_>,
    ) -> End {
        let mut end = End::Replied;
        cx.section(&input.keys, self.script.widens(), &mut |calls| {
            let name = (&self.script.sha as &dyn std::fmt::Display, false);
            let mut calls = ScriptCalls::new(calls, self.scripts, name, permits);
            let inputs = (&input.keys[..], input.args);
            let answer = self.thread.state.run(self.function, inputs, &mut calls);
            end = match answer {
                Ok(answer) => match self.thread.state.write(&answer, calls.proto(), reply) {
                    Ok(()) => End::Replied,
                    Err(error) => End::Failed(Error::new("ERR", error)),
                },
                Err(failure) => self.failed(&failure, calls.is_repeatable()),
            };
        });
        end
    }

    fn failed(&self, failure: &Failure, is_repeatable: bool) -> End {
        if failure.stop == Some(Stop::Undeclared) && is_repeatable && !self.script.widens() {
            return End::Again;
        }
        if failure.stop == Some(Stop::Undeclared) {
            self.script.mark_widening();
        }
        End::Failed(Error::owned(failure.message(&self.script.sha.to_string())))
    }
}

/// How one attempt to run a script ended.
enum End {
    Replied,
    /// It used a key that it had not declared, before it changed anything.
    Again,
    Failed(Error),
}
