//! Checks of bytes from outside.

use core::fmt;

use super::element::{Element, Encoded, back_len};
use super::{COUNT_MAX, END, HEAD_BYTES, Listpack, ListpackBuf, read_back, wrap};

/// The error of bytes that are no listpack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damaged;

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no listpack")
    }
}

impl core::error::Error for Damaged {}

impl<'a> Listpack<'a> {
    /// Takes bytes from outside. All lengths and the number of elements are checked. O(elements).
    ///
    /// # Errors
    /// [`Damaged`].
    pub fn verify(bytes: &'a [u8]) -> Result<Self, Damaged> {
        check(bytes).ok_or(Damaged)?;
        Ok(Self { bytes })
    }

    /// Returns the listpack with each element in the form that it has when it is added; `None` if all are. Others may
    /// write an integer as text or with more bytes than it needs, and no search finds those. O(bytes).
    pub(crate) fn canonical(self) -> Option<ListpackBuf> {
        let mut place = self.first();
        while let Some((element, next)) = self.at(place) {
            let form = canonical_form(element);
            if form != element || Encoded::new(form).len() != next.0 - place.0 {
                return Some(self.rewritten());
            }
            place = next;
        }
        None
    }

    fn rewritten(self) -> ListpackBuf {
        let (mut elements, mut bytes) = (Vec::with_capacity(self.bytes.len()), Vec::new());
        let forms = self.iter().map(canonical_form);
        let count = forms
            .map(|form| Encoded::new(form).append_to(&mut elements))
            .count();
        wrap(&elements, count, &mut bytes);
        ListpackBuf { bytes }
    }
}

/// The form that an element has when it is added.
fn canonical_form(element: Element<'_>) -> Element<'_> {
    match element {
        Element::Bytes(text) => Element::of(text),
        Element::Int(_) => element,
    }
}

impl TryFrom<Vec<u8>> for ListpackBuf {
    type Error = Damaged;

    /// Takes bytes from outside, as [`Listpack::verify`] does.
    fn try_from(bytes: Vec<u8>) -> Result<Self, Damaged> {
        check(&bytes).ok_or(Damaged)?;
        Ok(Self { bytes })
    }
}

fn check(bytes: &[u8]) -> Option<()> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let (end, elements) = rest.split_last()?;
    let total = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let is_whole = *end == END && usize::try_from(total) == Ok(bytes.len());
    let (mut rest, mut count) = (elements, 0);
    while !rest.is_empty() {
        let len = Element::read_len(rest)?;
        let (element, after) = rest.split_at_checked(len.checked_add(back_len(len))?)?;
        if read_back(element) != len {
            return None;
        }
        rest = after;
        count += 1;
    }
    let told = usize::from(u16::from_le_bytes([head[4], head[5]]));
    (is_whole && (told == COUNT_MAX || told == count)).then_some(())
}
