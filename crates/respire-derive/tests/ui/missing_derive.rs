//! The arguments of a handler are a struct with `#[derive(Args)]`.
use respire_engine::{App, NoKeys, Router};

struct Nothing;
impl App for Nothing {
    type Conn = ();
    type Keys = NoKeys;
}

struct Take {
    n: i64,
}

fn main() {
    let _ = Router::new(Nothing).command("TAKE", |_, take: Take| take.n);
}
