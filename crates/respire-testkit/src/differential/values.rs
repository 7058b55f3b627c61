//! Values for the holes of the grammar: few, so that requests use the same ones, and with many edge
//! cases.

use fastrand::Rng;
use std::time::{SystemTime, UNIX_EPOCH};

/// The keys in use.
pub(super) const KEYS: [&str; 14] = [
    "a",
    "b",
    "c",
    "key:1",
    "key:2",
    "h",
    "h:2",
    "s",
    "s:2",
    "s:3",
    "x",
    "x:2",
    "",
    "long-key-name-that-does-not-fit-in-a-word",
];
/// The databases in use.
pub(super) const DATABASES: [&str; 3] = ["0", "1", "9"];

const INTS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "10",
    "64",
    "100",
    "255",
    "256",
    "1000",
    "65536",
    "-128",
    "2147483647",
    "-2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775806",
];
const NO_INTS: &[&str] = &[
    "",
    "abc",
    "1.5",
    " 1",
    "1 ",
    "+1",
    "01",
    "-0",
    "--1",
    "0x10",
    "1e3",
    "9223372036854775808",
    "-9223372036854775809",
    "99999999999999999999999",
    "1\u{0}",
];
const FLOATS: &[&str] = &[
    "0",
    "1",
    "-1",
    "0.1",
    "0.5",
    "-0.5",
    "1.5",
    "3.0",
    "1e3",
    "1E3",
    "5.0e3",
    "1e-5",
    "0.000001",
    "123456789.123456789",
    "1e17",
    "1e18",
    "-1e18",
    "100000000000000000000",
    "3.14159265358979323846",
    ".5",
    "5.",
    "+1",
    "0.1e1",
    "17179869184.5",
];
const NO_FLOATS: &[&str] = &[
    "", "abc", "nan", "inf", "-inf", "+inf", "infinity", " 1", "1 ", "1e", "1.2.3", "1e400",
    "0x10", "1\u{0}",
];
const TEXTS: &[&str] = &[
    "",
    "v",
    "hello",
    "abc",
    "foo bar",
    "ohmytext",
    "mynewtext",
    "\u{0}",
    "\r\n",
    "aXbXc",
    "h\u{e9}llo",
    "007",
    "1.0",
    "{}",
    "*",
    "k",
    "-",
    "abcdefghijklmnopqrstuvwxyz",
];
const SCORES: &[&str] = &[
    "0", "1", "2", "3", "-1", "1.5", "0.1", "1e17", "5e18", "100", "inf", "-inf",
];
const SCORE_BOUNDS: &[&str] = &[
    "-inf", "+inf", "0", "1", "(1", "(2", "3", "(1.5", "-1", "100", "(inf", "",
];
const NO_SCORE_BOUNDS: &[&str] = &["nan", "[1", "1x", "((1", "+", " 2", "1e400"];
const MEMBERS: &[&str] = &[
    "a", "b", "c", "d", "e", "1", "2", "-3", "007", "foo", "foobar", "",
];
const LEX_BOUNDS: &[&str] = &[
    "-", "+", "[a", "(a", "[c", "(c", "[foo", "[", "(2", "(foobar",
];
const NO_LEX_BOUNDS: &[&str] = &["a", "", "++", "-a"];
const PATTERNS: &[&str] = &[
    "*", "?", "a", "key:*", "key:[12]", "key:[^1]", "[a-b]", "[b-a]", "[", "a*", "*:*", "", "\\a",
    "**", "[^", "x*", "#", "w_*", "h->*f",
];
const SECTIONS: &[&str] = &[
    "server",
    "clients",
    "memory",
    "stats",
    "keyspace",
    "all",
    "default",
    "everything",
    "nosuch",
    "cpu",
    "commandstats",
    "errorstats",
];
const TYPES: &[&str] = &[
    "u1", "u4", "u8", "u16", "u31", "u32", "u63", "i1", "i5", "i8", "i16", "i32", "i63", "i64",
];
const NO_TYPES: &[&str] = &[
    "u64", "i65", "u0", "i0", "x8", "u", "8", "", "U8", "u08", "i-1",
];
/// A random value for a hole of this kind.
pub(super) fn fill(kind: &str, rng: &mut Rng) -> Vec<u8> {
    match kind {
        "value" => value(rng),
        "script" => super::lua::script(rng),
        "at" => point(1, rng),
        "at_ms" => point(1000, rng),
        _ => {
            let (_, good, bad) = KINDS
                .iter()
                .find(|(name, ..)| *name == kind)
                .unwrap_or_else(|| {
                    panic!("no values are known for <{kind}>");
                });
            mostly(good, bad, rng)
        }
    }
}

