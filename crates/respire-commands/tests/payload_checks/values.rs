//! Reads and edits values of each type.

use super::Peer;
use std::collections::BTreeMap;

/// The most elements that are looked up one by one.
const LOOKUPS_MAX: usize = 48;

/// A new element, field or value, longer than what is kept packed.
const LONG: &[u8] = &[b'n'; 90];

/// A type of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Str,
    Hash,
    List,
    Set,
    ZSet,
}

impl Kind {
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"string" => Self::Str,
            b"hash" => Self::Hash,
            b"list" => Self::List,
            b"set" => Self::Set,
            b"zset" => Self::ZSet,
            _ => return None,
        })
    }

    /// The parts of a value, in an order that does not depend on its form: elements, or pairs.
    pub(super) fn read(self, peer: &mut Peer, key: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let (request, len): (&[&[u8]], _) = match self {
            Self::Str => (&[b"MGET", key], 1),
            Self::Hash => (&[b"HGETALL", key], 2),
            Self::List => (&[b"LRANGE", key, b"0", b"-1"], 1),
            Self::Set => (&[b"SMEMBERS", key], 1),
            Self::ZSet => (&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"], 2),
        };
        let parts = peer.list(request);
        let mut parts: Vec<_> = parts.chunks(len).map(<[_]>::to_vec).collect();
        if matches!(self, Self::Hash | Self::Set) {
            parts.sort();
        }
        parts
    }
}

/// Every reading command agrees with the whole value.
pub(super) fn check_reading(peer: &mut Peer, kind: Kind, key: &[u8]) {
    let parts = kind.read(peer, key);
    let len = parts.len() as i64;
    match kind {
        Kind::Str => return read_string(peer, key, &parts[0][0]),
        Kind::Hash => {
            // It counts fields that have expired.
            assert!(peer.int(&[b"HLEN", key]) >= len);
            read_hash(peer, key, &parts);
        }
        Kind::List => {
            assert_eq!(peer.int(&[b"LLEN", key]), len);
            read_list(peer, key, &parts);
        }
        Kind::Set => {
            assert_eq!(peer.int(&[b"SCARD", key]), len);
            read_set(peer, key, &parts);
        }
        Kind::ZSet => {
            assert_eq!(peer.int(&[b"ZCARD", key]), len);
            read_zset(peer, key, &parts);
        }
    }
    if kind != Kind::Hash {
        let sorted = peer.list(&[b"SORT", key, b"BY", b"nosort"]);
        assert_eq!(sorted.len(), parts.len());
        peer.ok(&[b"SORT", key, b"ALPHA", b"DESC", b"LIMIT", b"0", b"3"]);
    }
}

/// Some parts of each end.
fn some(parts: &[Vec<Vec<u8>>]) -> impl Iterator<Item = (usize, &Vec<Vec<u8>>)> {
    let len = parts.len();
    let is_near = move |at: usize| at < LOOKUPS_MAX / 2 || len - at <= LOOKUPS_MAX / 2;
    parts.iter().enumerate().filter(move |(at, _)| is_near(*at))
}

fn read_string(peer: &mut Peer, key: &[u8], text: &[u8]) {
    assert_eq!(peer.bytes(&[b"GET", key]).as_deref(), Some(text));
    assert_eq!(peer.int(&[b"STRLEN", key]), text.len() as i64);
    assert_eq!(
        peer.bytes(&[b"GETRANGE", key, b"0", b"-1"]).as_deref(),
        Some(text)
    );
    peer.ok(&[b"BITCOUNT", key]);
    peer.ok(&[b"BITPOS", key, b"1"]);
    peer.ok(&[b"GETBIT", key, b"7"]);
    // It may be no HyperLogLog.
    peer.call(&[b"PFCOUNT", key]);
    peer.call(&[b"PFCOUNT", key, key]);
    peer.call(&[b"PFDEBUG", b"DECODE", key]);
    peer.call(&[b"PFDEBUG", b"ENCODING", key]);
}

fn read_hash(peer: &mut Peer, key: &[u8], parts: &[Vec<Vec<u8>>]) {
    for (_, part) in some(parts) {
        let (field, value) = (&part[0], &part[1]);
        assert_eq!(peer.bytes(&[b"HGET", key, field]).as_ref(), Some(value));
        assert_eq!(
            peer.int(&[b"HEXISTS", key, field]),
            1,
            "{}",
            field.escape_ascii()
        );
        assert_eq!(peer.int(&[b"HSTRLEN", key, field]), value.len() as i64);
        peer.ok(&[b"HPTTL", key, b"FIELDS", b"1", field]);
    }
    assert_eq!(peer.list(&[b"HKEYS", key]).len(), parts.len());
    assert_eq!(peer.list(&[b"HVALS", key]).len(), parts.len());
    peer.ok(&[b"HRANDFIELD", key, b"-5", b"WITHVALUES"]);
    peer.ok(&[b"HRANDFIELD", key, b"3"]);
    peer.ok(&[b"HSCAN", key, b"0", b"COUNT", b"1000"]);
}

