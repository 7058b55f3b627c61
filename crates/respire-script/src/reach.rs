//! Whether a script uses only keys that its caller declares.
//!
//! A script that does needs the shards of its keys and no others. One that may not runs in a section
//! that can be widened, of which there is one at a time. The answer here is only the first guess: a
//! script that turns out to use another key runs in such a section from then on.

use crate::words::{Word, Words};

/// Whether every call in a script names its keys as `KEYS[...]`, as far as its words show.
///
/// Scripts that do anything else with `redis.call` or `KEYS` are not understood, and count as using
/// other keys.
pub(crate) fn is_declared(body: &[u8]) -> bool {
    is_understood(Words::of_script(body))
}

/// The same for a library, whose functions get their keys as the parameter `keys`.
pub(crate) fn is_declared_in_library(code: &[u8]) -> bool {
    is_understood(Words::of_library(code))
}

fn is_understood(mut words: Words<'_>) -> bool {
    let (mut before, mut names) = (None, Vec::new());
    while let Some(word) = words.next() {
        let is_fine = match word {
            Word::Name(b"redis") => is_fine_call(&mut words, &names),
            Word::Name(b"function") if words.is_library() => {
                // The names of another function.
                names.clear();
                skip_parameters(&mut words)
            }
            Word::Name(b"local") => {
                names.extend(name_of_key(&mut words));
                true
            }
            Word::Name(b"KEYS") if before == Some(Word::Sign(b'#')) => true,
            Word::Name(b"KEYS") => skip_index(&mut words) && !is_set(&words),
            Word::Name(name) if names.contains(&name) => !is_set(&words),
            _ => true,
        };
        if !is_fine {
            return false;
        }
        before = Some(word);
    }
    true
}

/// Skips `keys` and `args` where they are the parameters of a function. Returns `false` for a function
/// that may be called with another list as its `keys`: others than those that are registered have names,
/// and seldom both parameters.
fn skip_parameters(words: &mut Words<'_>) -> bool {
    let mut is_named = false;
    loop {
        match words.next() {
            Some(Word::Sign(b'(')) => break,
            Some(_) => is_named = true,
            None => return false,
        }
    }
    let mut ahead = words.clone();
    if ahead.next() != Some(Word::Name(b"KEYS")) {
        return true;
    }
    let is_fine = match ahead.next() {
        Some(Word::Sign(b')')) => !is_named,
        Some(Word::Sign(b',')) => {
            ahead.next() == Some(Word::Name(b"args")) && ahead.next() == Some(Word::Sign(b')'))
        }
        _ => false,
    };
    *words = ahead;
    is_fine
}

/// The name that a local variable gives a key, if it is one: `local name = KEYS[1]`. Nothing is skipped
/// if it is not.
fn name_of_key<'s>(words: &mut Words<'s>) -> Option<&'s [u8]> {
    let mut ahead = words.clone();
    let (Some(Word::Name(name)), Some(Word::Sign(b'=')), Some(Word::Name(b"KEYS"))) =
        (ahead.next(), ahead.next(), ahead.next())
    else {
        return None;
    };
    let is_key = skip_index(&mut ahead)
        && matches!(
            ahead.clone().next(),
            None | Some(Word::Name(_) | Word::Sign(b';'))
        );
    is_key.then(|| {
        *words = ahead;
        name
    })
}

/// Whether `redis` is followed by a call with declared keys, or by something that calls no command.
fn is_fine_call(words: &mut Words<'_>, names: &[&[u8]]) -> bool {
    if words.next() != Some(Word::Sign(b'.')) {
        return false;
    }
    match words.next() {
        Some(Word::Name(b"call" | b"pcall")) => {}
        Some(Word::Name(b"acl_check_cmd")) | None => return false,
        Some(_) => return true,
    }
    let (Some(Word::Sign(b'(')), Some(Word::Text(command))) = (words.next(), words.next()) else {
        return false;
    };
    let has = |names: &[&str]| {
        names
            .iter()
            .any(|name| command.eq_ignore_ascii_case(name.as_bytes()))
    };
    if has(WITHOUT_KEYS) {
        return true;
    }
    let is_many = has(MANY_KEYS);
    if !is_many && !has(ONE_KEY) {
        return false;
    }
    loop {
        if words.next() != Some(Word::Sign(b',')) {
            return false;
        }
        let is_key = match words.next() {
            Some(Word::Name(b"KEYS")) => skip_index(words),
            Some(Word::Name(name)) => names.contains(&name),
            _ => false,
        };
        // What follows may make another key of it: `KEYS[1] .. 'x'`.
        let after = words.clone().next();
        if !is_key || !matches!(after, Some(Word::Sign(b',' | b')'))) {
            return false;
        }
        if !is_many || after == Some(Word::Sign(b')')) {
            return true;
        }
    }
}

const WITHOUT_KEYS: &[&str] = &["echo", "ping", "publish", "time"];

/// Commands all of whose arguments are keys.
const MANY_KEYS: &[&str] = &["del", "exists", "mget", "touch", "unlink"];

