//! A handler takes the context and the arguments.
use respire_engine::{App, NoKeys, Router};

struct Nothing;
impl App for Nothing {
    type Conn = ();
    type Keys = NoKeys;
}

fn main() {
    let _ = Router::new(Nothing).command("HI", |_cx| "hello");
}
