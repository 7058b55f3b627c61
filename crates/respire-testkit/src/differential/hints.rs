//! Hints for random requests that the commands' descriptions do not give: values of arguments,
//! weights, and a few requests written by hand. `grammar.rs` explains the notation.

use super::grammar::{Node, of_spec, parse};
use super::handwritten::HANDWRITTEN;
use crate::exemptions::{NEWER_ARITY, NOT_IN_GRAMMAR, UNKNOWN_TO_REDIS, has};
use crate::target::{START_UNIX_MS, kv_engine};
use respire_engine::{Arg, ArgKind, Group, Now, Spec};
use std::time::Duration;

/// The values of arguments whose kind is not specific enough, by the argument's name. The first
/// field is the command, or empty for all commands. A command's own entry comes before one for all
/// commands.
const VALUES: &[(&str, &str, &str)] = &[
    ("", "bit", "<bit>"),
    ("", "client-id", "<int>"),
    ("", "clientname", "<name>"),
    ("", "command-name", "(<command>|nosuch)"),
    ("", "connection-name", "<name>"),
    ("", "cursor", "<cursor>"),
    ("", "db", "<db>"),
    ("", "destination-db", "<db>"),
    ("", "element", ELEMENT),
    ("", "encoding", "<type>"),
    ("", "end", "<index>"),
    ("", "event", "foo"),
    ("", "field", "<hash_field>"),
    ("", "height", "<radius>"),
    ("", "index1", "<db>"),
    ("", "index2", "<db>"),
    ("", "latitude", "<latitude>"),
    ("", "len", "<count>"),
    ("", "longitude", "<longitude>"),
    ("", "member", "<member>"),
    ("", "member1", "<member>"),
    ("", "member2", "<member>"),
    ("", "milliseconds", "<ms>"),
    ("", "score", "<score>"),
    ("", "num-matches", "<count>"),
    ("", "pivot", ELEMENT),
    ("", "radius", "<radius>"),
    ("", "rank", "<index>"),
    ("", "seconds", "<secs>"),
    ("", "section", "<section>"),
    ("", "start", "<index>"),
    ("", "stop", "<index>"),
    ("", "unix-time-milliseconds", "<at_ms>"),
    ("", "unix-time-seconds", "<at>"),
    ("", "username", "(default|nobody)"),
    ("", "version", "<count>"),
    ("", "width", "<radius>"),
    ("bitfield", "operation", BITFIELD_OPERATION),
    ("bitfield_ro", "offset", "<field>"),
    ("bitop", "operation", "(AND|OR|XOR|NOT)"),
    (
        "config|get",
        "parameter",
        "(maxmemory|maxmemory-policy|maxmemory-samples|databases|slowlog-max-len|timeout|requirepass|proto-max-bulk-len|nosuch|MAXMEMORY)",
    ),
    ("expire", "condition", CONDITIONS),
    ("expireat", "condition", CONDITIONS),
    ("georadius", "count", "<count>"),
    ("georadius_ro", "count", "<count>"),
    ("georadiusbymember", "count", "<count>"),
    ("georadiusbymember_ro", "count", "<count>"),
    ("geosearch", "count", "<count>"),
    ("geosearchstore", "count", "<count>"),
    ("getbit", "offset", "<bit_offset>"),
    ("hello", "protover", "(2|3|2|3|2|3|<int>)"),
    ("hincrby", "increment", "<int>"),
    (
        "hrandfield",
        "count",
        "(<count>|-1|-3|9223372036854775807|-9223372036854775808)",
    ),
    ("hscan", "count", "<count>"),
    ("lindex", "index", "<index>"),
    ("lpop", "count", "<count>"),
    ("lrem", "count", "<index>"),
    ("lset", "index", "<index>"),
    // The number of other references depends on where Redis shares objects.
    ("object|refcount", "key", "missing"),
    // Each server has its own times for commands that have run.
    ("latency|histogram", "command", "nosuch"),
    ("memory|usage", "count", "<count>"),
    ("pexpire", "condition", CONDITIONS),
    ("pexpireat", "condition", CONDITIONS),
    (
        "pfdebug",
        "subcommand",
        "(GETREG|DECODE|ENCODING|TODENSE|DECODE|foo)",
    ),
    ("restore", "frequency", "<count>"),
    ("restore", "seconds", "<count>"),
    ("restore", "serialized-value", "<payload>"),
    ("restore", "ttl", "(0|<ms>)"),
    ("rpop", "count", "<count>"),
    ("scan", "count", "<count>"),
    ("scan", "type", "(string|list|foo)"),
    ("select", "index", "<db>"),
    ("setbit", "offset", "<bit_offset>"),
    ("setbit", "value", "<bit>"),
    ("setrange", "offset", "<offset>"),
    ("sintercard", "limit", "<count>"),
    ("sintercard", "numkeys", "(1|2|3|<count>)"),
    ("lpos", "rank", "(1|2|-1|-2|0|5|abc)"),
    ("sort", "count", "<index>"),
    ("sort", "offset", "<index>"),
    ("sort_ro", "count", "<index>"),
    ("sort_ro", "offset", "<index>"),
    ("srandmember", "count", "(<count>|-1|-3|-100)"),
    ("sscan", "count", "<count>"),
    ("zcount", "max", "<score_bound>"),
    ("zcount", "min", "<score_bound>"),
    ("zincrby", "increment", "<score>"),
    ("zpopmax", "count", "<count>"),
    ("zpopmin", "count", "<count>"),
    ("zrandmember", "count", "<count>"),
    ("zremrangebyrank", "stop", "<index>"),
    ("zremrangebyscore", "max", "<score_bound>"),
    ("zremrangebyscore", "min", "<score_bound>"),
    ("zrevrange", "stop", "<index>"),
    ("zscan", "count", "<count>"),
];

