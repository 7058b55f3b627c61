//! Rules for replies in which two correct servers may differ, with the reasons.

use crate::exemptions::is_newer_than_redis;
use crate::reply::Value;

/// How the replies to a command are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Byte for byte.
    Exact,
    /// As sets: the order of keys, settings and subcommands depends on each server's hash table.
    AnyOrder,
    /// As sets, without our arguments and history that are newer than the reference.
    Description,
    /// By presence: the key is drawn at random.
    Presence,
    /// By the number of elements, which are drawn at random.
    Length,
    /// By length, if it is the payload of a large hash or set: its elements come in the order of each server's hash
    /// table. By type, if it is a sorted set that only Redis keeps in its large form: docs/COMPATIBILITY.md,
    /// `sort-encoding`.
    Payload,
    /// Apart from the times of consumers and of what is pending, and from the number of nodes in Redis's tree of blocks.
    Stream,
    /// Numbers up to this far apart: the servers are asked one after the other, and the clock moves
    /// on.
    Within(i64),
    /// By type, for these reasons. Times, numbers of clients, memory and statistics differ between
    /// servers. `HELP` and `COMMAND` describe what a server has. Redis counts expired keys until it
    /// removes them. Whether a duration from now ends later than an earlier one depends on the
    /// millisecond. Redis shares small integers among keys, and with them their time of use.
    Kind,
    /// Not compared: Redis still finds expired keys here that it has not removed yet.
    Any,
    /// Compared without the number of the client and the version of the server.
    Hello,
    /// Redis's `SORT` makes small sorted sets large: docs/COMPATIBILITY.md, `sort-encoding`.
    Form,
    /// The cursor differs between servers, and so do the keys found in one step. Only a scan that
    /// ends in one step is compared.
    Scan,
}

/// The servers are asked one after the other; their times may differ by this many milliseconds.
const MS_MAX: i64 = 1500;

impl Rule {
    /// The rule for a request.
    #[must_use]
    pub fn of(args: &[Vec<u8>]) -> Self {
        let upper = |at: usize| {
            args.get(at)
                .map(|arg| arg.to_ascii_uppercase())
                .unwrap_or_default()
        };
        let has = |word: &[u8]| args.iter().any(|arg| arg.eq_ignore_ascii_case(word));
        match (upper(0).as_slice(), upper(1).as_slice()) {
            (b"COMMAND", b"INFO" | b"DOCS") if args.len() > 2 => Self::Description,
            (b"KEYS" | b"HGETALL" | b"HKEYS" | b"HVALS" | b"SMEMBERS" | b"SUNION", _)
            | (b"CONFIG", b"GET") => Self::AnyOrder,
            (b"SINTER" | b"SDIFF" | b"SPOP", _) => Self::AnyOrder,
            // Redis leaves the order of elements of equal rank open.
            (b"SORT" | b"SORT_RO", _) if has(b"BY") && has(b"LIMIT") => Self::Length,
            (b"SORT" | b"SORT_RO", _) if has(b"BY") => Self::AnyOrder,
            (b"RANDOMKEY", _) => Self::Presence,
            (b"HRANDFIELD" | b"SRANDMEMBER", _) if args.len() == 2 => Self::Presence,
            (b"HRANDFIELD" | b"SRANDMEMBER", _) => Self::Length,
            (b"HSCAN" | b"SSCAN", _) if args.get(2).is_some_and(|cursor| cursor == b"0") => {
                Self::Scan
            }
            (b"HSCAN" | b"SSCAN", _) => Self::Kind,
            (b"DUMP", _) => Self::Payload,
            (b"XPENDING" | b"XINFO", _) => Self::Stream,
            (b"TTL" | b"EXPIRETIME", _) => Self::Within(1 + MS_MAX / 1000),
            (b"PTTL" | b"PEXPIRETIME", _) => Self::Within(MS_MAX),
            (b"OBJECT", b"IDLETIME") => Self::Kind,
            (b"EXPIRE" | b"PEXPIRE", _) if has(b"GT") || has(b"LT") => Self::Kind,
            (b"HELLO", _) => Self::Hello,
            (b"OBJECT", b"ENCODING") => Self::Form,
            (b"SCAN", b"0") => Self::Scan,
            (b"SCAN", _) => Self::Kind,
            // The order of a large set's elements, and the choice of random ones.
            (b"ZSCAN" | b"ZRANDMEMBER", _) => Self::Kind,
            (b"TIME" | b"LASTSAVE" | b"INFO" | b"LOLWUT", _) => Self::Kind,
            (b"MEMORY", b"USAGE") => Self::Any,
            (b"MEMORY", b"STATS" | b"DOCTOR") => Self::Kind,
            (b"CLIENT", b"ID" | b"INFO" | b"LIST") => Self::Kind,
            (b"SLOWLOG", b"GET" | b"LEN") | (b"LATENCY", _) => Self::Kind,
            (b"COMMAND", b"INFO" | b"DOCS") => Self::Kind,
            (b"COMMAND", b"COUNT") => Self::Kind,
            (b"DEBUG", b"OBJECT") | (_, b"HELP") => Self::Kind,
            (b"DBSIZE" | b"COMMAND", b"") => Self::Kind,
            _ => Self::Exact,
        }
    }

