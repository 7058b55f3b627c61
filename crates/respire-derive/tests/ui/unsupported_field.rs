//! A field is a type that an argument can be parsed into.
use respire_engine::Args;
use std::time::Duration;

#[derive(Args)]
struct Wait {
    time: Duration,
}

fn main() {}
