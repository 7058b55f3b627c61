//! Writes the parts of a payload: the type byte, and the lengths and strings that values of every
//! type consist of.

use super::{
    CRC, CRC_BYTES, LEN_14_BITS, LEN_32_BITS, LEN_64_BITS, STRING_INT8, STRING_INT16, STRING_INT32,
    STRING_LZF, VERSION, VERSION_BYTES, lzf,
};
use bytes::Bytes;
use resp_codec::number;

/// A longer string cannot be the text of an integer of 32 bits.
const INT_BYTES_MAX: usize = 11;
/// Only longer strings are packed, and only if packing saves at least [`PACKING_GAIN_MIN`] bytes.
const UNPACKED_BYTES_MAX: usize = 20;
const PACKING_GAIN_MIN: usize = 4;

/// The most bytes before those of a string: its form and two lengths.
const HEADER_BYTES_MAX: usize = 1 + 2 * LEN_BYTES_MAX;
const LEN_BYTES_MAX: usize = 1 + size_of::<u64>();

/// A payload that grows at its end. Unused bytes may precede its start: the header of a packed
/// string has no fixed length and is written after the string.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    pub(crate) bytes: Vec<u8>,
    start: usize,
    form: Form,
}

/// How the parts of a payload are written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Form {
    /// No string is packed.
    pub(crate) is_unpacked: bool,
    /// What was written stays where it is, as the payload is part of a file.
    pub(crate) is_fixed: bool,
    /// Where the next type byte goes; the end by default.
    pub(crate) type_at: Option<usize>,
}

impl Payload {
    /// Starts a payload with this type byte and room for a value of about `value_bytes`. A payload
    /// without anything is the `default()`.
    #[must_use]
    pub fn new(type_byte: u8, value_bytes: usize) -> Self {
        let mut payload = Self::default();
        payload.begin(type_byte, value_bytes);
        payload
    }

    /// Continues these bytes in this form.
    pub(crate) fn of_bytes(bytes: Vec<u8>, form: Form) -> Self {
        Self {
            bytes,
            start: 0,
            form,
        }
    }

    /// Sets where the next type byte goes. There must be a byte at that place.
    pub(crate) fn set_type_at(&mut self, at: usize) {
        self.form.type_at = Some(at);
    }

    /// Adds the type byte of a value, and makes room for a value of about `value_bytes`. In a file the type byte
    /// precedes the key, which is already written.
    pub fn begin(&mut self, type_byte: u8, value_bytes: usize) {
        const OVERHEAD: usize = 1 + 2 * HEADER_BYTES_MAX + VERSION_BYTES + CRC_BYTES;
        self.bytes.reserve(OVERHEAD + value_bytes);
        let place = self.form.type_at.take();
        match place.and_then(|at| self.bytes.get_mut(at)) {
            Some(byte) => *byte = type_byte,
            None => self.bytes.push(type_byte),
        }
    }

