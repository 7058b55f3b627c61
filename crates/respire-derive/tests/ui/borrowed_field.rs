//! Arguments are owned.
use respire_engine::Args;

#[derive(Args)]
struct Take {
    key: &'static str,
}

#[derive(Args)]
struct Lent<'a> {
    key: std::borrow::Cow<'a, str>,
}

fn main() {}
