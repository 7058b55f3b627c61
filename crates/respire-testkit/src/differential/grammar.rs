//! The commands that are sent, as a grammar.
//!
//! Words stand for themselves and `<holes>` for random values; `[a|b c]` is nothing or one of its
//! alternatives, `(a|b)` one of them, `{a b}` its content once or a few times. The number says how
//! often a line is drawn compared with the others.

/// Every command whose replies can be compared.
pub const COMMANDS: &[(u32, &str)] = &[
    (
        30,
        "SET <key> <value> [NX|XX] [GET] [EX <secs>|PX <ms>|EXAT <at>|PXAT <at_ms>|KEEPTTL]",
    ),
    (20, "SET <key> <value>"),
    (12, "GET <key>"),
    (5, "GETDEL <key>"),
    (
        8,
        "GETEX <key> [EX <secs>|PX <ms>|EXAT <at>|PXAT <at_ms>|PERSIST]",
    ),
    (5, "GETSET <key> <value>"),
    (5, "SETNX <key> <value>"),
    (5, "SETEX <key> <secs> <value>"),
    (5, "PSETEX <key> <ms> <value>"),
    (8, "MGET {<key>}"),
    (8, "MSET {<key> <value>}"),
    (5, "MSETNX {<key> <value>}"),
    (8, "APPEND <key> <value>"),
    (5, "STRLEN <key>"),
    (8, "GETRANGE <key> <index> <index>"),
    (3, "SUBSTR <key> <index> <index>"),
    (8, "SETRANGE <key> <offset> <value>"),
    (8, "(INCR|DECR) <key>"),
    (10, "(INCRBY|DECRBY) <key> <int>"),
    (10, "INCRBYFLOAT <key> <float>"),
    (
        10,
        "LCS <key> <key> [LEN|IDX] [MINMATCHLEN <count>] [WITHMATCHLEN]",
    ),
    (8, "SETBIT <key> <bit_offset> <bit>"),
    (8, "GETBIT <key> <bit_offset>"),
    (
        10,
        "BITCOUNT <key> [<index> <index>|<index> <index> (BYTE|BIT)]",
    ),
    (
        10,
        "BITPOS <key> <bit> [<index>|<index> <index>|<index> <index> (BYTE|BIT)]",
    ),
    (10, "BITOP (AND|OR|XOR) <key> {<key>}"),
    (4, "BITOP NOT <key> <key>"),
    (
        15,
        "BITFIELD <key> {[OVERFLOW (WRAP|SAT|FAIL)] (GET <type> <field>|SET <type> <field> <int>|INCRBY <type> <field> <int>)}",
    ),
    (5, "BITFIELD_RO <key> {GET <type> <field>}"),
    (6, "(DEL|UNLINK|EXISTS|TOUCH) {<key>}"),
    (3, "TYPE <key>"),
    (6, "EXPIRE <key> <secs> [NX|XX|GT|LT|XX GT|XX LT]"),
    (6, "PEXPIRE <key> <ms> [NX|XX|GT|LT|XX GT|XX LT]"),
    (6, "EXPIREAT <key> <at> [NX|XX|GT|LT|NX XX|GT LT]"),
    (6, "PEXPIREAT <key> <at_ms> [NX|XX|GT|LT|NX GT]"),
    (5, "(TTL|PTTL|EXPIRETIME|PEXPIRETIME|PERSIST) <key>"),
    (3, "KEYS <pattern>"),
    (
        6,
        "SCAN 0 [MATCH <pattern>] COUNT 1000 [TYPE (string|list|foo)]",
    ),
    (
        3,
        "SCAN <cursor> [MATCH <pattern>] [COUNT <count>] [TYPE (string|list|foo)]",
    ),
    (2, "RANDOMKEY"),
    (6, "(RENAME|RENAMENX) <key> <key>"),
    (8, "COPY <key> <key> [DB <db>] [REPLACE]"),
    (5, "MOVE <key> <db>"),
    (2, "DBSIZE"),
    (1, "(FLUSHDB|FLUSHALL) [SYNC|ASYNC]"),
    (2, "SWAPDB <db> <db>"),
    (5, "OBJECT (ENCODING|IDLETIME|FREQ) <key>"),
    (6, "DUMP <key>"),
    (
        8,
        "RESTORE <key> (0|<ms>|<at_ms> ABSTTL) <payload> [REPLACE] [ABSTTL] [IDLETIME <count>|FREQ <count>]",
    ),
    (
        3,
        "SORT <key> [BY <pattern>] [LIMIT <index> <index>] [GET <pattern>] [ASC|DESC] [ALPHA] [STORE <key>]",
    ),
    (
        2,
        "SORT_RO <key> [LIMIT <index> <index>] [ASC|DESC] [ALPHA]",
    ),
    (3, "PING [<value>]"),
    (2, "ECHO <value>"),
    (5, "SELECT <db>"),
    (3, "HELLO [(2|3) [AUTH default <value>] [SETNAME <name>]]"),
    (1, "HELLO <int>"),
    (1, "AUTH [default|nobody] <value>"),
    (1, "RESET"),
    (
        2,
        "CLIENT (SETNAME <name>|GETNAME|ID|INFO|NO-EVICT (ON|OFF|foo)|UNBLOCK <int> [TIMEOUT|ERROR|foo])",
    ),
    (
        1,
        "CLIENT LIST [TYPE (normal|master|replica|pubsub|foo)|ID {<int>}]",
    ),
    (
        1,
        "CLIENT KILL (ID 999999|ADDR 1.2.3.4:5|LADDR 1.2.3.4:5|USER nobody|SKIPME foo|TYPE foo|TYPE master)",
    ),
    (
        1,
        "CLIENT (GETREDIR|TRACKINGINFO|UNPAUSE|PAUSE foo|PAUSE -1|REPLY ON|REPLY foo|FOO)",
    ),
    (14, "MULTI"),
    (12, "EXEC"),
    (1, "DISCARD"),
    (5, "WATCH {<key>}"),
    (1, "UNWATCH"),
    (1, "TIME"),
    (1, "LASTSAVE"),
    (1, "INFO [<section>]"),
    (
        3,
        "CONFIG GET {(maxmemory|maxmemory-policy|maxmemory-samples|databases|slowlog-max-len|timeout|requirepass|proto-max-bulk-len|nosuch|MAXMEMORY)}",
    ),
    (
        2,
        "CONFIG SET (slowlog-max-len|maxmemory-samples|latency-monitor-threshold) <int>",
    ),
    (
        2,
        "CONFIG SET maxmemory-policy (noeviction|allkeys-lru|allkeys-random|volatile-ttl|foo)",
    ),
    (
        1,
        "CONFIG (RESETSTAT|FOO|SET nosuch 1|SET databases 4|SET maxmemory 0 maxmemory 0|GET)",
    ),
    (3, "COMMAND INFO {(<command>|nosuch)}"),
    (2, "COMMAND DOCS {(<command>|nosuch)}"),
    (2, "COMMAND COUNT"),
    (
        1,
        "COMMAND LIST FILTERBY (PATTERN nosuch|MODULE foo|ACLCAT nosuch|FOO bar)",
    ),
    (
        4,
        "COMMAND GETKEYS (SET <key> <value>|MSET {<key> <value>}|DEL {<key>}|BITOP AND <key> {<key>}|SORT <key> STORE <key>|COPY <key> <key>|PING|GET|NOSUCH <key>|LCS <key> <key>|OBJECT ENCODING <key>)",
    ),
    (
        2,
        "COMMAND GETKEYSANDFLAGS (SET <key> <value>|GET <key>|RENAME <key> <key>|GETEX <key>|BITFIELD <key> GET u8 0|BITFIELD <key> [(GET|OVERFLOW|SET|foo)] [(u8|GET)] [0]|SORT <key> STORE <key>)",
    ),
    (
        2,
        "MEMORY (USAGE <key> [SAMPLES <count>]|DOCTOR|PURGE|STATS|FOO)",
    ),
    (1, "SLOWLOG (LEN|RESET|GET <int>|FOO)"),
    (
        1,
        "LATENCY (LATEST|HISTORY foo|RESET|RESET foo|DOCTOR|GRAPH foo|HISTOGRAM nosuch|FOO)",
    ),
    (1, "DEBUG (SET-ACTIVE-EXPIRE (0|1)|SLEEP 0|OBJECT <key>)"),
    (1, "LOLWUT [VERSION <count>]"),
    (1, "SHUTDOWN (foo|SAVE NOSAVE|ABORT)"),
    (
        1,
        "OBJECT (FOO|HELP|ENCODING|ENCODING a b|FREQ|REFCOUNT missing)",
    ),
    (
        1,
        "(ACL|MEMORY|SLOWLOG|LATENCY|CONFIG|CLIENT|COMMAND|PUBSUB) HELP",
    ),
    (1, "ACL (WHOAMI|USERS|CAT nosuch|FOO)"),
    (1, "(PUBLISH|SPUBLISH) <value> <value>"),
    (
        1,
        "PUBSUB (CHANNELS [<pattern>]|NUMPAT|NUMSUB [<value>]|SHARDCHANNELS [<pattern>]|SHARDNUMSUB [<value>]|FOO)",
    ),
    (3, "<command>"),
    (3, "<command> <value>"),
    (2, "<command> <key> <value> <value>"),
    (2, "FOO {<value>}"),
];

