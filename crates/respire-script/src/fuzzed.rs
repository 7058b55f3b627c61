//! What fuzzers and comparisons with Redis call. It is no part of the crate's interface.

mod replies;

pub use replies::Replies;

use crate::library;
use crate::lua::State;
use crate::lua::lib::build::Count;
use crate::lua::lib::cjson::{self, DecodeOptions};
use crate::lua::lib::pattern::{Matcher, Problem};
use crate::lua::lib::{self, Limits, cmsgpack, raise, sha1hex, structs};
use mlua::{Lua, Result};
use respire_rdb::Payload;
use std::cell::Cell;
use std::rc::Rc;

/// A state with Lua's own libraries and those of Redis. All matches of patterns together may take
/// `steps_max` times 10,000 steps; whoever takes more is ended.
///
/// # Errors
/// Out of memory.
pub fn state(steps_max: usize) -> Result<Lua> {
    let state = Lua::new();
    let left = Cell::new(steps_max);
    let spend = move || match left.get() {
        0 => Err(raise::fatal("the steps are used up")),
        steps => {
            left.set(steps - 1);
            Ok(())
        }
    };
    let limits = Limits {
        string_bytes_max: 64 << 20,
        spend: Rc::new(spend),
    };
    let globals = state.globals();
    lib::install(&state, &globals, &limits)?;
    let redis = state.create_table()?;
    redis.raw_set("sha1hex", sha1hex::function(&state)?)?;
    globals.raw_set("redis", redis)?;
    Ok(state)
}

/// How many libraries and functions a payload of `FUNCTION RESTORE` holds, or the error that a client
/// would get. `body` is the payload without its footer. The code of the libraries may run for 500,000
/// instructions and use 64 MB.
///
/// # Errors
/// What is wrong.
///
/// # Panics
/// If what `FUNCTION DUMP` writes of the libraries is not restored to the same.
pub fn restore_functions(body: &[u8]) -> std::result::Result<(usize, usize), Vec<u8>> {
    let mut payload = Payload::default();
    body.iter().for_each(|byte| payload.byte(*byte));
    payload.finish();
    let restored = restore(payload.as_slice(), 50)?;
    let dumped = library::dump(&restored);
    let again = restore(dumped.as_slice(), 10_000).map(|table| library::dump(&table));
    let again = again.as_ref().map(Payload::as_slice);
    assert_eq!(again, Ok(dumped.as_slice()), "what was dumped is restored");
    Ok((restored.libraries().len(), restored.function_count()))
}

fn restore(payload: &[u8], limit_ms: u64) -> std::result::Result<library::Table, Vec<u8>> {
    let state = State::new().map_err(|error| error.to_string().into_bytes())?;
    state.limit_memory(64 << 20);
    let host = library::Stopwatch::default();
    let mut loading = library::Loading::new(&host, limit_ms, false);
    let restored = library::restore(&state, payload, &mut loading);
    restored
        .map(|(table, _)| table)
        .map_err(|error| error.text().to_vec())
}

/// How many values are in a JSON text, or why it is none.
///
/// # Errors
/// The text that a script would get.
pub fn decode_json(text: &[u8], invalid_numbers: bool) -> std::result::Result<usize, String> {
    let mut count = Count::default();
    let options = DecodeOptions {
        invalid_numbers,
        depth_max: 1_000,
    };
    match cjson::decode(text, options, &mut count) {
        Ok(()) => Ok(count.values),
        Err(cjson::Problem::Text(problem)) => Err(problem),
    }
}

/// How many values the first of MessagePack's values has with what lies in it, and how many bytes
/// are left behind it.
///
/// # Errors
/// What is wrong with it.
pub fn decode_msgpack(bytes: &[u8]) -> std::result::Result<(usize, usize), &'static str> {
    let mut count = Count::default();
    let mut cursor = cmsgpack::Cursor { rest: bytes };
    match cmsgpack::decode(&mut cursor, &mut count) {
        Ok(()) => Ok((count.values, cursor.rest.len())),
        Err(cmsgpack::Problem::Missing) => Err("missing bytes"),
        Err(cmsgpack::Problem::Format) => Err("bad format"),
        Err(cmsgpack::Problem::Deep) => Err("too deep"),
    }
}

