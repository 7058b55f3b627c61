//! Whether a script uses only keys that its caller declares.
//!
//! A script that does needs the shards of its keys and no others. One that may not runs in a section
//! that can be widened, of which there is one at a time. The answer here is only the first guess: a
//! script that turns out to use another key runs in such a section from then on.

/// Whether every call in a script names its keys as `KEYS[...]`, as far as its words show.
///
/// The words after the name of a command are looked at: the first must be `KEYS`. Scripts that call
/// commands in other ways are not understood, and count as using other keys.
pub(crate) fn is_declared(body: &[u8]) -> bool {
    let mut words = Words { rest: body }.peekable();
    while let Some(word) = words.next() {
        if word != Word::Name(b"redis") {
            continue;
        }
        if words.next() != Some(Word::Sign(b'.')) {
            return false;
        }
        match words.next() {
            Some(Word::Name(b"call" | b"pcall")) => {}
            Some(Word::Name(name)) if name != b"acl_check_cmd" => continue,
            _ => return false,
        }
        if words.next() != Some(Word::Sign(b'(')) {
            return false;
        }
        let Some(Word::Text(command)) = words.next() else {
            return false;
        };
        if is_without_keys(command) {
            continue;
        }
        if words.next() != Some(Word::Sign(b',')) || words.next() != Some(Word::Name(b"KEYS")) {
            return false;
        }
        if has_further_keys(command) {
            return false;
        }
    }
    true
}

fn is_without_keys(command: &[u8]) -> bool {
    [&b"time"[..], b"publish", b"ping", b"echo"]
        .iter()
        .any(|name| command.eq_ignore_ascii_case(name))
}

/// Whether a command has keys behind its first argument, or elsewhere.
fn has_further_keys(command: &[u8]) -> bool {
    const ONE_KEY: [&[u8]; 40] = [
        b"get",
        b"set",
        b"setex",
        b"setnx",
        b"psetex",
        b"getset",
        b"getdel",
        b"getex",
        b"append",
        b"strlen",
        b"incr",
        b"incrby",
        b"incrbyfloat",
        b"decr",
        b"decrby",
        b"getrange",
        b"setrange",
        b"setbit",
        b"getbit",
        b"bitcount",
        b"bitpos",
        b"bitfield",
        b"expire",
        b"pexpire",
        b"expireat",
        b"pexpireat",
        b"ttl",
        b"pttl",
        b"persist",
        b"type",
        b"hget",
        b"hset",
        b"hmget",
        b"hgetall",
        b"hincrby",
        b"lpush",
        b"rpush",
        b"sadd",
        b"zadd",
        b"zscore",
    ];
    let lower = command.to_ascii_lowercase();
    !ONE_KEY.contains(&&lower[..]) && !matches!(&lower[..], b"del" | b"exists" | b"unlink")
}

/// A word of Lua.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word<'s> {
    Name(&'s [u8]),
    /// A string in quotes, as it is written.
    Text(&'s [u8]),
    Sign(u8),
}

/// The words of a script, without comments.
struct Words<'s> {
    rest: &'s [u8],
}

impl<'s> Words<'s> {
    fn take(&mut self, len: usize) -> &'s [u8] {
        let (word, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Skips what a long bracket holds, if one begins here. Returns whether one did.
    fn skip_long(&mut self) -> bool {
        let level = self.rest[1..]
            .iter()
            .take_while(|byte| **byte == b'=')
            .count();
        if self.rest.first() != Some(&b'[') || self.rest.get(level + 1) != Some(&b'[') {
            return false;
        }
        let mut end = vec![b'='; level + 2];
        (end[0], end[level + 1]) = (b']', b']');
        let at = self.rest.windows(end.len()).position(|part| part == end);
        self.take(at.map_or(usize::MAX, |at| at + end.len()));
        true
    }
}

impl<'s> Iterator for Words<'s> {
    type Item = Word<'s>;

    fn next(&mut self) -> Option<Word<'s>> {
        loop {
            let first = *self.rest.first()?;
            if first.is_ascii_whitespace() {
                self.take(1);
            } else if self.rest.starts_with(b"--") {
                self.take(2);
                if self.rest.first() != Some(&b'[') || !self.skip_long() {
                    let line = self.rest.iter().position(|byte| *byte == b'\n');
                    self.take(line.unwrap_or(usize::MAX));
                }
            } else if first == b'[' && self.skip_long() {
                return Some(Word::Text(b""));
            } else {
                break;
            }
        }
        let first = *self.rest.first()?;
        if first.is_ascii_alphabetic() || first == b'_' {
            let is_in = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
            let len = self.rest.iter().take_while(is_in).count();
            return Some(Word::Name(self.take(len)));
        }
        if first == b'"' || first == b'\'' {
            let mut len = 1;
            while let Some(byte) = self.rest.get(len).filter(|byte| **byte != first) {
                len += if *byte == b'\\' { 2 } else { 1 };
            }
            let text = self.take(len + 1);
            return Some(Word::Text(text.get(1..len).unwrap_or_default()));
        }
        Some(Word::Sign(self.take(1)[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::is_declared;

    #[test]
    fn calls_with_declared_keys_are_recognised() {
        for body in [
            "return 1",
            "return redis.call('GET', KEYS[1])",
            "if redis.call(\"get\",KEYS[1]) == ARGV[1] then return redis.call(\"del\",KEYS[1]) end",
            "local t = redis.call('TIME') return redis.pcall ( 'set', KEYS[i + 1], t[1] )",
            "-- redis.call('get', 'x')\nreturn redis.status_reply('redis.call')",
            "--[==[ redis.call(x) ]==] return [[redis.call]]",
        ] {
            assert!(is_declared(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn other_calls_are_not_trusted() {
        for body in [
            "return redis.call('GET', 'k')",
            "return redis.call('GET', ARGV[1])",
            "local call = redis.call",
            "local r = redis return r.call('get', 'x')",
            "return redis['call']('get', KEYS[1])",
            "return redis.call(unpack(ARGV))",
            "return redis.call('rename', KEYS[1], 'x')",
            "redis.call",
            "redis.call('keys', '*')",
        ] {
            assert!(!is_declared(body.as_bytes()), "{body}");
        }
    }
}
