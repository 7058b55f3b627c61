//! `SETBIT key offset value`: sets or clears one bit of a string, and replies with the old bit.
//!
//! As in Redis, the string grows by zero bytes as far as needed, and the expiry is kept.

use super::field::{Field, parse_offset};
use crate::Ctx;
use crate::errors::BIT_VALUE;
use crate::notify;
use crate::value::{extend_to, string_if_any};
use resp_codec::number::parse_i64;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static SETBIT: Spec = Spec {
    name: "setbit",
    summary: "Sets or clears the bit at offset in the string value stored at key",
    since: "2.2.0",
    group: Group::Bitmap,
    arity: Arity::exactly(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1).update()],
    args: &[
        Arg::key("key", 0),
        Arg::new("offset", ArgKind::Integer),
        Arg::new("value", ArgKind::Integer),
    ],
    examples: &[
        ("SETBIT k 7 1", ":0\r\n"),
        ("SETBIT k 7 0", ":1\r\n"),
        ("STRLEN k", ":1\r\n"),
        (
            "SETBIT k 7 2",
            "-ERR bit is not an integer or out of range\r\n",
        ),
        (
            "SETBIT k -1 1",
            "-ERR bit offset is not an integer or out of range\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn setbit(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let offset = parse_offset(&args[1], None, ctx.string_bytes_max())?;
    let bit = match parse_i64(&args[2]) {
        Some(0) => 0,
        Some(1) => 1,
        _ => return Err(BIT_VALUE),
    };
    let field = Field { offset, bits: 1 };
    let before = ctx.view.update(&args[0], |slot| {
        let string = string_if_any(slot.get())?;
        let (before, is_long_enough) = string.map_or((0, false), |string| {
            let is_long_enough = string.len() >= field.bytes_needed();
            (field.read(string.as_bytes(&mut [0; 20])), is_long_enough)
        });
        // A bit that already has this value is not a change: WATCH does not see it.
        let is_changed = !is_long_enough || before != bit;
        slot.edit_string_part(|bytes| {
            let needed = field.bytes_needed();
            extend_to(bytes, needed);
            field.write(bytes, bit);
            ((), is_changed, Some(needed - 1..needed))
        });
        if is_changed {
            slot.event(notify::SETBIT);
        }
        Ok(before)
    })?;
    reply.int(before as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn offset_is_checked_before_the_bit() {
        Client::new().check(&[
            (
                "SETBIT k x 2",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            (
                "SETBIT k -1 2",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            (
                "SETBIT k 4294967296 1",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            (
                "SETBIT k #1 1",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            (
                "SETBIT k 0 2",
                "-ERR bit is not an integer or out of range\r\n",
            ),
            (
                "SETBIT k 0 x",
                "-ERR bit is not an integer or out of range\r\n",
            ),
            ("EXISTS k", ":0\r\n"),
        ]);
    }

    #[test]
    fn string_grows_and_keeps_its_expiry() {
        Client::new().check(&[
            ("SET k a EX 100", "+OK\r\n"),
            ("SETBIT k 15 0", ":0\r\n"),
            ("STRLEN k", ":2\r\n"),
            ("SETBIT k 6 1", ":0\r\n"),
            ("GETRANGE k 0 0", "$1\r\nc\r\n"),
            ("TTL k", ":100\r\n"),
        ]);
    }

    #[test]
    fn bit_set_to_its_own_value_is_not_a_change_but_makes_the_string_raw() {
        Client::new().check(&[
            ("SET k 12", "+OK\r\n"),
            ("WATCH k", "+OK\r\n"),
            ("SETBIT k 0 0", ":0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("OBJECT ENCODING k", "+QUEUED\r\n"),
            ("EXEC", "*1\r\n$3\r\nraw\r\n"),
        ]);
    }
}
