//! Draws random requests from the grammar, and makes some of them invalid.

use super::grammar::Node;
use super::hints::{Grammar, Line};
use super::values::fill;
use crate::reply::Value;
use fastrand::Rng;

/// An endless stream of requests, determined by the seed.
#[derive(Debug)]
pub struct Requests {
    rng: Rng,
    grammar: Grammar,
    /// The sum of all weights.
    weight: u32,
    /// Replies to `DUMP`, for `RESTORE`.
    payloads: Vec<Vec<u8>>,
}

/// One request in this many is made invalid.
const BROKEN_PER: u8 = 12;
/// Invalid requests of these could end the reference, make it sleep, close our own connections, or
/// remove members that each server draws by itself.
const NEVER_BROKEN: [&[u8]; 4] = [b"SHUTDOWN", b"DEBUG", b"CLIENT", b"SPOP"];
/// The most random elements that a request may ask for: the reference's reply has all of them.
const REPEATED_MAX: i64 = 1000;
/// The version in a payload of Redis 7.0, least significant byte first.
const RDB_VERSION: [u8; 2] = [10, 0];
const PAYLOADS_MAX: usize = 16;

impl Requests {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let grammar = Grammar::new();
        Self {
            rng: Rng::with_seed(seed),
            weight: grammar.lines.iter().map(|line| line.weight).sum(),
            grammar,
            payloads: Vec::new(),
        }
    }

    /// A number below `count`.
    pub fn pick(&mut self, count: usize) -> usize {
        self.rng.usize(..count)
    }

    /// The next request.
    #[expect(
        clippy::should_implement_trait,
        reason = "the stream never ends, so it is no iterator"
    )]
    pub fn next(&mut self) -> Vec<Vec<u8>> {
        let nodes = self.draw();
        let mut args = Vec::new();
        self.write(&nodes, &mut args);
        while is_any_command(&nodes) && self.may_be_short_lived(&args) {
            args.clear();
            self.write(&nodes, &mut args);
        }
        if self.rng.u8(..BROKEN_PER) == 0
            && !NEVER_BROKEN
                .iter()
                .any(|name| args[0].eq_ignore_ascii_case(name))
        {
            let whole = args.clone();
            self.damage(&mut args);
            if self.may_be_short_lived(&args) || differs_by_design(&args) {
                args = whole;
            }
        }
        bound_repetition(&mut args);
        if self.rng.bool() {
            args[0].make_ascii_uppercase();
        } else {
            args[0].make_ascii_lowercase();
        }
        args
    }

    /// Stores the reply if it is a payload of `DUMP` (they end in a version and a checksum).
    pub fn learn(&mut self, reply: &Value) {
        if let Value::Bulk(bytes) = reply
            && bytes.len() > 10
            && bytes[bytes.len() - 10..bytes.len() - 8] == RDB_VERSION
        {
            if self.payloads.len() == PAYLOADS_MAX {
                self.payloads.remove(0);
            }
            self.payloads.push(bytes.clone());
        }
    }

    /// Draws the nodes of the next request.
    fn draw(&mut self) -> Vec<Node> {
        let mut drawn = self.rng.u32(..self.weight);
        let mut lines = self.grammar.lines.iter();
        let line = lines.find(|Line { weight, .. }| {
            let is_drawn = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            is_drawn
        });
        line.map(|line| line.nodes.clone()).unwrap_or_default()
    }

    fn write(&mut self, nodes: &[Node], args: &mut Vec<Vec<u8>>) {
        for node in nodes {
            match node {
                Node::Word(word) => args.push(word.as_bytes().to_vec()),
                Node::Hole("payload") => args.push(self.payload()),
                Node::Hole("command") => {
                    let at = self.pick(self.grammar.names.len());
                    args.push(self.grammar.names[at].as_bytes().to_vec());
                }
                Node::Hole(kind) => args.push(fill(kind, &mut self.rng)),
                Node::Choice {
                    options,
                    is_optional,
                } => {
                    if !is_optional || self.rng.u8(..3) == 0 {
                        let option = &options[self.rng.usize(..options.len())];
                        self.write(option, args);
                    }
                }
                Node::Repeat(inner) => {
                    for _ in 0..self.rng.usize(1..5) {
                        self.write(inner, args);
                    }
                }
            }
        }
    }

    fn payload(&mut self) -> Vec<u8> {
        if self.payloads.is_empty() {
            return b"no payload".to_vec();
        }
        let at = self.rng.usize(..self.payloads.len());
        let mut payload = self.payloads[at].clone();
        if self.rng.u8(..6) == 0 {
            let at = self.rng.usize(..payload.len());
            payload[at] ^= 1 << self.rng.u8(..8);
        }
        payload
    }

    /// Whether a request not given by a description could make a key that expires within the test.
    /// The servers are asked one after the other, so one could still find the key and the other
    /// not.
    fn may_be_short_lived(&self, args: &[Vec<u8>]) -> bool {
        const LONG_MS: u64 = 600_000;
        let number = |arg: &Vec<u8>| std::str::from_utf8(arg).ok()?.parse::<u64>().ok();
        let is_named = |name: &&str| args[0].eq_ignore_ascii_case(name.as_bytes());
        self.grammar.timed.iter().any(is_named)
            && args[1..]
                .iter()
                .filter_map(number)
                .any(|number| (1..LONG_MS).contains(&number))
    }

    /// Makes a request invalid: removes, doubles, swaps or replaces an argument, or adds one.
    fn damage(&mut self, args: &mut Vec<Vec<u8>>) {
        if args.len() == 1 {
            args.push(fill("value", &mut self.rng));
            return;
        }
        let at = self.rng.usize(1..args.len());
        match self.rng.u8(..6) {
            0 => {
                args.remove(at);
            }
            1 => args.insert(at, args[at].clone()),
            2 => {
                let other = self.rng.usize(1..args.len());
                args.swap(at, other);
            }
            3 => args[at] = fill("value", &mut self.rng),
            4 => args[at].make_ascii_lowercase(),
            _ => args.push(fill("int", &mut self.rng)),
        }
    }
}

