//! Adds many elements at once, and changes integers in place.

use super::element::{Element, Encoded};
use super::{COUNT_MAX, END, HEAD_BYTES, ListpackBuf, Place};

/// Adds elements to the end of a listpack.
#[derive(Debug)]
pub(crate) struct Appender<'l> {
    bytes: &'l mut Vec<u8>,
    count: usize,
}

impl Appender<'_> {
    /// Adds an integer.
    pub(crate) fn int(&mut self, number: i64) {
        self.element(Element::Int(number));
    }

    /// Adds bytes, or the integer whose text they are.
    pub(crate) fn text(&mut self, text: &[u8]) {
        self.element(Element::of(text));
    }

    fn element(&mut self, element: Element<'_>) {
        Encoded::new(element).append_to(self.bytes);
        self.count += 1;
    }
}

impl ListpackBuf {
    /// Adds the elements that `f` adds. Amortised O(their bytes).
    ///
    /// # Panics
    /// If it all would have 4 GiB or more.
    pub(crate) fn append(&mut self, f: impl FnOnce(&mut Appender<'_>)) {
        let told = self.read().told_len();
        self.bytes.pop();
        let mut appender = Appender {
            bytes: &mut self.bytes,
            count: 0,
        };
        f(&mut appender);
        let len = COUNT_MAX.min(told + appender.count);
        self.bytes.push(END);
        let total = u32::try_from(self.bytes.len()).expect("a listpack has less than 4 GiB");
        self.bytes[..4].copy_from_slice(&total.to_le_bytes());
        self.bytes[4..HEAD_BYTES].copy_from_slice(&(len as u16).to_le_bytes());
    }

    /// Replaces the integer at a place. O(1) if both have the same length; otherwise O(bytes behind it), and the places
    /// behind it become invalid.
    pub(crate) fn set_int(&mut self, place: Place, number: i64) {
        let Some((_, next)) = self.read().at(place) else {
            return;
        };
        let encoded = Encoded::new(Element::Int(number));
        if next.0 - place.0 == encoded.len() {
            encoded.write(&mut self.bytes[place.0..next.0]);
        } else {
            self.splice(place..next, &[number.to_string().as_bytes()]);
        }
    }

    /// Gives the room behind the elements back.
    pub(crate) fn shrink_to_fit(&mut self) {
        self.bytes.shrink_to_fit();
    }
}
