//! From MessagePack to values.

use super::super::build::Builder;
use crate::limits::SLOTS_MAX;

/// Why there is no value.
#[derive(Debug)]
pub(crate) enum Problem<E> {
    /// The bytes end within a value.
    Missing,
    /// No value begins with such a byte: binary, extended and timestamp types are unknown.
    Format,
    /// Too many tables lie in each other.
    Deep,
    /// The builder failed.
    Build(E),
}

impl<E> From<E> for Problem<E> {
    fn from(error: E) -> Self {
        Self::Build(error)
    }
}

/// A table that is not finished, with how many elements are left.
enum Open<B: Builder> {
    Array {
        table: B::Table,
        index: i64,
        left: u32,
    },
    Map {
        table: B::Table,
        key: Option<B::Item>,
        left: u32,
    },
}

/// What begins at a place.
enum Start<I> {
    Item(I),
    Array(u32),
    Map(u32),
}

/// The bytes that are left.
pub(crate) struct Cursor<'a> {
    pub(crate) rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }
}

/// Reads one value. No recursion, and nothing is reserved for lengths that are only said.
pub(crate) fn decode<B: Builder>(
    cursor: &mut Cursor<'_>,
    builder: &mut B,
) -> Result<B::Item, Problem<B::Error>> {
    let mut open: Vec<Open<B>> = Vec::new();
    let mut slots = 0;
    loop {
        let mut item = match start(cursor, builder)? {
            Start::Item(item) => item,
            Start::Array(0) | Start::Map(0) => {
                let table = builder.table()?;
                builder.finish(table)
            }
            Start::Array(left) => {
                slots += 1;
                open.push(Open::Array {
                    table: builder.table()?,
                    index: 1,
                    left,
                });
                check(slots)?;
                continue;
            }
            Start::Map(left) => {
                slots += 2;
                open.push(Open::Map {
                    table: builder.table()?,
                    key: None,
                    left,
                });
                check(slots)?;
                continue;
            }
        };
        loop {
            let Some(last) = open.pop() else {
                return Ok(item);
            };
            match add(last, item, builder)? {
                (Some(more), None) => {
                    open.push(more);
                    break;
                }
                (_, finished) => {
                    let Some((finished, freed)) = finished else {
                        break;
                    };
                    slots -= freed;
                    item = finished;
                }
            }
        }
    }
}

fn check<E>(slots: usize) -> Result<(), Problem<E>> {
    if slots > SLOTS_MAX {
        Err(Problem::Deep)
    } else {
        Ok(())
    }
}

/// The table that is still open, or the finished one with the slots that it took.
type Added<B> = (Option<Open<B>>, Option<(<B as Builder>::Item, usize)>);

fn add<B: Builder>(open: Open<B>, item: B::Item, builder: &mut B) -> Result<Added<B>, B::Error> {
    Ok(match open {
        Open::Array { table, index, left } => {
            builder.set_index(&table, index, item)?;
            if left == 1 {
                (None, Some((builder.finish(table), 1)))
            } else {
                (
                    Some(Open::Array {
                        table,
                        index: index + 1,
                        left: left - 1,
                    }),
                    None,
                )
            }
        }
        Open::Map {
            table,
            key: None,
            left,
        } => (
            Some(Open::Map {
                table,
                key: Some(item),
                left,
            }),
            None,
        ),
        Open::Map {
            table,
            key: Some(key),
            left,
        } => {
            builder.set(&table, key, item)?;
            if left == 1 {
                (None, Some((builder.finish(table), 2)))
            } else {
                (
                    Some(Open::Map {
                        table,
                        key: None,
                        left: left - 1,
                    }),
                    None,
                )
            }
        }
    })
}

fn start<B: Builder>(
    cursor: &mut Cursor<'_>,
    builder: &mut B,
) -> Result<Start<B::Item>, Problem<B::Error>> {
    let Some(first) = cursor.u8() else {
        return Err(Problem::Missing);
    };
    let read = match first {
        0xa0..=0xbf => Some(usize::from(first & 0x1f)),
        0xd9 => cursor.u8().map(usize::from),
        0xda => cursor.u16().map(usize::from),
        0xdb => cursor.u32().map(|len| len as usize),
        _ => return other(first, cursor, builder),
    };
    let Some(bytes) = read.and_then(|len| cursor.take(len)) else {
        return Err(Problem::Missing);
    };
    Ok(Start::Item(builder.string(bytes)?))
}

/// What is no string.
fn other<B: Builder>(
    first: u8,
    cursor: &mut Cursor<'_>,
    builder: &mut B,
) -> Result<Start<B::Item>, Problem<B::Error>> {
    let number = match first {
        0x00..=0x7f => Some(f64::from(first)),
        0xe0..=0xff => Some(f64::from(first.cast_signed())),
        0xcc => cursor.u8().map(f64::from),
        0xcd => cursor.u16().map(f64::from),
        0xce => cursor.u32().map(f64::from),
        // Redis pushes it as a signed integer: what is past 2^63 becomes negative.
        0xcf | 0xd3 => cursor.u64().map(|bits| bits.cast_signed() as f64),
        0xd0 => cursor.u8().map(|bits| f64::from(bits.cast_signed())),
        0xd1 => cursor.u16().map(|bits| f64::from(bits.cast_signed())),
        0xd2 => cursor.u32().map(|bits| f64::from(bits.cast_signed())),
        0xca => cursor.u32().map(|bits| f64::from(f32::from_bits(bits))),
        0xcb => cursor.u64().map(f64::from_bits),
        0xc0 => return Ok(Start::Item(builder.nil())),
        0xc2 | 0xc3 => return Ok(Start::Item(builder.boolean(first == 0xc3))),
        _ => return table(first, cursor),
    };
    match number {
        Some(number) => Ok(Start::Item(builder.number(number))),
        None => Err(Problem::Missing),
    }
}

fn table<I, E>(first: u8, cursor: &mut Cursor<'_>) -> Result<Start<I>, Problem<E>> {
    let (is_map, len) = match first {
        0x80..=0x8f => (true, Some(u32::from(first & 0xf))),
        0x90..=0x9f => (false, Some(u32::from(first & 0xf))),
        0xdc => (false, cursor.u16().map(u32::from)),
        0xdd => (false, cursor.u32()),
        0xde => (true, cursor.u16().map(u32::from)),
        0xdf => (true, cursor.u32()),
        _ => return Err(Problem::Format),
    };
    match len {
        Some(len) if is_map => Ok(Start::Map(len)),
        Some(len) => Ok(Start::Array(len)),
        None => Err(Problem::Missing),
    }
}
