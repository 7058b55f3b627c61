//! `PFCOUNT key [key ...]`: estimates how many different elements were added to one or more
//! `HyperLogLogs`.
//!
//! The estimate of a single key is noted in its header, and read from there while no register
//! changes. As in Redis, that note counts as a change of the key.

use super::count::Histogram;
use super::registers::Registers;
use super::value::{Hll, corrupt, hll_if_any, set_estimate};
use crate::Ctx;
use respire_engine::{Arg, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec};
use respire_store::{Encoding, Slot};

pub(super) static PFCOUNT: Spec = Spec {
    name: "pfcount",
    summary: "Return the approximated cardinality of the set(s) observed by the HyperLogLog at key(s).",
    since: "2.8.9",
    complexity: "O(1) with a very small average constant time when called with a single key. O(N) with N being the number of keys, and much bigger constant times, when called with multiple keys.",
    group: Group::HyperLogLog,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::MAY_WRITE),
    keys: &[KeySpec::range(1, -1, 1)
        .flags(&[KeyFlag::Rw, KeyFlag::Access])
        .notes("RW because it may change the internal representation of the key, and propagate to replicas")],
    args: &[Arg::key("key", 0).multiple()],
    examples: &[
        ("PFADD a 1 2 3", ":1\r\n"),
        ("PFADD b 3 4", ":1\r\n"),
        ("PFCOUNT a", ":3\r\n"),
        ("PFCOUNT a b none", ":4\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn pfcount(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let estimate = if args.len() == 1 {
        of_one(ctx, &args[0])?
    } else {
        of_all(ctx, args)?
    };
    // A forged estimate may be beyond the range.
    reply.int(estimate as i64);
    Ok(())
}

/// The estimate of one key.
fn of_one(ctx: &mut Ctx<'_>, key: &[u8]) -> Result<u64, Error> {
    let known = ctx.read(key, |entry| {
        let is_raw = entry.is_some_and(|entry| entry.encoding() == Encoding::Raw);
        Ok(match hll_if_any(entry)? {
            None => Some(0),
            Some(hll) => hll.last_estimate().filter(|_| is_raw),
        })
    })?;
    match known {
        Some(estimate) => Ok(estimate),
        None => ctx.view.update(key, note),
    }
}

/// Notes the estimate of a locked key in its header.
fn note(slot: &mut Slot<'_>) -> Result<u64, Error> {
    if hll_if_any(slot.get())?.is_none() {
        return Ok(0);
    }
    slot.edit_string_if(|bytes| {
        let noted = noted(bytes);
        let is_new = noted.as_ref().is_ok_and(|(_, is_new)| *is_new);
        (noted.map(|(estimate, _)| estimate), is_new)
    })
}

/// The estimate, and whether it is written to the header.
fn noted(bytes: &mut [u8]) -> Result<(u64, bool), Error> {
    let hll = Hll::new(bytes)?;
    if let Some(estimate) = hll.last_estimate() {
        return Ok((estimate, false));
    }
    let estimate = hll.estimate().map_err(corrupt)?;
    set_estimate(bytes, estimate);
    Ok((estimate, true))
}

/// The estimate of the union of several keys, which are read at one moment.
fn of_all(ctx: &mut Ctx<'_>, keys: ArgList<'_>) -> Result<u64, Error> {
    let mut registers = Registers::new();
    ctx.try_read_many(keys.iter(), |entry| {
        let hll = hll_if_any(entry)?;
        let merged = hll.map(|hll| hll.merge(&mut registers)).transpose();
        merged.map_err(corrupt).map(|_| ())
    })?;
    Ok(Histogram::of_registers(&registers).estimate())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn noted_estimate_is_a_change_that_is_made_once() {
        let mut client = Client::new();
        let mut other = client.other();
        client.check(&[
            ("PFADD k a b c", ":1\r\n"),
            ("GETRANGE k 8 15", "$8\r\n\0\0\0\0\0\0\0\u{fffd}\r\n"),
            ("WATCH k", "+OK\r\n"),
        ]);
        other.check(&[("PFCOUNT k", ":3\r\n")]);
        client.check(&[
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*-1\r\n"),
            ("GETRANGE k 8 15", "$8\r\n\u{3}\0\0\0\0\0\0\0\r\n"),
            ("WATCH k", "+OK\r\n"),
        ]);
        other.check(&[("PFCOUNT k", ":3\r\n"), ("PFADD k a", ":0\r\n")]);
        client.check(&[("MULTI", "+OK\r\n"), ("EXEC", "*0\r\n")]);
    }

    #[test]
    fn first_invalid_key_decides_the_error() {
        Client::new().check(&[
            ("SET s text", "+OK\r\n"),
            ("SET n 12345678901234567890", "+OK\r\n"),
            ("PFADD k a", ":1\r\n"),
            (
                "PFCOUNT k none s",
                "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
            ),
            (
                "PFCOUNT n",
                "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
            ),
            ("PFCOUNT none", ":0\r\n"),
            ("PFCOUNT none none", ":0\r\n"),
            ("EXISTS none", ":0\r\n"),
        ]);
    }

    #[test]
    fn forged_estimate_is_believed() {
        Client::new().check(&[
            ("PFADD k", ":1\r\n"),
            (
                "SETRANGE k 8 \"\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x7f\"",
                ":18\r\n",
            ),
            ("PFCOUNT k", ":9223372036854775807\r\n"),
            ("PFCOUNT k k", ":0\r\n"),
        ]);
    }
}
