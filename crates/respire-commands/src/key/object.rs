//! `OBJECT ENCODING | FREQ | IDLETIME | REFCOUNT key`: tells how a value is stored and how it was
//! used.
//!
//! `REFCOUNT` is 1 except for integers below 10000. Redis keeps one shared object for each of these
//! and replies with the largest possible count, so clients get the reply they expect. If memory is
//! bounded and eviction ranks keys by their use, Redis shares no objects, because the rank is
//! stored with the value.

use crate::Ctx;
use crate::errors::{FREQUENCY_UNTRACKED, IDLE_TIME_UNTRACKED, wrong_arity};
use crate::help::reply_help;
use crate::kv::KvRow;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::{EntryRef, StringRef};

pub(super) static OBJECT: Spec = Spec {
    name: "object",
    summary: "A container for object introspection commands",
    since: "2.2.3",
    complexity: "Depends on subcommand.",
    group: Group::Generic,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

pub(super) static ENCODING: Spec = Spec {
    name: "object|encoding",
    summary: "Inspect the internal encoding of a Redis object",
    since: "2.2.3",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("MSET a 1 b one", "+OK\r\n"),
        ("OBJECT ENCODING a", "$3\r\nint\r\n"),
        ("OBJECT ENCODING b", "$6\r\nembstr\r\n"),
        ("APPEND b two", ":6\r\n"),
        ("OBJECT ENCODING b", "$3\r\nraw\r\n"),
        ("OBJECT ENCODING c", "$-1\r\n"),
        (
            "OBJECT ENCODING",
            "-ERR wrong number of arguments for 'object|encoding' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static FREQ: Spec = Spec {
    name: "object|freq",
    summary: "Get the logarithmic access frequency counter of a Redis object",
    since: "4.0.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("OBJECT FREQ a", "$-1\r\n"),
        ("SET a 1", "+OK\r\n"),
        (
            "OBJECT FREQ a",
            "-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static HELP: Spec = Spec {
    name: "object|help",
    summary: "Show helpful text about the different subcommands",
    since: "6.2.0",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    examples: &[(
        "OBJECT HELP a",
        "-ERR wrong number of arguments for 'object|help' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) static IDLETIME: Spec = Spec {
    name: "object|idletime",
    summary: "Get the time since a Redis object was last accessed",
    since: "2.2.3",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("OBJECT IDLETIME a", "$-1\r\n"),
        ("SET a 1", "+OK\r\n"),
        ("OBJECT IDLETIME a", ":0\r\n"),
        (
            "OBJECT IDLETIME",
            "-ERR wrong number of arguments for 'object|idletime' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static REFCOUNT: Spec = Spec {
    name: "object|refcount",
    summary: "Get the number of references to the value of the key",
    since: "2.2.3",
    complexity: "O(1)",
    group: Group::Generic,
    arity: Arity::exactly(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro])],
    args: &[Arg::key("key", 0)],
    tips: &["nondeterministic_output"],
    examples: &[
        ("OBJECT REFCOUNT a", "$-1\r\n"),
        ("SET a one", "+OK\r\n"),
        ("OBJECT REFCOUNT a", ":1\r\n"),
        (
            "OBJECT REFCOUNT",
            "-ERR wrong number of arguments for 'object|refcount' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) const ROW: KvRow = KvRow::new(&OBJECT, bare);

/// Sorted by name.
pub(super) static SUBCOMMANDS: &[KvRow] = &[
    KvRow::new(&ENCODING, encoding),
    KvRow::new(&FREQ, freq),
    KvRow::new(&HELP, help),
    KvRow::new(&IDLETIME, idle_time),
    KvRow::new(&REFCOUNT, ref_count),
];

/// Redis shares one object for each integer from 0 up to this one, exclusive.
const SHARED_INTEGERS: i64 = 10_000;
const SHARED_REF_COUNT: i64 = i32::MAX as i64;

const HELP_LINES: &[&str] = &[
    "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "ENCODING <key>",
    "    Return the kind of internal representation used in order to store the value",
    "    associated with a <key>.",
    "FREQ <key>",
    "    Return the access frequency index of the <key>. The returned integer is",
    "    proportional to the logarithm of the recent access frequency of the key.",
    "IDLETIME <key>",
    "    Return the idle time of the <key>, that is the approximated number of",
    "    seconds elapsed since the last access to the key.",
    "REFCOUNT <key>",
    "    Return the number of references of the value associated with the specified",
    "    <key>.",
    "HELP",
    "    Prints this help.",
];

fn bare(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, _reply: &mut Reply<'_>) -> Result<(), Error> {
    Err(wrong_arity(OBJECT.name))
}

fn help(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply_help(reply, HELP_LINES);
    Ok(())
}

fn encoding(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    match ctx.peek(&args[0], |entry| entry.map(EntryRef::encoding)) {
        Some(encoding) => reply.bulk(encoding.name()),
        None => reply.null(),
    }
    Ok(())
}

fn ref_count(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let is_shared = !ctx.kv.tuning().ranks_by_use();
    let count = ctx.peek(&args[0], |entry| {
        entry.map(|entry| match entry.value().as_string() {
            Some(StringRef::Int(0..SHARED_INTEGERS)) if is_shared => SHARED_REF_COUNT,
            _ => 1,
        })
    });
    reply_int_or_null(reply, count);
    Ok(())
}

fn idle_time(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let now_ms = ctx.view.now_ms();
    let idle_ms = ctx.peek(&args[0], |entry| entry.map(|entry| entry.idle_ms(now_ms)));
    if idle_ms.is_some() && ctx.kv.store().policy().is_lfu() {
        return Err(IDLE_TIME_UNTRACKED);
    }
    reply_int_or_null(reply, idle_ms.map(|ms| (ms / 1000) as i64));
    Ok(())
}

fn freq(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let now_ms = ctx.view.now_ms();
    let freq = ctx.peek(&args[0], |entry| entry.map(|entry| entry.freq(now_ms)));
    if freq.is_some() && !ctx.kv.store().policy().is_lfu() {
        return Err(FREQUENCY_UNTRACKED);
    }
    reply_int_or_null(reply, freq.map(i64::from));
    Ok(())
}

fn reply_int_or_null(reply: &mut Reply<'_>, number: Option<i64>) {
    match number {
        Some(number) => reply.int(number),
        None => reply.null(),
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use respire_store::Policy;

    #[test]
    fn encoding_depends_on_the_representation() {
        let (short, long) = ("x".repeat(44), "x".repeat(45));
        Client::new().check(&[
            (&format!("MSET s {short} l {long} n -7 z 007"), "+OK\r\n"),
            ("OBJECT ENCODING s", "$6\r\nembstr\r\n"),
            ("OBJECT ENCODING l", "$3\r\nraw\r\n"),
            ("OBJECT ENCODING n", "$3\r\nint\r\n"),
            ("OBJECT ENCODING z", "$6\r\nembstr\r\n"),
        ]);
    }

    #[test]
    fn shared_integers_have_the_largest_reference_count() {
        Client::new().check(&[
            ("MSET a 9999 b 10000 c -1 d 0", "+OK\r\n"),
            ("OBJECT REFCOUNT a", ":2147483647\r\n"),
            ("OBJECT REFCOUNT b", ":1\r\n"),
            ("OBJECT REFCOUNT c", ":1\r\n"),
            ("OBJECT REFCOUNT d", ":2147483647\r\n"),
        ]);
    }

    #[test]
    fn integers_are_not_shared_if_eviction_ranks_keys_by_use() {
        let mut client = Client::new();
        client.check(&[("SET a 1", "+OK\r\n")]);
        let mut count = |bytes: u64, policy: &str| {
            client.tune(|tuning| {
                tuning.memory_bytes_max = bytes;
                tuning.policy = Policy::from_name(policy.as_bytes()).unwrap();
            });
            client.send("OBJECT REFCOUNT a")
        };
        for ranking in ["allkeys-lru", "volatile-lru", "allkeys-lfu", "volatile-lfu"] {
            assert_eq!(count(1 << 30, ranking), ":1\r\n", "{ranking}");
            assert_eq!(count(0, ranking), ":2147483647\r\n", "{ranking}");
        }
        for other in ["noeviction", "allkeys-random", "volatile-ttl"] {
            assert_eq!(count(1 << 30, other), ":2147483647\r\n", "{other}");
        }
    }

    #[test]
    fn help_is_a_list_of_status_lines() {
        let help = Client::new().send("object help");
        assert!(help.starts_with("*15\r\n+OBJECT <subcommand>"), "{help}");
        assert!(help.ends_with("+    Prints this help.\r\n"), "{help}");
    }
}
