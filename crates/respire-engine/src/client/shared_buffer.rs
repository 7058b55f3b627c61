//! The buffer that large arguments lie in, lent so that they can be kept without a copy.

use bytes::Bytes;

/// The buffer that the requests of a turn lie in, while they run: what makes up most of it can be
/// kept without a copy.
#[derive(Clone, Debug)]
pub(crate) struct SharedBuffer {
    bytes: Bytes,
    allocated: usize,
}

impl SharedBuffer {
    pub(crate) fn new(buffer: Vec<u8>) -> Self {
        Self {
            allocated: buffer.capacity(),
            bytes: buffer.into(),
        }
    }

    /// The argument as a part of the buffer, which lives as long; `None` if it does not lie in it, or
    /// is so small a part that a copy is the better bargain.
    pub(crate) fn share(&self, arg: &[u8]) -> Option<Bytes> {
        let lies_in = self.bytes.as_ptr_range();
        let is_part = lies_in.contains(&arg.as_ptr());
        let beside = self.allocated.saturating_sub(arg.len());
        (is_part && beside < arg.len() / 64).then(|| self.bytes.slice_ref(arg))
    }

    /// The same for this argument alone, to be kept until its request runs.
    pub(crate) fn only(&self, arg: &[u8]) -> Option<Self> {
        let bytes = self.share(arg)?;
        Some(Self { bytes, ..*self })
    }

    /// The whole, shared.
    pub(crate) fn shared(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The bytes that lie in it.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of memory that it keeps.
    pub(crate) fn allocated(&self) -> usize {
        self.allocated
    }
}
