//! Tests the sparse form against an array of registers.

use super::*;

/// Registers as the sparse form has them; `None` if it is corrupt.
fn registers(opcodes: &[u8]) -> Option<Vec<u8>> {
    let mut registers = vec![0; REGISTERS];
    let read = for_each_run(opcodes, |first, run, value| {
        registers[first..first + run].fill(value);
    });
    read.is_ok().then_some(registers)
}

fn text(bytes: &[u8]) -> String {
    let words: Vec<String> = opcodes(bytes)
        .map(|it| format!("{}x{}", it.value, it.run))
        .collect();
    words.join(" ")
}

/// Raises registers one after another, from the empty form.
fn raised(registers: &[(usize, u8)]) -> String {
    let mut bytes = EMPTY.to_vec();
    for register in registers {
        let raised = raise(&mut bytes, 0, 3000, &mut Place::default(), *register);
        assert_eq!(raised, Ok(Raised::Changed), "{register:?}");
    }
    text(&bytes)
}

#[test]
fn run_is_split_around_a_raised_register() {
    for (registers, expected) in [
        (&[(0, 3)][..], "3x1 0x16383"),
        (&[(16383, 3)], "0x16383 3x1"),
        (&[(64, 1)], "0x64 1x1 0x16319"),
        (&[(65, 1)], "0x65 1x1 0x16318"),
        (&[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)], "1x4 1x1 0x16379"),
        (&[(0, 1), (1, 1), (2, 1), (1, 2)], "1x1 2x1 1x1 0x16381"),
        (&[(0, 1), (2, 1), (1, 1)], "1x3 0x16381"),
        (&[(0, 1), (2, 1), (1, 2), (1, 32)], "1x1 32x1 1x1 0x16381"),
    ] {
        assert_eq!(raised(registers), expected, "{registers:?}");
    }
}

#[test]
fn register_is_not_lowered_and_needs_the_dense_form_above_the_limits() {
    let mut bytes = EMPTY.to_vec();
    let mut raise = |register, bytes_max| {
        let before = bytes.clone();
        let raised = raise(&mut bytes, 0, bytes_max, &mut Place::default(), register);
        (raised, bytes != before)
    };
    assert_eq!(raise((7, 33), 3000), (Ok(Raised::NeedsDense), false));
    assert_eq!(raise((7, 3), 3), (Ok(Raised::NeedsDense), false));
    assert_eq!(raise((7, 3), 4), (Ok(Raised::Changed), true));
    assert_eq!(raise((7, 3), 3000), (Ok(Raised::Unchanged), false));
    assert_eq!(raise((7, 2), 0), (Ok(Raised::Unchanged), false));
    assert_eq!(raise((7, 4), 0), (Ok(Raised::Changed), true));
}

#[test]
fn random_edits_match_an_array_and_do_not_depend_on_where_the_search_begins() {
    let mut rng = fastrand::Rng::with_seed(16);
    for round in 0..30 {
        let mut bytes = EMPTY.to_vec();
        let mut expected = vec![0; REGISTERS];
        for _ in 0..rng.usize(1..400) {
            // Near each other, so that runs of equal values meet.
            let register = (rng.usize(..300 << (round % 6)), rng.u8(1..4));
            let raised = raise(&mut bytes, 0, 9000, &mut Place::default(), register);
            let is_raised = expected[register.0] < register.1;
            let result = [Raised::Unchanged, Raised::Changed][usize::from(is_raised)];
            assert_eq!(raised, Ok(result));
            expected[register.0] = expected[register.0].max(register.1);
            assert!(raised.is_ok());
        }
        assert_eq!(registers(&bytes).as_ref(), Some(&expected));
        let (mut one_by_one, mut in_order) = (bytes.clone(), bytes);
        let mut from = Place::default();
        for index in 0..REGISTERS {
            if rng.u8(..8) == 0 {
                let register = (index, rng.u8(1..4));
                let first = raise(&mut one_by_one, 0, 20_000, &mut Place::default(), register);
                let second = raise(&mut in_order, 0, 20_000, &mut from, register);
                assert_eq!(first, second);
            }
        }
        assert_eq!(text(&one_by_one), text(&in_order));
    }
}

#[test]
fn runs_that_end_elsewhere_are_corrupt() {
    for bytes in [
        &b""[..],
        &[0],
        &[0x7f, 0xff, 0],
        &[0x7f, 0xfe, 0x81],
        &[0x7f],
    ] {
        assert_eq!(registers(bytes), None, "{bytes:?}");
        assert_eq!(histogram(bytes), Err(Corrupt), "{bytes:?}");
    }
    // As in Redis, values behind the last register are ignored, but not counted.
    let behind = [0x7f, 0xff, 0x80];
    assert!(registers(&behind).is_some());
    assert_eq!(histogram(&behind), Err(Corrupt));
}

#[test]
fn second_byte_that_is_cut_off_is_zero() {
    // 255 registers, then the other 16129.
    let mut bytes = vec![0x40, 0xfe, 0x7f];
    assert!(registers(&bytes).is_some());
    let raised = raise(&mut bytes, 0, 3000, &mut Place::default(), (255, 2));
    assert_eq!(raised, Ok(Raised::Changed));
    // As in Redis, the last byte of the 16128 zeros is written behind the end.
    assert_eq!(text(&bytes), "0x255 2x1 0x15873");
    let mut single = vec![0x7f, 0xfe, 0x40];
    let raised = raise(&mut single, 0, 3000, &mut Place::default(), (16383, 2));
    assert_eq!(
        (raised, text(&single)),
        (Ok(Raised::Changed), "0x16383".to_owned())
    );
}
