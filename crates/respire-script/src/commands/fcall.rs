//! `FCALL`, `FCALL_RO`: run a function of a library.

use super::ScriptRow;
use super::invoke::{Input, Invocation};
use crate::scripts::Scripts;
use crate::thread;
use respire_engine::{
    App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Group, KeyFlag, KeySpec, Reply, Router,
    Spec,
};
use std::sync::Arc;

pub(super) fn add_to<A: App>(router: Router<A>, scripts: &Arc<Scripts>) -> Router<A> {
    let row = |spec, run| ScriptRow {
        spec,
        scripts: Arc::clone(scripts),
        run,
    };
    router
        .add(row(&FCALL, |scripts, cx, args, reply| {
            fcall(scripts, cx, args, reply, false)
        }))
        .add(row(&FCALL_RO, |scripts, cx, args, reply| {
            fcall(scripts, cx, args, reply, true)
        }))
}

const FLAGS: Flags = Flags::NOSCRIPT
    .with(Flags::STALE)
    .with(Flags::SKIP_MONITOR)
    .with(Flags::NO_MANDATORY_KEYS)
    .with(Flags::MOVABLE_KEYS)
    .with(Flags::SCRIPT);

static FCALL: Spec = Spec {
    name: "fcall",
    summary: "Invoke a function",
    since: "7.0.0",
    complexity: "Depends on the function that is executed.",
    group: Group::Scripting,
    arity: Arity::at_least(3),
    flags: FLAGS.with(Flags::MAY_WRITE),
    keys: &[KeySpec::counted(2)
        .update()
        .notes("We cannot tell how the keys will be used so we assume the worst, RW and UPDATE")],
    args: &[
        Arg::new("function", ArgKind::String),
        Arg::new("numkeys", ArgKind::Integer),
        Arg::key("key", 0).optional().multiple(),
        Arg::new("arg", ArgKind::String).optional().multiple(),
    ],
    examples: &[
        (
            "FUNCTION LOAD REPLACE \"#!lua name=examples\\nredis.register_function('first_key', \
             function(keys, args) return keys[1] end)\"",
            "$8\r\nexamples\r\n",
        ),
        ("FCALL first_key 1 k", "$1\r\nk\r\n"),
        ("FUNCTION DELETE examples", "+OK\r\n"),
    ],
    ..Spec::EMPTY
};

static FCALL_RO: Spec = Spec {
    name: "fcall_ro",
    summary: "Invoke a read-only function",
    flags: FLAGS.with(Flags::READONLY),
    keys: &[KeySpec::counted(2)
        .flags(&[KeyFlag::Ro, KeyFlag::Access])
        .notes("We cannot tell how the keys will be used so we assume the worst, RO and ACCESS")],
    examples: &[
        (
            "FUNCTION LOAD REPLACE \"#!lua name=examples\\nredis.register_function{function_name=\
             'first_key', callback=function(keys) return keys[1] end, flags={'no-writes'}}\"",
            "$8\r\nexamples\r\n",
        ),
        ("FCALL_RO first_key 1 k", "$1\r\nk\r\n"),
        ("FUNCTION DELETE examples", "+OK\r\n"),
    ],
    ..FCALL
};

