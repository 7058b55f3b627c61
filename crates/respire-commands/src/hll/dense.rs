//! The dense form: 6 bits for each register, least significant bits first.
//!
//! Loops over all registers go by words of 6 bytes, which hold 8 registers. The bits of a word are
//! spread over 8 bytes in three steps, each of which halves the groups of bits, so that no step
//! depends on the place of a register.

use super::registers::{REGISTER_MAX, REGISTERS, Registers};

/// The number of bytes of all registers.
pub(super) const BYTES: usize = REGISTERS * 6 / 8;

/// The bytes of the registers.
pub(super) type Dense = [u8; BYTES];

/// The byte in which a register begins, and the shift of its lowest bit there.
fn place(index: usize) -> (usize, u32) {
    (index * 6 / 8, (index * 6 % 8) as u32)
}

/// The value of a register. `index` is less than [`REGISTERS`].
pub(super) fn get(dense: &Dense, index: usize) -> u8 {
    let (at, shift) = place(index);
    // The last register ends in the last byte.
    let above = dense.get(at + 1).copied().unwrap_or(0);
    (u16::from_le_bytes([dense[at], above]) >> shift) as u8 & REGISTER_MAX
}

/// Sets a register to a value of at most [`REGISTER_MAX`].
pub(super) fn set(dense: &mut Dense, index: usize, value: u8) {
    let (at, shift) = place(index);
    let [mask, mask_above] = (u16::from(REGISTER_MAX) << shift).to_le_bytes();
    let [bits, bits_above] = (u16::from(value) << shift).to_le_bytes();
    dense[at] = dense[at] & !mask | bits;
    if let Some(above) = dense.get_mut(at + 1) {
        *above = *above & !mask_above | bits_above;
    }
}

/// Raises a register to `value`; returns whether it was lower.
pub(super) fn raise(dense: &mut Dense, index: usize, value: u8) -> bool {
    let is_lower = get(dense, index) < value;
    if is_lower {
        set(dense, index, value);
    }
    is_lower
}

/// The words of 8 registers, in their order.
pub(super) fn words(dense: &Dense) -> impl Iterator<Item = u64> {
    let (words, _) = dense.as_chunks::<6>();
    words
        .iter()
        .map(|&[a, b, c, d, e, f]| u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
}

/// Raises each of the registers to its value in the dense form.
pub(super) fn merge(dense: &Dense, into: &mut Registers) {
    for (registers, word) in into.words_mut().zip(words(dense)) {
        let values = spread(word).to_le_bytes();
        registers
            .iter_mut()
            .zip(values)
            .for_each(|(register, value)| *register = value.max(*register));
    }
}

/// Writes all registers.
pub(super) fn write(registers: &Registers, dense: &mut Dense) {
    let (words, _) = dense.as_chunks_mut::<6>();
    let (values, _) = registers.values().as_chunks::<8>();
    for (word, values) in words.iter_mut().zip(values) {
        word.copy_from_slice(&gather(u64::from_le_bytes(*values)).to_le_bytes()[..6]);
    }
}

/// Gives each group of 6 bits a byte of its own.
fn spread(word: u64) -> u64 {
    let word = word & 0x00ff_ffff | (word & 0xffff_ff00_0000) << 8;
    let word = word & 0x0000_0fff_0000_0fff | (word & 0x00ff_f000_00ff_f000) << 4;
    word & 0x003f_003f_003f_003f | (word & 0x0fc0_0fc0_0fc0_0fc0) << 2
}

/// Undoes [`spread`].
fn gather(word: u64) -> u64 {
    let word = word & 0x003f_003f_003f_003f | (word & 0x3f00_3f00_3f00_3f00) >> 2;
    let word = word & 0x0000_0fff_0000_0fff | (word & 0x0fff_0000_0fff_0000) >> 4;
    word & 0x00ff_ffff | (word & 0x00ff_ffff_0000_0000) >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of all sizes, different for neighbours.
    fn value(index: usize) -> u8 {
        (index * 37 % 64) as u8
    }

    #[test]
    fn register_keeps_its_value_while_its_neighbours_change() {
        let mut dense = [0xff; BYTES];
        for index in (0..REGISTERS).chain((0..REGISTERS).rev()) {
            set(&mut dense, index, value(index));
        }
        for index in 0..REGISTERS {
            assert_eq!(get(&dense, index), value(index), "{index}");
        }
        assert!(!raise(&mut dense, 1, 37) && raise(&mut dense, 1, 38));
        assert_eq!(
            (get(&dense, 0), get(&dense, 1), get(&dense, 2)),
            (0, 38, 10)
        );
    }

    #[test]
    fn words_give_the_registers_one_by_one() {
        let mut dense = [0; BYTES];
        for index in 0..REGISTERS {
            set(&mut dense, index, value(index));
        }
        let mut registers = Registers::new();
        registers.raise(5, 1, 63);
        merge(&dense, &mut registers);
        for (index, register) in registers.values().iter().enumerate() {
            let expected = if index == 5 { 63 } else { value(index) };
            assert_eq!(*register, expected, "{index}");
        }
        set(&mut dense, 5, 63);
        let mut written = [0xff; BYTES];
        write(&registers, &mut written);
        assert_eq!(written, dense);
    }
}