/// A part of a parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Itself.
    Word(&'static str),
    /// A random value of this kind.
    Hole(&'static str),
    /// One of these, or nothing if it is optional.
    Choice {
        /// The alternatives.
        options: Vec<Vec<Self>>,
        /// Whether nothing is one of them.
        is_optional: bool,
    },
    /// This, once or a few times.
    Repeat(Vec<Self>),
}

/// Parses a line of the grammar.
///
/// # Panics
/// When a bracket is not closed: the lines are ours.
#[must_use]
pub fn parse(line: &'static str) -> Vec<Node> {
    let mut rest = line;
    let mut options = alternatives(&mut rest);
    assert!(
        rest.is_empty() && options.len() == 1,
        "{line:?} is no line of the grammar"
    );
    options.remove(0)
}

fn alternatives(rest: &mut &'static str) -> Vec<Vec<Node>> {
    let mut options = vec![Vec::new()];
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' => *rest = &rest[1..],
            '|' => {
                *rest = &rest[1..];
                options.push(Vec::new());
            }
            ']' | ')' | '}' => return options,
            _ => {
                let node = node(rest, first);
                options.last_mut().expect("never empty").push(node);
            }
        }
    }
    options
}

fn node(rest: &mut &'static str, first: char) -> Node {
    match first {
        '[' | '(' | '{' => {
            *rest = &rest[1..];
            let mut options = alternatives(rest);
            assert!(!rest.is_empty(), "a bracket is not closed");
            *rest = &rest[1..];
            match first {
                '{' => Node::Repeat(options.remove(0)),
                _ => Node::Choice {
                    options,
                    is_optional: first == '[',
                },
            }
        }
        _ => {
            let len = rest
                .find([' ', '|', ']', ')', '}', '[', '(', '{'])
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(len);
            *rest = after;
            match word
                .strip_prefix('<')
                .and_then(|word| word.strip_suffix('>'))
            {
                Some(kind) => Node::Hole(kind),
                None => Node::Word(word),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_parsed_into_its_parts() {
        let parsed = parse("SET <key> [NX|EX <secs>] {a <b>}");
        let expected = vec![
            Node::Word("SET"),
            Node::Hole("key"),
            Node::Choice {
                options: vec![
                    vec![Node::Word("NX")],
                    vec![Node::Word("EX"), Node::Hole("secs")],
                ],
                is_optional: true,
            },
            Node::Repeat(vec![Node::Word("a"), Node::Hole("b")]),
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn every_line_can_be_parsed() {
        for (weight, line) in COMMANDS {
            assert!(*weight > 0 && !parse(line).is_empty(), "{line}");
        }
    }
}
