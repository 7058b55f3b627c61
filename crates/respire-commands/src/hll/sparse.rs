//! The sparse form: runs of equal registers, in the order of the registers.
//!
//! An opcode of 1 or 2 bytes has one run. `00nnnnnn` is n + 1 registers of value 0, and `01nnnnnn
//! nnnnnnnn` the same with 14 bits; `1vvvvvnn` is n + 1 registers of value v + 1. Clients may have
//! changed the bytes, so the runs may end before or after the last register. The second byte of a
//! last opcode that is cut off counts as 0, as in Redis.

use super::count::Histogram;
use super::registers::REGISTERS;
use super::value::Corrupt;

/// The largest value that an opcode can have.
const VALUE_MAX: u8 = 32;
/// The longest run of a value.
const VALUE_RUN_MAX: usize = 4;
/// The longest run of zeros in an opcode of one byte.
const ZERO_RUN_MAX: usize = 64;
/// The number of opcodes among which neighbours of equal value are joined after an edit.
const JOINED_OPCODES: usize = 5;

/// The opcode of all registers at 0.
pub(super) const EMPTY: [u8; 2] = [0x7f, 0xff];

/// A run of registers of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    pub(super) value: u8,
    pub(super) run: usize,
    /// The length of the opcode, 1 or 2.
    pub(super) bytes: usize,
}

impl Opcode {
    /// Reads the opcode at `at`, which is less than the length.
    #[inline]
    fn at(opcodes: &[u8], at: usize) -> Self {
        let first = opcodes[at];
        let low_bits = usize::from(first & 0x3f);
        match first >> 6 {
            0 => Self {
                value: 0,
                run: low_bits + 1,
                bytes: 1,
            },
            1 => {
                let second = opcodes.get(at + 1).copied().unwrap_or(0);
                Self {
                    value: 0,
                    run: (low_bits << 8 | usize::from(second)) + 1,
                    bytes: 2,
                }
            }
            _ => Self {
                value: (first >> 2 & 0x1f) + 1,
                run: usize::from(first & 3) + 1,
                bytes: 1,
            },
        }
    }
}

/// The opcodes in their order.
pub(super) fn opcodes(bytes: &[u8]) -> impl Iterator<Item = Opcode> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let opcode = (at < bytes.len()).then(|| Opcode::at(bytes, at))?;
        at += opcode.bytes;
        Some(opcode)
    })
}

/// Calls `f` with the first register, the length and the value of each run whose value is not 0.
pub(super) fn for_each_run(
    bytes: &[u8],
    mut f: impl FnMut(usize, usize, u8),
) -> Result<(), Corrupt> {
    let mut first = 0;
    for opcode in opcodes(bytes) {
        let end = first + opcode.run;
        if opcode.value > 0 {
            // As in Redis, such a run ends the registers, which may be complete before it.
            if end > REGISTERS {
                break;
            }
            f(first, opcode.run, opcode.value);
        }
        first = end;
    }
    if first == REGISTERS {
        Ok(())
    } else {
        Err(Corrupt)
    }
}

/// Counts the registers of each value.
pub(super) fn histogram(bytes: &[u8]) -> Result<Histogram, Corrupt> {
    let (mut histogram, mut registers) = (Histogram::new(), 0);
    for opcode in opcodes(bytes) {
        registers += opcode.run;
        histogram.add(opcode.value, opcode.run);
    }
    if registers == REGISTERS {
        Ok(histogram)
    } else {
        Err(Corrupt)
    }
}

/// The result of [`raise`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raised {
    /// The register already had this value or a larger one.
    Unchanged,
    Changed,
    /// The sparse form cannot have the value, or would become too long. Nothing has changed.
    NeedsDense,
}

/// Where the search for a register begins: an opcode in front of it, and the opcode's first
/// register. The default is the first opcode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    at: usize,
    register: usize,
}

