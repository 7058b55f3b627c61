//! Measures the large form of hashes and sets: bytes per element, and nanoseconds of CPU per operation.
//!
//! ```text
//! cargo run --release -p respire-store --example segments -- 1000000
//! ```
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

use std::time::Instant;

use respire_store::segments::{Fields, Members, NewElement, Segments};

fn main() {
    let elements = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(1_000_000);
    run(
        "fields of 16 bytes with values of 16",
        elements,
        &mut Fields::new([1, 2, 3, 4]),
        16,
        (b"0123456789abcdef", None),
    );
    run(
        "the same fields, each with an expiry",
        elements,
        &mut Fields::new([1, 2, 3, 4]),
        16,
        (b"0123456789abcdef", Some(1_700_000_000_000)),
    );
    run(
        "members of 10 bytes",
        elements,
        &mut Members::new([1, 2, 3, 4]),
        10,
        (b"", None),
    );
}

/// The time this thread has run, in nanoseconds (Linux only).
fn cpu_ns() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split(' ')
        .next()
        .and_then(|ns| ns.parse().ok())
        .unwrap_or(0)
}

/// The bytes of an element, of this length.
fn element(number: u32, len: usize, out: &mut [u8; 16]) -> &[u8] {
    let mut left = number.wrapping_mul(0x9e37_79b1);
    for byte in out.iter_mut() {
        *byte = b'0' + (left % 10) as u8;
        left /= 10;
    }
    &out[..len]
}

fn run<const VALUES: bool>(
    name: &str,
    elements: u32,
    segments: &mut Segments<VALUES>,
    len: usize,
    (value, expires_at): (&[u8], Option<u64>),
) {
    let mut out = [0; 16];
    let mut longest = 0;
    let per = |start: u64| (cpu_ns() - start) as f64 / f64::from(elements);
    let start = cpu_ns();
    for number in 0..elements {
        let start = (number % 64 == 0).then(Instant::now);
        segments.insert(&NewElement {
            expires_at: expires_at.map(|at| at + u64::from(number)),
            ..NewElement::new(element(number, len, &mut out), value)
        });
        longest = longest.max(start.map_or(0, |start| start.elapsed().as_nanos()));
    }
    let insert = per(start);
    let bytes = segments.heap_bytes() as f64 / segments.len() as f64;
    let start = cpu_ns();
    let found = (0..elements)
        .filter(|&number| segments.get(element(number, len, &mut out)).is_some())
        .count();
    let get = per(start);
    assert_eq!(found, elements as usize);
    let start = cpu_ns();
    let mut ahead = [0; 16];
    for number in (0..elements).step_by(16) {
        for near in number..number + 16 {
            segments.warm(element(near, len, &mut ahead));
        }
        for near in number..number + 16 {
            segments.warm_found(element(near, len, &mut ahead));
        }
        for near in number..(number + 16).min(elements) {
            assert!(segments.contains(element(near, len, &mut out)));
        }
    }
    let warm = per(start);
    let start = Instant::now();
    let snapshot = segments.clone();
    let clone = start.elapsed().as_nanos();
    let start = cpu_ns();
    for number in 0..elements {
        segments.insert(&NewElement::new(
            element(number, len, &mut out),
            &value[value.len() / 2..],
        ));
    }
    let replace = per(start);
    drop(snapshot);
    let start = cpu_ns();
    for number in 0..elements {
        segments.remove(element(number, len, &mut out));
    }
    let remove = per(start);
    println!(
        "{name}: {bytes:.1} bytes; ns: insert {insert:.0}, get {get:.0}, warmed {warm:.0}, over a snapshot {replace:.0}, \
         remove {remove:.0}; snapshot {clone} ns, longest of the inserts seen {longest} ns"
    );
}