/// The keys of the commands on values of a type, most of which are of this type.
const KEYS_OF_TYPES: &[(Group, &str)] = &[
    (Group::Geo, "<geo>"),
    (Group::Hash, "<hash>"),
    (Group::List, "<list>"),
    (Group::Set, "<set>"),
];

/// Few different elements, so that some are equal.
const ELEMENT: &str = "(a|b|7|-7|07|a|b|7|<value>)";

/// Two conditions together are allowed, or refused with their own errors.
const CONDITIONS: &str = "(NX|XX|GT|LT|NX|XX|GT|LT|XX GT|XX LT|NX XX|NX GT|GT LT)";

/// `OVERFLOW` may also precede `GET`, on which it has no effect.
const BITFIELD_OPERATION: &str = "[OVERFLOW (WRAP|SAT|FAIL)] (GET <type> <field>|SET <type> <field> <int>|INCRBY <type> <field> <int>)";

/// How often a command is drawn compared with others: the weight of each possible argument of a
/// command with keys, and the weight of a command without keys.
const WEIGHT_OF_ARGUMENT: u32 = 4;
const WEIGHT_WITHOUT_KEYS: u32 = 2;

/// Commands that are drawn more or less often than these rules give.
const WEIGHTS: &[(&str, u32)] = &[
    ("bitfield", 30),
    ("bitop", 24),
    ("exec", 24),
    ("flushall", 1),
    ("flushdb", 1),
    ("geoadd", 80),
    ("geohash", 8),
    ("georadius_ro", 24),
    ("georadiusbymember_ro", 24),
    ("get", 24),
    ("getrange", 16),
    ("hello", 6),
    ("hincrby", 20),
    ("hincrbyfloat", 20),
    ("hset", 60),
    ("incrbyfloat", 20),
    ("keys", 6),
    ("lcs", 20),
    ("linsert", 16),
    ("lpush", 40),
    ("lrange", 16),
    ("mget", 16),
    ("mset", 16),
    ("multi", 28),
    ("rpush", 40),
    ("select", 10),
    ("sadd", 80),
    ("set", 80),
    ("smove", 20),
    ("sort", 6),
    ("sort_ro", 4),
    ("spublish", 2),
    ("swapdb", 4),
    ("zadd", 100),
    ("zrem", 12),
    ("watch", 10),
];

/// Additional requests that no description gives: most of them are mistakes.
const ADDITIONAL: &[(u32, &str)] = &[
    (40, "SET <key> <value>"),
    (60, "ZADD <key> {<score> <member>}"),
    (10, "DEL <key>"),
    // Done in one step, since only that can be compared.
    (
        12,
        "SCAN 0 [MATCH <pattern>] COUNT 1000 [TYPE (string|list|zset|foo)]",
    ),
    (4, "BITOP NOT <key> <key>"),
    // A point in time, which without `ABSTTL` would be a duration from now.
    (
        8,
        "RESTORE <key> <at_ms> <payload> [REPLACE] ABSTTL [IDLETIME <count>|FREQ <count>]",
    ),
    (
        2,
        "CLIENT (LIST TYPE foo|NO-EVICT foo|UNBLOCK <int> foo|FOO)",
    ),
    (2, "(ACL|CONFIG|LATENCY|MEMORY|OBJECT|PUBSUB|SLOWLOG) FOO"),
    (
        2,
        "(CONFIG GET|LATENCY HISTORY|MEMORY USAGE|OBJECT ENCODING [a b]|OBJECT FREQ)",
    ),
    // Members enough for sets of all forms.
    (20, "SADD <set> {<member>} {<member>} {<member>}"),
    (10, "SADD <set> {<int>} {<value>} {<value>} {<value>}"),
    // Scores that are no places.
    (4, "ZADD <geo> {<score> <member>}"),
    (2, "(DEL|ZCARD|DUMP) <geo>"),
    // The order of members is defined only if all have the same score.
    (10, "ZADD <lex> 0 <member> 0 <member>"),
    (1, "(DEL|DUMP) <lex>"),
    // `HyperLogLogs` on keys that other commands seldom overwrite, so that they grow.
    (24, "PFADD <hll> {<value>} {<value>} {<value>}"),
    (6, "PFCOUNT {<hll>}"),
    (6, "PFMERGE <hll> {<hll>}"),
    (
        6,
        "(GET|DUMP|DEL|PFDEBUG (GETREG|DECODE|ENCODING|TODENSE)) <hll>",
    ),
    (2, "SETRANGE <hll> <offset> <value>"),
    (6, "<command>"),
    (6, "<command> <value>"),
    (4, "<command> <key> <value> <value>"),
    (4, "FOO {<value>}"),
];

