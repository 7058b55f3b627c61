//! `BITOP AND | OR | XOR | NOT destkey key [key ...]`: combines strings bit by bit and stores the
//! result, in one atomic step.
//!
//! Shorter strings count as zero-padded. As in Redis, an empty result deletes the destination, and
//! the reply is the length of the result.
//!
//! Long strings are combined without a lock. The result is stored if no source has changed in the
//! meantime.

use crate::Ctx;
use crate::errors::{BITOP_NOT, SYNTAX, WRONG_TYPE};
use crate::notify;
use crate::options::is_word;
use crate::unlocked::share;
use crate::value::string_if_any;
use crate::work::work_begins;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{EntryRef, Expiry, Owned, Scope, StringRef, ValueRef, View};

pub(super) static BITOP: Spec = Spec {
    name: "bitop",
    summary: "Perform bitwise operations between strings",
    since: "2.6.0",
    complexity: "O(N)",
    group: Group::Bitmap,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(2).flags(&[KeyFlag::Ow, KeyFlag::Update]),
        KeySpec::range(3, -1, 1),
    ],
    args: &[
        Arg::new("operation", ArgKind::String),
        Arg::key("destkey", 0),
        Arg::key("key", 1).multiple(),
    ],
    examples: &[
        ("MSET a foobar b abcdef", "+OK\r\n"),
        ("BITOP AND dest a b", ":6\r\n"),
        ("GET dest", "$6\r\n`bc`ab\r\n"),
        (
            "BITOP NOT dest a b",
            "-ERR BITOP NOT must be called with a single source key.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn bitop(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let operation = Operation::parse(&args[0])?;
    let sources = args.skip(2);
    if operation == Operation::Not && sources.len() != 1 {
        return Err(BITOP_NOT);
    }
    let len = combine(ctx, operation, &args[1], sources)?;
    reply.int(len as i64);
    Ok(())
}

/// Up to this many bytes are combined while all keys are locked, which takes some microseconds. If
/// the sources turn out to be longer, the work done so far is repeated without the locks.
const LOCKED_BYTES_MAX: usize = 1 << 17;

/// The number of attempts to combine longer strings without the locks. An attempt fails if a source
/// changes in the meantime. After the last one the strings are combined under the locks.
const UNLOCKED_TRIES_MAX: u32 = 3;

/// Combines the sources into the destination; returns the length of the result.
fn combine(
    ctx: &mut Ctx<'_>,
    operation: Operation,
    destination: &[u8],
    sources: ArgList<'_>,
) -> Result<usize, Error> {
    let db = ctx.view.db();
    let mut keys: Vec<(u32, &[u8])> = sources.iter().map(|key| (db, key)).collect();
    keys.push((db, destination));
    let scope = Scope::Keys(&keys);
    let mut values = match ctx.locked(&scope, |view, stats| {
        let mut counted = 0;
        let count = |found| {
            stats.looked_up(found);
            counted += 1;
        };
        let result = combine_locked(view, operation, sources, Some(count))?;
        if let Some(result) = result {
            return Ok(Ok(store(view, destination, result)));
        }
        let values = share_all(view, sources);
        for (key, value) in sources.iter().zip(&values).skip(counted) {
            stats.looked_up(value.is_some());
            if value.is_none() {
                // Reports that the key is absent.
                view.read(key, |_| ());
            }
        }
        Ok(Err(values))
    })? {
        Ok(len) => return Ok(len),
        Err(values) => values,
    };
    for _ in 0..UNLOCKED_TRIES_MAX {
        let result = operation.combine_all(&values)?;
        let stored = ctx.locked(&scope, |view, _| {
            if are_unchanged(view, sources, &values) {
                Ok(store(view, destination, result))
            } else {
                Err(share_all(view, sources))
            }
        });
        match stored {
            Ok(len) => return Ok(len),
            Err(changed) => values = changed,
        }
    }
    drop(values);
    ctx.locked(&scope, |view, _| {
        let result = combine_locked(view, operation, sources, None::<fn(bool)>)?;
        Ok(store(view, destination, result.unwrap_or_default()))
    })
}

/// The values of locked keys, shared so that they can be read without the locks.
fn share_all(view: &mut View<'_>, keys: ArgList<'_>) -> Vec<Option<Owned>> {
    keys.iter().map(|key| view.update(key, share)).collect()
}

/// Whether locked keys still have the values that [`share_all`] returned.
fn are_unchanged(view: &mut View<'_>, keys: ArgList<'_>, values: &[Option<Owned>]) -> bool {
    keys.iter().zip(values).all(|(key, value)| {
        view.peek(key, |entry| match (entry, value) {
            (None, None) => true,
            (Some(entry), Some(value)) => is_same(entry.value(), value.value()),
            _ => false,
        })
    })
}

/// Whether two values are the same shared string, or equal short strings.
fn is_same(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a.as_string(), b.as_string()) {
        // A shared string does not change while anything refers to it.
        (Some(StringRef::Shared(a)), Some(StringRef::Shared(b))) => {
            a.as_ptr() == b.as_ptr() && a.len() == b.len()
        }
        (Some(StringRef::Shared(_)), _) | (_, Some(StringRef::Shared(_))) => false,
        (Some(a), Some(b)) => a.as_bytes(&mut [0; 20]) == b.as_bytes(&mut [0; 20]),
        _ => false,
    }
}

