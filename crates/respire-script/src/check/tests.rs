//! Scripts, and what is found in them.

use super::check;
use crate::add_to;
use respire_engine::{
    ArgList, Arity, Command, Cx, Engine, Error, Flags, Flow, KeySpec, Reply, Router, Spec,
};
use std::sync::Arc;

/// A command that is only described.
struct Described(Spec);

impl Command<()> for Described {
    fn spec(&self) -> &Spec {
        &self.0
    }

    fn call(&self, _: &mut Cx<'_, ()>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        reply.ok();
        Flow::Replied
    }
}

/// `MOVES`, which finds its keys itself and needs a number for that.
struct Moves;

static MOVES: Spec = Spec {
    name: "moves",
    arity: Arity::at_least(3),
    ..Spec::EMPTY
};

impl Command<()> for Moves {
    fn spec(&self) -> &Spec {
        &MOVES
    }

    fn call(&self, _: &mut Cx<'_, ()>, _: ArgList<'_>, reply: &mut Reply<'_>) -> Flow {
        reply.ok();
        Flow::Replied
    }

    fn keys(&self, request: ArgList<'_>, found: &mut dyn FnMut(usize)) -> Result<(), Error> {
        let at = request.get(1).and_then(resp_codec::number::parse_i64);
        found(at.ok_or(Error::fixed("ERR no number"))? as usize);
        Ok(())
    }
}

const ONE: &[KeySpec] = &[KeySpec::at(1)];
const ALL: &[KeySpec] = &[KeySpec::range(1, -1, 1)];
const PAIRS: &[KeySpec] = &[KeySpec::range(1, -1, 2)];
const BUT_LAST: &[KeySpec] = &[KeySpec::range(1, -2, 1)];
const COUNTED: &[KeySpec] = &[KeySpec::counted(1)];

/// Names, the least arguments or (negative) their exact number, and keys. In capitals: those that write.
const COMMANDS: &[(&str, i16, &[KeySpec])] = &[
    ("get", -2, ONE),
    ("pttl", -2, ONE),
    ("SET", 3, ONE),
    ("DEL", 2, ALL),
    ("MSET", 3, PAIRS),
    ("INCR", -2, ONE),
    ("EXPIRE", 3, ONE),
    ("PEXPIRE", 3, ONE),
    ("BLPOP", 3, BUT_LAST),
    ("ZADD", 4, ONE),
    ("ZREMRANGEBYSCORE", -4, ONE),
    ("zcard", -2, ONE),
    ("zunion", 3, COUNTED),
    ("HSET", 4, ONE),
    ("hmget", 3, ONE),
    ("LPUSH", 3, ONE),
    ("lrange", -4, ONE),
    ("exists", 2, ALL),
    ("XADD", 5, ONE),
];

fn engine() -> Arc<Engine<()>> {
    let mut router = add_to(Router::new(())).add(Moves);
    for (name, count, keys) in COMMANDS {
        let lower: &'static str = Box::leak(name.to_ascii_lowercase().into_boxed_str());
        router = router.add(Described(Spec {
            name: lower,
            arity: match count {
                1.. => Arity::at_least(*count),
                _ => Arity::exactly(-count),
            },
            flags: match lower == *name {
                true => Flags::READONLY,
                false => Flags::WRITE,
            },
            keys,
            ..Spec::EMPTY
        }));
    }
    Arc::clone(router.client().engine())
}

