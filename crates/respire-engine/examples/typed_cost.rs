//! Measures the cost of typed arguments: the same look-up as a low-level row and as typed commands,
//! to run under a tool that counts instructions.
//!
//! ```console
//! $ cargo build --release -p respire-engine --features derive --example typed_cost
//! $ for calls in 20000 120000; do
//! >   valgrind --tool=callgrind --callgrind-out-file=/dev/null \
//! >     target/release/examples/typed_cost row $calls   # or: bytes, array
//! > done
//! ```
//!
//! The difference of the two counts, divided by 100,000, is the cost of one call. (The first
//! 10,000 calls of a command are always timed.)

use respire_engine::{
    App, ArgList, Args, Arity, Bytes, Cx, Engine, Error, Flags, NoKeys, NoWake, Now, Options,
    Output, Peer, Reply, Router, Row, Spec,
};
use std::collections::HashMap;
use std::time::Duration;

struct Cells(HashMap<Box<[u8]>, Bytes>);

impl App for Cells {
    type Conn = ();
    type Keys = NoKeys;
}

static GET: Spec = Spec {
    name: "row",
    arity: Arity::exactly(2),
    flags: Flags::READONLY.with(Flags::FAST).with(Flags::CONSTANT),
    ..Spec::EMPTY
};

fn get(cx: &mut Cx<'_, Cells>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    match cx.app().0.get(&args[0]) {
        Some(value) => reply.bulk(value),
        None => reply.null(),
    }
    Ok(())
}

/// A key of any length, which is copied.
#[derive(Args)]
#[args(readonly, fast, constant)]
struct AnyKey {
    #[arg(key)]
    key: Bytes,
}

/// A key of eight bytes, which takes no allocation.
#[derive(Args)]
#[args(readonly, fast, constant)]
struct ShortKey {
    #[arg(key)]
    key: [u8; 8],
}

fn main() {
    let mut args = std::env::args().skip(1);
    let name = args.next().unwrap_or_else(|| "row".to_owned());
    let calls = args.next().and_then(|calls| calls.parse().ok());
    let calls: usize = calls.unwrap_or(1000);
    let cells = HashMap::from([(Box::from(*b"key:0001"), Bytes::from_static(b"value"))]);
    let router = Router::new(Cells(cells))
        .add(Row {
            spec: &GET,
            run: get,
        })
        .command("bytes", |cx, any: AnyKey| {
            cx.app().0.get(&any.key[..]).cloned()
        })
        .command("array", |cx, short: ShortKey| {
            cx.app().0.get(&short.key[..]).cloned()
        });
    let now = Now::new(Duration::ZERO, Duration::ZERO);
    let engine = Engine::new(router, Options::default(), now);
    let Some(mut session) = engine.connect(Peer::default(), Box::new(NoWake), now) else {
        return;
    };
    let mut request = Vec::new();
    resp_codec::command(&mut request, &[name.as_bytes(), b"key:0001"]);
    let pipeline = request.repeat(100);
    let mut out = Output::new();
    for _ in 0..calls / 100 {
        let _ = session.serve(&pipeline, now, &mut out);
        assert_eq!(out.len(), 100 * b"$5\r\nvalue\r\n".len());
        out.advance(out.len());
    }
}
