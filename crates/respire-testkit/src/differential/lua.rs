//! Random Lua scripts: arithmetic, strings, tables, the libraries, and calls of commands.
//!
//! Left out is what differs between servers by its nature (addresses of tables, the order of
//! `pairs`) and what C leaves undefined (numbers that are no integers of 64 bits, as replies).

use fastrand::Rng;
use std::fmt::Write as _;

/// How deep expressions are nested.
const DEPTH: u32 = 3;

/// A random script for two keys and up to three arguments.
pub(super) fn script(rng: &mut Rng) -> Vec<u8> {
    let mut script = String::new();
    for name in ["a", "b", "c"].iter().take(rng.usize(0..=3)) {
        let value = expression(rng, DEPTH);
        let _ = writeln!(script, "local {name} = {value}");
    }
    for _ in 0..rng.usize(0..3) {
        statement(rng, &mut script);
    }
    let value = expression(rng, DEPTH);
    let _ = write!(script, "return {value}");
    script.into_bytes()
}

fn statement(rng: &mut Rng, script: &mut String) {
    let (one, other) = (expression(rng, 1), expression(rng, 1));
    let call = call(rng);
    let line = match rng.u8(0..6) {
        0 => format!("if {one} then {call} else a = {other} end"),
        1 => format!("for i = 1, {} do a = i {call} end", rng.u8(0..4)),
        2 => format!("repeat a = {one} until true"),
        3 => format!("local function f(x, ...) return x, ... end b = f({one}, {other})"),
        4 => format!("local t = {{}} t[{}] = {other} c = #t", rng.u8(1..3)),
        _ => call,
    };
    script.push_str(&line);
    script.push('\n');
}

/// A call of a command, which may fail.
fn call(rng: &mut Rng) -> String {
    let (key, value) = (key(rng), simple(rng));
    let how = if rng.u8(0..4) == 0 { "pcall" } else { "call" };
    let command = match rng.u8(0..13) {
        0 | 1 => format!("'SET', {key}, {value}"),
        2 | 3 => format!("'GET', {key}"),
        4 => format!("'INCRBY', {key}, {value}"),
        5 => format!("'APPEND', {key}, {value}"),
        6 => format!("'MGET', {key}, {}", self::key(rng)),
        7 => format!("'DEL', {key}"),
        8 => format!("'SET', {key}, {value}, 'GET'"),
        9 => format!("'STRLEN', {key}"),
        10 => format!("'GETRANGE', {key}, {}, {}", rng.i8(-3..3), rng.i8(-3..3)),
        11 => format!("'NOSUCH', {value}"),
        _ => format!("'EXISTS', {key}, {value}"),
    };
    format!("redis.{how}({command})")
}

fn key(rng: &mut Rng) -> &'static str {
    pick(
        rng,
        &["KEYS[1]", "KEYS[1]", "KEYS[2]", "'key:1'", "ARGV[1]"],
    )
}

/// A value without parts.
fn simple(rng: &mut Rng) -> String {
    match rng.u8(0..12) {
        0..=2 => rng.i32(-50..50).to_string(),
        3 => format!("{}.{}", rng.i16(-9..9), rng.u8(0..100)),
        4 | 5 => pick(
            rng,
            &["'abc'", "'12'", "''", "'a b'", "'0x10'", "' 7 '", "'x%d'"],
        )
        .to_owned(),
        6 => pick(rng, &["true", "false", "nil"]).to_owned(),
        7 => pick(rng, &["KEYS[1]", "ARGV[1]", "ARGV[3]", "#ARGV", "#KEYS"]).to_owned(),
        8 => pick(rng, &["1e3", "9007199254740991", "0.1", "1e15", "-0.5"]).to_owned(),
        _ => pick(rng, &["a", "b", "c"]).to_owned(),
    }
}

fn expression(rng: &mut Rng, depth: u32) -> String {
    let Some(depth) = depth.checked_sub(1) else {
        return simple(rng);
    };
    let (one, other) = (expression(rng, depth), expression(rng, depth));
    match rng.u8(0..16) {
        0 => format!("({one} {} {other})", pick(rng, &["+", "-", "*"])),
        1 => format!("({one} % {})", rng.u8(2..9)),
        2 => format!("({one} .. {other})"),
        3 => format!(
            "({one} {} {other})",
            pick(rng, &["==", "~=", "<", "<=", "and", "or"])
        ),
        4 => format!("({}{one})", pick(rng, &["not ", "-", "#"])),
        5 => format!("{{{one}, {other}}}"),
        6 => table(rng, &one),
        7 => text(rng, &one),
        8 => library(rng, &one, &other),
        9 => format!("select(2, pcall(function() return {one} end))"),
        10 => format!("(function(...) return select('#', ...) end)({one}, {other})"),
        11 => format!("tonumber({one})"),
        12 => format!("math.floor({one})"),
        13 => format!("({one})[1]"),
        _ => call(rng),
    }
}

/// A table that stands for another type of reply.
fn table(rng: &mut Rng, one: &str) -> String {
    match rng.u8(0..6) {
        0 => format!("{{ok = {one}}}"),
        1 => format!("{{err = {one}}}"),
        // Doubles of many digits are written in another form (`float-digits`).
        2 => format!("{{double = {}.5}}", rng.i8(..)),
        3 => format!("{{map = {{x = {one}}}}}"),
        4 => "{set = {x = true}}".to_owned(),
        _ => format!("{{big_number = {one}}}"),
    }
}

fn text(rng: &mut Rng, one: &str) -> String {
    let pattern = pick(
        rng,
        &[
            "'%d+'", "'a'", "'(.)(.)'", "'^x?'", "'[^a]'", "'%s*'", "'%'",
        ],
    );
    match rng.u8(0..8) {
        0 => format!("string.sub({one}, {}, {})", rng.i8(-3..4), rng.i8(-3..4)),
        1 => format!("string.upper({one})"),
        2 => format!("string.rep({one}, {})", rng.u8(0..4)),
        3 => format!("string.find({one}, {pattern})"),
        4 => format!("string.match({one}, {pattern})"),
        5 => format!("string.gsub({one}, {pattern}, '<%0>')"),
        6 => {
            let format = pick(
                rng,
                &["'%d'", "'%s'", "'%5.1f|'", "'%x'", "'%q'", "'%c'", "'%y'"],
            );
            format!("string.format({format}, {one})")
        }
        _ => format!("string.byte({one})"),
    }
}

fn library(rng: &mut Rng, one: &str, other: &str) -> String {
    match rng.u8(0..9) {
        0 => format!("cjson.encode({{{one}, {other}}})"),
        1 => pick(
            rng,
            &[
                "cjson.decode('[1, \"x\", null, {\"a\": 2}]')[1]",
                "cjson.decode('{')",
                "cjson.decode('[1.5e3, true]')",
            ],
        )
        .to_owned(),
        2 => format!("cmsgpack.unpack(cmsgpack.pack({one}))"),
        3 => format!("cmsgpack.pack({one}, {other})"),
        4 => format!(
            "bit.{}({one}, {other})",
            pick(rng, &["band", "bor", "bxor", "lshift"])
        ),
        5 => format!("struct.pack('>hs', {one}, {other})"),
        6 => format!("redis.sha1hex({one})"),
        7 => format!("table.concat({{{one}, {other}}}, ',')"),
        _ => format!("redis.status_reply({one})"),
    }
}

fn pick<'s>(rng: &mut Rng, from: &[&'s str]) -> &'s str {
    from[rng.usize(..from.len())]
}
