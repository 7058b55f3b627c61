//! A `HyperLogLog` as the bytes of a string: a header of 16 bytes, and the registers.
//!
//! | bytes | hold |
//! |---|---|
//! | 0 to 3 | `HYLL` |
//! | 4 | the form of the registers: 0 is dense, 1 is sparse |
//! | 5 to 7 | nothing |
//! | 8 to 15 | the last estimate, least significant byte first; out of date if the highest bit is set |

use super::count::Histogram;
use super::dense::{self, Dense};
use super::hash::register_of;
use super::registers::Registers;
use super::sparse::{self, Place, Raised};
use crate::errors::{CORRUPT_HLL, NOT_A_HLL};
use crate::value::string_if_any;
use respire_engine::Error;
use respire_store::{EntryRef, StringRef};

const HEADER_BYTES: usize = 16;
const MAGIC: &[u8] = b"HYLL";
const FORM: usize = 4;
const ESTIMATE: usize = 8;
const OUT_OF_DATE: u8 = 0x80;
const DENSE: u8 = 0;
const SPARSE: u8 = 1;

/// The runs of the sparse form do not end with the last register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corrupt;

/// The error for a key whose registers are [`Corrupt`].
pub(super) fn corrupt(_: Corrupt) -> Error {
    CORRUPT_HLL
}

/// The bytes of a key's `HyperLogLog`, or `None` if there is no such key.
///
/// # Errors
/// The value has another type, or is a string that is no `HyperLogLog`.
pub(super) fn hll_if_any(entry: Option<EntryRef<'_>>) -> Result<Option<Hll<'_>>, Error> {
    match string_if_any(entry)? {
        None => Ok(None),
        Some(StringRef::Bytes(bytes)) => Hll::new(bytes).map(Some),
        Some(StringRef::Shared(bytes)) => Hll::new(bytes).map(Some),
        Some(StringRef::Int(_)) => Err(NOT_A_HLL),
    }
}

/// The registers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form<'b> {
    Dense(&'b Dense),
    /// The bytes of the opcodes, which may be [`Corrupt`].
    Sparse(&'b [u8]),
}

/// The bytes of a `HyperLogLog`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hll<'b> {
    bytes: &'b [u8],
    form: Form<'b>,
}

impl<'b> Hll<'b> {
    /// Checks the header, and the length of the dense form. O(1).
    pub(super) fn new(bytes: &'b [u8]) -> Result<Self, Error> {
        let (header, registers) = bytes.split_at_checked(HEADER_BYTES).ok_or(NOT_A_HLL)?;
        let form = match (header.starts_with(MAGIC), header[FORM]) {
            (true, DENSE) => Form::Dense(registers.try_into().map_err(|_| NOT_A_HLL)?),
            (true, SPARSE) => Form::Sparse(registers),
            _ => return Err(NOT_A_HLL),
        };
        Ok(Self { bytes, form })
    }

    pub(super) fn form(&self) -> Form<'b> {
        self.form
    }

    /// The last estimate, if no register has changed since.
    pub(super) fn last_estimate(&self) -> Option<u64> {
        let bytes = self.bytes[ESTIMATE..HEADER_BYTES].try_into().ok()?;
        let estimate = u64::from_le_bytes(bytes);
        (estimate >> 63 == 0).then_some(estimate)
    }

    /// Estimates the number of elements. O(1): it reads every register.
    pub(super) fn estimate(&self) -> Result<u64, Corrupt> {
        let histogram = match self.form {
            Form::Dense(dense) => Histogram::of_dense(dense),
            Form::Sparse(opcodes) => sparse::histogram(opcodes)?,
        };
        Ok(histogram.estimate())
    }

    /// Raises each of the registers to its value here.
    pub(super) fn merge(&self, into: &mut Registers) -> Result<(), Corrupt> {
        match self.form {
            Form::Dense(dense) => {
                dense::merge(dense, into);
                Ok(())
            }
            Form::Sparse(opcodes) => sparse::for_each_run(opcodes, |first, run, value| {
                into.raise(first, run, value);
            }),
        }
    }
}

