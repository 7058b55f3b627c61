//! `INCRBYFLOAT key increment`: adds to a floating-point number.
//!
//! An absent key counts as 0, and the expiry is kept. The result equals that of Redis on x86-64,
//! digit for digit: the sum is computed in the processor's 80-bit format and written with up to 17
//! decimals. (A Redis built for a platform with another `long double` format differs from that in
//! the last digits.)

use crate::Ctx;
use crate::errors::{NOT_A_FLOAT, NOT_FINITE};
use crate::extended::Extended;
use crate::notify;
use crate::value::string_if_any;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Expiry, NewValue};

pub(super) static INCRBYFLOAT: Spec = Spec {
    name: "incrbyfloat",
    summary: "Increment the float value of a key by the given amount",
    since: "2.6.0",
    group: Group::String,
    arity: Arity::exactly(3),
    flags: Flags::WRITE
        .with(Flags::DENYOOM)
        .with(Flags::FAST)
        .with(Flags::CONSTANT),
    keys: &[KeySpec::at(1).update()],
    args: &[Arg::key("key", 0), Arg::new("increment", ArgKind::Double)],
    examples: &[
        ("SET n 10.50", "+OK\r\n"),
        ("INCRBYFLOAT n 0.1", "$4\r\n10.6\r\n"),
        ("INCRBYFLOAT n -5", "$3\r\n5.6\r\n"),
        ("SET n 5.0e3", "+OK\r\n"),
        ("INCRBYFLOAT n 2.0e2", "$4\r\n5200\r\n"),
        ("INCRBYFLOAT n x", "-ERR value is not a valid float\r\n"),
        (
            "INCRBYFLOAT n inf",
            "-ERR increment would produce NaN or Infinity\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn incrbyfloat(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let text = ctx.view.update(&args[0], |slot| {
        let before = match string_if_any(slot.get())? {
            Some(string) => Extended::parse(string.as_bytes(&mut [0; 20])).ok_or(NOT_A_FLOAT)?,
            None => Extended::ZERO,
        };
        let increment = Extended::parse(&args[1]).ok_or(NOT_A_FLOAT)?;
        let text = before
            .plus(increment)
            .and_then(Extended::to_text)
            .ok_or(NOT_FINITE)?;
        slot.set(NewValue::Text(text.as_bytes().into()), Expiry::Keep);
        slot.event(notify::INCRBYFLOAT);
        Ok(text)
    })?;
    reply.bulk(text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn sum_keeps_the_expiry_and_invalid_numbers_are_refused() {
        Client::new().check(&[
            ("SET n 1 EX 100", "+OK\r\n"),
            ("INCRBYFLOAT n 0.5", "$3\r\n1.5\r\n"),
            ("TTL n", ":100\r\n"),
            ("INCRBYFLOAT n nan", "-ERR value is not a valid float\r\n"),
            (
                "INCRBYFLOAT n \" 1\"",
                "-ERR value is not a valid float\r\n",
            ),
            ("SET n inf", "+OK\r\n"),
            (
                "INCRBYFLOAT n 1",
                "-ERR increment would produce NaN or Infinity\r\n",
            ),
            ("SET n abc", "+OK\r\n"),
            ("INCRBYFLOAT n 1", "-ERR value is not a valid float\r\n"),
            ("INCRBYFLOAT n x", "-ERR value is not a valid float\r\n"),
            ("INCRBYFLOAT new -0", "$1\r\n0\r\n"),
            ("GET new", "$1\r\n0\r\n"),
        ]);
    }

    #[test]
    fn sum_stays_text_after_copy_and_rename() {
        Client::new().check(&[
            ("INCRBYFLOAT f 1.5", "$3\r\n1.5\r\n"),
            ("INCRBYFLOAT f 0.5", "$1\r\n2\r\n"),
            ("OBJECT ENCODING f", "$6\r\nembstr\r\n"),
            ("COPY f g", ":1\r\n"),
            ("RENAME f h", "+OK\r\n"),
            ("OBJECT ENCODING g", "$6\r\nembstr\r\n"),
            ("OBJECT ENCODING h", "$6\r\nembstr\r\n"),
            ("INCR h", ":3\r\n"),
            ("OBJECT ENCODING h", "$3\r\nint\r\n"),
        ]);
    }
}
