//! The bounds of scripts and functions.

/// A bound, as docs/LIMITS.md lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRow {
    /// Its name: that of the setting, if there is one.
    pub name: &'static str,
    /// Its value, or the default of the setting.
    pub default: u64,
    /// Of the value.
    pub unit: &'static str,
    /// What happens when it is reached.
    pub edge: &'static str,
}

/// The bounds of scripts and functions.
///
/// ```
/// let names: Vec<_> = respire_script::LIMITS.iter().map(|row| row.name).collect();
/// assert!(names.contains(&"script-time-limit"));
/// ```
pub const LIMITS: &[LimitRow] = &[
    row(
        "script-time-limit",
        TIME_LIMIT_MS,
        "ms",
        "a script that has not written is ended; 0 is never",
    ),
    row(
        "script-memory-max",
        BYTES_MAX,
        "bytes",
        "`not enough memory`; it is the Lua state of each thread",
    ),
    row(
        "evaluated_max",
        EVALUATED_MAX as u64,
        "scripts",
        "the one that ran longest ago is forgotten; those of `SCRIPT LOAD` do not count",
    ),
    row(
        "string_bytes_max",
        STRING_BYTES_MAX as u64,
        "bytes",
        "a function that makes a longer string fails",
    ),
    row(
        "reply_depth_max",
        REPLY_DEPTH_MAX as u64,
        "levels",
        "`reached lua stack limit` in the place of the table",
    ),
    row(
        "pattern_depth_max",
        PATTERN_DEPTH_MAX as u64,
        "levels",
        "`pattern too complex`",
    ),
    row(
        "unpacked_max",
        RESULT_SLOTS_MAX as u64,
        "arguments and results",
        "`too many results to unpack`",
    ),
    row(
        "decoded_slots_max",
        SLOTS_MAX as u64,
        "tables and keys",
        "deeper JSON or MessagePack is refused",
    ),
    row(
        "load_limit_ms",
        LOAD_LIMIT_MS,
        "ms",
        "`FUNCTION LOAD` is refused; it is the run of the library's code",
    ),
    row(
        "restore_limit_ms",
        RESTORE_LIMIT_MS,
        "ms",
        "`FUNCTION RESTORE` is refused; it is the run of the code of all its libraries",
    ),
];

const fn row(name: &'static str, default: u64, unit: &'static str, edge: &'static str) -> LimitRow {
    LimitRow {
        name,
        default,
        unit,
        edge,
    }
}

/// The default of `script-time-limit`, in milliseconds.
pub(crate) const TIME_LIMIT_MS: u64 = 60_000;

/// The default of `script-memory-max`, in bytes.
pub(crate) const BYTES_MAX: u64 = 256 << 20;

/// How many scripts are kept that only `EVAL` has sent. Those of `SCRIPT LOAD` stay in any case.
pub(crate) const EVALUATED_MAX: usize = 500;

/// The longest string that a function of the libraries makes.
pub(crate) const STRING_BYTES_MAX: usize = 512 << 20;

/// How deep the tables of a reply may be nested.
pub(crate) const REPLY_DEPTH_MAX: usize = 128;

/// How deep a match of a pattern may call itself, as in Lua 5.2. Each `*`, `+`, `-`, `?` and parenthesis of
/// a pattern needs one level. Lua 5.1 has no bound, and long patterns overflow its stack.
pub(crate) const PATTERN_DEPTH_MAX: usize = 200;

/// The most arguments and results of `unpack`: what a function of C may put on Lua's stack
/// (`LUAI_MAXCSTACK`).
pub(crate) const RESULT_SLOTS_MAX: i64 = 8_000;

/// The most tables and keys that a decoder may have open. `mlua` keeps the values that Rust holds on a
/// stack of Lua, which has 8,000 slots (`LUAI_MAXCSTACK`) for all that Rust holds at a time. Redis's
/// decoders have such a stack of their own; this is half of it.
pub(crate) const SLOTS_MAX: usize = 4_000;

/// How long the code of a library may run when it is loaded, in milliseconds.
pub(crate) const LOAD_LIMIT_MS: u64 = 500;

/// How long the code of all libraries of a payload may run, in milliseconds.
pub(crate) const RESTORE_LIMIT_MS: u64 = 5_000;
