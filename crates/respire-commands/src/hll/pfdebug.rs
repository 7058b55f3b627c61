//! `PFDEBUG GETREG | DECODE | ENCODING | TODENSE key`: shows the registers of a `HyperLogLog`, the
//! opcodes of its sparse form or the name of its form, or makes it dense.
//!
//! As in Redis, `GETREG` makes it dense too, and neither of the two is a change to `WATCH`.

use super::dense;
use super::registers::REGISTERS;
use super::sparse::opcodes;
use super::value::{Form, Hll, corrupt, hll_if_any, make_dense};
use crate::Ctx;
use crate::errors::{HLL_NOT_SPARSE, NO_SUCH_HLL};
use crate::options::is_word;
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::Slot;

pub(super) static PFDEBUG: Spec = Spec {
    name: "pfdebug",
    summary: "Internal commands for debugging HyperLogLog values",
    since: "2.8.9",
    complexity: "N/A",
    group: Group::HyperLogLog,
    arity: Arity::exactly(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::ADMIN),
    is_internal: true,
    keys: &[KeySpec::at(2).flags(&[KeyFlag::Rw, KeyFlag::Access])],
    args: &[Arg::new("subcommand", ArgKind::String), Arg::key("key", 0)],
    examples: &[
        ("PFADD k a b c", ":1\r\n"),
        ("PFDEBUG ENCODING k", "+sparse\r\n"),
        (
            "PFDEBUG DECODE k",
            "$44\r\nZ:8436 v:1,1 Z:4274 v:2,1 Z:3068 v:1,1 Z:603\r\n",
        ),
        ("PFDEBUG TODENSE k", ":1\r\n"),
        ("PFDEBUG TODENSE k", ":0\r\n"),
        ("PFDEBUG DECODE k", "-ERR HLL encoding is not sparse\r\n"),
        ("PFDEBUG FOO k", "-ERR Unknown PFDEBUG subcommand 'FOO'\r\n"),
        (
            "PFDEBUG FOO none",
            "-ERR The specified key does not exist\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn pfdebug(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let subcommand = &args[0];
    ctx.view.update(&args[1], |slot| {
        hll_if_any(slot.get())?.ok_or(NO_SUCH_HLL)?;
        // As in Redis, any subcommand makes the string raw.
        let is_dense_wanted = is_word(subcommand, "GETREG") || is_word(subcommand, "TODENSE");
        let was_sparse = slot.edit_string_if(|bytes| {
            let len = bytes.len();
            let made_dense = if is_dense_wanted {
                make_dense(bytes)
            } else {
                Ok(false)
            };
            // Bytes that keep their length may only change in a change that counts.
            let counts = made_dense == Ok(true) && bytes.len() == len;
            (made_dense, counts)
        });
        let was_sparse = was_sparse.map_err(corrupt)?;
        if is_word(subcommand, "TODENSE") {
            reply.int(i64::from(was_sparse));
            return Ok(());
        }
        show(slot, subcommand, reply)
    })
}

fn show(slot: &Slot<'_>, subcommand: &[u8], reply: &mut Reply<'_>) -> Result<(), Error> {
    let hll = hll_if_any(slot.get())?.ok_or(NO_SUCH_HLL)?;
    if is_word(subcommand, "GETREG") {
        show_registers(hll, reply);
    } else if is_word(subcommand, "DECODE") {
        let Form::Sparse(bytes) = hll.form() else {
            return Err(HLL_NOT_SPARSE);
        };
        reply.bulk(decode(bytes).as_bytes());
    } else if is_word(subcommand, "ENCODING") {
        reply.simple(match hll.form() {
            Form::Dense(_) => "dense",
            Form::Sparse(_) => "sparse",
        });
    } else {
        let end = subcommand.iter().position(|byte| *byte == 0);
        let shown = &subcommand[..end.unwrap_or(subcommand.len())];
        return Err(Error::quoting(
            "ERR Unknown PFDEBUG subcommand '",
            shown,
            "'",
        ));
    }
    Ok(())
}

fn show_registers(hll: Hll<'_>, reply: &mut Reply<'_>) {
    if let Form::Dense(registers) = hll.form() {
        reply.array(REGISTERS);
        (0..REGISTERS).for_each(|index| reply.int(i64::from(dense::get(registers, index))));
    }
}

/// The opcodes as text, as Redis writes them.
fn decode(bytes: &[u8]) -> String {
    let words: Vec<String> = opcodes(bytes)
        .map(|opcode| match (opcode.value, opcode.bytes, opcode.run) {
            (0, 1, run) => format!("z:{run}"),
            (0, _, run) => format!("Z:{run}"),
            (value, _, run) => format!("v:{value},{run}"),
        })
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn registers_are_shown_from_the_dense_form() {
        let mut client = Client::new();
        client.send("PFADD k a b c");
        client.send("WATCH k");
        let shown = client.send("PFDEBUG GETREG k");
        assert!(shown.starts_with("*16384\r\n:0\r\n"));
        assert_eq!(shown.matches(":0\r\n").count(), 16381);
        client.check(&[
            ("PFDEBUG encoding k", "+dense\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*0\r\n"),
        ]);
    }

    #[test]
    fn unknown_subcommand_is_quoted_up_to_its_first_zero_byte() {
        Client::new().check(&[
            ("PFADD k", ":1\r\n"),
            (
                "PFDEBUG \"a b\\x00c\" k",
                "-ERR Unknown PFDEBUG subcommand 'a b'\r\n",
            ),
            ("SET s 1", "+OK\r\n"),
            (
                "PFDEBUG FOO s",
                "-WRONGTYPE Key is not a valid HyperLogLog string value.\r\n",
            ),
        ]);
    }
}
