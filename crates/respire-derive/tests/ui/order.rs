//! Optional arguments come after required ones.
use respire_engine::Args;

#[derive(Args)]
struct Take {
    n: Option<i64>,
    key: String,
}

#[derive(Args)]
struct Move {
    #[arg(word = "FAST")]
    fast: bool,
    #[arg(key)]
    key: String,
}

fn main() {}
