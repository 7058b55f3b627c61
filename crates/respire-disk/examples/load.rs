//! Measures how fast a snapshot file is written, checked and loaded.
//!
//! `cargo run --release -p respire-disk --example load -- [FILE]`
//!
//! Without a file it writes one of a million keys, in the form of this crate, to the temporary directory.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

use respire_disk::load::{Options, examine, load};
use respire_rdb::file::{self, Head, KeyHead, Writer};
use respire_store::{Config, Store};
use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

const KEYS: u64 = 1_000_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = match std::env::args_os().nth(1) {
        Some(path) => PathBuf::from(path),
        None => written()?,
    };
    let file = File::open(&path)?;
    for threads in [1, 2, 4, 0] {
        let options = Options {
            threads,
            ..Options::default()
        };
        let began = Instant::now();
        let report = examine(&file, options, &mut ())?;
        let examined = began.elapsed();
        let store = Store::new(Config {
            shards: 1_024,
            ..Config::default()
        });
        let began = Instant::now();
        load(&file, &store, options, &mut ())?;
        let loaded = began.elapsed();
        let rate = report.keys as f64 / loaded.as_secs_f64() / 1e6;
        println!(
            "{threads} threads: checked in {examined:?}, loaded in {loaded:?}, {rate:.2} million keys/s"
        );
    }
    Ok(())
}

/// Writes a file of small keys.
fn written() -> std::io::Result<PathBuf> {
    let began = Instant::now();
    let mut writer = Writer::new(file::Options::default());
    writer.begin(&Head {
        databases: &[(0, KEYS, 0)],
        ..Head::default()
    });
    for number in 0..KEYS {
        let key = format!("key:{number:012}");
        let head = KeyHead {
            key: key.as_bytes(),
            ..KeyHead::default()
        };
        writer.entry(head, |value| {
            value.begin(0, 3);
            value.string(b"xyz");
        });
    }
    let bytes = writer.finish();
    println!(
        "{KEYS} keys made to {} bytes in {:?}",
        bytes.len(),
        began.elapsed()
    );
    let path = std::env::temp_dir().join("respire-example.rdb");
    std::fs::write(&path, bytes)?;
    Ok(path)
}
