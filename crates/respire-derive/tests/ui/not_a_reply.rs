//! A handler returns a type that can be written as a reply.
use respire_engine::{App, NoKeys, Router};

struct Nothing;
impl App for Nothing {
    type Conn = ();
    type Keys = NoKeys;
}

struct Quota {
    left: i64,
}

fn main() {
    let _ = Router::new(Nothing).command("TAKE", |_, ()| Quota { left: 1 });
    let _ = Router::new(Nothing).command("BYTE", |_, ()| 1_u8);
}