    /// Whether two replies are equal under this rule. Errors must always be equal.
    #[must_use]
    pub fn same(self, ours: Value, theirs: Value) -> bool {
        if ours == theirs {
            return true;
        }
        if ours.is_error() || theirs.is_error() {
            return false;
        }
        match self {
            Self::Exact => false,
            Self::Any => true,
            Self::AnyOrder => sorted(&ours) == sorted(&theirs),
            Self::Description => sorted(&without_newer(ours)) == sorted(&theirs),
            Self::Presence => matches!((&ours, &theirs), (Value::Bulk(_), Value::Bulk(_))),
            Self::Length => elements(&ours).is_some_and(|len| elements(&theirs) == Some(len)),
            Self::Payload => is_same_payload(&ours, &theirs),
            Self::Stream => is_same_stream(&ours, &theirs),
            Self::Within(most) => within(&ours, &theirs, most),
            Self::Kind => std::mem::discriminant(&ours) == std::mem::discriminant(&theirs),
            Self::Hello => {
                std::mem::discriminant(&ours) == std::mem::discriminant(&theirs)
                    && without_identity(ours) == without_identity(theirs)
            }
            Self::Scan => scan(ours, theirs),
            Self::Form => {
                ours.as_bytes() == Some(b"listpack") && theirs.as_bytes() == Some(b"skiplist")
            }
        }
    }
}

/// The number of elements of a list.
fn elements(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) | Value::Set(items) => Some(items.len()),
        _ => None,
    }
}

