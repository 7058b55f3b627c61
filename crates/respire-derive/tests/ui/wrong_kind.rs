//! A struct is arguments, an enum is words.
use respire_engine::{Args, Words};

#[derive(Args)]
enum Unit {
    M,
    Km,
}

#[derive(Words)]
struct Take {
    n: i64,
}

#[derive(Words)]
enum None {}

fn main() {}