/// Combines locked keys. At the first read, `count` is called for each key with whether it exists,
/// and strings of more than [`LOCKED_BYTES_MAX`] bytes in all are not combined: the result is
/// `None`.
fn combine_locked(
    view: &mut View<'_>,
    operation: Operation,
    sources: ArgList<'_>,
    mut count: Option<impl FnMut(bool)>,
) -> Result<Option<Vec<u8>>, Error> {
    let bytes_max = count.as_ref().map_or(usize::MAX, |_| LOCKED_BYTES_MAX);
    let (mut result, mut bytes) = (None, 0);
    let mut add = |entry: Option<EntryRef<'_>>| {
        let string = string_if_any(entry)?;
        bytes += string.map_or(0, StringRef::len);
        if bytes <= bytes_max {
            operation.add(&mut result, string);
        }
        Ok(bytes > bytes_max)
    };
    for key in sources.iter() {
        let is_too_long = match &mut count {
            Some(count) => view.read(key, |entry| {
                count(entry.is_some());
                add(entry)
            })?,
            None => view.peek(key, &mut add)?,
        };
        if is_too_long {
            return Ok(None);
        }
    }
    Ok(Some(operation.finish(result)))
}

/// Stores the result in a locked key and returns its length. An empty result removes the key.
fn store(view: &mut View<'_>, key: &[u8], result: Vec<u8>) -> usize {
    let len = result.len();
    view.update(key, |slot| {
        if len > 0 {
            slot.set(result, Expiry::Clear);
            slot.event(notify::SET);
        } else if slot.remove() {
            slot.event(notify::DEL);
        }
    });
    len
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    And,
    Or,
    Xor,
    Not,
}

impl Operation {
    fn parse(word: &[u8]) -> Result<Self, Error> {
        const WORDS: [(&str, Operation); 4] = [
            ("AND", Operation::And),
            ("OR", Operation::Or),
            ("XOR", Operation::Xor),
            ("NOT", Operation::Not),
        ];
        let found = WORDS.iter().find(|(name, _)| is_word(word, name));
        found.map(|(_, operation)| *operation).ok_or(SYNTAX)
    }

    fn combine_all(self, values: &[Option<Owned>]) -> Result<Vec<u8>, Error> {
        work_begins();
        let mut result = None;
        for value in values {
            let string = value.as_ref().map(|value| value.value().as_string());
            self.add(
                &mut result,
                string.map(|string| string.ok_or(WRONG_TYPE)).transpose()?,
            );
        }
        Ok(self.finish(result))
    }

    /// Combines one more string into the result. The first one becomes the result.
    fn add(self, result: &mut Option<Vec<u8>>, string: Option<StringRef<'_>>) {
        let mut digits = [0; 20];
        let bytes = string.map_or(&[][..], |string| string.as_bytes(&mut digits));
        match result {
            Some(result) => self.combine(result, bytes),
            None => *result = Some(bytes.to_vec()),
        }
    }

