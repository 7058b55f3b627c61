//! `PFADD key [element [element ...]]`: adds elements to a `HyperLogLog`, and replies with 1 if its
//! estimate may have changed.
//!
//! Without elements it creates an empty one. As in Redis, elements before a corrupt part of a sparse
//! form stay added.

use super::value::{add, corrupt, empty, forget_estimate, hll_if_any};
use crate::Ctx;
use crate::notify;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};

pub(super) static PFADD: Spec = Spec {
    name: "pfadd",
    summary: "Adds the specified elements to the specified HyperLogLog.",
    since: "2.8.9",
    complexity: "O(1) to add every element.",
    group: Group::HyperLogLog,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::FAST),
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Rw, KeyFlag::Insert])],
    args: &[
        Arg::key("key", 0),
        Arg::new("element", ArgKind::String).optional().multiple(),
    ],
    examples: &[
        ("PFADD k a b c", ":1\r\n"),
        ("PFADD k c", ":0\r\n"),
        ("PFADD k", ":0\r\n"),
        ("STRLEN k", ":27\r\n"),
        ("SET s text", "+OK\r\n"),
        (
            "PFADD s a",
            "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn pfadd(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let sparse_bytes_max = ctx.kv.hll_sparse_bytes_max();
    let is_changed = ctx.view.update(&args[0], |slot| -> Result<bool, Error> {
        let is_new = hll_if_any(slot.get())?.is_none();
        let (is_changed, added) = slot.edit_string_if(|bytes| {
            if is_new {
                *bytes = empty();
            }
            let (is_changed, added) = add(bytes, args.skip(1).iter(), sparse_bytes_max);
            let is_changed = is_changed || is_new;
            if is_changed {
                forget_estimate(bytes);
            }
            ((is_changed, added), is_changed)
        });
        added.map_err(corrupt)?;
        if is_changed {
            slot.event(notify::PFADD);
        }
        Ok(is_changed)
    })?;
    reply.int(i64::from(is_changed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn new_hyperloglog_is_a_change_even_without_elements() {
        Client::new().check(&[
            ("PFADD k", ":1\r\n"),
            ("PFADD k", ":0\r\n"),
            (
                "GET k",
                "$18\r\nHYLL\u{1}\0\0\0\0\0\0\0\0\0\0\u{fffd}\u{7f}\u{fffd}\r\n",
            ),
        ]);
    }

    #[test]
    fn expiry_is_kept_and_the_string_becomes_raw() {
        let mut client = Client::new();
        client.check(&[("PFADD source", ":1\r\n"), ("PFCOUNT source", ":0\r\n")]);
        client.check(&[
            (
                "SET k \"HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x7f\\xff\" EX 100",
                "+OK\r\n",
            ),
            ("OBJECT ENCODING k", "$6\r\nembstr\r\n"),
            ("PFADD k", ":0\r\n"),
            ("OBJECT ENCODING k", "$3\r\nraw\r\n"),
            ("PFADD k a", ":1\r\n"),
            ("TTL k", ":100\r\n"),
        ]);
    }

    #[test]
    fn elements_before_a_corrupt_part_stay_added() {
        let mut client = Client::new();
        let corrupt = "-INVALIDOBJ Corrupted HLL object detected\r\n";
        // One opcode of zeros for the first 8192 registers, and nothing for the others.
        let half = "HYLL\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x5f\\xff";
        client.send(&format!("SET k \"{half}\""));
        let mut reply_to = |element: u32| client.send(&format!("PFADD k {element}"));
        let in_half = (0..).find(|it| reply_to(*it) == ":1\r\n").unwrap_or(0);
        let behind = (0..).find(|it| reply_to(*it) == corrupt).unwrap_or(0);
        client.check(&[
            (&format!("SET k \"{half}\""), "+OK\r\n"),
            ("WATCH k", "+OK\r\n"),
            (&format!("PFADD k {in_half} {behind}"), corrupt),
            (&format!("PFADD k {in_half}"), ":0\r\n"),
        ]);
        client.check(&[
            ("PFCOUNT k", corrupt),
            ("PFCOUNT k none", corrupt),
            ("PFMERGE d k", corrupt),
            ("PFDEBUG TODENSE k", corrupt),
            ("EXISTS d", ":0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*-1\r\n"),
        ]);
    }
}
