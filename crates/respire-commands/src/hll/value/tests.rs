//! Tests the forms of a `HyperLogLog` against each other.

use super::*;

fn elements(range: std::ops::Range<u32>) -> Vec<[u8; 4]> {
    range.map(u32::to_be_bytes).collect()
}

fn with(form: u8, range: std::ops::Range<u32>, sparse_bytes_max: usize) -> Vec<u8> {
    let mut bytes = empty();
    if form == DENSE {
        assert_eq!(make_dense(&mut bytes), Ok(true));
    }
    let elements = elements(range);
    let (_, added) = add(
        &mut bytes,
        elements.iter().map(|it| &it[..]),
        sparse_bytes_max,
    );
    assert_eq!(added, Ok(()));
    bytes
}

fn hll(bytes: &[u8]) -> Hll<'_> {
    Hll::new(bytes).expect("a HyperLogLog")
}

#[test]
fn both_forms_have_the_same_registers_and_estimate() {
    for count in [0, 1, 2, 10, 300, 1500, 5000, 100_000] {
        let dense = with(DENSE, 0..count, 0);
        let mut sparse = with(SPARSE, 0..count, 3000);
        let is_sparse = matches!(hll(&sparse).form(), Form::Sparse(_));
        assert_eq!(is_sparse, count <= 1500, "{count}");
        assert!(!is_sparse || sparse.len() <= 3000);
        let estimate = hll(&sparse).estimate().expect("valid registers");
        assert_eq!(Ok(estimate), hll(&dense).estimate());
        assert!(estimate.abs_diff(u64::from(count)) <= u64::from(count / 20));
        let mut merged = Registers::new();
        assert_eq!(hll(&sparse).merge(&mut merged), Ok(()));
        assert_eq!(Histogram::of_registers(&merged).estimate(), estimate);
        assert_eq!(make_dense(&mut sparse), Ok(is_sparse));
        assert_eq!(sparse, dense);
    }
}

#[test]
fn merged_registers_are_written_as_if_they_had_been_added() {
    for (form, first, second) in [
        (SPARSE, 0..100, 50..150),
        (SPARSE, 0..900, 800..1200),
        (SPARSE, 0..2000, 2000..4000),
        (DENSE, 0..2000, 1000..9000),
    ] {
        let (mut bytes, other) = (
            with(form, first.clone(), 3000),
            with(SPARSE, second.clone(), 3000),
        );
        let mut registers = Registers::new();
        for part in [&bytes, &other] {
            assert_eq!(hll(part).merge(&mut registers), Ok(()));
        }
        assert_eq!(raise_all(&mut bytes, &registers, 3000), Ok(()));
        let mut written = bytes.clone();
        assert!(make_dense(&mut written).is_ok());
        write_all(&mut written, &registers);
        let mut expected = with(DENSE, first.start..second.end, 0);
        for part in [&mut expected, &mut written, &mut bytes] {
            forget_estimate(part);
        }
        assert_eq!(written, expected);
        assert!(make_dense(&mut bytes).is_ok());
        assert_eq!(bytes, expected);
    }
}

#[test]
fn header_and_length_are_checked() {
    let valid = empty();
    for (at, byte) in [(0, b'h'), (3, 0), (4, 2), (4, DENSE)] {
        let mut bytes = valid.clone();
        bytes[at] = byte;
        assert_eq!(Hll::new(&bytes).err(), Some(NOT_A_HLL), "{at}");
    }
    assert!(Hll::new(&valid[..15]).is_err() && Hll::new(&valid[..16]).is_ok());
    let dense = with(DENSE, 0..0, 0);
    assert!(Hll::new(&dense).is_ok() && Hll::new(&dense[..dense.len() - 1]).is_err());
}

#[test]
fn estimate_is_out_of_date_after_a_change_only() {
    for form in [SPARSE, DENSE] {
        let mut bytes = with(form, 0..10, 3000);
        assert_eq!(hll(&bytes).last_estimate(), None);
        set_estimate(&mut bytes, 10);
        assert_eq!(hll(&bytes).last_estimate(), Some(10));
        for (range, expected) in [(3..4, Some(10)), (3..20, None)] {
            let elements = elements(range);
            let (_, added) = add(&mut bytes, elements.iter().map(|it| &it[..]), 3000);
            assert_eq!(added, Ok(()));
            assert_eq!(hll(&bytes).last_estimate(), expected);
        }
    }
}
