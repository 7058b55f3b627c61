//! Reading the elements of a chunk from either end.

use bytes::Bytes;

use super::End;
use crate::packed::listpack::{Element, Encoded, back_len, read_back};
use crate::types::StringRef;

/// The elements of a chunk that have yet to be visited. They can be taken from both ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest<'e> {
    /// Elements of a run.
    Run(&'e [u8]),
    /// One large element.
    Single(&'e Bytes),
}

/// An element that is looked for.
#[derive(Debug)]
pub(super) struct Needle<'a> {
    text: &'a [u8],
    encoded: Vec<u8>,
}

impl<'a> Needle<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Needle {
            text,
            encoded: encoded(text),
        }
    }

    /// Returns the number of bytes of an equal element in a run.
    pub(super) fn encoded_len(&self) -> usize {
        self.encoded.len()
    }
}

/// Returns the bytes of an element in a run.
pub(super) fn encoded(text: &[u8]) -> Vec<u8> {
    let mut encoded = Vec::new();
    Encoded::new(Element::of(text)).append_to(&mut encoded);
    encoded
}

impl<'e> Rest<'e> {
    const EMPTY: Rest<'static> = Rest::Run(&[]);

    /// Returns the number of bytes of the elements of a run.
    pub(super) fn run_len(&self) -> usize {
        match self {
            Rest::Run(bytes) => bytes.len(),
            Rest::Single(_) => 0,
        }
    }

    /// Takes the element at an end.
    #[inline]
    pub(super) fn take(&mut self, end: End) -> Option<StringRef<'e>> {
        let bytes = match self {
            Rest::Run([]) => return None,
            Rest::Run(bytes) => bytes,
            Rest::Single(bytes) => {
                let element = StringRef::Shared(bytes);
                *self = Rest::EMPTY;
                return Some(element);
            }
        };
        let element = match end {
            End::Left => {
                let (element, len) = Element::read(bytes);
                *bytes = &bytes[len + back_len(len)..];
                element
            }
            End::Right => {
                let len = read_back(bytes);
                let (rest, last) = bytes.split_at(bytes.len() - len - back_len(len));
                *bytes = rest;
                Element::read(last).0
            }
        };
        Some(match element {
            Element::Int(number) => StringRef::Int(number),
            Element::Bytes(bytes) => StringRef::Bytes(bytes),
        })
    }

    /// Passes up to `max` elements from an end, until one is equal to the needle. Returns how many it passed, and
    /// whether the last of them is equal.
    #[inline]
    pub(super) fn find(&mut self, end: End, needle: &Needle<'_>, max: usize) -> (usize, bool) {
        let bytes = match self {
            Rest::Run(bytes) => bytes,
            Rest::Single(bytes) => {
                let is_equal = max > 0 && *bytes == needle.text;
                *self = Rest::EMPTY;
                return (max.min(1), is_equal);
            }
        };
        let mut passed = 0;
        while passed < max && !bytes.is_empty() {
            let element = skip(bytes, end);
            passed += 1;
            if element == needle.encoded {
                return (passed, true);
            }
        }
        (passed, false)
    }

    /// Passes up to `count` elements from an end.
    #[inline]
    pub(super) fn skip(&mut self, end: End, count: usize) {
        match self {
            Rest::Run(bytes) => {
                for _ in 0..count {
                    if bytes.is_empty() {
                        break;
                    }
                    skip(bytes, end);
                }
            }
            Rest::Single(_) if count > 0 => *self = Rest::EMPTY,
            Rest::Single(_) => {}
        }
    }
}

/// Passes the element at an end, which exists. Returns its bytes in the run.
#[inline]
fn skip<'e>(bytes: &mut &'e [u8], end: End) -> &'e [u8] {
    match end {
        End::Left => {
            let len = Element::read(bytes).1;
            let (element, rest) = bytes.split_at(len + back_len(len));
            *bytes = rest;
            element
        }
        End::Right => {
            let len = read_back(bytes);
            let (rest, element) = bytes.split_at(bytes.len() - len - back_len(len));
            *bytes = rest;
            element
        }
    }
}