/// Whether the request is of any command, with arguments of other commands.
fn is_any_command(nodes: &[Node]) -> bool {
    nodes.first() == Some(&Node::Hole("command"))
}

/// Replaces a count that asks for too many random elements.
fn bound_repetition(args: &mut [Vec<u8>]) {
    const NAMES: [&[u8]; 3] = [b"HRANDFIELD", b"SRANDMEMBER", b"ZRANDMEMBER"];
    let draws = NAMES.iter().any(|name| args[0].eq_ignore_ascii_case(name));
    if draws && let Some(count) = args.get_mut(2) {
        let number = std::str::from_utf8(count)
            .ok()
            .and_then(|it| it.parse().ok());
        if number.is_some_and(|number: i64| number < -REPEATED_MAX) {
            *count = b"-3".to_vec();
        }
    }
}

/// Whether an invalid request meets the difference `number-nul`, which docs/COMPATIBILITY.md lists, an argument that
/// Redis 7.0 does not have, or an order of members that Redis leaves open.
fn differs_by_design(args: &[Vec<u8>]) -> bool {
    let name = args[0].to_ascii_uppercase();
    let has = |word: &[u8]| args.iter().any(|arg| arg.eq_ignore_ascii_case(word));
    let is_lex_key = |key: Option<&Vec<u8>>| key.is_some_and(|key| key.starts_with(b"lex:"));
    let is_open = match name.as_slice() {
        b"ZRANK" | b"ZREVRANK" => args.len() > 3,
        b"ZRANGEBYLEX" | b"ZREVRANGEBYLEX" | b"ZLEXCOUNT" | b"ZREMRANGEBYLEX" => {
            !is_lex_key(args.get(1))
        }
        b"ZRANGE" => has(b"BYLEX") && !is_lex_key(args.get(1)),
        b"ZRANGESTORE" => has(b"BYLEX") && !is_lex_key(args.get(2)),
        // These scores would no longer be equal.
        b"ZADD" | b"ZINCRBY" => is_lex_key(args.get(1)),
        _ => false,
    };
    if is_open {
        return true;
    }
    let cursor = match name.as_slice() {
        b"SCAN" => args.get(1),
        b"HSCAN" | b"SSCAN" | b"ZSCAN" => args.get(2),
        _ => None,
    };
    cursor.is_some_and(|cursor| cursor.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_requests() {
        let draw = |seed| {
            let mut requests = Requests::new(seed);
            // Points in time follow the clock, so the seed determines only the shape of requests.
            (0..200).map(|_| requests.next().len()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