    fn finish(self, result: Option<Vec<u8>>) -> Vec<u8> {
        let mut result = result.unwrap_or_default();
        if self == Self::Not {
            result.iter_mut().for_each(|byte| *byte = !*byte);
        }
        result
    }

    /// Combines one more string into a result, which becomes as long as the longer of the two.
    fn combine(self, result: &mut Vec<u8>, bytes: &[u8]) {
        if result.len() < bytes.len() {
            result.resize(bytes.len(), 0);
        }
        let (common, rest) = result.split_at_mut(bytes.len());
        let pairs = common.iter_mut().zip(bytes);
        match self {
            Self::And => {
                pairs.for_each(|(result, byte)| *result &= byte);
                rest.fill(0);
            }
            Self::Or => pairs.for_each(|(result, byte)| *result |= byte),
            Self::Xor => pairs.for_each(|(result, byte)| *result ^= byte),
            Self::Not => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;

    fn combine(operation: &[u8], a: &[u8], b: &[u8]) -> Vec<u8> {
        let mut result = a.to_vec();
        Operation::parse(operation)
            .expect("an operation")
            .combine(&mut result, b);
        result
    }

    #[test]
    fn shorter_string_is_padded_with_zeros() {
        assert_eq!(combine(b"and", &[0xf0, 0xff], &[0x3c]), [0x30, 0]);
        assert_eq!(combine(b"AND", &[0x3c], &[0xf0, 0xff]), [0x30, 0]);
        assert_eq!(combine(b"Or", &[0xf0], &[0x0c, 0x01]), [0xfc, 0x01]);
        assert_eq!(combine(b"xor", &[0xf0, 0x11], &[0xff]), [0x0f, 0x11]);
    }

    #[test]
    fn unknown_operation_is_a_syntax_error() {
        assert_eq!(Operation::parse(b"nand"), Err(SYNTAX));
    }

    #[test]
    fn destination_gets_the_result_and_is_deleted_if_it_is_empty() {
        Client::new().check(&[
            ("SET d old EX 100", "+OK\r\n"),
            ("SET a abc", "+OK\r\n"),
            ("BITOP NOT d a", ":3\r\n"),
            ("TTL d", ":-1\r\n"),
            ("STRLEN d", ":3\r\n"),
            ("BITOP OR d x y", ":0\r\n"),
            ("EXISTS d", ":0\r\n"),
            ("BITOP AND a a", ":3\r\n"),
            ("GET a", "$3\r\nabc\r\n"),
            ("BITOP FOO d a", "-ERR syntax error\r\n"),
            (
                "BITOP NOT d a a",
                "-ERR BITOP NOT must be called with a single source key.\r\n",
            ),
            (
                "BITOP NOT d",
                "-ERR wrong number of arguments for 'bitop' command\r\n",
            ),
        ]);
    }

    #[test]
    fn source_changed_during_the_work_is_combined_in_its_last_state() {
        for changes in 0..6 {
            let mut client = Client::new();
            client.send("SETRANGE k 2000000 x");
            client.send("SET other 0");
            let mut nth = 0;
            let write = move || {
                nth += 1;
                match nth {
                    _ if nth > changes => "PING".to_owned(),
                    1 => "SET other \"\\x01\"".to_owned(),
                    2 => "SETRANGE k 0 \"\\x04\"".to_owned(),
                    _ => format!("SETRANGE k {nth} a"),
                }
            };
            let (reply, is_unlocked) =
                send_and_write_meanwhile(&mut client, "BITOP OR d k other", write);
            assert_eq!(reply, ":2000001\r\n");
            assert_eq!(
                is_unlocked.len(),
                (changes + 1).min(UNLOCKED_TRIES_MAX) as usize
            );
            let expected = [b'0', if changes > 1 { 5 } else { 1 }][usize::from(changes > 0)];
            let first = format!("$1\r\n{}\r\n", char::from(expected));
            assert_eq!(client.send("GETRANGE d 0 0"), first, "{changes} changes");
            let last = if changes > 2 { "a" } else { "\0" };
            assert_eq!(client.send("GETRANGE d 3 3"), format!("$1\r\n{last}\r\n"));
        }
    }
}
