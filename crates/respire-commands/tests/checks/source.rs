//! Derives requests and operations from arbitrary bytes.

use super::Operation;
use respire_engine::Limits;
use std::time::Duration;

/// The bytes that make the decisions. After the last one, every byte is 0.
pub(crate) struct Source<'d> {
    data: &'d [u8],
}

/// Templates of requests: `K` is a key, `V` a value, `N` a number, chosen by the bytes.
const REQUESTS: [&str; 56] = [
    "GET K",
    "SET K V",
    "SET K V GET",
    "SET K V NX",
    "GETSET K V",
    "GETDEL K",
    "APPEND K V",
    "SETRANGE K N V",
    "STRLEN K",
    "MGET K K K",
    "MSET K V K V",
    "MSETNX K V K V",
    "INCR K",
    "INCRBY K N",
    "DEL K K",
    "UNLINK K",
    "EXISTS K K",
    "RENAME K K",
    "COPY K K",
    "TYPE K",
    "SETBIT K N 1",
    "GETBIT K N",
    "BITCOUNT K",
    "BITOP NOT K K",
    "LCS K K",
    "PERSIST K",
    "EXPIRE K 100000",
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH K",
    "UNWATCH",
    "SELECT N",
    "SELECT 0",
    "SELECT 1",
    "PING",
    "PING V",
    "ECHO V",
    "HELLO 2",
    "HELLO 3",
    "CLIENT REPLY ON",
    "CLIENT REPLY SKIP",
    "CLIENT REPLY OFF",
    "SUBSCRIBE K",
    "UNSUBSCRIBE",
    "PUBLISH K V",
    "LATER",
    "PIPE",
    "LOSE",
    "BURST",
    "DEBUG SLEEP 0.01",
    "CLIENT PAUSE 5",
    "RESET",
    "QUIT",
];

/// Lengths of values, around the limits at which values are stored, read and sent in another way.
const VALUE_LENS: [usize; 10] = [0, 1, 2, 5, 44, 45, 1000, 16_384, 65_536, 70_001];

impl<'d> Source<'d> {
    pub(crate) fn new(data: &'d [u8]) -> Self {
        Self { data }
    }

    pub(crate) fn byte(&mut self) -> u8 {
        let (first, rest) = self.data.split_first().unwrap_or((&0, &[]));
        self.data = rest;
        *first
    }

    /// The default limits, or limits so tight that requests reach them.
    pub(crate) fn limits(&mut self) -> Limits {
        let (bits, usual) = (self.byte(), Limits::DEFAULT);
        let mut limits = usual;
        if bits & 1 != 0 {
            limits.commands_per_poll_max = 2;
        }
        if bits & 2 != 0 {
            limits.output_bytes_max = 64;
        }
        if bits & 4 != 0 {
            limits.pending_calls_max = 2;
        }
        limits
    }

    pub(crate) fn is_binary(&mut self) -> bool {
        self.byte() % 4 == 3
    }

    /// A sequence of requests, some of them malformed.
    pub(crate) fn requests(&mut self, is_binary: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.byte() % 24 {
            self.request(is_binary, &mut bytes);
        }
        bytes
    }

    fn request(&mut self, is_binary: bool, bytes: &mut Vec<u8>) {
        let kind = self.byte();
        let args = self.arguments();
        match kind {
            // One or a few random bytes, which may break the requests after them.
            0..4 => bytes.extend((0..kind).map(|_| self.byte())),
            4..8 => bytes.extend_from_slice(b"\r\n"),
            _ if is_binary => {
                let operation = [0x01, 0x02, 0x03, 0x10][usize::from(kind) % 4];
                let args = match operation {
                    0x01 | 0x02 => vec![self.key()],
                    0x03 => vec![self.key(), self.value()],
                    _ => args,
                };
                bytes.push(operation);
                if operation == 0x10 {
                    bytes.extend_from_slice(&(args.len() as u32).to_le_bytes());
                }
                for arg in args {
                    bytes.extend_from_slice(&(arg.len() as u32).to_le_bytes());
                    bytes.extend_from_slice(&arg);
                }
            }
            8..24 => {
                bytes.extend_from_slice(&args.join(&b' '));
                bytes.extend_from_slice(b"\r\n");
            }
            _ => resp_codec::command(bytes, &args),
        }
    }

    fn arguments(&mut self) -> Vec<Vec<u8>> {
        let request = REQUESTS[usize::from(self.byte()) % REQUESTS.len()];
        let words = request.split(' ');
        words
            .map(|word| match word {
                "K" => self.key(),
                "V" => self.value(),
                "N" => (self.byte() % 20).to_string().into_bytes(),
                _ => word.as_bytes().to_vec(),
            })
            .collect()
    }

    fn key(&mut self) -> Vec<u8> {
        vec![b'a' + self.byte() % 4]
    }

    fn value(&mut self) -> Vec<u8> {
        let len = VALUE_LENS[usize::from(self.byte()) % VALUE_LENS.len()];
        vec![b'0' + self.byte() % 10; len]
    }

    /// The next operation; `None` when the bytes are used up.
    pub(crate) fn operation(&mut self) -> Option<Operation> {
        if self.data.is_empty() {
            return None;
        }
        let (kind, amount) = (self.byte() % 8, self.byte());
        // Either small pieces, or pieces large enough for the largest values.
        let len = match amount {
            0..200 => usize::from(amount) + 1,
            _ => usize::from(amount) * 400,
        };
        Some(match kind {
            0 => Operation::Feed(len),
            1 => Operation::Room(len),
            2 => Operation::Ahead(len),
            3 => Operation::Foreign(len),
            4 => Operation::Late(len),
            5 => Operation::Turn,
            6 => Operation::Pass(Duration::from_millis(amount.into())),
            _ => Operation::Answer,
        })
    }
}