/// The bytes of an empty `HyperLogLog`.
pub(super) fn empty() -> Vec<u8> {
    let mut bytes = header(SPARSE);
    bytes.extend_from_slice(&sparse::EMPTY);
    bytes
}

fn header(form: u8) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.resize(HEADER_BYTES, 0);
    bytes[FORM] = form;
    bytes
}

/// Notes an estimate for the registers as they are.
pub(super) fn set_estimate(bytes: &mut [u8], estimate: u64) {
    bytes[ESTIMATE..HEADER_BYTES].copy_from_slice(&estimate.to_le_bytes());
}

/// Marks the last estimate as out of date.
pub(super) fn forget_estimate(bytes: &mut [u8]) {
    bytes[HEADER_BYTES - 1] |= OUT_OF_DATE;
}

fn dense_mut(bytes: &mut [u8]) -> Option<&mut Dense> {
    let (header, registers) = bytes.split_at_mut_checked(HEADER_BYTES)?;
    (header[FORM] == DENSE).then(|| registers.try_into().ok())?
}

/// Converts to the dense form; returns whether it was sparse.
pub(super) fn make_dense(bytes: &mut Vec<u8>) -> Result<bool, Corrupt> {
    if dense_mut(bytes).is_some() {
        return Ok(false);
    }
    let mut registers: Box<Dense> = Box::new([0; dense::BYTES]);
    sparse::for_each_run(&bytes[HEADER_BYTES..], |first, run, value| {
        (first..first + run).for_each(|index| dense::set(&mut registers, index, value));
    })?;
    let mut dense = Vec::with_capacity(HEADER_BYTES + dense::BYTES);
    dense.extend_from_slice(&bytes[..HEADER_BYTES]);
    dense[FORM] = DENSE;
    dense.extend_from_slice(&*registers);
    *bytes = dense;
    Ok(true)
}

/// Adds elements to a `HyperLogLog`; returns whether any register has changed, even if an error
/// ends it. The sparse form is kept up to `sparse_bytes_max` bytes. O(elements).
pub(super) fn add<'e>(
    bytes: &mut Vec<u8>,
    elements: impl Iterator<Item = &'e [u8]>,
    sparse_bytes_max: usize,
) -> (bool, Result<(), Corrupt>) {
    let mut is_changed = false;
    for element in elements {
        let register = register_of(element);
        match raise(bytes, register, sparse_bytes_max, &mut Place::default()) {
            Ok(is_raised) => is_changed |= is_raised,
            Err(corrupt) => return (is_changed, Err(corrupt)),
        }
    }
    (is_changed, Ok(()))
}

/// Raises every register to at least its value in `registers`, in Redis's order.
pub(super) fn raise_all(
    bytes: &mut Vec<u8>,
    registers: &Registers,
    sparse_bytes_max: usize,
) -> Result<(), Corrupt> {
    let mut from = Place::default();
    for (index, value) in registers.values().iter().enumerate() {
        if *value > 0 {
            raise(bytes, (index, *value), sparse_bytes_max, &mut from)?;
        }
    }
    Ok(())
}

/// Replaces the registers of a dense `HyperLogLog`.
pub(super) fn write_all(bytes: &mut [u8], registers: &Registers) {
    if let Some(dense) = dense_mut(bytes) {
        dense::write(registers, dense);
    }
}

/// Raises a register; returns whether it has changed. Marks the last estimate as out of date if so.
fn raise(
    bytes: &mut Vec<u8>,
    (index, value): (usize, u8),
    sparse_bytes_max: usize,
    from: &mut Place,
) -> Result<bool, Corrupt> {
    if dense_mut(bytes).is_none() {
        match sparse::raise(bytes, HEADER_BYTES, sparse_bytes_max, from, (index, value))? {
            Raised::Unchanged => return Ok(false),
            Raised::Changed => {
                forget_estimate(bytes);
                return Ok(true);
            }
            Raised::NeedsDense => make_dense(bytes)?,
        };
    }
    let is_raised = dense_mut(bytes).is_some_and(|dense| dense::raise(dense, index, value));
    if is_raised {
        forget_estimate(bytes);
    }
    Ok(is_raised)
}

#[cfg(test)]
mod tests;