/// Whether both describe the same stream, its groups, or what is pending.
fn is_same_stream(ours: &Value, theirs: &Value) -> bool {
    /// Times in unix milliseconds are larger.
    const TIME_MIN: i64 = 1_000_000_000_000;
    let is_about = |ours: i64, theirs: i64| ours.abs_diff(theirs) <= MS_MAX.unsigned_abs();
    let is_free = |name: Option<&Value>| {
        let name = name.and_then(Value::as_bytes);
        matches!(name, Some(b"idle" | b"radix-tree-nodes"))
    };
    match (ours, theirs) {
        (Value::Int(ours), Value::Int(theirs)) => {
            ours == theirs || *ours.min(theirs) > TIME_MIN && is_about(*ours, *theirs)
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            // What is pending: its ID, its consumer, how long it is idle, and how often it was delivered.
            if let [
                Value::Bulk(_),
                Value::Bulk(_),
                Value::Int(idle),
                Value::Int(count),
            ] = &ours[..]
                && let [_, _, Value::Int(their_idle), Value::Int(their_count)] = &theirs[..]
            {
                return ours[..2] == theirs[..2]
                    && is_about(*idle, *their_idle)
                    && count == their_count;
            }
            let pairs = || ours.iter().zip(theirs).enumerate();
            ours.len() == theirs.len()
                && pairs().all(|(at, (ours_one, theirs_one))| {
                    let name = at.checked_sub(1).and_then(|at| ours.get(at));
                    is_free(name) || is_same_stream(ours_one, theirs_one)
                })
        }
        (Value::Map(ours), Value::Map(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .zip(theirs)
                    .all(|((name, ours), (their_name, theirs))| {
                        name == their_name && (is_free(Some(name)) || is_same_stream(ours, theirs))
                    })
        }
        _ => ours == theirs,
    }
}

/// Whether both are payloads of hashes or sets with their elements one after another, and as long; or of a sorted set
/// that Redis's `SORT` made large.
fn is_same_payload(ours: &Value, theirs: &Value) -> bool {
    const MEMBERS: u8 = 2;
    const PAIRS: u8 = 4;
    const STREAM: u8 = 19;
    const SORTED_SET: u8 = 5;
    const SORTED_SET_LISTPACK: u8 = 17;
    let (Value::Bulk(ours), Value::Bulk(theirs)) = (ours, theirs) else {
        return false;
    };
    if ours.first() == Some(&SORTED_SET_LISTPACK) && theirs.first() == Some(&SORTED_SET) {
        return true;
    }
    let has_any_order =
        |payload: &[u8]| matches!(payload.first(), Some(&(MEMBERS | PAIRS | STREAM)));
    has_any_order(ours)
        && ours.first() == theirs.first()
        && has_any_order(theirs)
        && ours.len() == theirs.len()
}

/// A value as text, with the elements of every list in order of their text.
fn sorted(value: &Value) -> String {
    let list = |items: &[Value]| {
        let mut items: Vec<String> = items.iter().map(sorted).collect();
        items.sort();
        items.join(",")
    };
    match value {
        Value::Array(items) => format!("[{}]", list(items)),
        Value::Set(items) => format!("~[{}]", list(items)),
        Value::Map(pairs) => {
            let pairs: Vec<Value> = pairs
                .iter()
                .map(|(key, value)| Value::Array(vec![key.clone(), value.clone()]))
                .collect();
            format!("{{{}}}", list(&pairs))
        }
        other => format!("{other:?}"),
    }
}

/// Leaves out the arguments and the entries of the history that are newer than the reference.
fn without_newer(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let kept = items.into_iter().filter(|item| !is_newer(item));
            Value::Array(without_empty_history(kept.map(without_newer).collect()))
        }
        Value::Set(items) => {
            let kept = items.into_iter().filter(|item| !is_newer(item));
            Value::Set(kept.map(without_newer).collect())
        }
        Value::Map(pairs) => {
            let pairs = pairs.into_iter();
            Value::Map(pairs.map(|(key, it)| (key, without_newer(it))).collect())
        }
        other => other,
    }
}

/// Leaves out the history if no entry of it is left.
fn without_empty_history(mut fields: Vec<Value>) -> Vec<Value> {
    let is_empty =
        |pair: &[Value]| pair[0].as_bytes() == Some(b"history") && elements(&pair[1]) == Some(0);
    if let Some(at) = fields.windows(2).position(is_empty) {
        fields.drain(at..at + 2);
    }
    fields
}

/// Whether this is an argument with a newer version after the field `since`, or an entry of the
/// history, which begins with one.
fn is_newer(item: &Value) -> bool {
    let is_newer = |version: &Value| {
        let text = version.as_bytes().map(String::from_utf8_lossy);
        text.is_some_and(|text| is_newer_than_redis(&text))
    };
    let is_since = |field: &Value| field.as_bytes() == Some(b"since");
    match item {
        Value::Array(fields) | Value::Set(fields) => {
            let since = fields.iter().position(is_since);
            let version = since.map_or(0, |at| at + 1);
            fields.get(version).is_some_and(is_newer)
        }
        Value::Map(pairs) => pairs
            .iter()
            .any(|(key, version)| is_since(key) && is_newer(version)),
        _ => false,
    }
}