/// Holes for points in time.
const TIMES: &[&str] = &["at", "at_ms", "ms", "secs"];

/// A request that can be drawn.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) weight: u32,
    pub(super) nodes: Vec<Node>,
}

/// Everything that random requests are drawn from.
#[derive(Debug)]
pub(super) struct Grammar {
    pub(super) lines: Vec<Line>,
    /// The names of the commands that may be sent with any arguments.
    pub(super) names: Vec<&'static str>,
    /// Those among them that give keys an expiry.
    pub(super) timed: Vec<&'static str>,
}

impl Grammar {
    /// The grammar of every command of the table that is compared with Redis.
    pub(super) fn new() -> Self {
        let mut grammar = Self {
            lines: Vec::new(),
            names: Vec::new(),
            timed: Vec::new(),
        };
        for spec in specs() {
            match HANDWRITTEN.iter().find(|(name, ..)| *name == spec.name) {
                Some((_, weight, line)) => grammar.add(*weight, parse(line)),
                None => grammar.add_spec(&spec),
            }
        }
        for (weight, line) in ADDITIONAL {
            grammar.add(*weight, parse(line));
        }
        grammar
    }

    fn add_spec(&mut self, spec: &Spec) {
        let nodes = of_spec(spec, &|arg| hint(spec, arg));
        if nodes.iter().any(|node| node.has_hole(TIMES)) {
            self.timed.push(spec.name);
        }
        if !has(NEWER_ARITY, spec.name) {
            self.names.push(spec.name);
        }
        self.add(weight(spec), nodes);
    }

    fn add(&mut self, weight: u32, nodes: Vec<Node>) {
        self.lines.push(Line { weight, nodes });
    }
}

/// The commands that are compared with Redis, by name. Containers without an action of their own
/// are omitted.
fn specs() -> Vec<Spec> {
    let now = Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS));
    let engine = kv_engine(now);
    let mut specs: Vec<Spec> = engine
        .commands()
        .all()
        .filter(|entry| !entry.is_container() || entry.spec().arity.accepts(1))
        .map(|entry| *entry.spec())
        .filter(|spec| !has(NOT_IN_GRAMMAR, spec.name) && !has(UNKNOWN_TO_REDIS, spec.name))
        .collect();
    specs.sort_by_key(|spec| spec.name);
    specs
}

fn weight(spec: &Spec) -> u32 {
    let own = WEIGHTS.iter().find(|(name, _)| *name == spec.name);
    let usual = match spec.keys {
        [] => WEIGHT_WITHOUT_KEYS,
        _ => WEIGHT_OF_ARGUMENT * leaves(spec.args),
    };
    own.map_or(usual, |(_, weight)| *weight)
}

/// The number of arguments, not counting those that consist of others.
fn leaves(args: &[Arg]) -> u32 {
    args.iter().map(|arg| leaves(arg.parts).max(1)).sum()
}

fn hint(spec: &Spec, arg: &Arg) -> Option<&'static str> {
    let of = |owner: &str| {
        let mut hints = VALUES.iter();
        hints.find(|(name, argument, _)| *name == owner && *argument == arg.name)
    };
    let named = of(spec.name).or_else(|| of("")).map(|(.., line)| *line);
    let of_group = || {
        let mut keys = KEYS_OF_TYPES.iter();
        keys.find(|(group, _)| *group == spec.group && arg.kind == ArgKind::Key)
    };
    named.or_else(|| of_group().map(|(_, line)| *line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn names_of(args: &[Arg]) -> Vec<&'static str> {
        let parts = args.iter().flat_map(|arg| names_of(arg.parts));
        args.iter().map(|arg| arg.name).chain(parts).collect()
    }

    #[test]
    fn every_hint_names_an_existing_argument() {
        let all: Vec<(&str, Vec<&str>)> = specs()
            .iter()
            .map(|spec| (spec.name, names_of(spec.args)))
            .collect();
        for (command, argument, line) in VALUES {
            let of_any = all.iter().any(|(name, arguments)| {
                (command.is_empty() || name == command) && arguments.contains(argument)
            });
            assert!(of_any, "no {command} has an argument {argument}");
            assert!(!parse(line).is_empty());
        }
        let names: BTreeSet<&str> = all.iter().map(|(name, _)| *name).collect();
        let weighted = WEIGHTS.iter().map(|(name, _)| *name);
        for name in weighted.chain(HANDWRITTEN.iter().map(|(name, ..)| *name)) {
            assert!(names.contains(name), "there is no command {name}");
        }
    }

    #[test]
    fn commands_that_set_an_expiry_are_found_by_their_arguments() {
        let timed = [
            "expire",
            "expireat",
            "getex",
            "pexpire",
            "pexpireat",
            "psetex",
            "restore",
            "set",
            "setex",
        ];
        assert_eq!(Grammar::new().timed, timed);
    }
}
