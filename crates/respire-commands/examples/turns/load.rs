//! Generates the requests of a load, as bytes.

use resp_codec::binary;

/// The key of the sorted set of some loads.
const SORTED_SET: &[u8] = b"sorted set";

pub(crate) struct Load {
    pub(crate) name: String,
    /// Whether `get` and `set` use the binary protocol.
    pub(crate) is_binary: bool,
    pub(crate) keys: usize,
    pub(crate) value: Vec<u8>,
    pub(crate) pipeline: usize,
    /// The number of keys of a request with many.
    pub(crate) many: usize,
}

impl Load {
    /// Requests that `SET` every key, or add every key to one sorted set, as turns.
    pub(crate) fn population(&self) -> Vec<Vec<u8>> {
        let all: Vec<usize> = (0..self.keys).collect();
        let is_sorted_set = self.name.starts_with('z');
        let set = |bytes: &mut Vec<u8>, nth: &usize| match is_sorted_set {
            true => self.zadd(bytes, *nth, *nth),
            false => self.set(bytes, &self.key(*nth)),
        };
        all.chunks(self.pipeline)
            .map(|chunk| {
                let mut bytes = Vec::new();
                chunk.iter().for_each(|nth| set(&mut bytes, nth));
                bytes
            })
            .collect()
    }

    /// The requests of one turn, with random keys.
    pub(crate) fn turn(&self, turn: usize) -> Vec<u8> {
        let mut out = Vec::new();
        for nth in turn * self.pipeline..(turn + 1) * self.pipeline {
            let key = self.random_key(nth);
            match self.name.as_str() {
                "ping" => resp_codec::command(&mut out, &[b"PING"]),
                "set" => self.set(&mut out, &key),
                "mix" if nth.is_multiple_of(11) => self.set(&mut out, &key),
                "dump" => resp_codec::command(&mut out, &[b"DUMP", &key[..]]),
                "mget" => self.of_many(&mut out, b"MGET", nth, false),
                "exists" => self.of_many(&mut out, b"EXISTS", nth, false),
                "mset" => self.of_many(&mut out, b"MSET", nth, true),
                "replace" => {
                    self.of_many(&mut out, b"DEL", nth, false);
                    self.of_many(&mut out, b"MSETNX", nth, true);
                }
                "transaction" => {
                    resp_codec::command(&mut out, &[b"MULTI"]);
                    self.set(&mut out, &key);
                    resp_codec::command(&mut out, &[b"GET", &key[..]]);
                    resp_codec::command(&mut out, &[b"EXEC"]);
                }
                "zrange" => self.zrange(&mut out, nth),
                "zrank" => resp_codec::command(&mut out, &[b"ZRANK", SORTED_SET, &key]),
                "zadd" => self.zadd(&mut out, self.random(nth), self.random(nth * 31 + 7)),
                "publish" => resp_codec::command(&mut out, &[b"PUBLISH", &b"news"[..], &key]),
                _ if self.is_binary => binary::write_get(&mut out, &key),
                _ => resp_codec::command(&mut out, &[b"GET", &key[..]]),
            }
        }
        out
    }

    /// Writes a command on many random keys, with a value after each if `has_values`.
    fn of_many(&self, out: &mut Vec<u8>, name: &[u8], nth: usize, has_values: bool) {
        let mut args = vec![name.to_vec()];
        for at in nth * self.many..(nth + 1) * self.many {
            args.push(self.random_key(at));
            args.extend(has_values.then(|| self.value.clone()));
        }
        resp_codec::command(out, &args);
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8]) {
        if self.is_binary {
            binary::write_set(out, key, &self.value);
        } else {
            resp_codec::command(out, &[b"SET", key, &self.value]);
        }
    }

    /// Gives a member of the sorted set this score.
    fn zadd(&self, out: &mut Vec<u8>, nth: usize, score: usize) {
        let score = score.to_string();
        resp_codec::command(
            out,
            &[b"ZADD", SORTED_SET, score.as_bytes(), &self.key(nth)],
        );
    }

    /// Asks for ten elements of the sorted set, from a random rank on.
    fn zrange(&self, out: &mut Vec<u8>, nth: usize) {
        let start = self.random(nth);
        let [start, stop] = [start, start + 9].map(|rank| rank.to_string().into_bytes());
        resp_codec::command(out, &[b"ZRANGE", SORTED_SET, &start, &stop]);
    }

    fn random_key(&self, nth: usize) -> Vec<u8> {
        self.key(self.random(nth))
    }

    /// A random number below that of the keys.
    fn random(&self, nth: usize) -> usize {
        let mut state = (nth as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) % self.keys as u64) as usize
    }

    fn key(&self, number: usize) -> Vec<u8> {
        format!("key:{number:012}").into_bytes()
    }
}
