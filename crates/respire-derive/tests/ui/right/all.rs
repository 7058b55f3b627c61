//! The correct use, with no imports that the derives might rely on.
#![deny(warnings)]

struct Nothing;
impl respire_engine::App for Nothing {
    type Conn = ();
    type Keys = respire_engine::NoKeys;
}

#[derive(respire_engine::Args)]
#[args(write, fast)]
struct Take {
    #[arg(key)]
    key: respire_engine::Bytes,
    #[arg(min = 0)]
    n: u64,
    #[arg(word = "BURST", default = 100)]
    burst: u32,
    #[arg(words)]
    unit: std::option::Option<Unit>,
    #[arg(word = "args")]
    args: bool,
}

#[derive(respire_engine::Words)]
enum Unit {
    Tokens,
    Bytes { each: u32 },
}

type Result = std::result::Result<u64, respire_engine::Error>;
#[allow(dead_code)]
struct Option;
#[allow(dead_code)]
struct Vec;

fn take(_: &mut respire_engine::Cx<'_, Nothing>, take: Take) -> Result {
    let each = match take.unit {
        Some(Unit::Bytes { each }) => each,
        Some(Unit::Tokens) | None => u32::from(take.args),
    };
    Ok(take.n + u64::from(take.burst + each) + take.key.len() as u64)
}

fn main() {
    let _ = respire_engine::Router::new(Nothing).command("TAKE", take);
}
