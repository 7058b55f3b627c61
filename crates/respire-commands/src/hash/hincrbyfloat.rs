//! `HINCRBYFLOAT key field increment`: adds to the floating-point number of a field of a hash. An
//! absent field counts as 0. The result is that of `INCRBYFLOAT`.

use super::fields::insert_keeping;
use crate::Ctx;
use crate::errors::{HASH_NOT_A_FLOAT, NOT_A_FLOAT, NOT_FINITE, NOT_FINITE_ARGUMENT, wrong_type};
use crate::extended::Extended;
use crate::notify;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Edited, Growth, Hash, Kind};

pub(super) static HINCRBYFLOAT: Spec = Spec {
    name: "hincrbyfloat",
    summary: "Increment the float value of a hash field by the given amount",
    since: "2.6.0",
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
        Arg::new("increment", ArgKind::Double),
    ],
    examples: &[
        ("HSET h n 10.50", ":1\r\n"),
        ("HINCRBYFLOAT h n 0.1", "$4\r\n10.6\r\n"),
        ("HINCRBYFLOAT h n inf", "-ERR value is NaN or Infinity\r\n"),
        ("HSET h a text", ":1\r\n"),
        ("HINCRBYFLOAT h a 1", "-ERR hash value is not a float\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn hincrbyfloat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let increment = Extended::parse(&args[2]).ok_or(NOT_A_FLOAT)?;
    if !increment.is_finite() {
        return Err(NOT_FINITE_ARGUMENT);
    }
    let sum = ctx.view.update(&args[0], |slot| {
        let growth = slot.growth::<Hash>();
        slot.edit(notify::HINCRBYFLOAT, |hash: &mut Hash| {
            match add(hash, &args[1], increment, &growth) {
                Ok(sum) => Edited::Changed(Ok(sum)),
                Err(error) => Edited::Unchanged(Err(error)),
            }
        })
    });
    reply.bulk(sum.map_err(wrong_type)??);
    Ok(())
}

fn add(
    hash: &mut Hash,
    field: &[u8],
    increment: Extended,
    growth: &Growth,
) -> Result<String, Error> {
    let before = match hash.read().get(field) {
        Some(value) => Extended::parse(value.as_bytes(&mut [0; 20])).ok_or(HASH_NOT_A_FLOAT)?,
        None => Extended::ZERO,
    };
    let sum = before.plus(increment).and_then(Extended::to_text);
    let sum = sum.ok_or(NOT_FINITE)?;
    insert_keeping(hash, field, sum.as_bytes(), growth);
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn sum_that_is_refused_leaves_no_hash() {
        Client::new().check(&[
            (
                "HINCRBYFLOAT h n nan",
                "-ERR value is not a valid float\r\n",
            ),
            ("HINCRBYFLOAT h n -inf", "-ERR value is NaN or Infinity\r\n"),
            ("EXISTS h", ":0\r\n"),
            ("HSET h n inf blank \" 1\"", ":2\r\n"),
            (
                "HINCRBYFLOAT h n 1",
                "-ERR increment would produce NaN or Infinity\r\n",
            ),
            (
                "HINCRBYFLOAT h blank 1",
                "-ERR hash value is not a float\r\n",
            ),
            ("HINCRBYFLOAT h new 5.0e3", "$4\r\n5000\r\n"),
        ]);
    }
}
