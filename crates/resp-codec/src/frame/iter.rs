//! Iterators over the parts of a value: elements, pairs and chunks.

use super::Part;
use super::view::{Frame, skip_attributes};

/// The elements of an aggregate.
///
/// ```
/// # use resp_codec::{FrameDecoder, Limits};
/// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"~2\r\n:1\r\n:2\r\n").unwrap().ready().unwrap();
/// let sum: i64 = frame.children().filter_map(|child| child.int()).sum();
/// assert_eq!(sum, 3);
/// ```
#[derive(Clone, Debug)]
pub struct Children<'s, 'b> {
    pub(super) frame: Frame<'s, 'b>,
    pub(super) next: u32,
    pub(super) end: u32,
}

impl<'s, 'b> Iterator for Children<'s, 'b> {
    type Item = Frame<'s, 'b>;

    #[inline]
    fn next(&mut self) -> Option<Frame<'s, 'b>> {
        if self.next >= self.end {
            return None;
        }
        let attributes = self.next;
        let index = skip_attributes(self.frame.nodes, attributes);
        let node = self.frame.nodes[index as usize];
        if node.part == Part::End {
            self.next = self.end;
            return None;
        }
        self.next = index + node.skip;
        Some(Frame {
            index,
            attributes,
            ..self.frame
        })
    }
}

impl core::iter::FusedIterator for Children<'_, '_> {}

/// The pairs of key and value, in the order sent.
///
/// ```
/// # use resp_codec::{FrameDecoder, Limits};
/// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"%2\r\n+a\r\n:1\r\n+b\r\n:2\r\n").unwrap().ready().unwrap();
/// let b = frame.pairs().find(|(key, _)| key.str() == Some("b"));
/// assert_eq!(b.unwrap().1.int(), Some(2));
/// ```
#[derive(Clone, Debug)]
pub struct Pairs<'s, 'b> {
    pub(super) children: Children<'s, 'b>,
    /// The next attribute to read pairs from, up to the value that the attributes belong to.
    pub(super) attributes: u32,
    pub(super) value: u32,
}

impl<'s, 'b> Iterator for Pairs<'s, 'b> {
    type Item = (Frame<'s, 'b>, Frame<'s, 'b>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(key) = self.children.next() {
                return Some((key, self.children.next()?));
            }
            if self.attributes >= self.value {
                return None;
            }
            let index = self.attributes;
            let frame = Frame {
                index,
                attributes: index,
                ..self.children.frame
            };
            self.attributes += frame.node().skip;
            self.children = frame.children();
        }
    }
}

impl core::iter::FusedIterator for Pairs<'_, '_> {}

/// The pieces of a string.
///
/// ```
/// # use resp_codec::{FrameDecoder, Limits};
/// # let mut decoder = FrameDecoder::new(Limits::CLIENT);
/// let frame = decoder.decode(b"$?\r\n;2\r\nhe\r\n;2\r\nya\r\n;0\r\n").unwrap().ready().unwrap();
/// assert_eq!(frame.chunks().collect::<Vec<_>>().concat(), b"heya");
/// ```
#[derive(Clone, Debug)]
pub struct Chunks<'s, 'b> {
    pub(super) frame: Frame<'s, 'b>,
    pub(super) whole: Option<&'b [u8]>,
    pub(super) next: u32,
    pub(super) end: u32,
}

impl<'b> Iterator for Chunks<'_, 'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        if let Some(whole) = self.whole.take() {
            return Some(whole);
        }
        let node = (self.next < self.end).then(|| &self.frame.nodes[self.next as usize])?;
        self.next += 1;
        Some(self.frame.text(node))
    }
}

impl core::iter::FusedIterator for Chunks<'_, '_> {}
