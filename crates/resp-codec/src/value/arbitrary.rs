//! Implements `Arbitrary` for [`Value`].

use alloc::vec::Vec;

use arbitrary::{Arbitrary, Result, Unstructured};

use super::{Attributed, Pairs, Value, Values};
use crate::kind::NullForm;

/// The deepest nesting to generate, and the most elements of one aggregate.
const DEPTH_MAX: u8 = 6;
const ELEMENTS_MAX: usize = 8;

impl<'a> Arbitrary<'a> for Value {
    /// A value that RESP3 can express: lines without CR and LF, digits in big numbers, a string as
    /// first element of a push, and pushes only at the top level.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        if u.ratio(1, 16)? {
            let mut values = values(u, 1)?.into_vec();
            values.insert(0, Value::Simple(line(u)?));
            return Ok(Value::Push(values.into()));
        }
        value(u, 0)
    }
}

fn value(u: &mut Unstructured<'_>, depth: u8) -> Result<Value> {
    let last = if depth < DEPTH_MAX { 13 } else { 9 };
    Ok(match u.int_in_range(0..=last)? {
        0 => Value::Null(*u.choose(&[NullForm::Null, NullForm::Bulk, NullForm::Array])?),
        1 => Value::Simple(line(u)?),
        2 => Value::Error(line(u)?),
        3 => Value::Int(u.arbitrary()?),
        4 => Value::Bulk(u.arbitrary()?),
        5 => Value::Bool(u.arbitrary()?),
        6 => Value::Double(u.arbitrary()?),
        7 => Value::BigNumber(digits(u)?),
        8 => Value::BlobError(u.arbitrary()?),
        9 => Value::Verbatim {
            format: u.arbitrary()?,
            text: u.arbitrary()?,
        },
        10 => Value::Array(values(u, depth + 1)?),
        11 => Value::Set(values(u, depth + 1)?),
        12 => Value::Map(pairs(u, depth + 1)?),
        _ => Value::Attributed(Attributed::new(pairs(u, depth + 1)?, value(u, depth + 1)?)),
    })
}

fn values(u: &mut Unstructured<'_>, depth: u8) -> Result<Values> {
    let len = u.int_in_range(0..=ELEMENTS_MAX)?;
    (0..len)
        .map(|_| value(u, depth))
        .collect::<Result<Vec<_>>>()
        .map(Values::from)
}

fn pairs(u: &mut Unstructured<'_>, depth: u8) -> Result<Pairs> {
    let len = u.int_in_range(0..=ELEMENTS_MAX / 2)?;
    let pairs = (0..len).map(|_| Ok((value(u, depth)?, value(u, depth)?)));
    pairs.collect::<Result<Vec<_>>>().map(Pairs::from_iter)
}

/// Text without CR and LF, and without blanks at the ends, which the encoder trims with them.
fn line(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut text: Vec<u8> = u.arbitrary()?;
    text.retain(|byte| !matches!(byte, b'\r' | b'\n'));
    Ok(text)
}

fn digits(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut digits = if u.arbitrary()? {
        Vec::from(*b"-")
    } else {
        Vec::new()
    };
    digits.push(u.int_in_range(b'1'..=b'9')?);
    for _ in 0..u.int_in_range(0..=40)? {
        digits.push(u.int_in_range(b'0'..=b'9')?);
    }
    Ok(digits)
}
