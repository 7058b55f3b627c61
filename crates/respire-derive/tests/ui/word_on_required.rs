//! What a word introduces may be left out.
use respire_engine::Args;

#[derive(Args)]
struct Take {
    #[arg(word = "BURST")]
    burst: i64,
}

fn main() {}
