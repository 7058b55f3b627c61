//! Writes and reads the payload of `DUMP` and `RESTORE`: one value in Redis's snapshot format
//! (RDB).
//!
//! The payload is the same as Redis's, byte for byte, so values can move to and from a real Redis.
//! It consists of a type byte, the value, two bytes of format version (little-endian), and eight
//! bytes of CRC-64 over everything before them. Each type writes its value with
//! [`ValueType::payload`](crate::value_type::ValueType::payload), and its
//! [`Family`](crate::family::Family) reads it. A type byte that no family reads is refused as a bad
//! format, as Redis refuses types that it does not know.

use crate::value_type::{Types, with_type};
use crate::work::work_begins;
use bytes::Bytes;
use respire_rdb::Text;
use respire_store::{NewValue, Store, StringRef, ValueRef};

pub(crate) use respire_rdb::{Payload, Reader};

/// Why a payload cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadError {
    /// Its version is newer than Redis 7.0's, its checksum is wrong, or it is not a payload.
    Footer,
    /// Its value is malformed or of a type that this server does not have.
    Format,
}

/// The payload of a value. O(size of the value), whatever its bytes. Calls `step` for each element.
pub(crate) fn dump(value: ValueRef<'_>, types: Types, step: &mut dyn FnMut()) -> Payload {
    let mut payload = Payload::default();
    write(value, &mut payload, step);
    debug_assert!(
        (types.restore_of)(payload.as_slice()[0]).is_some(),
        "no family reads what DUMP writes of this type: add it to its `Family::restores`"
    );
    payload.finish_in_steps(step);
    payload
}

/// The number of bytes of a value in its payload, without the type and the footer. Calls `step` for each element.
pub(crate) fn serialized_len(value: ValueRef<'_>, step: &mut dyn FnMut()) -> usize {
    let mut payload = Payload::default();
    write(value, &mut payload, step);
    payload.as_slice().len() - 1
}

/// Adds the type byte and the value, without a footer. Calls `step` for each element.
pub(crate) fn write(value: ValueRef<'_>, payload: &mut Payload, step: &mut dyn FnMut()) {
    work_begins();
    with_type(value, |value| value.payload(payload, step));
}

/// The value of a payload, borrowed from it where possible.
pub(crate) fn restore<'p>(
    payload: &'p [u8],
    types: Types,
    store: &Store,
) -> Result<NewValue<'p>, PayloadError> {
    let body = respire_rdb::open(payload).ok_or(PayloadError::Footer)?;
    let mut reader = Reader::new(body);
    let value = reader
        .byte()
        .and_then(|type_byte| read(type_byte, &mut reader, types, store));
    value.ok_or(PayloadError::Format)
}

/// Reads a value of this type byte; `None` if it is malformed, or no family reads the type.
pub(crate) fn read<'p>(
    type_byte: u8,
    reader: &mut Reader<'p>,
    types: Types,
    store: &Store,
) -> Option<NewValue<'p>> {
    (types.restore_of)(type_byte)?(reader, store)
}

/// Adds a string to a payload. O(length), whatever its bytes.
pub(crate) fn add_string(payload: &mut Payload, string: StringRef<'_>) {
    match string {
        StringRef::Int(number) => payload.int(number),
        string => payload.string(string.as_bytes(&mut [0; 20])),
    }
}

/// Adds a block of many elements as one string. Calls `step` for every 64 bytes of it, as packing them takes about as
/// long as an element elsewhere.
pub(crate) fn add_block(payload: &mut Payload, block: &[u8], step: &mut dyn FnMut()) {
    payload.string(block);
    block.chunks(64).for_each(|_| step());
}

