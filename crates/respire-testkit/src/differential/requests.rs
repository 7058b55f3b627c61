//! Requests drawn from the grammar, some of them broken on purpose.

use super::grammar::{COMMANDS, Node, parse};
use super::values::fill;
use crate::reply::Value;
use fastrand::Rng;

/// An endless stream of requests; the seed decides it.
#[derive(Debug)]
pub struct Requests {
    rng: Rng,
    /// The lines of the grammar, each with the weights up to and including its own.
    lines: Vec<(u32, Vec<Node>)>,
    weight: u32,
    /// Replies of `DUMP`, to restore from.
    payloads: Vec<Vec<u8>>,
}

/// One request in so many is broken.
const BROKEN_PER: u8 = 12;
/// Broken, these could end the reference, put it to sleep, or cut our own connections.
const UNBROKEN: [&[u8]; 3] = [b"SHUTDOWN", b"DEBUG", b"CLIENT"];
/// The version in a payload of Redis 7.0, least significant byte first.
const RDB_VERSION: [u8; 2] = [10, 0];
const PAYLOADS_MAX: usize = 16;

impl Requests {
    /// The stream of this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut weight = 0;
        let mut lines = Vec::new();
        for (more, line) in COMMANDS {
            weight += more;
            lines.push((weight, parse(line)));
        }
        Self {
            rng: Rng::with_seed(seed),
            lines,
            weight,
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
        let drawn = self.rng.u32(..self.weight);
        let at = self.lines.partition_point(|(up_to, _)| *up_to <= drawn);
        let line = self.lines[at].1.clone();
        let mut args = Vec::new();
        self.write(&line, &mut args);
        if self.rng.u8(..BROKEN_PER) == 0 && !UNBROKEN.contains(&args[0].as_slice()) {
            let whole = args.clone();
            self.damage(&mut args);
            if may_be_short_lived(&args) || differs_by_design(&args) {
                args = whole;
            }
        }
        if self.rng.bool() {
            args[0].make_ascii_lowercase();
        }
        args
    }

    /// Takes note of a reply, if it is a payload of `DUMP` (they end in a version and a checksum).
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

    fn write(&mut self, nodes: &[Node], args: &mut Vec<Vec<u8>>) {
        for node in nodes {
            match node {
                Node::Word(word) => args.push(word.as_bytes().to_vec()),
                Node::Hole("payload") => args.push(self.payload()),
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

    /// Breaks a request: an argument is lost, doubled, exchanged or replaced, or one is added.
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

/// Whether a broken request could make a key that expires within the test: the servers are asked
/// one after the other, so one could still find it and the other not.
fn may_be_short_lived(args: &[Vec<u8>]) -> bool {
    const SETS_TIMES: [&[u8]; 9] = [
        b"SET",
        b"GETEX",
        b"SETEX",
        b"PSETEX",
        b"EXPIRE",
        b"PEXPIRE",
        b"EXPIREAT",
        b"PEXPIREAT",
        b"RESTORE",
    ];
    const LONG_MS: u64 = 600_000;
    let number = |arg: &Vec<u8>| std::str::from_utf8(arg).ok()?.parse::<u64>().ok();
    SETS_TIMES.contains(&args[0].as_slice())
        && args[1..]
            .iter()
            .filter_map(number)
            .any(|number| (1..LONG_MS).contains(&number))
}

/// Whether a broken request meets a difference that docs/COMPATIBILITY.md lists: `number-nul`.
fn differs_by_design(args: &[Vec<u8>]) -> bool {
    args[0] == b"SCAN" && args.get(1).is_some_and(|cursor| cursor.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_gives_the_same_requests() {
        let draw = |seed| {
            let mut requests = Requests::new(seed);
            // Points in time follow the clock, so only the shape of requests is the seed's.
            (0..200).map(|_| requests.next().len()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
