//! An argument after a word is optional.
use respire_engine::Args;

#[derive(Args)]
struct Take {
    #[arg(word = "BURST")]
    burst: i64,
}

fn main() {}
