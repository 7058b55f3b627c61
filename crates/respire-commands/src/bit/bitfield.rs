//! `BITFIELD key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] SET type offset value | INCRBY
//! type offset increment ...]` and `BITFIELD_RO key [GET type offset ...]`: reads and writes
//! integers of any width in a string.
//!
//! The operations run one after another in one atomic step. As in Redis, the string first grows to
//! the length that all writes need, including those that then fail by overflow.

use super::field::{Field, parse_offset};
use super::operation::{Action, Operation, Overflow, parse_overflow, parse_type};
use crate::Ctx;
use crate::errors::{BITFIELD_READ_ONLY, SYNTAX, WRONG_TYPE};
use crate::notify;
use crate::options::{Options, is_word};
use crate::value::{extend_to, string_if_any};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Slot, StringRef};

pub(super) static BITFIELD: Spec = Spec {
    name: "bitfield",
    summary: "Perform arbitrary bitfield integer operations on strings",
    since: "3.2.0",
    complexity: "O(1) for each subcommand specified",
    group: Group::Bitmap,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1)
        .flags(&[
            KeyFlag::Rw,
            KeyFlag::Access,
            KeyFlag::Update,
            KeyFlag::VariableFlags,
        ])
        .notes("This command allows both access and modification of the key")],
    args: &[
        Arg::key("key", 0),
        Arg::one_of(
            "operation",
            &[
                Arg::block(
                    "encoding_offset",
                    &[
                        Arg::new("encoding", ArgKind::String),
                        Arg::new("offset", ArgKind::Integer),
                    ],
                )
                .token("GET"),
                Arg::block(
                    "write",
                    &[
                        Arg::one_of(
                            "wrap_sat_fail",
                            &[
                                Arg::word("wrap", "WRAP"),
                                Arg::word("sat", "SAT"),
                                Arg::word("fail", "FAIL"),
                            ],
                        )
                        .token("OVERFLOW")
                        .optional(),
                        Arg::one_of(
                            "write_operation",
                            &[
                                Arg::block(
                                    "encoding_offset_value",
                                    &[
                                        Arg::new("encoding", ArgKind::String),
                                        Arg::new("offset", ArgKind::Integer),
                                        Arg::new("value", ArgKind::Integer),
                                    ],
                                )
                                .token("SET"),
                                Arg::block(
                                    "encoding_offset_increment",
                                    &[
                                        Arg::new("encoding", ArgKind::String),
                                        Arg::new("offset", ArgKind::Integer),
                                        Arg::new("increment", ArgKind::Integer),
                                    ],
                                )
                                .token("INCRBY"),
                            ],
                        ),
                    ],
                ),
            ],
        )
        .optional()
        .multiple(),
    ],
    examples: &[
        ("BITFIELD k INCRBY i5 100 1 GET u4 0", "*2\r\n:1\r\n:0\r\n"),
        (
            "BITFIELD k OVERFLOW SAT INCRBY u2 100 3 OVERFLOW FAIL INCRBY u2 100 1",
            "*2\r\n:3\r\n$-1\r\n",
        ),
        (
            "BITFIELD k GET u64 0",
            "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static BITFIELD_RO: Spec = Spec {
    name: "bitfield_ro",
    summary: "Perform arbitrary bitfield integer operations on strings. Read-only variant of BITFIELD",
    since: "6.0.0",
    complexity: "O(1) for each subcommand specified",
    group: Group::Bitmap,
    arity: Arity::at_least(2),
    flags: Flags::READONLY.with(Flags::FAST),
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::block(
            "encoding_offset",
            &[
                Arg::new("encoding", ArgKind::String),
                Arg::new("offset", ArgKind::Integer),
            ],
        )
        .token("GET")
        .optional()
        .multiple_token(),
    ],
    examples: &[
        ("SET k A", "+OK\r\n"),
        ("BITFIELD_RO k GET i8 0 GET u4 #1", "*2\r\n:65\r\n:1\r\n"),
        (
            "BITFIELD_RO k SET u8 0 1",
            "-ERR BITFIELD_RO only supports the GET subcommand\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn bitfield(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let operations = parse(args.skip(1), ctx.string_bytes_max())?;
    if operations.iter().all(Operation::is_read) {
        return read(ctx, &args[0], &operations, reply);
    }
    let results = ctx.view.update(&args[0], |slot| write(slot, &operations))?;
    reply.array(results.len());
    for result in results {
        reply_one(reply, result);
    }
    Ok(())
}

pub(super) fn bitfield_ro(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let operations = parse(args.skip(1), ctx.string_bytes_max())?;
    if !operations.iter().all(Operation::is_read) {
        return Err(BITFIELD_READ_ONLY);
    }
    read(ctx, &args[0], &operations, reply)
}

fn reply_one(reply: &mut Reply<'_>, result: Option<i64>) {
    match result {
        Some(number) => reply.int(number),
        None => reply.null(),
    }
}

fn read(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    operations: &[Operation],
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let mut run = |string: Option<StringRef<'_>>| {
        let mut digits = [0; 20];
        let bytes = string.map_or(&[][..], |string| string.as_bytes(&mut digits));
        reply.array(operations.len());
        for operation in operations {
            reply_one(reply, operation.outcome(bytes).reply);
        }
    };
    if operations.len() <= LOCKED_MAX {
        return ctx.read(key, |entry| string_if_any(entry).map(run));
    }
    let owned = ctx.read_owned(key);
    let string = owned.as_ref().map(|owned| owned.value().as_string());
    run(string.map(|string| string.ok_or(WRONG_TYPE)).transpose()?);
    Ok(())
}

/// A request with more operations reads a copy of the string, so that other clients do not wait for
/// all of them.
const LOCKED_MAX: usize = 256;

fn write(slot: &mut Slot<'_>, operations: &[Operation]) -> Result<Vec<Option<i64>>, Error> {
    string_if_any(slot.get())?;
    let writes = operations.iter().filter(|operation| !operation.is_read());
    let needed = writes
        .map(|operation| operation.field.bytes_needed())
        .max()
        .unwrap_or(0);
    // As in Redis, a failed write still makes the string longer. WATCH sees a change only if a
    // write succeeds and makes a difference.
    let mut is_changed = false;
    let results = slot.edit_string_if(|bytes| {
        let grows = bytes.len() < needed;
        extend_to(bytes, needed);
        let apply = |operation: &Operation| {
            let outcome = operation.outcome(bytes);
            if let Some(after) = outcome.after {
                is_changed |= grows || operation.field.read(bytes) != after;
                operation.field.write(bytes, after);
            }
            outcome.reply
        };
        let results = operations.iter().map(apply).collect();
        (results, is_changed)
    });
    if is_changed {
        slot.event(notify::SETBIT);
    }
    Ok(results)
}

fn parse(rest: ArgList<'_>, bytes_max: u64) -> Result<Vec<Operation>, Error> {
    let mut options = Options::new(rest);
    let mut overflow = Overflow::Wrap;
    let mut operations = Vec::new();
    while let Some(word) = options.next() {
        // A word with too few arguments after it is a syntax error.
        let after = options.len();
        if is_word(word, "OVERFLOW") && after >= 1 {
            overflow = parse_overflow(options.value()?)?;
            continue;
        }
        let make: fn(i64, Overflow) -> Action = if is_word(word, "GET") && after >= 2 {
            |_, _| Action::Get
        } else if is_word(word, "SET") && after >= 3 {
            Action::Set
        } else if is_word(word, "INCRBY") && after >= 3 {
            Action::Increment
        } else {
            return Err(SYNTAX);
        };
        let (kind, bits) = parse_type(options.value()?)?;
        let offset = parse_offset(options.value()?, Some(bits), bytes_max)?;
        let number = if is_word(word, "GET") {
            0
        } else {
            options.integer()?
        };
        let field = Field { offset, bits };
        operations.push(Operation {
            kind,
            field,
            action: make(number, overflow),
        });
    }
    Ok(operations)
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn offset_counts_bits_or_fields_and_bits_past_the_end_are_zero() {
        Client::new().check(&[
            (
                "BITFIELD k SET u8 #1 255 GET u8 8 GET u4 #3 GET i8 #1 GET u8 100",
                "*5\r\n:0\r\n:255\r\n:15\r\n:-1\r\n:0\r\n",
            ),
            ("STRLEN k", ":2\r\n"),
            ("BITFIELD k", "*0\r\n"),
            ("BITFIELD none GET u8 0", "*1\r\n:0\r\n"),
            ("EXISTS none", ":0\r\n"),
        ]);
    }

    #[test]
    fn overflow_applies_to_the_operations_after_it() {
        Client::new().check(&[
            ("BITFIELD k SET u2 0 3 INCRBY u2 0 1 OVERFLOW SAT SET u2 0 9 INCRBY u2 0 1 OVERFLOW FAIL INCRBY u2 0 1 SET i2 0 7", "*6\r\n:0\r\n:0\r\n:0\r\n:3\r\n$-1\r\n$-1\r\n"),
            ("BITFIELD k GET u2 0", "*1\r\n:3\r\n"),
        ]);
    }

    #[test]
    fn failed_write_makes_the_string_longer_and_is_not_a_change() {
        Client::new().check(&[
            ("WATCH k", "+OK\r\n"),
            ("BITFIELD k OVERFLOW FAIL INCRBY u8 80 300", "*1\r\n$-1\r\n"),
            ("MULTI", "+OK\r\n"),
            ("STRLEN k", "+QUEUED\r\n"),
            ("EXEC", "*1\r\n:11\r\n"),
            ("WATCH k", "+OK\r\n"),
            ("BITFIELD k SET u8 0 0", "*1\r\n:0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*0\r\n"),
            ("WATCH k", "+OK\r\n"),
            ("BITFIELD k SET u8 0 0 SET u8 88 0", "*2\r\n:0\r\n:0\r\n"),
            ("MULTI", "+OK\r\n"),
            ("EXEC", "*-1\r\n"),
        ]);
    }

    #[test]
    fn invalid_request_changes_nothing() {
        Client::new().check(&[
            ("BITFIELD k SET u8 0 1 GET", "-ERR syntax error\r\n"),
            ("BITFIELD k SET u8 0", "-ERR syntax error\r\n"),
            ("BITFIELD k SET u64 0 1", "-ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.\r\n"),
            ("BITFIELD k SET u8 x 1", "-ERR bit offset is not an integer or out of range\r\n"),
            ("BITFIELD k SET u8 4294967296 1", "-ERR bit offset is not an integer or out of range\r\n"),
            ("BITFIELD k SET u8 0 x", "-ERR value is not an integer or out of range\r\n"),
            ("BITFIELD k OVERFLOW FOO", "-ERR Invalid OVERFLOW type specified\r\n"),
            ("BITFIELD k FOO u8 0", "-ERR syntax error\r\n"),
            ("BITFIELD_RO k SET u8 0 1", "-ERR BITFIELD_RO only supports the GET subcommand\r\n"),
            ("BITFIELD_RO k GET u8", "-ERR syntax error\r\n"),
            ("EXISTS k", ":0\r\n"),
        ]);
    }
}