    /// Adds a number as its eight bytes, such as a time in unix milliseconds.
    pub fn number(&mut self, number: u64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds a double, as its eight bytes.
    pub fn double(&mut self, number: f64) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Adds a string: as an integer of up to 32 bits, packed, or unchanged. O(length), whatever its
    /// bytes.
    pub fn string(&mut self, bytes: &[u8]) {
        let integer = match bytes.len() <= INT_BYTES_MAX {
            true => number::parse_i64(bytes),
            false => None,
        };
        if !integer.is_some_and(|number| self.short_int(number)) {
            self.text(bytes);
        }
    }

    /// Adds the string that is the text of a number. The same bytes as [`Payload::string`] adds.
    pub fn int(&mut self, number: i64) {
        if !self.short_int(number) {
            self.text(number.to_string().as_bytes());
        }
    }

    fn text(&mut self, bytes: &[u8]) {
        let is_packed = bytes.len() > UNPACKED_BYTES_MAX && !self.form.is_unpacked;
        if !is_packed || !self.packed(bytes) {
            self.len(bytes.len());
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Adds a length.
    pub fn len(&mut self, len: usize) {
        self.count(len as u64);
    }

    /// Adds a number as a length.
    pub fn count(&mut self, number: u64) {
        let out = &mut self.bytes;
        if number < 1 << 6 {
            out.push(number as u8);
        } else if number < 1 << 14 {
            out.extend_from_slice(&(number as u16 | u16::from(LEN_14_BITS) << 14).to_be_bytes());
        } else if let Ok(number) = u32::try_from(number) {
            out.push(LEN_32_BITS);
            out.extend_from_slice(&number.to_be_bytes());
        } else {
            out.push(LEN_64_BITS);
            out.extend_from_slice(&number.to_be_bytes());
        }
    }

    /// Adds bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The bytes of the payload, beginning with the type byte.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The payload as bytes that can be shared. Frees the memory that was reserved for a string
    /// that packed well.
    #[must_use]
    pub fn into_shared(mut self) -> Bytes {
        if self.bytes.len() < self.bytes.capacity() / 2 {
            self.bytes.shrink_to_fit();
        }
        Bytes::from(self.bytes).slice(self.start..)
    }

    /// Adds a byte: an opcode, or the type of a value.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Adds the footer: the version, and the checksum of everything before it. O(length).
    pub fn finish(&mut self) {
        self.finish_in_steps(&mut || ());
    }

    /// Does the same as [`Payload::finish`], and calls `step` after each KiB, which takes about half a
    /// microsecond.
    pub fn finish_in_steps(&mut self, step: &mut dyn FnMut()) {
        self.bytes.extend_from_slice(&VERSION.to_le_bytes());
        let mut crc = CRC.digest();
        for part in self.as_slice().chunks(1024) {
            crc.update(part);
            step();
        }
        self.bytes.extend_from_slice(&crc.finalize().to_le_bytes());
    }

    /// Adds an integer of up to 32 bits. Adds nothing for a longer one, and returns false.
    fn short_int(&mut self, number: i64) -> bool {
        let out = &mut self.bytes;
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

    /// Adds a string packed. If packing does not make it shorter, adds nothing and returns false.
    fn packed(&mut self, bytes: &[u8]) -> bool {
        let before = self.bytes.len();
        self.bytes.resize(before + HEADER_BYTES_MAX, 0);
        let bytes_max = bytes.len() - PACKING_GAIN_MIN;
        if !lzf::compress(bytes, bytes_max, &mut self.bytes) {
            self.bytes.truncate(before);
            return false;
        }
        let packed_end = self.bytes.len();
        let packed_len = packed_end - before - HEADER_BYTES_MAX;
        self.bytes.push(STRING_LZF);
        self.len(packed_len);
        self.len(bytes.len());
        let unused = HEADER_BYTES_MAX - (self.bytes.len() - packed_end);
        self.bytes.copy_within(packed_end.., before + unused);
        self.bytes.truncate(packed_end);
        // Close the gap by moving the shorter side.
        if !self.form.is_fixed && before - self.start <= packed_len {
            let start = self.start;
            self.bytes.copy_within(start..before, start + unused);
            self.start += unused;
        } else {
            self.bytes.copy_within(before + unused.., before);
            self.bytes.truncate(packed_end - unused);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reader, Text};

    #[test]
    fn strings_are_contiguous_whichever_side_is_moved() {
        for long_first in [false, true] {
            let mut strings = vec![vec![b'a'; 30], vec![b'b'; 100_000], b"short".to_vec()];
            // As many bytes before the packed string as it takes to move the packed string itself.
            strings.insert(0, (0..200).collect());
            if long_first {
                strings.reverse();
            }
            let mut payload = Payload::new(7, 0);
            for string in &strings {
                payload.string(string);
            }
            let mut reader = Reader::new(payload.as_slice());
            assert_eq!(reader.byte(), Some(7));
            for string in &strings {
                let read = match reader.string().unwrap() {
                    Text::Bytes(bytes) => bytes.to_vec(),
                    Text::Unpacked(bytes) => bytes,
                    Text::Int(_) => unreachable!("invariant: no string is a number"),
                };
                assert_eq!(read, *string);
            }
            assert_eq!(reader.byte(), None);
        }
    }
}
