//! The payload of `DUMP` and `RESTORE`: one value as Redis's snapshot format (RDB) writes it, so
//! that values move to and from a real Redis, byte for byte.
//!
//! A type byte and the value, then two bytes of format version (little-endian) and eight of
//! CRC-64 over everything before them. Only strings exist here; other types of Redis are refused
//! as a bad format, as Redis refuses those it does not know.

mod lzf;

use crate::unlocked::work_begins;
use bytes::Bytes;
use crc::{CRC_64_REDIS, Crc, Table};
use respire_store::{NewValue, StringRef};

/// The format version of Redis 7.0: written, and the newest that is read.
const VERSION: u16 = 10;
const VERSION_BYTES: usize = 2;
const CRC_BYTES: usize = 8;
/// The type byte of a string.
const TYPE_STRING: u8 = 0;

/// The two high bits of a length: what the rest of it is.
const LEN_6_BITS: u8 = 0;
const LEN_14_BITS: u8 = 1;
const LEN_ENCODED: u8 = 3;
/// Whole first bytes of a length that is in the bytes after it.
const LEN_32_BITS: u8 = 0x80;
const LEN_64_BITS: u8 = 0x81;

/// First bytes of a string that is kept otherwise than as its bytes.
const STRING_INT8: u8 = 0xC0;
const STRING_INT16: u8 = 0xC1;
const STRING_INT32: u8 = 0xC2;
const STRING_LZF: u8 = 0xC3;

/// Longer strings cannot be the text of an integer of 32 bits.
const INT_BYTES_MAX: usize = 11;
/// Only longer strings are worth packing, and only if this many bytes are saved.
const UNPACKED_BYTES_MAX: usize = 20;
const PACKING_GAIN_MIN: usize = 4;

/// How many tables of 2 KiB the checksum looks things up in: in a page, they are downloaded.
const CRC_TABLES: usize = if cfg!(target_family = "wasm") { 1 } else { 16 };

static CRC: Crc<u64, Table<CRC_TABLES>> = Crc::<u64, Table<CRC_TABLES>>::new(&CRC_64_REDIS);

/// Why a payload cannot be restored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PayloadError {
    /// Its version is newer than ours, its checksum is wrong, or it is no payload at all.
    Footer,
    /// What it holds is malformed or of a type that does not exist here.
    Format,
}

/// The most bytes before those of a string: its type, how it is kept, and two lengths.
const HEADER_BYTES_MAX: usize = 2 + 2 * LEN_BYTES_MAX;
const LEN_BYTES_MAX: usize = 1 + size_of::<u64>();

/// The payload for a string. O(its length), whatever its bytes.
pub(crate) fn dump(string: StringRef<'_>) -> Payload {
    let mut payload = Payload::of(string);
    payload.bytes.extend_from_slice(&VERSION.to_le_bytes());
    let crc = CRC.checksum(payload.as_slice());
    payload.bytes.extend_from_slice(&crc.to_le_bytes());
    payload
}

/// The bytes of a string in its payload, without the type and the footer.
pub(crate) fn serialized_len(string: StringRef<'_>) -> usize {
    Payload::of(string).as_slice().len() - 1
}

/// A payload that was written from its middle: the header's length is known only after the rest.
pub(crate) struct Payload {
    bytes: Vec<u8>,
    start: usize,
}

impl Payload {
    /// The type and the string, without the footer.
    fn of(string: StringRef<'_>) -> Self {
        let mut header = Vec::with_capacity(HEADER_BYTES_MAX);
        header.push(TYPE_STRING);
        let integer = match string {
            StringRef::Int(number) => Some(number),
            _ if string.len() <= INT_BYTES_MAX => string.to_int(),
            _ => None,
        };
        if integer.is_some_and(|number| write_int(&mut header, number)) {
            return Self {
                bytes: header,
                start: 0,
            };
        }
        let mut digits = [0; 20];
        let bytes = string.as_bytes(&mut digits);
        work_begins();
        let capacity = HEADER_BYTES_MAX + bytes.len() + VERSION_BYTES + CRC_BYTES;
        let mut payload = Vec::with_capacity(capacity);
        payload.resize(HEADER_BYTES_MAX, 0);
        let is_packed = bytes.len() > UNPACKED_BYTES_MAX
            && lzf::compress(bytes, bytes.len() - PACKING_GAIN_MIN, &mut payload);
        if is_packed {
            header.push(STRING_LZF);
            write_len(&mut header, payload.len() - HEADER_BYTES_MAX);
        } else {
            payload.extend_from_slice(bytes);
        }
        write_len(&mut header, bytes.len());
        let start = HEADER_BYTES_MAX - header.len();
        payload[start..HEADER_BYTES_MAX].copy_from_slice(&header);
        Self {
            bytes: payload,
            start,
        }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The payload as what can be shared. What was reserved for a string that did pack well is given
    /// back.
    pub(crate) fn into_shared(mut self) -> Bytes {
        if self.bytes.len() < self.bytes.capacity() / 2 {
            self.bytes.shrink_to_fit();
        }
        Bytes::from(self.bytes).slice(self.start..)
    }
}

/// The value that a payload holds, borrowed from it where that can be.
pub(crate) fn restore(payload: &[u8]) -> Result<NewValue<'_>, PayloadError> {
    let (checked, crc) = payload
        .split_last_chunk::<CRC_BYTES>()
        .ok_or(PayloadError::Footer)?;
    let (body, version) = checked
        .split_last_chunk::<VERSION_BYTES>()
        .ok_or(PayloadError::Footer)?;
    if u16::from_le_bytes(*version) > VERSION || CRC.checksum(checked) != u64::from_le_bytes(*crc) {
        return Err(PayloadError::Footer);
    }
    let mut reader = Reader { rest: body };
    match reader.byte() {
        Some(TYPE_STRING) => reader.string().ok_or(PayloadError::Format),
        _ => Err(PayloadError::Format),
    }
}

