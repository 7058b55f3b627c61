//! Attributes that do not exist, or have no meaning in their place.
use respire_engine::{Args, Words};

#[derive(Args)]
#[args(reedonly)]
struct Flags;

#[derive(Args)]
struct Fields {
    #[arg(maximum = 5)]
    n: i64,
    #[arg(word = "ALL", min = 1)]
    all: bool,
    #[arg(word = "A B")]
    blank: Option<i64>,
    #[arg(default)]
    twice: Option<i64>,
}

#[derive(Args)]
struct Same {
    #[arg(word = "ALL")]
    one: bool,
    #[arg(word = "all")]
    other: bool,
}

#[derive(Words)]
enum Units {
    Km,
    #[arg(word = "KM")]
    Kilometres,
}

fn main() {}
