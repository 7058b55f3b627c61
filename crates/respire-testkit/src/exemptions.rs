//! Lists of commands that are exempt from a check of the tests, each with its reason.
//!
//! Names are those of the table: in lower case, `client|kill`. `tests/coverage.rs` refuses an entry
//! that is no longer needed.

/// Commands that the reference, Redis 7.0, does not have, each with the row of
/// docs/COMPATIBILITY.md that names it. They are not compared with Redis at all.
pub const UNKNOWN_TO_REDIS: &[(&str, &str)] = &[
    ("client|no-touch", "since-7.2"),
    ("client|setinfo", "since-7.2"),
    ("delex", "compare-and-set"),
    ("delifeq", "compare-and-set"),
    ("hexpire", "since-7.4"),
    ("hexpireat", "since-7.4"),
    ("hexpiretime", "since-7.4"),
    ("hgetdel", "since-8.0"),
    ("hgetex", "since-8.0"),
    ("hpersist", "since-7.4"),
    ("hpexpire", "since-7.4"),
    ("hpexpireat", "since-7.4"),
    ("hpexpiretime", "since-7.4"),
    ("hpttl", "since-7.4"),
    ("hsetex", "since-8.0"),
    ("httl", "since-7.4"),
    ("msetex", "compare-and-set"),
    ("xackdel", "stream-references"),
    ("xdelex", "stream-references"),
];

/// Whether a version is newer than the reference: its arguments and history are not compared with
/// Redis. Other texts than versions are not newer.
#[must_use]
pub fn is_newer_than_redis(version: &str) -> bool {
    const REFERENCE: (u32, u32) = (7, 0);
    let mut parts = version.split('.').map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) > REFERENCE,
        _ => false,
    }
}

/// Commands with options that came after the reference, which has another arity for them.
pub const NEWER_ARITY: &[(&str, &str)] = &[
    ("zrank", "zrank-withscore"),
    ("zrevrank", "zrank-withscore"),
];

/// Commands without a transcript.
pub const NOT_IN_TRANSCRIPTS: &[(&str, &str)] = &[];

/// Commands that are not among the random requests compared with Redis.
pub const NOT_IN_GRAMMAR: &[(&str, &str)] = &[
    ("bgrewriteaof", WRITES_FILES),
    ("bgsave", WRITES_FILES),
    ("blmove", WAITS),
    ("blmpop", WAITS),
    ("blpop", WAITS),
    ("brpop", WAITS),
    ("brpoplpush", WAITS),
    ("bzmpop", WAITS),
    ("bzpopmax", WAITS),
    ("bzpopmin", WAITS),
    (
        "config|rewrite",
        "writes the file that a server was started with",
    ),
    (
        "memory|malloc-stats",
        "tells of each server's own allocator",
    ),
    ("pfselftest", "takes Redis more than half a second"),
    ("psubscribe", SUBSCRIBES),
    ("punsubscribe", SUBSCRIBES),
    (
        "script|debug",
        "there is no debugger, and Redis refuses to begin one inside a transaction",
    ),
    (
        "quit",
        "ends the connection on which the next request is sent",
    ),
    ("save", WRITES_FILES),
    ("ssubscribe", SUBSCRIBES),
    ("subscribe", SUBSCRIBES),
    ("sunsubscribe", SUBSCRIBES),
    ("unsubscribe", SUBSCRIBES),
];

const WRITES_FILES: &str = "writes files, which these servers have no directory for; the tests of \
     crates/respire-disk and crates/respire run it";

const WAITS: &str = "may wait; scripts/blocking.resp and scripts/blocking_zset.resp play it";

const SUBSCRIBES: &str = "sends several replies, or pushes; scripts/pubsub.resp plays it";

/// Commands whose examples are played neither on the servers nor on Redis.
pub const EXAMPLES_NOT_ON_SERVERS: &[(&str, &str)] =
    &[("client|id", NUMBERED), ("hello", NUMBERED)];

const NUMBERED: &str =
    "replies with the number of the connection, which is only known on a new server";

/// Commands whose examples are not played on Redis.
pub const EXAMPLES_NOT_ON_REDIS: &[(&str, &str)] = &[
    ("acl|cat", "lists what has no order"),
    ("config|get", "lists what has no order"),
    (
        "memory|malloc-stats",
        "tells of each server's own allocator",
    ),
    ("zrank", "shows an option of Redis 7.2"),
    ("zrevrank", "shows an option of Redis 7.2"),
];

/// Whether a list has an entry for a command.
#[must_use]
pub fn has(list: &[(&str, &str)], name: &str) -> bool {
    list.iter().any(|(other, _)| *other == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_newer_from_the_minor_number_on() {
        for newer in ["7.2.0", "8.0.0", "10.0.0", "8.4"] {
            assert!(is_newer_than_redis(newer), "{newer}");
        }
        for other in ["7.0.15", "7.0.0", "6.2.0", "2.6.12", "8", "x.y", ""] {
            assert!(!is_newer_than_redis(other), "{other}");
        }
    }
}