/// Writes an integer of up to 32 bits; of a longer one, nothing.
fn write_int(out: &mut Vec<u8>, number: i64) -> bool {
    if let Ok(number) = i8::try_from(number) {
        out.extend_from_slice(&[STRING_INT8, number.cast_unsigned()]);
    } else if let Ok(number) = i16::try_from(number) {
        out.push(STRING_INT16);
        out.extend_from_slice(&number.to_le_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(STRING_INT32);
        out.extend_from_slice(&number.to_le_bytes());
    } else {
        return false;
    }
    true
}

fn write_len(out: &mut Vec<u8>, len: usize) {
    if len < 1 << 6 {
        out.push(len as u8);
    } else if len < 1 << 14 {
        out.extend_from_slice(&(len as u16 | u16::from(LEN_14_BITS) << 14).to_be_bytes());
    } else if let Ok(len) = u32::try_from(len) {
        out.push(LEN_32_BITS);
        out.extend_from_slice(&len.to_be_bytes());
    } else {
        out.push(LEN_64_BITS);
        out.extend_from_slice(&(len as u64).to_be_bytes());
    }
}

/// Takes a payload apart; `None` is an end that comes too early, or nonsense.
struct Reader<'p> {
    rest: &'p [u8],
}

impl<'p> Reader<'p> {
    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    fn bytes(&mut self, len: usize) -> Option<&'p [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(bytes)
    }

    fn string(&mut self) -> Option<NewValue<'p>> {
        Some(match self.byte()? {
            STRING_INT8 => i64::from(i8::from_le_bytes(self.array()?)).into(),
            STRING_INT16 => i64::from(i16::from_le_bytes(self.array()?)).into(),
            STRING_INT32 => i64::from(i32::from_le_bytes(self.array()?)).into(),
            STRING_LZF => {
                let packed_len = self.len()?;
                let len = self.len()?;
                let bytes = lzf::decompress(self.bytes(packed_len)?, len)?;
                NewValue::Shared(Bytes::from(bytes))
            }
            first => {
                let len = self.len_after(first)?;
                NewValue::Bytes(self.bytes(len)?)
            }
        })
    }

    fn len(&mut self) -> Option<usize> {
        let first = self.byte()?;
        self.len_after(first)
    }

    fn len_after(&mut self, first: u8) -> Option<usize> {
        match (first, first >> 6) {
            (_, LEN_6_BITS) => Some(usize::from(first)),
            (_, LEN_14_BITS) => {
                let low = self.byte()?;
                Some(usize::from(u16::from_be_bytes([first & 0x3f, low])))
            }
            (_, LEN_ENCODED) => None,
            (LEN_32_BITS, _) => usize::try_from(u32::from_be_bytes(self.array()?)).ok(),
            (LEN_64_BITS, _) => usize::try_from(u64::from_be_bytes(self.array()?)).ok(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump_bytes(bytes: &[u8]) -> Vec<u8> {
        dump(StringRef::Bytes(bytes)).as_slice().to_vec()
    }

    /// Restores, and gives the string's bytes.
    fn restored(payload: &[u8]) -> Result<Vec<u8>, PayloadError> {
        Ok(match restore(payload)? {
            NewValue::Bytes(bytes) => bytes.to_vec(),
            NewValue::Int(number) => number.to_string().into_bytes(),
            NewValue::Shared(bytes) => bytes.to_vec(),
            NewValue::Text(text) => text.into_owned(),
            NewValue::Raw(bytes) => bytes,
        })
    }

    /// A payload with this body and a footer that is right.
    fn payload(body: &[u8], version: u16) -> Vec<u8> {
        let mut payload = [body, &version.to_le_bytes()].concat();
        let crc = CRC.checksum(&payload);
        payload.extend_from_slice(&crc.to_le_bytes());
        payload
    }

    #[test]
    fn payloads_are_those_of_redis() {
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
        assert_eq!(dump(StringRef::Int(7)).as_slice(), expected[0].1);
    }

    #[test]
    fn strings_of_every_form_come_back() {
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
            let payload = dump(StringRef::Int(number)).as_slice().to_vec();
            assert_eq!(payload, dump_bytes(&text));
            assert_eq!(restored(&payload), Ok(text));
        }
        for number in [i64::MIN, i64::MAX] {
            let payload = dump(StringRef::Int(number)).as_slice().to_vec();
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
    fn payload_with_another_footer_is_refused() {
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
    fn any_body_is_read_or_refused_within_bounds() {
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
    fn bytes_after_the_value_are_ignored_as_by_redis() {
        assert_eq!(
            restored(&payload(b"\x00\x01abc", VERSION)).as_deref(),
            Ok(&b"a"[..])
        );
    }

    #[test]
    fn serialized_len_leaves_out_type_and_footer() {
        assert_eq!(serialized_len(StringRef::Int(7)), 2);
        assert_eq!(serialized_len(StringRef::Bytes(b"xxxxx")), 6);
    }
}
