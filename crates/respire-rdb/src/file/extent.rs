//! How far a value goes, without reading what is in it.

use super::What;
use super::cursor::{Cursor, Read, Stop};
use super::kind::{Magic, code};

/// Where a value ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// It takes this many bytes.
    Known(usize),
    /// It takes at least this many bytes, which are more than were given.
    More(usize),
}

/// Returns how many of these bytes are the value of a key of this type; what is inside strings is not looked at.
/// O(elements), or O(1) for a packed value.
///
/// # Errors
/// If the type is not known, or its extent is not (values of modules); or if the bytes cannot be such a value.
///
/// ```
/// use respire_rdb::file::{Extent, Magic, skip_value};
///
/// // A set of two members, and the next type byte.
/// assert_eq!(skip_value(Magic::Redis, 2, b"\x02\x01a\x01b\0"), Ok(Extent::Known(5)));
/// assert_eq!(skip_value(Magic::Redis, 2, b"\x02\x01a\x03b"), Ok(Extent::More(7)));
/// assert!(skip_value(Magic::Valkey, 22, b"").is_err());
/// ```
pub fn skip_value(magic: Magic, type_byte: u8, bytes: &[u8]) -> Result<Extent, What> {
    let mut cursor = Cursor::new(bytes, u64::MAX);
    match skip(magic, type_byte, &mut cursor) {
        Ok(()) => Ok(Extent::Known(cursor.at())),
        Err(Stop::More(least)) => Ok(Extent::More(least)),
        Err(Stop::Bad(what)) => Err(what),
    }
}

/// Skips the value of a type.
pub(super) fn skip(magic: Magic, type_byte: u8, cursor: &mut Cursor<'_>) -> Read<()> {
    use code::*;
    if magic == Magic::Valkey && type_byte > STREAM_3 {
        return Err(Stop::Bad(What::Type));
    }
    match type_byte {
        STRING
        | HASH_ZIPMAP..=HASH_ZIPLIST
        | HASH_LISTPACK
        | ZSET_LISTPACK
        | SET_LISTPACK
        | HASH_TIMED_LISTPACK_EARLY => cursor.string(),
        LIST | SET | LIST_QUICK => each(cursor, 1, |cursor| cursor.string()),
        HASH => each(cursor, 2, pair),
        ZSET_TEXT => each(cursor, 2, |cursor| {
            cursor.string()?;
            score_text(cursor)
        }),
        ZSET => each(cursor, 9, |cursor| {
            cursor.string()?;
            cursor.bytes(8).map(drop)
        }),
        LIST_QUICK_2 => each(cursor, 2, |cursor| {
            cursor.count()?;
            cursor.string()
        }),
        STREAM => stream(cursor, 1),
        STREAM_2 => stream(cursor, 2),
        STREAM_3 => stream(cursor, 3),
        HASH_TIMED_EARLY => timed(cursor),
        HASH_TIMED => {
            cursor.bytes(8)?;
            timed(cursor)
        }
        HASH_TIMED_LISTPACK => {
            cursor.bytes(8)?;
            cursor.string()
        }
        MODULE_EARLY => Err(Stop::Bad(What::Type)),
        MODULE => {
            let id = cursor.count()?;
            Err(Stop::Bad(What::Module(module_name(id))))
        }
        _ => Err(Stop::Bad(What::Type)),
    }
}

