//! Measures the memory that servers need per key.

use std::time::Duration;

use respire_bench::compare::Grid;
use respire_bench::error::Result;
use respire_bench::os;
use serde::Serialize;

use super::scaling::grouped;
use super::setting::Setting;
use crate::script::{Batch, key, once};

/// The value sizes in bytes.
const SIZES: [usize; 2] = [3, 256];
/// The number of requests sent at once.
const BATCH: u64 = 256;
/// An expiry that the measurement does not reach.
const EXPIRY: Duration = Duration::from_secs(100_000);

/// The growth of a server's memory.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// The server.
    pub name: String,
    /// The number of keys.
    pub keys: u64,
    /// The size of a value in bytes.
    pub value_bytes: usize,
    /// Whether keys expire.
    pub expires: bool,
    /// Resident bytes per key besides the bytes of key and value.
    pub bytes_over: f64,
}

pub(super) fn measure(setting: &Setting) -> Result<Vec<Memory>> {
    let mut all = Vec::new();
    for entrant in &setting.entrants {
        for value_bytes in SIZES {
            for expires in [false, true] {
                let server = setting.start(entrant)?;
                let rss = || os::usage(server.pid.unwrap_or_default()).map_or(0, |usage| usage.rss);
                let (before, keys) = (rss(), setting.keys());
                once(&server.target, batches(keys, value_bytes, expires))?;
                let each = rss().saturating_sub(before) as f64 / keys as f64;
                all.push(Memory {
                    name: entrant.name.clone(),
                    keys,
                    value_bytes,
                    expires,
                    bytes_over: each - (key(0).len() + value_bytes) as f64,
                });
            }
        }
    }
    Ok(all)
}

fn batches(keys: u64, value_bytes: usize, expires: bool) -> impl Iterator<Item = Batch> {
    let value = "x".repeat(value_bytes);
    let seconds = EXPIRY.as_secs().to_string();
    (0..keys).step_by(BATCH as usize).map(move |from| {
        let mut batch = Batch::default();
        for number in from..(from + BATCH).min(keys) {
            let key = key(number);
            let words = ["SET", &key, &value, "EX", &seconds];
            batch.push(&words[..if expires { 5 } else { 3 }], "+OK\r\n");
        }
        batch
    })
}

pub(super) fn grid(all: &[Memory]) -> Grid {
    let mut grid = Grid::new([
        "server",
        "keys",
        "value",
        "expiry",
        "bytes over key and value",
    ]);
    for memory in all {
        grid.push([
            memory.name.clone(),
            grouped(memory.keys),
            format!("{} B", memory.value_bytes),
            if memory.expires { "yes" } else { "no" }.to_owned(),
            format!("{:.1}", memory.bytes_over),
        ]);
    }
    grid
}
