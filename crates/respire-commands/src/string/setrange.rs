//! `SETRANGE key offset value`: overwrites a part of a string.
//!
//! The string grows by zero bytes as far as needed, and the expiry is kept. As in Redis, an empty
//! value changes nothing and creates nothing.

use crate::Ctx;
use crate::errors::{OFFSET_RANGE, STRING_TOO_LONG};
use crate::notify;
use crate::options::integer;
use crate::value::{extend_to, string_if_any};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::StringRef;

pub(super) static SETRANGE: Spec = Spec {
    name: "setrange",
    summary: "Overwrite part of a string at key starting at the specified offset",
    since: "2.2.0",
    complexity: "O(1), not counting the time taken to copy the new string in place. Usually, this string is very small so the amortized complexity is O(1). Otherwise, complexity is O(M) with M being the length of the value argument.",
    group: Group::String,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("offset", ArgKind::Integer),
        Arg::new("value", ArgKind::String),
    ],
    examples: &[
        ("SET k \"Hello World\"", "+OK\r\n"),
        ("SETRANGE k 6 Redis", ":11\r\n"),
        ("GET k", "$11\r\nHello Redis\r\n"),
        ("SETRANGE k -1 x", "-ERR offset is out of range\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn setrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (bytes_max, part) = (ctx.string_bytes_max(), &args[2]);
    let offset = u64::try_from(integer(&args[1])?).map_err(|_| OFFSET_RANGE)?;
    let len = ctx.view.update(&args[0], |slot| {
        let len = string_if_any(slot.get())?.map_or(0, StringRef::len);
        if part.is_empty() {
            return Ok(len);
        }
        let end = offset + part.len() as u64;
        if end > bytes_max {
            return Err(STRING_TOO_LONG);
        }
        let range = offset as usize..end as usize;
        let len = slot.edit_string_part(|bytes| {
            extend_to(bytes, range.end);
            bytes[range.clone()].copy_from_slice(part);
            (bytes.len(), true, Some(range))
        });
        slot.event(notify::SETRANGE);
        Ok(len)
    })?;
    reply.int(len as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn empty_value_changes_and_creates_nothing() {
        Client::new().check(&[
            ("SETRANGE k 5 \"\"", ":0\r\n"),
            ("EXISTS k", ":0\r\n"),
            ("SET k abc", "+OK\r\n"),
            ("SETRANGE k 5 \"\"", ":3\r\n"),
            ("GET k", "$3\r\nabc\r\n"),
        ]);
    }

    #[test]
    fn gap_is_filled_with_zeros_and_the_length_is_bounded() {
        Client::new().check(&[
            ("SETRANGE k 2 ab", ":4\r\n"),
            ("STRLEN k", ":4\r\n"),
            ("GETRANGE k 2 -1", "$2\r\nab\r\n"),
            (
                "SETRANGE k 536870912 x",
                "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n",
            ),
            (
                "SETRANGE k 9223372036854775807 x",
                "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n",
            ),
            ("SETRANGE k -1 x", "-ERR offset is out of range\r\n"),
            (
                "SETRANGE k x x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("SET n 12 EX 100", "+OK\r\n"),
            ("SETRANGE n 1 345", ":4\r\n"),
            ("INCR n", ":1346\r\n"),
            ("TTL n", ":100\r\n"),
        ]);
    }
}