/// Raises the register `index` to at least `value`.
///
/// `opcodes_from` is where the opcodes begin in `bytes`, and `bytes_max` the length that `bytes` may
/// grow to. The search begins at `from`, which is then moved so that it is right for registers after
/// `index`. O(opcodes searched + bytes behind the register).
pub(super) fn raise(
    bytes: &mut Vec<u8>,
    opcodes_from: usize,
    bytes_max: usize,
    from: &mut Place,
    (index, value): (usize, u8),
) -> Result<Raised, Corrupt> {
    if value > VALUE_MAX {
        return Ok(Raised::NeedsDense);
    }
    let found = find(&bytes[opcodes_from..], *from, index)?;
    *from = found.from;
    let Found { at, opcode, .. } = found;
    if opcode.value >= value {
        return Ok(Raised::Unchanged);
    }
    let split = Split::new(&found, index, value);
    let grown = bytes.len() + split.bytes().len();
    let is_in_place = split.bytes().len() <= opcode.bytes;
    if !is_in_place && grown - opcode.bytes > bytes_max {
        return Ok(Raised::NeedsDense);
    }
    let start = opcodes_from + at;
    let end = bytes.len().min(start + opcode.bytes);
    bytes.splice(start..end, split.bytes().iter().copied());
    // A last opcode that was cut off was counted with its second byte.
    bytes.truncate(grown - opcode.bytes);
    join(bytes, opcodes_from + found.before.at);
    Ok(Raised::Changed)
}

/// The opcode of a register.
struct Found {
    at: usize,
    opcode: Opcode,
    /// The opcode's first register.
    first: usize,
    /// The opcode before it, or itself if it is the first one.
    before: Place,
    /// Where the search for later registers may begin: no edit of this register moves it.
    from: Place,
}

fn find(opcodes: &[u8], from: Place, index: usize) -> Result<Found, Corrupt> {
    let (mut from, mut before, mut place) = (from, from, from);
    while place.at < opcodes.len() {
        let opcode = Opcode::at(opcodes, place.at);
        let end = place.register + opcode.run;
        if index < end {
            return Ok(Found {
                at: place.at,
                opcode,
                first: place.register,
                before,
                from,
            });
        }
        (from, before) = (before, place);
        place = Place {
            at: place.at + opcode.bytes,
            register: end,
        };
    }
    Err(Corrupt)
}

/// The opcodes that take the place of one opcode, one of whose registers gets another value.
#[derive(Default)]
struct Split {
    bytes: [u8; 5],
    len: usize,
}

impl Split {
    fn new(found: &Found, index: usize, value: u8) -> Self {
        let mut split = Self::default();
        let (before, old) = (index - found.first, found.opcode.value);
        split.push(old, before);
        split.push(value, 1);
        split.push(old, found.opcode.run - before - 1);
        split
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, value: u8, run: usize) {
        let Some(last) = run.checked_sub(1) else {
            return;
        };
        if value > 0 {
            self.push_byte(value_opcode(value, run));
        } else if run > ZERO_RUN_MAX {
            self.push_byte(0x40 | (last >> 8) as u8);
            self.push_byte(last as u8);
        } else {
            self.push_byte(last as u8);
        }
    }

    fn push_byte(&mut self, byte: u8) {
        self.bytes[self.len] = byte;
        self.len += 1;
    }
}

fn value_opcode(value: u8, run: usize) -> u8 {
    0x80 | (value - 1) << 2 | (run - 1) as u8
}

/// Joins neighbours of equal value among the few opcodes from `at` on, as far as one opcode can have
/// them all.
fn join(bytes: &mut Vec<u8>, mut at: usize) {
    for _ in 0..JOINED_OPCODES {
        if at + 1 >= bytes.len() {
            // A last opcode has no neighbour.
            return;
        }
        let (opcode, next) = (Opcode::at(bytes, at), Opcode::at(bytes, at + 1));
        let run = opcode.run + next.run;
        if opcode.value > 0 && opcode.value == next.value && run <= VALUE_RUN_MAX {
            bytes[at + 1] = value_opcode(opcode.value, run);
            bytes.remove(at);
        } else {
            at += opcode.bytes;
        }
    }
}

#[cfg(test)]
mod tests;