fn read_list(peer: &mut Peer, key: &[u8], parts: &[Vec<Vec<u8>>]) {
    for (index, part) in some(parts) {
        let element = &part[0];
        let place = index.to_string();
        assert_eq!(
            peer.bytes(&[b"LINDEX", key, place.as_bytes()]).as_ref(),
            Some(element)
        );
        let from_end = (index as i64 - parts.len() as i64).to_string();
        let found = peer.bytes(&[b"LINDEX", key, from_end.as_bytes()]);
        assert_eq!(found.as_ref(), Some(element));
        let first = peer.int(&[b"LPOS", key, element]);
        assert_eq!(parts[first as usize][0], *element);
        assert!(first <= index as i64);
    }
    peer.ok(&[b"LRANGE", key, b"-3", b"-2"]);
}

fn read_set(peer: &mut Peer, key: &[u8], parts: &[Vec<Vec<u8>>]) {
    for (_, part) in some(parts) {
        let is_there = peer.int(&[b"SISMEMBER", key, &part[0]]);
        assert_eq!(is_there, 1, "{}", part[0].escape_ascii());
    }
    assert_eq!(peer.list(&[b"SINTER", key, key]).len(), parts.len());
    assert_eq!(peer.list(&[b"SUNION", key, key]).len(), parts.len());
    assert!(peer.list(&[b"SDIFF", key, key]).is_empty());
    peer.ok(&[b"SRANDMEMBER", key, b"-5"]);
    peer.ok(&[b"SRANDMEMBER", key, b"3"]);
    peer.ok(&[b"SSCAN", key, b"0", b"COUNT", b"1000"]);
}

fn read_zset(peer: &mut Peer, key: &[u8], parts: &[Vec<Vec<u8>>]) {
    for (index, part) in some(parts) {
        let (member, score) = (&part[0], &part[1]);
        assert_eq!(peer.bytes(&[b"ZSCORE", key, member]).as_ref(), Some(score));
        assert_eq!(peer.int(&[b"ZRANK", key, member]), index as i64);
        let behind = parts.len() - 1 - index;
        assert_eq!(peer.int(&[b"ZREVRANK", key, member]), behind as i64);
        let of_score = peer.list(&[b"ZRANGE", key, score, score, b"BYSCORE"]);
        assert!(of_score.contains(member), "{}", member.escape_ascii());
    }
    let order = |part: &Vec<Vec<u8>>| {
        let score = std::str::from_utf8(&part[1]).expect("a number");
        (score.parse::<f64>().expect("a number"), part[0].clone())
    };
    let is_sorted = parts
        .windows(2)
        .all(|pair| order(&pair[0]) < order(&pair[1]));
    assert!(is_sorted, "{parts:?}");
    let all = parts.len() as i64;
    assert_eq!(peer.int(&[b"ZCOUNT", key, b"-inf", b"+inf"]), all);
    peer.ok(&[b"ZLEXCOUNT", key, b"-", b"+"]);
    let backwards = peer.list(&[b"ZREVRANGE", key, b"0", b"-1"]);
    assert!(backwards.iter().rev().eq(parts.iter().map(|part| &part[0])));
    peer.ok(&[b"ZINTERCARD", b"2", key, key]);
    peer.ok(&[b"ZRANDMEMBER", key, b"-5", b"WITHSCORES"]);
    peer.ok(&[b"ZSCAN", key, b"0", b"COUNT", b"1000"]);
}

/// Edits the value of `k` and a model of it, which then are equal.
pub(super) fn check_edits(peer: &mut Peer, kind: Kind) {
    let parts = kind.read(peer, b"k");
    let model = match kind {
        Kind::Str => vec![vec![edit_string(peer, &parts[0][0])]],
        Kind::List => edit_list(peer, parts),
        Kind::Hash | Kind::Set | Kind::ZSet => edit_members(peer, kind, parts),
    };
    let mut found = kind.read(peer, b"k");
    if kind == Kind::ZSet {
        found.sort();
    }
    assert_eq!(found, model);
    check_reading(peer, kind, b"k");
}

