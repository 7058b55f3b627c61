//! Only one field can take the rest of the arguments.
use respire_engine::{Args, Rest};

#[derive(Args)]
struct Copy {
    from: Rest<String>,
    to: Rest<String>,
}

#[derive(Args)]
struct Last {
    keys: Vec<String>,
    n: i64,
}

fn main() {}
