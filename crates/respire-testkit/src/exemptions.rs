//! Commands that cannot be held to what the tests ask of every command, each with its reason.
//!
//! Names are those of the table: in lower case, `client|kill`. `tests/coverage.rs` refuses an entry
//! that is no longer needed.

/// Commands that the reference, Redis 7.0, does not have, each with the row of docs/COMPATIBILITY.md
/// that names it. Nothing about them is compared with Redis.
pub const UNKNOWN_TO_REDIS: &[(&str, &str)] = &[
    ("client|no-touch", "since-7.2"),
    ("client|setinfo", "since-7.2"),
];

/// Commands without a transcript.
pub const NOT_IN_TRANSCRIPTS: &[(&str, &str)] = &[];

/// Commands that are not sent at random and compared with Redis.
pub const NOT_IN_GRAMMAR: &[(&str, &str)] = &[
    (
        "config|rewrite",
        "writes the file that a server was started with",
    ),
    (
        "memory|malloc-stats",
        "tells of each server's own allocator",
    ),
    ("psubscribe", SUBSCRIBES),
    ("punsubscribe", SUBSCRIBES),
    (
        "quit",
        "ends the connection on which the next request is sent",
    ),
    ("ssubscribe", SUBSCRIBES),
    ("subscribe", SUBSCRIBES),
    ("sunsubscribe", SUBSCRIBES),
    ("unsubscribe", SUBSCRIBES),
];

const SUBSCRIBES: &str = "answered more than once, or by pushes; scripts/pubsub.resp plays it";

/// Commands whose examples are not played on the servers, nor on Redis.
pub const EXAMPLES_NOT_ON_SERVERS: &[(&str, &str)] =
    &[("client|id", NUMBERED), ("hello", NUMBERED)];

const NUMBERED: &str = "tells the number of the connection, which only a server of one's own knows";

/// Commands whose examples are not played on Redis.
pub const EXAMPLES_NOT_ON_REDIS: &[(&str, &str)] = &[
    ("acl|cat", "lists what has no order"),
    ("config|get", "lists what has no order"),
    (
        "memory|malloc-stats",
        "tells of each server's own allocator",
    ),
];

/// Whether a command stands in a list.
#[must_use]
pub fn has(list: &[(&str, &str)], name: &str) -> bool {
    list.iter().any(|(other, _)| *other == name)
}
