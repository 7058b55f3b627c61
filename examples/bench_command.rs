//! `BENCH payload times`: the payload, so many times. What `respire-bench http` measures.
//!
//! ```console
//! $ cargo run --release --example bench_command tokio
//! $ redis-cli -p 7000 BENCH ab 3
//! "ababab"
//! ```

use bytes::Bytes;
use respire::engine::{App, ArgIter, ArgList, Arity, Cx, Error, Reply, Router, Row, Spec};
use respire::serve::{self, Flavour, Shutdown};

/// A reply has at most so many bytes: what is asked for is never trusted.
pub const REPLY_BYTES_MAX: usize = 1 << 20;

/// The arguments.
pub struct Bench {
    /// What is repeated.
    pub payload: Bytes,
    /// How many times.
    pub times: u32,
}

impl Bench {
    /// The payload, so many times.
    ///
    /// # Errors
    /// Where that is longer than [`REPLY_BYTES_MAX`].
    pub fn reply(&self) -> Result<Bytes, Error> {
        let length = self.payload.len().checked_mul(self.times as usize);
        match length {
            Some(length) if length <= REPLY_BYTES_MAX => {
                Ok(self.payload.repeat(self.times as usize).into())
            }
            _ => Err(Error::fixed(
                "ERR the reply would have more than 1048576 bytes",
            )),
        }
    }
}

/// Calls share nothing.
pub struct Stateless;

impl App for Stateless {
    type Conn = ();
}

static BENCH: Spec = Spec {
    name: "bench",
    arity: Arity::exactly(3),
    summary: "Returns the payload, so many times.",
    ..Spec::EMPTY
};

fn bench(_: &mut Cx<'_, Stateless>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let mut args = ArgIter::new(args);
    let payload = args.required("payload")?;
    let times: i64 = args.required("times")?;
    let times = u32::try_from(times).map_err(|_| respire::engine::text::NOT_AN_INTEGER)?;
    reply.bulk_shared(Bench { payload, times }.reply()?);
    Ok(())
}

/// The command on a router.
pub fn router() -> Router<Stateless> {
    Router::new(Stateless).add(Row {
        spec: &BENCH,
        run: bench,
    })
}

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1);
    let flavour = Flavour::ALL
        .iter()
        .find(|f| Some(f.name()) == name.as_deref());
    let flavour = flavour.copied().unwrap_or_default();
    serve::on(flavour, router(), "127.0.0.1:7000", Shutdown::on_signals()?)?;
    Ok(())
}
