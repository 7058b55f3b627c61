//! The buffer with a large argument, shared so that a command can keep the argument without a copy.

use bytes::Bytes;

/// The buffer that holds the requests of a turn while they run. An argument that fills nearly all
/// of it can be kept without a copy.
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

    /// The argument as a slice that keeps the whole buffer alive. `None` if it is not in this
    /// buffer, or so small a part of it that copying is cheaper.
    pub(crate) fn share(&self, arg: &[u8]) -> Option<Bytes> {
        let lies_in = self.bytes.as_ptr_range();
        let is_part = lies_in.contains(&arg.as_ptr());
        let beside = self.allocated.saturating_sub(arg.len());
        (is_part && beside < arg.len() / 64).then(|| self.bytes.slice_ref(arg))
    }

    /// A shared buffer for this argument alone, to keep until its request runs.
    pub(crate) fn only(&self, arg: &[u8]) -> Option<Self> {
        let bytes = self.share(arg)?;
        Some(Self { bytes, ..*self })
    }

    /// The whole buffer, shared.
    pub(crate) fn shared(&self) -> Bytes {
        self.bytes.clone()
    }

    /// The bytes of the buffer.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The allocated size in bytes.
    pub(crate) fn allocated(&self) -> usize {
        self.allocated
    }
}
