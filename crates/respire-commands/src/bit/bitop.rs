//! `BITOP AND | OR | XOR | NOT destkey key [key ...]`: combine strings bit by bit into another, in
//! one atomic step; shorter ones count as zero-padded. As in Redis: an empty result deletes the
//! destination, and the reply is the result's length.

use crate::Ctx;
use crate::errors::{BITOP_NOT, SYNTAX};
use crate::options::is_word;
use crate::value::string_if_any;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Expiry, Scope};

pub(super) static BITOP: Spec = Spec {
    name: "bitop",
    summary: "Perform bitwise operations between strings",
    since: "2.6.0",
    complexity: "O(N)",
    group: Group::Bitmap,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[
        KeySpec::at(2).flags(&["OW", "update"]),
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
    let db = ctx.view.db();
    let keys: Vec<(u32, &[u8])> = args.iter().skip(1).map(|key| (db, key)).collect();
    let len = ctx.locked(&Scope::Keys(&keys), |view, stats| {
        let mut result: Option<Vec<u8>> = None;
        for key in sources.iter() {
            view.read(key, |entry| {
                stats.looked_up(entry.is_some());
                let string = string_if_any(entry)?;
                let mut digits = [0; 20];
                let bytes = string.map_or(&[][..], |string| string.as_bytes(&mut digits));
                match &mut result {
                    Some(result) => operation.combine(result, bytes),
                    None => result = Some(bytes.to_vec()),
                }
                Ok(())
            })?;
        }
        let mut result = result.unwrap_or_default();
        if operation == Operation::Not {
            result.iter_mut().for_each(|byte| *byte = !*byte);
        }
        let len = result.len();
        view.update(&args[1], |slot| {
            if len == 0 {
                slot.remove();
            } else {
                slot.set(result, Expiry::Clear);
            }
        });
        Ok(len)
    })?;
    reply.int(len as i64);
    Ok(())
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

    /// Takes one more string into a result, which becomes as long as the longer of the two.
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

    fn combine(operation: &[u8], a: &[u8], b: &[u8]) -> Vec<u8> {
        let mut result = a.to_vec();
        Operation::parse(operation)
            .expect("an operation")
            .combine(&mut result, b);
        result
    }

    #[test]
    fn combine_pads_the_shorter_with_zeros() {
        assert_eq!(combine(b"and", &[0xf0, 0xff], &[0x3c]), [0x30, 0]);
        assert_eq!(combine(b"AND", &[0x3c], &[0xf0, 0xff]), [0x30, 0]);
        assert_eq!(combine(b"Or", &[0xf0], &[0x0c, 0x01]), [0xfc, 0x01]);
        assert_eq!(combine(b"xor", &[0xf0, 0x11], &[0xff]), [0x0f, 0x11]);
    }

    #[test]
    fn operation_unknown_is_a_syntax_error() {
        assert_eq!(Operation::parse(b"nand"), Err(SYNTAX));
    }

    #[test]
    fn destination_takes_the_result_or_goes() {
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
}
