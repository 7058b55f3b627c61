//! `BITFIELD key [GET type offset | [OVERFLOW WRAP | SAT | FAIL] SET type offset value |
//! INCRBY type offset increment ...]` and `BITFIELD_RO key [GET type offset ...]`: read and write
//! integers of any width in a string, one after another in one atomic step. As in Redis: a string
//! is made long enough for all writes first, also for those that then fail by overflow.

use super::field::{Field, parse_offset};
use crate::Ctx;
use crate::errors::{BITFIELD_OVERFLOW, BITFIELD_READ_ONLY, BITFIELD_TYPE, SYNTAX};
use crate::options::{Options, is_word};
use crate::value::string_if_any;
use resp_codec::number::parse_i64;
use respire_engine::{Arg, ArgKind, Args, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::Slot;

pub(super) static BITFIELD: Spec = Spec {
    name: "bitfield",
    summary: "Perform arbitrary bitfield integer operations on strings",
    since: "3.2.0",
    complexity: "O(1) for each subcommand specified",
    group: Group::Bitmap,
    arity: Arity::at_least(2),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    keys: &[KeySpec::at(1)
        .flags(&["RW", "access", "update", "variable_flags"])
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
    args: Args<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let operations = parse(args.skip(1), ctx.string_bytes_max())?;
    if operations.iter().all(Operation::is_read) {
        return read(ctx, &args[0], &operations, reply);
    }
    let results = ctx.view.update(&args[0], |slot| write(slot, &operations))?;
    reply.array(results.len());
    for result in results {
        match result {
            Some(number) => reply.int(number),
            None => reply.null(),
        }
    }
    Ok(())
}

pub(super) fn bitfield_ro(
    ctx: &mut Ctx<'_>,
    args: Args<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let operations = parse(args.skip(1), ctx.string_bytes_max())?;
    if !operations.iter().all(Operation::is_read) {
        return Err(BITFIELD_READ_ONLY);
    }
    read(ctx, &args[0], &operations, reply)
}

fn read(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    operations: &[Operation],
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    ctx.read(key, |entry| {
        let string = string_if_any(entry)?;
        let mut digits = [0; 20];
        let bytes = string.map_or(&[][..], |string| string.as_bytes(&mut digits));
        reply.array(operations.len());
        for operation in operations {
            reply.int(operation.kind.read(operation.field, bytes));
        }
        Ok(())
    })
}

fn write(slot: &mut Slot<'_>, operations: &[Operation]) -> Result<Vec<Option<i64>>, Error> {
    let string = string_if_any(slot.get())?;
    let writes = operations.iter().filter(|operation| !operation.is_read());
    let needed = writes
        .map(|operation| operation.field.bytes_needed())
        .max()
        .unwrap_or(0);
    let mut digits = [0; 20];
    let bytes = string.map_or(&[][..], |string| string.as_bytes(&mut digits));
    if bytes.len() >= needed && !operations.iter().any(|operation| operation.changes(bytes)) {
        // As nothing changes, each sees what is there now, and WATCH sees no change.
        return Ok(operations
            .iter()
            .map(|operation| operation.outcome(bytes).reply)
            .collect());
    }
    Ok(slot.edit_string(|bytes| {
        if bytes.len() < needed {
            bytes.resize(needed, 0);
        }
        let apply = |operation: &Operation| {
            let outcome = operation.outcome(bytes);
            if let Some(after) = outcome.after {
                operation.field.write(bytes, after);
            }
            outcome.reply
        };
        operations.iter().map(apply).collect()
    }))
}

/// How the bits of a field are a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Signed,
    Unsigned,
}

impl Kind {
    fn read(self, field: Field, bytes: &[u8]) -> i64 {
        let unused = 64 - field.bits;
        match self {
            // An unsigned field has at most 63 bits.
            Self::Unsigned => field.read(bytes) as i64,
            Self::Signed => (field.read(bytes) << unused) as i64 >> unused,
        }
    }

    /// A number given by `SET`, as wide as arithmetic needs it.
    fn widen(self, number: i64) -> i128 {
        match self {
            Self::Signed => i128::from(number),
            Self::Unsigned => i128::from(number as u64),
        }
    }

    /// The numbers a field of so many bits can hold.
    fn range(self, bits: u32) -> (i128, i128) {
        match self {
            Self::Signed => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            Self::Unsigned => (0, (1 << bits) - 1),
        }
    }
}

/// What becomes of a number that its field cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Get,
    Set(i64, Overflow),
    Increment(i64, Overflow),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    kind: Kind,
    field: Field,
    action: Action,
}

/// What an operation answers, and the field's bits after it if it writes.
struct Outcome {
    reply: Option<i64>,
    after: Option<u64>,
}

impl Operation {
    fn is_read(&self) -> bool {
        self.action == Action::Get
    }

    fn changes(&self, bytes: &[u8]) -> bool {
        let before = self.field.read(bytes);
        self.outcome(bytes)
            .after
            .is_some_and(|after| after != before)
    }

