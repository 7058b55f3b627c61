//! `BENCH payload times`: the payload, so many times. `respire-bench-docs http` measures this very command.
//!
//! ```console
//! $ cargo run --release --example bench_command tokio
//! $ redis-cli -p 7000 BENCH ab 3
//! "ababab"
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Error, NoKeys, Router};

/// A reply has at most so many bytes: what is asked for is never trusted.
pub const REPLY_BYTES_MAX: usize = 1 << 20;

/// Returns the payload, so many times.
#[derive(Args)]
#[args(readonly, complexity = "O(N) with N the length of the reply")]
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
        let times = self.times as usize;
        match self.payload.len().checked_mul(times) {
            Some(0..=REPLY_BYTES_MAX) => Ok(self.payload.repeat(times).into()),
            _ => Err(Error::new(
                "TOOLONG",
                format_args!("a reply has at most {REPLY_BYTES_MAX} bytes"),
            )),
        }
    }
}

/// Calls share nothing.
pub struct Stateless;

impl App for Stateless {
    type Conn = ();
    type Keys = NoKeys;
}

/// The command on a router.
pub fn router() -> Router<Stateless> {
    Router::new(Stateless).command("BENCH", |_, bench: Bench| bench.reply())
}

fn main() -> std::io::Result<()> {
    let name = std::env::args().nth(1);
    let flavour = Flavour::ALL
        .iter()
        .find(|flavour| Some(flavour.name()) == name.as_deref());
    let flavour = flavour.copied().unwrap_or_default();
    serve::on(flavour, router(), "127.0.0.1:7000", Shutdown::on_signals()?)?;
    Ok(())
}
