//! `MEMORY USAGE key [SAMPLES count]`, `MEMORY STATS`, `MEMORY DOCTOR`, `MEMORY PURGE`,
//! `MEMORY MALLOC-STATS`: reports the use of memory.
//!
//! `STATS` has those fields of Redis that the store alone can answer; it omits those about the
//! allocator and the process. `USAGE` counts the memory that an entry takes on this server.

use crate::Ctx;
use crate::errors::{SYNTAX, wrong_arity};
use crate::help::reply_help;
use crate::kv::KvRow;
use crate::options::{Options, is_word};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::EntryRef;

pub(super) static MEMORY: Spec = Spec {
    name: "memory",
    summary: "A container for memory diagnostics commands",
    since: "4.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    ..Spec::EMPTY
};

pub(super) static DOCTOR: Spec = Spec {
    name: "memory|doctor",
    summary: "Outputs memory problems report",
    since: "4.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(2),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    examples: &[
        (
            "MEMORY DOCTOR",
            "$268\r\nHi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be back to our programming as soon as I finished rebooting.\n\r\n",
        ),
        (
            "MEMORY DOCTOR a",
            "-ERR wrong number of arguments for 'memory|doctor' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static HELP: Spec = Spec {
    name: "memory|help",
    summary: "Show helpful text about the different subcommands",
    since: "4.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(2),
    flags: Flags::LOADING.with(Flags::STALE),
    examples: &[(
        "MEMORY HELP a",
        "-ERR wrong number of arguments for 'memory|help' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) static MALLOC_STATS: Spec = Spec {
    name: "memory|malloc-stats",
    summary: "Show allocator internal stats",
    since: "4.0.0",
    complexity: "Depends on how much memory is allocated, could be slow",
    group: Group::Server,
    arity: Arity::exactly(2),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    examples: &[
        (
            "MEMORY MALLOC-STATS",
            "$45\r\nStats not supported for the current allocator\r\n",
        ),
        (
            "MEMORY MALLOC-STATS a",
            "-ERR wrong number of arguments for 'memory|malloc-stats' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static PURGE: Spec = Spec {
    name: "memory|purge",
    summary: "Ask the allocator to release memory",
    since: "4.0.0",
    complexity: "Depends on how much memory is allocated, could be slow",
    group: Group::Server,
    arity: Arity::exactly(2),
    tips: &["request_policy:all_shards", "response_policy:all_succeeded"],
    examples: &[
        ("MEMORY PURGE", "+OK\r\n"),
        (
            "MEMORY PURGE a",
            "-ERR wrong number of arguments for 'memory|purge' command\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static STATS: Spec = Spec {
    name: "memory|stats",
    summary: "Show memory usage details",
    since: "4.0.0",
    complexity: "O(1)",
    group: Group::Server,
    arity: Arity::exactly(2),
    tips: &[
        "nondeterministic_output",
        "request_policy:all_shards",
        "response_policy:special",
    ],
    examples: &[(
        "MEMORY STATS a",
        "-ERR wrong number of arguments for 'memory|stats' command\r\n",
    )],
    ..Spec::EMPTY
};

pub(super) static USAGE: Spec = Spec {
    name: "memory|usage",
    summary: "Estimate the memory usage of a key",
    since: "4.0.0",
    complexity: "O(N) where N is the number of samples.",
    group: Group::Server,
    arity: Arity::at_least(3),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Ro])],
    args: &[
        Arg::key("key", 0),
        Arg::new("count", ArgKind::Integer)
            .token("SAMPLES")
            .optional(),
    ],
    examples: &[
        ("MEMORY USAGE a SAMPLES 5", "$-1\r\n"),
        ("MEMORY USAGE a SAMPLES", "-ERR syntax error\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) const ROW: KvRow = KvRow::new(&MEMORY, bare);

/// Sorted by name.
pub(super) static SUBCOMMANDS: &[KvRow] = &[
    KvRow::new(&DOCTOR, doctor),
    KvRow::new(&HELP, help),
    KvRow::new(&MALLOC_STATS, malloc_stats),
    KvRow::new(&PURGE, purge),
    KvRow::new(&STATS, stats),
    KvRow::new(&USAGE, usage),
];

/// Redis's doctor does not diagnose an instance smaller than this.
const DOCTOR_BYTES_MIN: usize = 5 << 20;
const NOTHING_TO_SEE: &str = "Hi Sam, this instance is empty or is using very little memory, my issues detector can't be used in these conditions. Please, leave for your mission on Earth and fill it with some data. The new Sam and I will be back to our programming as soon as I finished rebooting.\n";
const NOTHING_WRONG: &str = "Hi Sam, I can't find any memory issue in your instance. I can only account for what occurs on this base.\n";

const HELP_LINES: &[&str] = &[
    "MEMORY <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "DOCTOR",
    "    Return memory problems reports.",
    "MALLOC-STATS",
    "    Return internal statistics report from the memory allocator.",
    "PURGE",
    "    Attempt to purge dirty pages for reclamation by the allocator.",
    "STATS",
    "    Return information about the memory usage of the server.",
    "USAGE <key> [SAMPLES <count>]",
    "    Return memory in bytes used by <key> and its value. Nested values are",
    "    sampled up to <count> times (default: 5, 0 means sample all).",
    "HELP",
    "    Prints this help.",
];

fn bare(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, _reply: &mut Reply<'_>) -> Result<(), Error> {
    Err(wrong_arity(MEMORY.name))
}

fn help(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply_help(reply, HELP_LINES);
    Ok(())
}

fn doctor(ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let is_small = ctx.kv.store().memory().total() < DOCTOR_BYTES_MIN;
    let report = if is_small {
        NOTHING_TO_SEE
    } else {
        NOTHING_WRONG
    };
    reply.verbatim(*b"txt", report.as_bytes());
    Ok(())
}

fn malloc_stats(
    _ctx: &mut Ctx<'_>,
    _args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.bulk("Stats not supported for the current allocator");
    Ok(())
}

/// This server does not cache freed memory, so there is nothing to purge, as in a Redis built
/// without jemalloc.
fn purge(_ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    reply.ok();
    Ok(())
}

fn stats(ctx: &mut Ctx<'_>, _args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let memory = ctx.kv.store().memory();
    let per_key = memory.total().checked_div(memory.keys).unwrap_or(0);
    let percentage = match memory.total() {
        0 => 0.0,
        total => memory.dataset as f64 * 100.0 / total as f64,
    };
    let counts = [
        ("total.allocated", memory.total()),
        ("overhead.total", memory.overhead),
        ("keys.count", memory.keys),
        ("keys.bytes-per-key", per_key),
        ("dataset.bytes", memory.dataset),
    ];
    reply.map(counts.len() + 1);
    for (name, count) in counts {
        reply.bulk(name);
        reply.int(count as i64);
    }
    reply.bulk("dataset.percentage");
    reply.double(percentage);
    Ok(())
}

fn usage(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let mut options = Options::new(args.skip(1));
    while let Some(word) = options.next() {
        // Strings are never sampled, so the count is only checked.
        if !is_word(word, "SAMPLES") || options.integer()? < 0 {
            return Err(SYNTAX);
        }
    }
    match ctx.view.peek(&args[0], |entry| entry.map(EntryRef::memory)) {
        Some(bytes) => reply.int(bytes as i64),
        None => reply.null(),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn usage_grows_with_the_value() {
        let mut client = Client::new();
        let mut usage_of = |len: usize| -> usize {
            client.check(&[(&format!("SET a {}", "x".repeat(len)), "+OK\r\n")]);
            let reply = client.send("MEMORY USAGE a SAMPLES 0");
            reply
                .trim_start_matches(':')
                .trim_end()
                .parse()
                .expect("a number")
        };
        let (small, large) = (usage_of(10), usage_of(1000));
        assert!(
            small >= 10 && large >= 1000 && small < large,
            "{small} {large}"
        );
    }

    #[test]
    fn stats_are_a_map_and_their_parts_add_up() {
        let mut client = Client::new();
        client.check(&[("DEBUG POPULATE 100", "+OK\r\n")]);
        assert!(client.send("HELLO 3").starts_with('%'));
        let reply = client.send("MEMORY STATS");
        assert!(
            reply.starts_with("%6\r\n$15\r\ntotal.allocated\r\n:"),
            "{reply}"
        );
        let field = |name: &str| -> u64 {
            let (_, rest) = reply
                .split_once(&format!("{name}\r\n:"))
                .expect("the field");
            rest.split("\r\n")
                .next()
                .expect("a line")
                .parse()
                .expect("a number")
        };
        assert_eq!(field("keys.count"), 100);
        assert_eq!(
            field("total.allocated"),
            field("dataset.bytes") + field("overhead.total")
        );
        assert_eq!(field("keys.bytes-per-key"), field("total.allocated") / 100);
    }

    #[test]
    fn invalid_options_of_usage_are_refused_as_in_redis() {
        Client::new().check(&[
            (
                "MEMORY USAGE a SAMPLES few",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("MEMORY USAGE a SAMPLES -1", "-ERR syntax error\r\n"),
            ("MEMORY USAGE a DEPTH 1", "-ERR syntax error\r\n"),
            (
                "MEMORY EATEN",
                "-ERR unknown subcommand 'EATEN'. Try MEMORY HELP.\r\n",
            ),
        ]);
    }
}
