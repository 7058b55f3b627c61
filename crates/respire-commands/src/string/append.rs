//! `APPEND key value`: adds bytes to the end of a string, or creates the string. The expiry is
//! kept, as in Redis.

use crate::Ctx;
use crate::errors::STRING_TOO_LONG;
use crate::notify;
use crate::value::{new_value, string_of};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Expiry;

pub(super) static APPEND: Spec = Spec {
    name: "append",
    summary: "Append a value to a key",
    since: "2.0.0",
    complexity: "O(1). The amortized time complexity is O(1) assuming the appended value is small and the already present value is of any size, since the dynamic string library used by Redis will double the free space available on every reallocation.",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[Arg::key("key", 0), Arg::new("value", ArgKind::String)],
    examples: &[
        ("APPEND greeting Hello", ":5\r\n"),
        ("APPEND greeting \" World\"", ":11\r\n"),
        ("GET greeting", "$11\r\nHello World\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn append(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (bytes_max, tail, client) = (ctx.string_bytes_max(), &args[1], ctx.client);
    let len = ctx.view.update(&args[0], |slot| {
        let Some(entry) = slot.get() else {
            slot.set(new_value(client, tail), Expiry::Clear);
            slot.event(notify::APPEND);
            return Ok(tail.len());
        };
        let len = string_of(entry)?.len() + tail.len();
        if len as u64 > bytes_max {
            return Err(STRING_TOO_LONG);
        }
        slot.edit_string_part(|bytes| {
            let start = bytes.len();
            bytes.extend_from_slice(tail);
            ((), true, Some(start..bytes.len()))
        });
        slot.event(notify::APPEND);
        Ok(len)
    })?;
    reply.int(len as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn absent_key_starts_with_the_value_and_empty_values_count() {
        Client::new().check(&[
            ("APPEND k \"\"", ":0\r\n"),
            ("EXISTS k", ":1\r\n"),
            ("APPEND k 12", ":2\r\n"),
            ("APPEND k 3", ":3\r\n"),
            ("INCR k", ":124\r\n"),
            ("EXPIRE k 100", ":1\r\n"),
            ("APPEND k x", ":4\r\n"),
            ("TTL k", ":100\r\n"),
        ]);
    }

    #[test]
    fn string_past_the_configured_length_is_refused() {
        Client::new().check(&[
            ("CONFIG SET proto-max-bulk-len 1mb", "+OK\r\n"),
            ("SETRANGE k 1048575 x", ":1048576\r\n"),
            (
                "APPEND k x",
                "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n",
            ),
            ("STRLEN k", ":1048576\r\n"),
        ]);
    }
}