fn fcall<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
    is_read_only: bool,
) -> Result<(), Error> {
    let thread = thread::of(scripts)?;
    let host = cx.engine().host();
    let prepared = thread
        .libraries
        .find(&scripts.libraries, &thread.state, &args[0], host)?;
    let input = Input::parse(args, Error::fixed("ERR Bad number of keys provided"))?;
    Invocation {
        scripts,
        thread: &thread,
        subject: &*prepared.info,
        function: &prepared.callback,
    }
    .run(cx, &input, is_read_only, reply)
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client, load};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicI64, Ordering};

    #[test]
    fn function_gets_its_keys_and_arguments_as_parameters() {
        let mut client = client();
        load(
            &mut client,
            "redis.register_function('f', function(k, a) return {#k, #a, k[1], a[1]} end)",
        );
        let raw = client.call("FCALL f 1 key arg").raw().to_vec();
        assert_eq!(raw, b"*4\r\n:1\r\n:1\r\n$3\r\nkey\r\n$3\r\narg\r\n");
        assert_eq!(client.call("FCALL F 0 arg").at(1), 1);
    }

    #[test]
    fn wrong_calls_are_refused() {
        let mut client = client();
        load(&mut client, "redis.register_function('f', function() end)");
        for (request, error) in [
            ("FCALL g 0", "ERR Function not found"),
            ("FCALL g x", "ERR Function not found"),
            ("FCALL f x", "ERR Bad number of keys provided"),
            ("FCALL f -1", "ERR Number of keys can't be negative"),
            (
                "FCALL f 1",
                "ERR Number of keys can't be greater than number of args",
            ),
            (
                "FCALL_RO f 0",
                "ERR Can not execute a script with write flag using *_ro command.",
            ),
            (
                "EVAL \"return redis.call('FCALL', 'f', 0)\" 0",
                "ERR This Redis command is not allowed from script",
            ),
        ] {
            let reply = client.call(request);
            assert!(reply.error().starts_with(error), "{request}: {reply:?}");
        }
    }

    #[test]
    fn error_names_the_function_and_the_line() {
        let mut client = client();
        load(
            &mut client,
            "local register = redis.register_function
             register('calls', function() return redis.call('nosuch') end)
             register('raises', function() error('boom') end)
             register('keys', function() return KEYS end)
             register('writes', function() x = 1 end)
             register('late', function() register('g', function() end) end)
             register('missing', function() return redis.register_function end)
             register('replies', function() return redis.error_reply('My own') end)",
        );
        for (function, error) in [
            (
                "calls",
                "ERR Unknown Redis command called from script script: calls, on @user_function:3.",
            ),
            (
                "raises",
                "ERR user_function:4: boom script: raises, on @user_function:4.",
            ),
            (
                "keys",
                "ERR user_function:5: Script attempted to access nonexistent global variable \
                 'KEYS' script: keys, on @user_function:5.",
            ),
            (
                "writes",
                "ERR user_function:6: Attempt to modify a readonly table script: writes, on \
                 @user_function:6.",
            ),
            (
                "late",
                "ERR redis.register_function can only be called on FUNCTION LOAD command script: \
                 late, on @user_function:7.",
            ),
            ("replies", "My own"),
        ] {
            let reply = client.call(["FCALL", function, "0"]);
            assert_eq!(reply.error(), error);
        }
        assert_eq!(client.call("FCALL missing 0").raw(), b"$-1\r\n");
    }

    #[test]
    fn read_only_function_may_not_write() {
        let mut client = client();
        load(
            &mut client,
            "redis.register_function{function_name = 'f', flags = {'no-writes'},
                callback = function(keys) return redis.call('PUT', keys[1]) end}",
        );
        for command in ["FCALL", "FCALL_RO"] {
            let error = "ERR Write commands are not allowed from read-only scripts. script: f, on \
                         @user_function:3.";
            assert_eq!(client.call([command, "f", "1", "k"]).error(), error);
        }
    }

    #[test]
    fn library_keeps_its_variables_until_it_is_replaced() {
        let mut client = client();
        let counter = "local n = 0
            redis.register_function('count', function() n = n + 1 return n end)";
        load(&mut client, counter);
        assert_eq!(client.call("FCALL count 0"), 1);
        let other = "#!lua name=other\nredis.register_function('o', function() return 1 end)";
        client.call(["FUNCTION", "LOAD", other]);
        assert_eq!(client.call("FCALL count 0"), 2);
        load(&mut client, counter);
        assert_eq!(client.call("FCALL count 0"), 1);
    }

    #[test]
    fn other_threads_load_the_library_for_themselves() {
        let mut first = client();
        load(
            &mut first,
            "redis.register_function('f', function() return 7 end)",
        );
        let mut second = first.connect();
        let other = std::thread::spawn(move || second.call("FCALL f 0") == 7);
        assert!(other.join().unwrap());
        first.call("FUNCTION FLUSH");
        assert_eq!(first.call("FCALL f 0").error(), "ERR Function not found");
    }

    #[test]
    fn replaced_function_is_never_seen_again() {
        let mut writer = client();
        let version = |n: i64| format!("redis.register_function('v', function() return {n} end)");
        load(&mut writer, &version(0));
        let latest = Arc::new(AtomicI64::new(0));
        let readers: Vec<_> = (0..3)
            .map(|_| {
                let (mut client, latest) = (writer.connect(), Arc::clone(&latest));
                std::thread::spawn(move || {
                    while latest.load(Ordering::Acquire) < 200 {
                        let least = latest.load(Ordering::Acquire);
                        let seen = client.call("FCALL v 0").int();
                        assert!(seen >= least, "{seen} after {least}");
                    }
                })
            })
            .collect();
        for n in 1..=200 {
            load(&mut writer, &version(n));
            latest.store(n, Ordering::Release);
        }
        for reader in readers {
            reader.join().unwrap();
        }
    }
}