/// The usual values of each kind of hole, and the occasional ones.
const KINDS: &[(&str, &[&str], &[&str])] = &[
    ("key", &KEYS, &KEYS),
    ("hll", &["hll:1", "hll:2", "hll:3"], &KEYS),
    ("geo", &["g", "g:2", "g", "g:2", "g"], &KEYS),
    ("longitude", LONGITUDES, NO_FLOATS),
    ("latitude", LATITUDES, NO_FLOATS),
    ("radius", RADII, NO_FLOATS),
    ("lex", &["lex:1", "lex:2"], &["lex:1"]),
    ("int", INTS, NO_INTS),
    ("float", FLOATS, NO_FLOATS),
    (
        "secs",
        &["1000000", "5000000", "100000000", "0", "-1", "-100"],
        TIMES,
    ),
    (
        "ms",
        &["1000000", "5000000", "9000001", "0", "-1", "-100"],
        TIMES,
    ),
    (
        "count",
        &["1", "2", "3", "5", "10", "100", "0", "-1"],
        NO_INTS,
    ),
    ("list", &["l", "l:2", "l", "l:2", "l", "a"], &KEYS),
    ("hash", &["h", "h:2", "h", "h:2", "h", "a"], &KEYS),
    (
        "hash_field",
        &["f", "g", "1", "007", "n", "x", "", "f"],
        &["a field of more than 64 bytes, which does not fit into a small hash"],
    ),
    ("stream", &["x", "x:2", "x", "x:2", "x", "a"], &KEYS),
    (
        "stream_id",
        &[
            "1", "2", "3", "4", "5", "1-1", "3-2", "0", "5-3", "4-0", "2-1", "5-0", "5-1", "3-0",
        ],
        &[
            "-",
            "+",
            "$",
            "(1",
            "",
            "x",
            "1-",
            "1-*",
            "18446744073709551615-18446744073709551615",
        ],
    ),
    // Redis 7.0 does not know `+` in `XREAD`: docs/COMPATIBILITY.md, `xread-last`.
    (
        "stream_after",
        &["1", "2", "3", "1-1", "3-2", "0", "0", "4-0", "5-1", "$"],
        &["-", "(1", "", "x", "1-", "1-*", ">"],
    ),
    (
        "stream_end",
        &["-", "+", "1", "3", "5", "(2", "(3-1", "4-0", "0", "+", "-"],
        &["(", "(-", "(0-0", "x", "$"],
    ),
    (
        "stream_new_id",
        &[
            "5-*", "5-*", "5-*", "1-*", "2-*", "3-*", "4-*", "2-1", "3-1", "4-2",
        ],
        &["0-0", "x", "6-*", "+"],
    ),
    ("stream_group", &["g", "g", "g", "g2"], &["", "nosuch"]),
    ("stream_consumer", &["Ada", "Bob", "Cid"], &[""]),
    ("stream_idle", &["0", "0", "0", "3600000", "-1"], NO_INTS),
    ("index", INDEXES, NO_INTS),
    (
        "member",
        &[
            "1", "2", "3", "10", "-7", "70000", "a", "b", "007", "", "m1", "m2",
        ],
        &["a member of more than 64 bytes, which does not fit into a small set"],
    ),
    ("set", &["s", "s:2", "s:3", "s", "s:2", "a"], &KEYS),
    (
        "offset",
        &["0", "1", "5", "40", "100", "-1", "536870912"],
        NO_INTS,
    ),
    (
        "bit_offset",
        &["0", "1", "7", "8", "31", "100", "1000", "-1", "4294967296"],
        NO_INTS,
    ),
    ("bit", &["0", "1", "0", "1", "2", "-1"], NO_INTS),
    ("type", TYPES, NO_TYPES),
    ("field", FIELDS, NO_INTS),
    (
        "db",
        &DATABASES,
        &["16", "-1", "abc", "", "1.0", "99999999999"],
    ),
    (
        "cursor",
        &["0", "0", "1", "5"],
        &["abc", "", "1.5", "18446744073709551616"],
    ),
    ("pattern", PATTERNS, PATTERNS),
    ("name", &["fred", "", "a-b"], &["a b", "a\n", "\u{e9}"]),
    ("section", SECTIONS, SECTIONS),
    ("score", SCORES, NO_FLOATS),
    ("score_bound", SCORE_BOUNDS, NO_SCORE_BOUNDS),
    ("member", MEMBERS, MEMBERS),
    ("lex_bound", LEX_BOUNDS, NO_LEX_BOUNDS),
];

