//! `BENCH payload times`: returns the payload, repeated. `respire-bench-docs http` measures this
//! command.
//!
//! ```console
//! $ cargo run --release --example bench_command tokio
//! $ redis-cli -p 7000 BENCH ab 3
//! "ababab"
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Error, NoKeys, Router};

/// The most bytes of a reply. Never trust the size that a client asks for.
pub const REPLY_BYTES_MAX: usize = 1 << 20;

/// Returns the payload, repeated the given number of times.
#[derive(Args)]
#[args(readonly, complexity = "O(N) with N the length of the reply")]
pub struct Bench {
    /// The payload to repeat.
    pub payload: Bytes,
    /// How often to repeat it.
    pub times: u32,
}

impl Bench {
    /// The payload, repeated.
    ///
    /// # Errors
    /// When the reply would be longer than [`REPLY_BYTES_MAX`].
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

/// Calls share no state.
pub struct Stateless;

impl App for Stateless {
    type Conn = ();
    type Keys = NoKeys;
}

/// A router with the command.
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
