//! Compares the codec in wasm32 under Node.js with the codec as native code, in alternating turns.
//!
//! `cargo bench -p resp-codec-bench --features wasm --bench wasm`. Needs Node.js and
//! `rustup target add wasm32-unknown-unknown`.
#![expect(clippy::print_stdout, reason = "a bench reports")]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use resp_codec_bench::rounds;

const TARGET: &str = "wasm32-unknown-unknown";
/// The turns of each side. The fastest counts: the machine disturbed it least.
const TURNS: usize = 300;
/// The length of a turn: less than a scheduler's time slice.
const TURN: Duration = Duration::from_millis(1);

fn main() {
    let mut node = Node::start(&build());
    println!(
        "{:28} {:>10} {:>10} {:>7}",
        "ns per item", "native", "wasm", "ratio"
    );
    for (index, round) in rounds::all().iter_mut().enumerate() {
        // Both sides warm up; the wasm engine also compiles the module a second time.
        node.run(index, 2000);
        let start = Instant::now();
        round.run(20);
        let times = (TURN.as_nanos() * 20 / start.elapsed().as_nanos().max(1)).max(1) as u32;
        let (mut native, mut wasm) = (Duration::MAX, Duration::MAX);
        for _ in 0..TURNS {
            let start = Instant::now();
            std::hint::black_box(round.run(times));
            native = native.min(start.elapsed());
            wasm = wasm.min(node.run(index, times));
        }
        let per_item =
            |time: Duration| time.as_nanos() as f64 / f64::from(times) / round.items as f64;
        let (native, wasm) = (per_item(native), per_item(wasm));
        println!(
            "{:28} {native:>10.2} {wasm:>10.2} {:>7.2}",
            round.name,
            wasm / native
        );
    }
}

/// Builds the rounds for wasm with the profile of this bench, and returns the path of the module.
fn build() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wasm");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--features", "wasm"])
        .args(["--example", "rounds", "--target", TARGET])
        .current_dir(here)
        .env("CARGO_TARGET_DIR", &out)
        .status()
        .expect("cargo runs");
    assert!(
        built.success(),
        "is the target there? rustup target add {TARGET}"
    );
    out.join(TARGET).join("release/examples/rounds.wasm")
}

/// Node.js with the module; it reads line by line which round to run.
struct Node {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Node {
    fn start(module: &Path) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/wasm.mjs");
        let mut process = Command::new("node")
            .arg(script)
            .arg(module)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Node.js is installed");
        let orders = process.stdin.take().expect("its input is piped");
        let answers = BufReader::new(process.stdout.take().expect("its output is piped"));
        Self {
            process,
            orders,
            answers,
        }
    }

    fn run(&mut self, index: usize, times: u32) -> Duration {
        writeln!(self.orders, "{index} {times}").expect("Node.js listens");
        let mut answer = String::new();
        self.answers
            .read_line(&mut answer)
            .expect("Node.js answers");
        Duration::from_nanos(answer.trim().parse().expect("a round ran"))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // There is no need to wait for its end, and it may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
