//! The registers as a byte each, in which several `HyperLogLogs` are merged.

/// The number of bits of a hash that choose the register.
pub(super) const INDEX_BITS: u32 = 14;
/// The number of registers.
pub(super) const REGISTERS: usize = 1 << INDEX_BITS;
/// The largest value that 6 bits hold.
pub(super) const REGISTER_MAX: u8 = 63;

/// The value of every register, at most [`REGISTER_MAX`].
pub(super) struct Registers(Box<[u8; REGISTERS]>);

impl Registers {
    pub(super) fn new() -> Self {
        Self(Box::new([0; REGISTERS]))
    }

    pub(super) fn values(&self) -> &[u8; REGISTERS] {
        &self.0
    }

    /// The registers in groups of 8, as one word of the dense form has them.
    pub(super) fn words_mut(&mut self) -> impl Iterator<Item = &mut [u8; 8]> {
        self.0.as_chunks_mut::<8>().0.iter_mut()
    }

    /// Raises the registers of a run to `value`. A run beyond the last register is cut off.
    pub(super) fn raise(&mut self, first: usize, run: usize, value: u8) {
        let run = self.0.iter_mut().skip(first).take(run);
        run.for_each(|register| *register = value.max(*register));
    }
}