    fn outcome(&self, bytes: &[u8]) -> Outcome {
        let before = self.kind.read(self.field, bytes);
        let (exact, overflow) = match self.action {
            Action::Get => {
                return Outcome {
                    reply: Some(before),
                    after: None,
                };
            }
            Action::Set(number, overflow) => (self.kind.widen(number), overflow),
            Action::Increment(by, overflow) => (i128::from(before) + i128::from(by), overflow),
        };
        let unused = 64 - self.field.bits;
        let mask = u64::MAX >> unused;
        let (min, max) = self.kind.range(self.field.bits);
        let number = match overflow {
            Overflow::Fail if !(min..=max).contains(&exact) => {
                return Outcome {
                    reply: None,
                    after: None,
                };
            }
            Overflow::Saturate => exact.clamp(min, max) as u64,
            Overflow::Wrap | Overflow::Fail => exact as u64,
        };
        let after = number & mask;
        let reply = match (self.action, self.kind) {
            (Action::Get | Action::Set(..), _) => before,
            (Action::Increment(..), Kind::Unsigned) => after as i64,
            (Action::Increment(..), Kind::Signed) => (after << unused) as i64 >> unused,
        };
        Outcome {
            reply: Some(reply),
            after: Some(after),
        }
    }
}

fn parse(rest: Args<'_>, bytes_max: u64) -> Result<Vec<Operation>, Error> {
    let mut options = Options::new(rest);
    let mut overflow = Overflow::Wrap;
    let mut operations = Vec::new();
    while let Some(word) = options.next() {
        // A word with too few arguments behind it is no operation.
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

fn parse_overflow(word: &[u8]) -> Result<Overflow, Error> {
    const WORDS: [(&str, Overflow); 3] = [
        ("WRAP", Overflow::Wrap),
        ("SAT", Overflow::Saturate),
        ("FAIL", Overflow::Fail),
    ];
    let found = WORDS.iter().find(|(name, _)| is_word(word, name));
    found
        .map(|(_, overflow)| *overflow)
        .ok_or(BITFIELD_OVERFLOW)
}

/// `i1` to `i64`, `u1` to `u63`: an unsigned number of 64 bits would not fit a reply.
fn parse_type(argument: &[u8]) -> Result<(Kind, u32), Error> {
    let (kind, bits, bits_max) = match argument {
        [b'i', bits @ ..] => (Kind::Signed, bits, 64),
        [b'u', bits @ ..] => (Kind::Unsigned, bits, 63),
        _ => return Err(BITFIELD_TYPE),
    };
    match parse_i64(bits) {
        Some(bits) if (1..=bits_max).contains(&bits) => Ok((kind, bits as u32)),
        _ => Err(BITFIELD_TYPE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(kind: &str, action: Action, bytes: &[u8]) -> (Option<i64>, Option<u64>) {
        let (kind, bits) = parse_type(kind.as_bytes()).expect("a type");
        let outcome = Operation {
            kind,
            field: Field { offset: 0, bits },
            action,
        }
        .outcome(bytes);
        (outcome.reply, outcome.after)
    }

    #[test]
    fn type_is_signed_up_to_64_bits_and_unsigned_up_to_63() {
        assert_eq!(parse_type(b"i64"), Ok((Kind::Signed, 64)));
        assert_eq!(parse_type(b"u63"), Ok((Kind::Unsigned, 63)));
        for refused in [
            &b"u64"[..],
            b"i65",
            b"i0",
            b"I8",
            b"u",
            b"8",
            b"",
            b"i-1",
            b"i08",
        ] {
            assert_eq!(parse_type(refused), Err(BITFIELD_TYPE), "{refused:?}");
        }
    }

    #[test]
    fn increment_past_the_range_wraps_saturates_or_fails() {
        use Overflow::{Fail, Saturate, Wrap};
        let full = [0xff];
        assert_eq!(
            outcome("u8", Action::Increment(2, Wrap), &full),
            (Some(1), Some(1))
        );
        assert_eq!(
            outcome("u8", Action::Increment(2, Saturate), &full),
            (Some(255), Some(255))
        );
        assert_eq!(
            outcome("u8", Action::Increment(2, Fail), &full),
            (None, None)
        );
        assert_eq!(
            outcome("u8", Action::Increment(-300, Saturate), &full),
            (Some(0), Some(0))
        );
        assert_eq!(
            outcome("i8", Action::Increment(-128, Wrap), &full),
            (Some(127), Some(127))
        );
        assert_eq!(
            outcome("i8", Action::Increment(-128, Saturate), &full),
            (Some(-128), Some(128))
        );
        assert_eq!(
            outcome("i64", Action::Increment(i64::MIN, Wrap), &[0x80]),
            (Some(0), Some(0))
        );
    }

    #[test]
    fn set_answers_with_the_number_before() {
        use Overflow::{Fail, Saturate, Wrap};
        assert_eq!(
            outcome("i8", Action::Set(5, Wrap), &[0xff]),
            (Some(-1), Some(5))
        );
        assert_eq!(
            outcome("u4", Action::Set(-1, Wrap), &[0x30]),
            (Some(3), Some(15))
        );
        assert_eq!(
            outcome("u4", Action::Set(-1, Saturate), &[0x30]),
            (Some(3), Some(15))
        );
        assert_eq!(outcome("u4", Action::Set(16, Fail), &[0x30]), (None, None));
        assert_eq!(
            outcome("i4", Action::Set(-9, Saturate), &[0x30]),
            (Some(3), Some(8))
        );
    }
}