/// Negative replies (no key, no time) must be equal.
fn within(ours: &Value, theirs: &Value, most: i64) -> bool {
    match (ours, theirs) {
        (Value::Int(ours), Value::Int(theirs)) => {
            *ours >= 0 && *theirs >= 0 && ours.abs_diff(*theirs) <= most.unsigned_abs()
        }
        _ => false,
    }
}

fn without_identity(value: Value) -> Vec<Value> {
    let fields = value.into_elements();
    let pairs = fields
        .chunks(2)
        .filter(|pair| !matches!(pair[0].as_bytes(), Some(b"id" | b"version")));
    pairs.flatten().cloned().collect()
}

/// If both scans are complete, they must have the same keys. Otherwise only the shape is compared.
fn scan(ours: Value, theirs: Value) -> bool {
    let (Value::Array(ours), Value::Array(theirs)) = (ours, theirs) else {
        return false;
    };
    let ([our_cursor, our_keys], [their_cursor, their_keys]) = (&ours[..], &theirs[..]) else {
        return false;
    };
    let done = Value::Bulk(b"0".to_vec());
    if *our_cursor != done || *their_cursor != done {
        return matches!((our_cursor, their_cursor), (Value::Bulk(_), Value::Bulk(_)));
    }
    sorted(our_keys) == sorted(their_keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::Bulk(text.as_bytes().to_vec())
    }

    fn rule(line: &str) -> Rule {
        Rule::of(
            &line
                .split(' ')
                .map(|arg| arg.as_bytes().to_vec())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn keys_may_come_in_any_order_but_must_be_the_same() {
        let keys = |names: &[&str]| Value::Array(names.iter().map(|name| bulk(name)).collect());
        assert!(rule("keys *").same(keys(&["a", "b"]), keys(&["b", "a"])));
        assert!(!rule("keys *").same(keys(&["a", "b"]), keys(&["a", "c"])));
        assert!(!rule("mget a b").same(keys(&["a", "b"]), keys(&["b", "a"])));
    }

    #[test]
    fn what_is_newer_than_the_reference_is_not_compared() {
        let docs = |versions: &[&str]| {
            let entry = |version: &&str| Value::Array(vec![bulk(version), bulk("Added.")]);
            let argument = |version: &&str| {
                let fields = ["name", "a", "since", version];
                Value::Array(fields.map(bulk).to_vec())
            };
            let argument_map = |version: &&str| {
                let pairs = [("name", "a"), ("since", *version)];
                Value::Map(pairs.map(|(key, it)| (bulk(key), bulk(it))).to_vec())
            };
            Value::Map(vec![
                (bulk("since"), bulk("1.0.0")),
                (
                    bulk("history"),
                    Value::Set(versions.iter().map(entry).collect()),
                ),
                (
                    bulk("arguments"),
                    Value::Array(versions.iter().map(argument).collect()),
                ),
                (
                    bulk("more"),
                    Value::Array(versions.iter().map(argument_map).collect()),
                ),
            ])
        };
        let rule = rule("command docs set");
        assert!(rule.same(docs(&["8.4.0", "6.2.0"]), docs(&["6.2.0"])));
        assert!(!rule.same(docs(&["8.4.0", "6.2.0"]), docs(&["8.4.0"])));
        assert!(!rule.same(docs(&["7.0.0"]), docs(&[])));
    }

    #[test]
    fn times_may_differ_slightly() {
        assert!(rule("PTTL k").same(Value::Int(5000), Value::Int(4990)));
        assert!(!rule("PTTL k").same(Value::Int(5000), Value::Int(90)));
        assert!(!rule("PTTL k").same(Value::Int(-1), Value::Int(-2)));
        assert!(!rule("TTL k").same(Value::Int(0), Value::Int(-1)));
    }

    #[test]
    fn errors_are_always_compared() {
        let error = |text: &str| Value::Error(text.as_bytes().to_vec());
        assert!(!rule("TIME x").same(error("ERR a"), error("ERR b")));
        assert!(!rule("MEMORY USAGE k").same(error("ERR a"), Value::Int(1)));
    }
}