/// Places near each other, far from each other, and at the edges of the earth.
const LONGITUDES: &[&str] = &[
    "13.361389",
    "15.087269",
    "13.4",
    "13.36139",
    "0",
    "-0.1278",
    "180",
    "-180",
    "179.999",
    "-73.98",
    "151.2",
    "1e-7",
    "45",
    "-90",
    "15",
    "181",
];
const LATITUDES: &[&str] = &[
    "38.115556",
    "37.502669",
    "52.5",
    "38.1156",
    "0",
    "51.5",
    "85.05",
    "-85.05112878",
    "-85",
    "40.7",
    "-33.8",
    "70",
    "-67",
    "82",
    "37",
    "86",
];
const RADII: &[&str] = &[
    "0", "1", "10", "100", "200", "1000", "0.5", "5000", "20000", "1e6", "3e7", "1e-3", "inf", "-1",
];

const INDEXES: &[&str] = &[
    "0",
    "1",
    "2",
    "5",
    "-1",
    "-2",
    "-5",
    "10",
    "100",
    "-100",
    "9223372036854775807",
    "-9223372036854775808",
];
const FIELDS: &[&str] = &[
    "0",
    "1",
    "8",
    "13",
    "100",
    "#0",
    "#1",
    "#5",
    "-1",
    "#-1",
    "4294967296",
    "#99999999999",
];
const TIMES: &[&str] = &[
    "",
    "abc",
    "1.5",
    "+100",
    "0100",
    "9223372036854775807",
    "9223372036854775",
    "-9223372036854775808",
    "9223372036854775808",
    "4611686018427387904",
    "9223370000000000",
];

fn one_of(choices: &[&str], rng: &mut Rng) -> Vec<u8> {
    choices[rng.usize(..choices.len())].as_bytes().to_vec()
}

/// A value of the first list usually, of the second one sometimes.
fn mostly(good: &[&str], bad: &[&str], rng: &mut Rng) -> Vec<u8> {
    one_of(if rng.u8(..) < 16 { bad } else { good }, rng)
}

/// A point in time, in seconds or milliseconds: long past, or too far in the future to pass during
/// a test.
fn point(per_second: u64, rng: &mut Rng) -> Vec<u8> {
    let unix_s = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    match rng.u8(..16) {
        0 => one_of(TIMES, rng),
        1 => b"1".to_vec(),
        2 => b"0".to_vec(),
        3 => b"-1".to_vec(),
        _ => ((unix_s + 10_000 * rng.u64(1..5)) * per_second)
            .to_string()
            .into_bytes(),
    }
}

fn value(rng: &mut Rng) -> Vec<u8> {
    match rng.u8(..20) {
        0..=5 => one_of(INTS, rng),
        6 => one_of(NO_INTS, rng),
        7 | 8 => one_of(FLOATS, rng),
        9 => one_of(NO_FLOATS, rng),
        10..=13 => one_of(TEXTS, rng),
        14 => rng.i64(..).to_string().into_bytes(),
        15 => vec![b'x'; rng.usize(43..47)],
        16 => {
            let letters = rng.u8(1..5);
            (0..rng.usize(..300))
                .map(|_| b'a' + rng.u8(..letters))
                .collect()
        }
        17 => (0..rng.usize(..64)).map(|_| rng.u8(..)).collect(),
        18 if rng.u8(..8) == 0 => vec![b'y'; rng.usize(16_300..16_500)],
        _ => (0..rng.usize(1..12))
            .map(|_| rng.alphanumeric() as u8)
            .collect(),
    }
}