fn found(text: &str) -> Vec<String> {
    let found = check(&engine(), text.as_bytes());
    found.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn assert_found(text: &str, expected: &[&str]) {
    assert_eq!(found(text), expected, "{text}");
}

#[test]
fn mistakes_of_grammar_are_found_where_the_compiler_finds_them() {
    assert_found(
        "local a = 1\nreturn a +",
        &["2: error: unexpected symbol near '<eof>'"],
    );
    assert_found(
        "#!lua flags=no-reads\nreturn 1",
        &["1: error: Unexpected flag in script shebang: no-reads"],
    );
    assert_found(
        "#!python\nreturn 1",
        &["1: error: Unexpected engine in script shebang: #!python"],
    );
    assert_found(
        "#!lua\nreturn 1\nreturn 2",
        &["3: error: '<eof>' expected near 'return'"],
    );
    assert_found(
        "\u{1b}Lua",
        &["1: error: attempt to load chunk with wrong mode"],
    );
}

#[test]
fn globals_that_scripts_do_not_have_are_found() {
    for (text, expected) in [
        ("return nam", "1: error: global 'nam' does not exist"),
        ("\nprint('x')", "2: error: global 'print' does not exist"),
        ("return os.time()", "1: error: global 'os' does not exist"),
        (
            "x = 1",
            "1: error: global 'x' is assigned, but scripts cannot change globals",
        ),
        (
            "local function f()\nreturn function() KEYS = {} end\nend",
            "2: error: global 'KEYS' is assigned, but scripts cannot change globals",
        ),
        (
            "function f() end",
            "1: error: global 'f' is assigned, but scripts cannot change globals",
        ),
        (
            "return redis.cal('GET', 'k')",
            "1: warning: 'redis' has no 'cal'",
        ),
        (
            "return table.unpack(ARGV)",
            "1: warning: 'table' has no 'unpack'",
        ),
    ] {
        assert_found(text, &[expected]);
    }
    for text in [
        "return {KEYS, ARGV, _G, _VERSION, cjson.null, cmsgpack.pack, bit.band, struct.pack}",
        "return {tostring, tonumber, pcall, string.rep, math.floor, table.concat, unpack, next}",
        "local f = table.unpack or unpack return f(ARGV)",
        "if redis.new_function then redis.new_function() end",
        "local print = tostring return print(1)",
        "return rawget(_G, 'x')",
    ] {
        assert_found(text, &[]);
    }
}

#[test]
fn calls_that_the_server_refuses_are_found() {
    for (text, expected) in [
        (
            "redis.call('GTE', KEYS[1])",
            "1: error: this server has no command 'GTE'",
        ),
        (
            "redis.call('get')",
            "1: error: wrong number of arguments for 'GET'",
        ),
        (
            "\n\nredis.pcall('get', KEYS[1], 1)",
            "3: error: wrong number of arguments for 'GET'",
        ),
        (
            "redis.call('get', KEYS[1], unpack(ARGV, 2), 3)",
            "1: error: wrong number of arguments for 'GET'",
        ),
        (
            "redis.call('get', KEYS[1], 3, unpack(ARGV))",
            "1: error: wrong number of arguments for 'GET'",
        ),
        (
            "redis.call('EVAL', 'return 1', 0)",
            "1: error: scripts may not call 'EVAL'",
        ),
        (
            "redis.call('script', 'load', 'x')",
            "1: error: scripts may not call 'SCRIPT LOAD'",
        ),
        (
            "redis.call('script', 'lod', 'x')",
            "1: error: 'script' has no subcommand 'lod'",
        ),
        (
            "local call = redis.call\nlocal function f() call('nope') end",
            "2: error: this server has no command 'nope'",
        ),
        (
            "#!lua flags=no-writes\nredis.call('set', KEYS[1], 1)",
            "2: error: 'SET' writes, but the flag no-writes is set",
        ),
    ] {
        assert_found(text, &[expected]);
    }
    for text in [
        "return redis.call('GeT', KEYS[1])",
        "return redis.call(ARGV[1], 'x')",
        "return redis.call(unpack(ARGV))",
        "return redis.call('get', unpack(KEYS))",
        "return redis.call('set', KEYS[1], unpack(ARGV))",
        "#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])",
        "#!lua\nreturn redis.call('set', KEYS[1], 1)",
        "return redis.call('script', ARGV[1])",
        "return 'redis.call(\"GTE\")' -- redis.call('GTE')",
    ] {
        assert_found(text, &[]);
    }
}

#[test]
fn keys_that_are_not_passed_by_keys_are_found() {
    for (text, expected) in [
        ("redis.call('get', 'k')", &["the key 'k' of 'GET'"][..]),
        ("redis.call('get', 12)", &["the key '12' of 'GET'"]),
        (
            "redis.call('get', ARGV[1])",
            &["the key of 'GET' (argument 1) is from ARGV and"],
        ),
        (
            "redis.call('get', KEYS[1] .. ':x')",
            &["the key of 'GET' (argument 1) is computed and"],
        ),
        (
            "redis.call('del', KEYS[1], 'a', ARGV[1] .. 'b')",
            &[
                "the key 'a' of 'DEL'",
                "the key of 'DEL' (argument 3) is computed and",
            ],
        ),
        (
            "redis.call('del', 'a', unpack(KEYS))",
            &["the key 'a' of 'DEL'"],
        ),
        (
            "redis.call('mset', 'a', 1, KEYS[1], 2)",
            &["the key 'a' of 'MSET'"],
        ),
        (
            "redis.call('zunion', 2, KEYS[1], 'b', 'max')",
            &["the key 'b' of 'ZUNION'"],
        ),
        (
            "redis.call('moves', 3, 'a', 'b')",
            &["the key 'b' of 'MOVES'"],
        ),
        (
            "local key = 'lock:' .. ARGV[1] redis.call('get', key)",
            &["the key of 'GET' (argument 1) is computed and"],
        ),
    ] {
        let expected = expected.iter();
        let expected: Vec<_> = expected
            .map(|text| format!("1: warning: {text} is not passed by KEYS"))
            .collect();
        assert_eq!(found(text), expected, "{text}");
    }
    for text in [
        "for i, key in ipairs(KEYS) do redis.call('set', key, ARGV[i]) end",
        "local key = KEYS[1] redis.call('set', key, 'x')",
        "local key = KEYS[1] or 'x' redis.call('set', key, 'x')",
        "redis.call('zunion', #KEYS, unpack(KEYS))",
        "redis.call('zunion', ARGV[1], 'a', 'b')",
        "redis.call('moves', ARGV[1], 'a', 'b')",
        "local key = redis.call('get', KEYS[1]) redis.call('get', key)",
        "redis.call('echo', 'x')",
    ] {
        assert_found(text, &[]);
    }
    // Which arguments are keys depends on how many there are.
    assert_found("redis.call('blpop', 'a', unpack(KEYS))", &[]);
}

#[test]
fn finding_is_one_line_whatever_it_quotes() {
    let key = "redis.call('get', [[\r\na\nb]])";
    let warning = "1: warning: the key 'a b' of 'GET' is not passed by KEYS";
    assert_found(key, &[warning]);
    let found = found("return [[a\nb]] [[c\nd]]");
    assert!(found.len() == 1 && !found[0].contains('\n'), "{found:?}");
}

#[test]
fn libraries_are_loaded_and_checked() {
    assert_found(
        "#!lua name=mylib\nlocal function get(keys, args)\n  return redis.call('get', keys[1])\nend\n\
         redis.register_function('get', get)\nredis.log(redis.LOG_NOTICE, 'x')",
        &[],
    );
    for (text, expected) in [
        (
            "#!lua name=my-lib\nreturn 1",
            "1: error: Library names can only contain letters",
        ),
        (
            "#!lua name=l\nreturn 1",
            "1: error: No functions registered",
        ),
        (
            "#!lua name=l\n\nreturn +",
            "3: error: Error compiling function: unexpected symbol",
        ),
        (
            "#!lua name=l\nredis.call('get')",
            "2: error: Error registering functions:",
        ),
        (
            "#!lua name=l\nredis.register_function('f', function() return KEYS end)",
            "2: error: global 'KEYS' does not exist",
        ),
        (
            "#!lua name=l\nredis.register_function('f', function(keys, args)\n\
             redis.call('get', args[1]) end)",
            "3: warning: the key of 'GET' (argument 1) is from ARGV and",
        ),
        (
            "#!lua name=l\nredis.register_function{function_name='f', flags={'no-writes'},\n\
             callback=function(keys) redis.call('del', keys[1]) end}",
            "3: error: 'DEL' writes, but the flag no-writes is set",
        ),
        (
            "#!lua name=l\nwhile true do end",
            "1: error: Error registering functions: ERR FUNCTION LOAD timeout",
        ),
    ] {
        let found = found(text);
        assert!(
            found.len() == 1 && found[0].starts_with(expected),
            "{text}: {found:?}"
        );
    }
}

/// Scripts as they are in use: those of locks and limiters, and of a queue.
#[test]
fn scripts_in_use_give_no_false_alarm() {
    for text in [
        "local token = redis.call('get', KEYS[1])
         if not token or token ~= ARGV[1] then return 0 end
         local expiration = redis.call('pttl', KEYS[1])
         if not expiration then expiration = 0 end
         if expiration < 0 then return 0 end
         local newttl = ARGV[2]
         if ARGV[3] == \"0\" then newttl = ARGV[2] + expiration end
         redis.call('pexpire', KEYS[1], newttl)
         return 1",
        "for i, key in ipairs(KEYS) do
           if redis.call('get', key) == ARGV[1] then redis.call('del', key) end
         end
         -- Return the number of entries set.
         return #KEYS",
        "local now = redis.call('TIME')
         local micros = now[1] * 1000000 + now[2]
         redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, micros - tonumber(ARGV[1]))
         local count = redis.call('ZCARD', KEYS[1])
         if count < tonumber(ARGV[2]) then
           redis.call('ZADD', KEYS[1], micros, micros .. ':' .. math.random())
           redis.call('EXPIRE', KEYS[1], math.ceil(ARGV[1] / 1000000))
           return {1, tostring(ARGV[2] - count - 1)}
         end
         return {0, \"0\"}",
        "local current
         current = redis.call(\"incr\",KEYS[1])
         if tonumber(current) == 1 then redis.call(\"expire\",KEYS[1],ARGV[1]) end
         return current",
    ] {
        assert_found(text, &[]);
    }
    let queue = "local rcall = redis.call
local opts = cmsgpack.unpack(ARGV[3])
local function addJob(eventsKey, jobKey, jobId, data)
  local fields = {}
  if opts['priority'] ~= nil then table.insert(fields, 'priority') end
  rcall('HSET', jobKey, 'data', data, 'opts', cjson.encode(opts), unpack(fields))
  rcall('XADD', eventsKey, '*', 'event', 'added', 'jobId', jobId)
end
local jobId = rcall('INCR', KEYS[2]) .. ''
local jobIdKey = KEYS[1] .. jobId
if rcall('EXISTS', jobIdKey) == 1 then return jobId end
addJob(KEYS[3], jobIdKey, jobId, ARGV[2])
rcall('LPUSH', KEYS[4], jobId)
for _, id in ipairs(rcall('LRANGE', KEYS[4], 0, -1)) do
  rcall('HMGET', KEYS[1] .. id, 'data', 'opts')
end
return jobId";
    let computed = |line: u32, command: &str| {
        format!(
            "{line}: warning: the key of '{command}' (argument 1) is computed and is not passed by KEYS"
        )
    };
    assert_eq!(
        found(queue),
        [computed(11, "EXISTS"), computed(15, "HMGET")]
    );
}