/// Skips a number of elements that take at least `bytes` each.
fn each(
    cursor: &mut Cursor<'_>,
    bytes: u64,
    skip: impl Fn(&mut Cursor<'_>) -> Read<()>,
) -> Read<()> {
    for _ in 0..cursor.elements(bytes)? {
        skip(cursor)?;
    }
    Ok(())
}

fn pair(cursor: &mut Cursor<'_>) -> Read<()> {
    cursor.string()?;
    cursor.string()
}

/// A score as text behind its length; three lengths are scores without digits.
fn score_text(cursor: &mut Cursor<'_>) -> Read<()> {
    match cursor.byte()? {
        253..=255 => Ok(()),
        len => cursor.bytes(len.into()).map(drop),
    }
}

/// The fields of a hash, each behind its time.
fn timed(cursor: &mut Cursor<'_>) -> Read<()> {
    each(cursor, 3, |cursor| {
        cursor.count()?;
        pair(cursor)
    })
}

const ID_BYTES: u64 = 16;
const TIME_BYTES: u64 = 8;

/// A stream as the given version of the format has it.
fn stream(cursor: &mut Cursor<'_>, version: u8) -> Read<()> {
    each(cursor, 2, pair)?;
    // The length and the last ID; then the first ID, the greatest deleted one, and the number ever added.
    let numbers = if version == 1 { 3 } else { 8 };
    for _ in 0..numbers {
        cursor.count()?;
    }
    each(cursor, 5, |cursor| group(cursor, version))
}

fn group(cursor: &mut Cursor<'_>, version: u8) -> Read<()> {
    cursor.string()?;
    // The last ID, and the number of entries read.
    for _ in 0..if version == 1 { 2 } else { 3 } {
        cursor.count()?;
    }
    each(cursor, ID_BYTES + TIME_BYTES + 1, |cursor| {
        cursor.bytes(ID_BYTES + TIME_BYTES)?;
        cursor.count().map(drop)
    })?;
    let times = if version == 3 { 2 } else { 1 };
    each(cursor, 1 + TIME_BYTES, |cursor| {
        cursor.string()?;
        cursor.bytes(times * TIME_BYTES)?;
        let pending = cursor.elements(ID_BYTES)?;
        cursor.bytes(pending * ID_BYTES).map(drop)
    })
}

/// The name of a module's type: nine letters of six bits each, above ten bits of version.
pub(super) fn module_name(id: u64) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |nth: u32| char::from(LETTERS[(id >> (58 - 6 * nth)) as usize & 63]);
    (0..9).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of each type that has its own form, and its bytes.
    fn values() -> Vec<(u8, Vec<u8>)> {
        let id = [7; 16];
        let time = [9; 8];
        let stream = |version: u8| {
            let mut bytes = b"\x01\x01m\x02lp".to_vec();
            bytes.extend(std::iter::repeat_n(5, if version == 1 { 3 } else { 8 }));
            bytes.extend(b"\x01\x01g");
            bytes.extend(std::iter::repeat_n(5, if version == 1 { 2 } else { 3 }));
            bytes.push(1);
            bytes.extend(id);
            bytes.extend(time);
            bytes.extend(b"\x03\x01\x01c");
            bytes.extend(time);
            if version == 3 {
                bytes.extend(time);
            }
            bytes.push(1);
            bytes.extend(id);
            bytes
        };
        let mut values = vec![
            (code::STRING, b"\xc0\x01".to_vec()),
            (code::STRING, b"\xc1\x01\x02".to_vec()),
            (code::STRING, b"\xc2\x01\x02\x03\x04".to_vec()),
            (code::STRING, b"\xc3\x03\x41\x00abc".to_vec()),
            (code::STRING, b"\x80\0\0\0\x02ab".to_vec()),
            (code::STRING, b"\x81\0\0\0\0\0\0\0\x02ab".to_vec()),
            (code::LIST, b"\x02\x01a\x01b".to_vec()),
            (code::SET, b"\x40\x01\xc0\x01".to_vec()),
            (
                code::ZSET_TEXT,
                b"\x03\x01a\x031.5\x01b\xfe\x01c\xff".to_vec(),
            ),
            (code::HASH, b"\x01\x01a\x01b".to_vec()),
            (code::ZSET, b"\x01\x01a\0\0\0\0\0\0\0\0".to_vec()),
            (code::LIST_QUICK, b"\x01\x02zl".to_vec()),
            (code::LIST_QUICK_2, b"\x02\x02\x02lp\x01\x01p".to_vec()),
            (code::STREAM, stream(1)),
            (code::STREAM_2, stream(2)),
            (code::STREAM_3, stream(3)),
            (code::HASH_TIMED_EARLY, b"\x01\x07\x01a\x01b".to_vec()),
            (
                code::HASH_TIMED,
                b"\0\0\0\0\0\0\0\x01\x01\x07\x01a\x01b".to_vec(),
            ),
            (
                code::HASH_TIMED_LISTPACK,
                b"\0\0\0\0\0\0\0\x01\x02lp".to_vec(),
            ),
        ];
        for packed in [9, 10, 11, 12, 13, 16, 17, 20, 23] {
            values.push((packed, b"\x03abc".to_vec()));
        }
        values
    }

    #[test]
    fn value_of_every_type_ends_where_it_ends() {
        for (type_byte, bytes) in values() {
            let behind = [&bytes[..], b"\xff\xff\xff"].concat();
            let known = Ok(Extent::Known(bytes.len()));
            assert_eq!(
                skip_value(Magic::Redis, type_byte, &behind),
                known,
                "{type_byte}"
            );
            for len in 0..bytes.len() {
                let extent = skip_value(Magic::Redis, type_byte, &bytes[..len]);
                let Ok(Extent::More(least)) = extent else {
                    panic!("{type_byte} cut to {len} bytes: {extent:?}");
                };
                assert!(
                    (len + 1..=bytes.len()).contains(&least),
                    "{type_byte} {len} {least}"
                );
            }
        }
    }

    #[test]
    fn types_without_a_known_extent_are_refused() {
        for type_byte in [6, 8, 26, 27, 100, 255] {
            assert_eq!(skip_value(Magic::Redis, type_byte, b"\0"), Err(What::Type));
        }
        for type_byte in 22..=25 {
            assert_eq!(skip_value(Magic::Valkey, type_byte, b"\0"), Err(What::Type));
        }
        // The id that the documentation of modules computes for "test-type", version 3.
        let name = b"test-type";
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let id = name.iter().fold(0_u64, |id, byte| {
            let nth = letters.iter().position(|letter| letter == byte).unwrap();
            id << 6 | nth as u64
        });
        let bytes = [&[0x81][..], &(id << 10 | 3).to_be_bytes()].concat();
        let named = Err(What::Module("test-type".into()));
        assert_eq!(skip_value(Magic::Redis, code::MODULE, &bytes), named);
    }

    #[test]
    fn lengths_that_no_string_has_are_refused() {
        let long = b"\x81\xff\0\0\0\0\0\0\0";
        assert!(matches!(
            skip_value(Magic::Redis, 0, long),
            Err(What::Long(_))
        ));
        assert_eq!(
            skip_value(Magic::Redis, 0, b"\xc4"),
            Err(What::Length(0xc4))
        );
        assert_eq!(
            skip_value(Magic::Redis, 1, b"\xc0"),
            Err(What::Length(0xc0))
        );
    }
}