fn edit_string(peer: &mut Peer, text: &[u8]) -> Vec<u8> {
    peer.call(&[b"PFADD", b"k", b"1", b"2", b"3"]);
    peer.call(&[b"PFMERGE", b"gone", b"k"]);
    peer.ok(&[
        b"RESTORE",
        b"gone",
        b"0",
        &super::body::of(1, 0, text),
        b"REPLACE",
    ]);
    peer.call(&[b"PFDEBUG", b"TODENSE", b"gone"]);
    peer.call(&[b"PFDEBUG", b"GETREG", b"gone"]);
    peer.call(&[b"INCR", b"k"]);
    let mut text = peer.bytes(&[b"GET", b"k"]).expect("it is there");
    peer.ok(&[b"APPEND", b"k", b"end"]);
    text.extend_from_slice(b"end");
    peer.ok(&[b"SETRANGE", b"k", b"1", b"xy"]);
    text[1..3].copy_from_slice(b"xy");
    peer.ok(&[b"SETBIT", b"k", b"0", b"1"]);
    text[0] |= 0x80;
    text
}

fn edit_list(peer: &mut Peer, parts: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
    let mut model: Vec<Vec<u8>> = parts.into_iter().flatten().collect();
    peer.ok(&[b"LPUSH", b"k", b"17", LONG]);
    model.splice(0..0, [LONG.to_vec(), b"17".to_vec()]);
    peer.ok(&[b"RPUSH", b"k", b"end"]);
    model.push(b"end".to_vec());
    let middle = model.len() / 2;
    let pivot = model[middle].clone();
    peer.ok(&[b"LSET", b"k", middle.to_string().as_bytes(), LONG]);
    model[middle] = LONG.to_vec();
    let first = model.iter().position(|it| *it == pivot);
    peer.ok(&[b"LINSERT", b"k", b"AFTER", &pivot, b"-1"]);
    if let Some(first) = first {
        model.insert(first + 1, b"-1".to_vec());
    }
    peer.ok(&[b"LREM", b"k", b"-1", b"-1"]);
    if let Some(last) = model.iter().rposition(|it| it == b"-1") {
        model.remove(last);
    }
    let half = model.len() / 2 + 1;
    peer.ok(&[b"LTRIM", b"k", b"1", half.to_string().as_bytes()]);
    model.truncate(half + 1);
    model.remove(0);
    assert_eq!(peer.bytes(&[b"RPOP", b"k"]), model.pop());
    peer.ok(&[b"LPUSH", b"k", b"a"]);
    model.insert(0, b"a".to_vec());
    model.into_iter().map(|element| vec![element]).collect()
}

fn edit_members(peer: &mut Peer, kind: Kind, parts: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Vec<u8>>> {
    let mut model: BTreeMap<Vec<u8>, Vec<u8>> = parts
        .into_iter()
        .map(|mut part| (part.remove(0), part.pop().unwrap_or_default()))
        .collect();
    let old: Vec<Vec<u8>> = model.keys().take(LOOKUPS_MAX).cloned().collect();
    for (at, member) in old.iter().enumerate() {
        match (kind, at % 2) {
            (Kind::Hash, 0) => drop(peer.ok(&[b"HSET", b"k", member, b"7"])),
            (Kind::ZSet, 0) => drop(peer.ok(&[b"ZADD", b"k", b"7", member])),
            (Kind::Set, 0) => assert_eq!(peer.int(&[b"SADD", b"k", member]), 0),
            (Kind::Hash, _) => assert_eq!(peer.int(&[b"HDEL", b"k", member]), 1),
            (Kind::ZSet, _) => assert_eq!(peer.int(&[b"ZREM", b"k", member]), 1),
            _ => assert_eq!(peer.int(&[b"SREM", b"k", member]), 1),
        }
        if at % 2 == 1 {
            model.remove(member);
        } else if kind != Kind::Set {
            model.insert(member.clone(), b"7".to_vec());
        }
    }
    for member in [&b"12"[..], b"-70000", b"new", LONG] {
        match kind {
            Kind::Hash => drop(peer.ok(&[b"HSET", b"k", member, LONG])),
            Kind::ZSet => drop(peer.ok(&[b"ZADD", b"k", b"0.5", member])),
            _ => drop(peer.ok(&[b"SADD", b"k", member])),
        }
        let value = match kind {
            Kind::Hash => LONG,
            Kind::ZSet => b"0.5",
            _ => b"",
        };
        model.insert(member.to_vec(), value.to_vec());
    }
    let len = if kind == Kind::Set { 1 } else { 2 };
    model
        .into_iter()
        .map(|(member, value)| [member, value].into_iter().take(len).collect())
        .collect()
}