/// Commands whose first argument is their only key.
const ONE_KEY: &[&str] = &[
    "append",
    "bitcount",
    "bitfield",
    "bitpos",
    "decr",
    "decrby",
    "expire",
    "expireat",
    "get",
    "getbit",
    "getdel",
    "getex",
    "getrange",
    "getset",
    "hdel",
    "hexists",
    "hget",
    "hgetall",
    "hincrby",
    "hincrbyfloat",
    "hkeys",
    "hlen",
    "hmget",
    "hmset",
    "hset",
    "hsetnx",
    "hvals",
    "incr",
    "incrby",
    "incrbyfloat",
    "lindex",
    "linsert",
    "llen",
    "lpop",
    "lpush",
    "lrange",
    "lrem",
    "lset",
    "ltrim",
    "persist",
    "pexpire",
    "pexpireat",
    "psetex",
    "pttl",
    "rpop",
    "rpush",
    "sadd",
    "scard",
    "set",
    "setbit",
    "setex",
    "setnx",
    "setrange",
    "sismember",
    "smembers",
    "spop",
    "srem",
    "strlen",
    "ttl",
    "type",
    "zadd",
    "zcard",
    "zcount",
    "zincrby",
    "zpopmin",
    "zrange",
    "zrangebyscore",
    "zrank",
    "zrem",
    "zremrangebyscore",
    "zrevrange",
    "zscore",
];

/// Skips an index in brackets. Returns whether there was one.
fn skip_index(words: &mut Words<'_>) -> bool {
    if words.next() != Some(Word::Sign(b'[')) {
        return false;
    }
    let mut depth = 1;
    while depth > 0 {
        match words.next() {
            Some(Word::Sign(b'[')) => depth += 1,
            Some(Word::Sign(b']')) => depth -= 1,
            // A call inside the index would not be looked at.
            Some(Word::Name(b"redis" | b"KEYS")) | None => return false,
            Some(_) => {}
        }
    }
    true
}

/// Whether a value is assigned here.
fn is_set(words: &Words<'_>) -> bool {
    let mut ahead = words.clone();
    ahead.next() == Some(Word::Sign(b'=')) && ahead.next() != Some(Word::Sign(b'='))
}

#[cfg(test)]
mod tests {
    use super::{is_declared, is_declared_in_library};

    #[test]
    fn keys_of_functions_are_recognised() {
        for code in [
            "redis.register_function('f', function(keys, args) return redis.call('GET', keys[1]) end)",
            "local function f(keys, args) return redis.call('SET', keys[1], args[1]) end
             redis.register_function('f', f)",
            "redis.register_function{function_name='f', callback=function(keys)
             local key = keys[1] return redis.call('GET', key) end}",
            "redis.register_function('f', function(k, a) return redis.call('TIME') end)",
        ] {
            assert!(is_declared_in_library(code.as_bytes()), "{code}");
        }
        for code in [
            "redis.register_function('f', function(k, a) return redis.call('GET', k[1]) end)",
            "function(keys, args) return redis.call('GET', args[1]) end",
            "function(args, keys) return redis.call('GET', keys[1]) end",
            "function(keys, args, more) return redis.call('GET', keys[1]) end",
            "local function help(keys) return redis.call('GET', keys[1]) end",
            "function(keys, args) local keys = args return redis.call('GET', keys[1]) end",
            "function(keys, args) keys = args return redis.call('GET', keys[1]) end",
            "function(keys, args) local a, keys = 1, args return redis.call('GET', keys[1]) end",
            "function(keys) local key = keys[1] end
             function help(key) redis.call('GET', key) end",
            "function(keys, args) help(keys) end",
        ] {
            assert!(!is_declared_in_library(code.as_bytes()), "{code}");
        }
    }

    #[test]
    fn calls_with_declared_keys_are_recognised() {
        for body in [
            "return 1",
            "return redis.call('GET', KEYS[1])",
            "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) end",
            "local t = redis.call('TIME') return redis.pcall ( 'set', KEYS[i + 1], t[1] )",
            "if KEYS[1] == ARGV[1] and #KEYS > 0 then return redis.call('DEL', KEYS[1], KEYS[2]) end",
            "local key = KEYS[1]\nlocal n = redis.call('INCR', key)\nif n == 1 then redis.call('EXPIRE', key, ARGV[1]) end",
            "-- redis.call('get', 'x')\nreturn redis.status_reply('redis.call')",
            "--[==[ redis.call(x) ]==] return [[redis.call]]",
        ] {
            assert!(is_declared(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn other_calls_are_not_trusted() {
        for body in [
            "return redis.call('GET', 'k')",
            "return redis.call('GET', KEYS[1] .. 'x')",
            "local key = KEYS[1] .. 'x' return redis.call('GET', key)",
            "local key = KEYS[1] key = 'x' return redis.call('GET', key)",
            "return redis.call('GET', ARGV[1])",
            "local call = redis.call",
            "local r = redis return r.call('get', 'x')",
            "return redis['call']('get', KEYS[1])",
            "return redis.call(unpack(ARGV))",
            "return redis.call('rename', KEYS[1], 'x')",
            "redis.call",
            "redis.call('keys', '*')",
            "redis.call('del', KEYS[1], 'x')",
            "KEYS[1] = 'x' return redis.call('get', KEYS[1])",
            "local KEYS = {'x'} return redis.call('get', KEYS[1])",
            "local function f(KEYS) return redis.call('get', KEYS[1]) end",
            "return redis.call('get', KEYS[redis.call('get', 'x')])",
        ] {
            assert!(!is_declared(body.as_bytes()), "{body}");
        }
    }
}
