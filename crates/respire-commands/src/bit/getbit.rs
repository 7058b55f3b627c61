//! `GETBIT key offset`: returns one bit of a string, or 0 past its end, as in Redis.

use super::field::{Field, parse_offset};
use crate::Ctx;
use crate::value::string_if_any;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};

pub(super) static GETBIT: Spec = Spec {
    name: "getbit",
    summary: "Returns the bit value at offset in the string value stored at key",
    since: "2.2.0",
    group: Group::Bitmap,
    arity: Arity::exactly(3),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    keys: &[KeySpec::at(1)],
    args: &[Arg::key("key", 0), Arg::new("offset", ArgKind::Integer)],
    examples: &[
        ("SETBIT k 7 1", ":0\r\n"),
        ("GETBIT k 0", ":0\r\n"),
        ("GETBIT k 7", ":1\r\n"),
        ("GETBIT k 100", ":0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn getbit(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let offset = parse_offset(&args[1], None, ctx.string_bytes_max())?;
    let bit = ctx.read(&args[0], |entry| {
        let string = string_if_any(entry)?;
        let field = Field { offset, bits: 1 };
        Ok(string.map_or(0, |string| field.read(string.as_bytes(&mut [0; 20]))))
    })?;
    reply.int(bit as i64);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn offset_is_checked_and_a_bit_past_the_end_is_0() {
        Client::new().check(&[
            (
                "GETBIT k x",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            (
                "GETBIT k 4294967296",
                "-ERR bit offset is not an integer or out of range\r\n",
            ),
            ("GETBIT k 4294967295", ":0\r\n"),
            ("SET k 12", "+OK\r\n"),
            ("GETBIT k 2", ":1\r\n"),
            ("GETBIT k 16", ":0\r\n"),
        ]);
    }
}
