//! Measures what commands cost at one size and at twice that size, without sockets.
//!
//! The cases are everything whose cost grows, with worst-case contents.
//!
//! `cargo run --release -p respire-commands --example doubling -- [words of a case's name]`
//!
//! Each line shows the case, its size and the processor time. `cargo xtask doubling` counts
//! instructions instead, and compares the two lines of each case.
#![expect(clippy::print_stdout, reason = "a measurement is there to be printed")]

mod cases;
mod places;
mod script;
mod sorted_sets;

use cases::CASES;
use nix::time::{ClockId, clock_gettime};
use script::Script;
use std::time::Duration;

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: respire_alloc::Mimalloc = respire_alloc::Mimalloc;

fn main() {
    let wanted = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let cases = CASES.iter().chain(sorted_sets::CASES).chain(places::CASES);
    for case in cases.filter(|case| case.name.contains(&wanted)) {
        for size in [case.size, 2 * case.size] {
            let mut script = Script::new(size);
            case.setup.iter().for_each(|line| script.prepare(line));
            let request = script.request(case.measured);
            let began = cpu_us();
            measured(&mut script, &request);
            script.expect(case.measured);
            println!("{} {size}: {:.0} us", case.name, cpu_us() - began);
        }
    }
}

/// `cargo xtask doubling` counts the instructions of this function.
#[inline(never)]
fn measured(script: &mut Script, request: &[Vec<u8>]) {
    script.send(request);
}

/// The processor time of this thread, in microseconds. Other programs on the machine do not count.
fn cpu_us() -> f64 {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every thread has one");
    Duration::from(time).as_secs_f64() * 1e6
}