/// How many letters a format of `struct` has, and how many bytes it describes; or nothing if a letter
/// is wrong.
pub fn measure_struct(format: &[u8]) -> Option<(usize, usize)> {
    let mut format = structs::Format::new(format);
    let (mut letters, mut bytes) = (0, 0usize);
    while let Some(item) = format.next(bytes).ok()? {
        letters += 1;
        bytes = bytes.checked_add(item.padding)?.checked_add(item.size)?;
    }
    Some((letters, bytes))
}

/// Where a pattern of Lua matches first, with how many captures.
///
/// # Errors
/// What is wrong with the pattern, or that the match takes more than `steps_max` times 10,000 steps.
pub fn match_pattern(
    subject: &[u8],
    pattern: &[u8],
    steps_max: usize,
) -> std::result::Result<Option<(usize, usize, usize)>, &'static str> {
    let left = Cell::new(steps_max);
    let spend = || {
        left.set(left.get().checked_sub(1).ok_or(())?);
        Ok(())
    };
    let mut matcher = Matcher::new(subject, pattern, &spend);
    for start in 0..=subject.len() {
        match matcher.match_at(start) {
            Ok(None) => {}
            Ok(Some(end)) => return Ok(Some((start, end, matcher.level()))),
            Err(Problem::Text(problem)) => return Err(problem),
            Err(Problem::Stopped(())) => return Err("the steps are used up"),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that look random, most of them from `likely`, and are the same in each run.
    fn bytes(seed: u64, likely: &[u8]) -> Vec<u8> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) as usize
        };
        let len = next() % 24;
        let byte = |number: usize| match number % 4 {
            0 => (number >> 8) as u8,
            _ => likely[(number >> 8) % likely.len()],
        };
        (0..len).map(|_| byte(next())).collect()
    }

    #[test]
    fn no_bytes_make_a_decoder_panic() {
        let (mut values, mut patterns) = (0, 0);
        for seed in 0..20_000 {
            let json = bytes(seed, b"{}[],:\"\\u00dead1-+.einftrls \0");
            values += usize::from(decode_json(&json, seed % 2 == 0).is_ok());
            let packed = bytes(
                seed,
                b"\x80\x81\x82\x91\x92\xa1\xc0\xcb\xcc\xd9\xdc\xde\x01\x02",
            );
            values += usize::from(decode_msgpack(&packed).is_ok());
            let format = bytes(seed, b"<>!bBhHlLTfdsxiIc0123 ");
            values += usize::from(measure_struct(&format).is_some());
            let pattern = bytes(seed, b"ab.%[]()*+-?^$fb1");
            patterns += usize::from(match_pattern(b"aab(ab)b", &pattern, 100).is_ok());
        }
        assert!(values > 5_000 && patterns > 5_000, "{values} {patterns}");
    }

    #[test]
    fn restored_libraries_are_counted_whatever_the_bytes() {
        let library = |name: &str| {
            let code = format!("#!lua name={name}\nredis.register_function('{name}',redis.log)");
            let mut payload = Payload::default();
            payload.byte(0xf5);
            payload.string(code.as_bytes());
            payload.as_slice().to_vec()
        };
        let body = [library("a"), library("b")].concat();
        assert_eq!(restore_functions(&body), Ok((2, 2)));
        assert_eq!(restore_functions(b""), Ok((0, 0)));
        let mut refused = 0;
        for at in 0..body.len() {
            let mut other = body.clone();
            other[at] ^= 1 << (at % 8);
            refused += usize::from(restore_functions(&other).is_err());
        }
        assert!(refused > body.len() / 2, "{refused}");
    }

    #[test]
    fn state_ends_what_takes_too_many_steps() {
        let state = state(3).unwrap();
        let script = "return pcall(string.find, string.rep('a', 1000), '.-.-.-b')";
        assert!(state.load(script).exec().is_err());
    }
}
