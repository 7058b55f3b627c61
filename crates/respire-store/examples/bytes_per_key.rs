//! Measures the memory of a key, and the time of a read and a write, on one thread.
//!
//! `cargo run --release -p respire-store --example bytes_per_key -- [keys] [value bytes] [shards]`
//!
//! "Resident" is what the process grew by (Linux only); "counted" is what the store reports.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

use std::hint::black_box;
use std::time::Instant;

use respire_store::{Config, Expiry, Store};

const KEY_BYTES: usize = 16;

fn main() {
    let mut args = std::env::args()
        .skip(1)
        .map(|arg| arg.parse::<usize>().ok());
    let mut arg = |default| args.next().flatten().unwrap_or(default);
    let (keys, value_bytes, shards) = (arg(1_000_000), arg(3), arg(64));
    let value = vec![b'x'; value_bytes];
    let resident_before = resident_bytes();
    let store = Store::new(Config {
        shards,
        ..Config::default()
    });
    let set = |number: usize| {
        store.view(0, 0).update(&key(number), |slot| {
            slot.set(value.as_slice(), Expiry::Clear)
        });
    };

    let insert_ns = time(keys, set);
    let resident = resident_bytes().saturating_sub(resident_before);
    let order: Vec<usize> = (0..keys)
        .map(|nth| nth.wrapping_mul(0x9e37_79b1) % keys)
        .collect();
    let key_ns = time(keys, |nth| assert!(!black_box(key(order[nth])).is_empty()));
    let overwrite_ns = time(keys, |nth| set(order[nth]));
    let read_ns = time(keys, |nth| {
        let found = store
            .view(0, 0)
            .read(&key(order[nth]), |entry| entry.is_some());
        assert!(black_box(found));
    });
    let started = Instant::now();
    let (mut cursor, mut seen) = (0, 0);
    loop {
        cursor = store.view(0, 0).scan(cursor, 10, |_, _| seen += 1);
        if cursor == 0 {
            break;
        }
    }
    let scan_ns = started.elapsed().as_nanos() as usize / seen.max(1);

    let payload = KEY_BYTES + value_bytes;
    let counted = store.memory().total();
    println!(
        "{keys} keys of {KEY_BYTES} bytes with values of {value_bytes} bytes, {shards} shards"
    );
    println!(
        "resident: {:.1} bytes per key beyond key and value",
        resident as f64 / keys as f64 - payload as f64
    );
    println!(
        "counted:  {:.1} bytes per key beyond key and value",
        counted as f64 / keys as f64 - payload as f64
    );
    println!(
        "insert {insert_ns} ns, overwrite {overwrite_ns} ns, read {read_ns} ns ({key_ns} ns of each make the key)"
    );
    println!("scan {scan_ns} ns per key");
}

fn key(number: usize) -> [u8; KEY_BYTES] {
    let mut key = *b"key:000000000000";
    let mut rest = number;
    for digit in key[4..].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

fn time(count: usize, mut f: impl FnMut(usize)) -> u128 {
    let started = Instant::now();
    (0..count).for_each(&mut f);
    started.elapsed().as_nanos() / count.max(1) as u128
}

/// Returns the resident memory of this process in bytes, or 0 if the system does not provide it.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap_or_default();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap_or(0);
    kilobytes * 1024
}
