//! `HINCRBY key field increment`: adds to the integer of a field of a hash. An absent field counts
//! as 0.

use super::fields::insert_keeping;
use crate::Ctx;
use crate::errors::{HASH_NOT_AN_INTEGER, OVERFLOW, wrong_type};
use crate::notify;
use crate::options::integer;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Edited, Growth, Hash, Kind, StringRef};

pub(super) static HINCRBY: Spec = Spec {
    name: "hincrby",
    summary: "Increment the integer value of a hash field by the given number",
    since: "2.0.0",
    complexity: "O(1)",
    group: Group::Hash,
    arity: Arity::exactly(4),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    element: 2,
    args: &[
        Arg::key("key", 0),
        Arg::new("field", ArgKind::String),
        Arg::new("increment", ArgKind::Integer),
    ],
    examples: &[
        ("HINCRBY h n 5", ":5\r\n"),
        ("HINCRBY h n -7", ":-2\r\n"),
        ("HSET h a text", ":1\r\n"),
        ("HINCRBY h a 1", "-ERR hash value is not an integer\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hincrby(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let increment = integer(&args[2])?;
    let sum = ctx.view.update(&args[0], |slot| {
        let growth = slot.growth::<Hash>();
        slot.edit(notify::HINCRBY, |hash: &mut Hash| {
            match add(hash, &args[1], increment, &growth) {
                Ok(sum) => Edited::Changed(Ok(sum)),
                Err(error) => Edited::Unchanged(Err(error)),
            }
        })
    });
    reply.int(sum.map_err(wrong_type)??);
    Ok(())
}

fn add(hash: &mut Hash, field: &[u8], increment: i64, growth: &Growth) -> Result<i64, Error> {
    let before = match hash.read().get(field).map(StringRef::to_int) {
        Some(number) => number.ok_or(HASH_NOT_AN_INTEGER)?,
        None => 0,
    };
    let sum = before.checked_add(increment).ok_or(OVERFLOW)?;
    insert_keeping(
        hash,
        field,
        itoa::Buffer::new().format(sum).as_bytes(),
        growth,
    );
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn overflow_and_texts_change_nothing() {
        const NOT_AN_INTEGER: &str = "-ERR hash value is not an integer\r\n";
        Client::new().check(&[
            (
                "HSET h n 9223372036854775807 blank \" 1\" zero 01",
                ":3\r\n",
            ),
            (
                "HINCRBY h n 1",
                "-ERR increment or decrement would overflow\r\n",
            ),
            ("HINCRBY h blank 1", NOT_AN_INTEGER),
            ("HINCRBY h zero 1", NOT_AN_INTEGER),
            (
                "HINCRBY h n x",
                "-ERR value is not an integer or out of range\r\n",
            ),
            ("HINCRBY h n -9223372036854775808", ":-1\r\n"),
            ("HLEN h", ":3\r\n"),
        ]);
    }
}