/// Reads the next string of a payload, borrowed from it unless it was packed.
pub(crate) fn read_string<'p>(reader: &mut Reader<'p>) -> Option<NewValue<'p>> {
    Some(match reader.string()? {
        Text::Int(number) => number.into(),
        Text::Bytes(bytes) => NewValue::Bytes(bytes),
        Text::Unpacked(bytes) => NewValue::Shared(Bytes::from(bytes)),
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::table::TYPES;
    use respire_rdb::VERSION;
    use respire_store::Config;

    const TYPE_STRING: u8 = 0;

    fn dump_string(string: StringRef<'_>) -> Payload {
        dump(ValueRef::String(string), TYPES, &mut || ())
    }

    fn dump_bytes(bytes: &[u8]) -> Vec<u8> {
        dump_string(StringRef::Bytes(bytes)).as_slice().to_vec()
    }

    /// Restores a payload; returns the bytes of the string.
    fn restored(payload: &[u8]) -> Result<Vec<u8>, PayloadError> {
        restore(payload, TYPES, &Store::new(Config::default())).map(bytes_of)
    }

    fn bytes_of(value: NewValue<'_>) -> Vec<u8> {
        let string = value.as_ref().as_string();
        string.map(StringRef::to_vec).expect("a string")
    }

    /// A payload with this body and a correct footer.
    pub(crate) fn payload(body: &[u8], version: u16) -> Vec<u8> {
        let mut payload = [body, &version.to_le_bytes()].concat();
        let crc = respire_rdb::checksum(&payload);
        payload.extend_from_slice(&crc.to_le_bytes());
        payload
    }

    #[test]
    fn payload_equals_that_of_redis() {
        // From DUMP of Redis 7.0.
        let expected: [(&[u8], &[u8]); 3] = [
            (b"7", b"\x00\xc0\x07\x0a\x00t\xcdH\xa2\x83\xab\xce\x92"),
            (b"cwl", b"\x00\x03cwl\n\x00sW{~a/+4"),
            (
                &[b'a'; 30],
                b"\x00\xc3\x09\x1e\x01aa\xe0\x11\x00\x01aa\n\x00Es|\xbb+d{\xbb",
            ),
        ];
        for (value, payload) in expected {
            assert_eq!(dump_bytes(value), payload);
            assert_eq!(restored(payload).as_deref(), Ok(value));
        }
        assert_eq!(dump_string(StringRef::Int(7)).as_slice(), expected[0].1);
    }

    #[test]
    fn string_of_every_form_is_restored() {
        let numbers = [
            0,
            -1,
            127,
            128,
            -128,
            -129,
            32_767,
            -32_769,
            2_147_483_647,
            2_147_483_648,
        ];
        for number in numbers {
            let text = number.to_string().into_bytes();
            let payload = dump_string(StringRef::Int(number)).as_slice().to_vec();
            assert_eq!(payload, dump_bytes(&text));
            assert_eq!(restored(&payload), Ok(text));
        }
        for number in [i64::MIN, i64::MAX] {
            let payload = dump_string(StringRef::Int(number)).as_slice().to_vec();
            assert_eq!(restored(&payload), Ok(number.to_string().into_bytes()));
        }
        for len in [0, 1, 20, 21, 63, 64, 16_383, 16_384, 100_000] {
            let packable: Vec<u8> = (0..len).map(|n| (n % 7) as u8).collect();
            let spread: Vec<u8> = (0..len)
                .map(|n: u32| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
                .collect();
            for bytes in [packable, spread] {
                assert_eq!(restored(&dump_bytes(&bytes)), Ok(bytes));
            }
        }
        for not_canonical in [&b"007"[..], b"-0", b"+1", b" 1", b"1 "] {
            assert_eq!(
                restored(&dump_bytes(not_canonical)).as_deref(),
                Ok(not_canonical)
            );
        }
    }

    #[test]
    fn payload_with_a_wrong_footer_is_refused() {
        let good = dump_bytes(b"value");
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(restored(&bad), Err(PayloadError::Footer), "{at}");
            assert_eq!(restored(&good[..at]), Err(PayloadError::Footer), "{at}");
        }
        assert_eq!(
            restored(&payload(b"\x00\x01a", VERSION + 1)),
            Err(PayloadError::Footer)
        );
        assert_eq!(
            restored(&payload(b"\x00\x01a", 1)).as_deref(),
            Ok(&b"a"[..])
        );
    }

    #[test]
    fn malformed_body_is_refused() {
        let bodies: [&[u8]; 14] = [
            b"",
            b"\x00",
            b"\x01\x01a",
            b"\x00\x02a",
            b"\x00\x40",
            b"\x00\x80\x00\x00",
            b"\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff",
            b"\x00\x82",
            b"\x00\xc0",
            b"\x00\xc1\x01",
            b"\x00\xc4\x01",
            b"\x00\xc3\x02\x05\x00a",
            b"\x00\xc3\x02\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x00a",
            b"\x00\xc3\xc0\x01",
        ];
        for body in bodies {
            assert_eq!(
                restored(&payload(body, VERSION)),
                Err(PayloadError::Format),
                "{body:?}"
            );
        }
    }

    #[test]
    fn random_body_is_restored_or_refused_in_bounded_memory() {
        let mut state = 7_u64;
        let mut random = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize
        };
        let openings = [
            0x00, 0x05, 0x40, 0x80, 0x81, 0xc0, 0xc1, 0xc2, 0xc3, 0xc3, 0xc3, 0xff,
        ];
        for _ in 0..20_000 {
            let mut body = vec![TYPE_STRING, openings[random() % openings.len()]];
            let len = random() % 24;
            body.extend((0..len).map(|_| (random() % 48) as u8));
            if let Ok(bytes) = restored(&payload(&body, VERSION)) {
                assert!(bytes.len() <= body.len() * 264, "{body:?}");
            }
        }
    }

    #[test]
    fn bytes_after_the_value_are_ignored_as_in_redis() {
        assert_eq!(
            restored(&payload(b"\x00\x01abc", VERSION)).as_deref(),
            Ok(&b"a"[..])
        );
    }

    #[test]
    fn serialized_len_excludes_type_and_footer() {
        let len = |string| serialized_len(ValueRef::String(string), &mut || ());
        assert_eq!(len(StringRef::Int(7)), 2);
        assert_eq!(len(StringRef::Bytes(b"xxxxx")), 6);
    }
}
