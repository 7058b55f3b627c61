//! A rate limiter: `LIMIT.TAKE bucket n [BURST n]` takes tokens; one token per second is returned.
//!
//! ```console
//! $ redis-cli -3 -p 7000 LIMIT.TAKE mail 30
//! 1# "left" => (integer) 70
//! 2# "reset-ms" => (integer) 30000
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, Error, Map, NoKeys, Now, Router};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// For each bucket, the time when it is full again, in milliseconds.
#[derive(Default)]
pub struct Limiter(Mutex<HashMap<Bytes, u64>>);

impl App for Limiter {
    type Conn = ();
    type Keys = NoKeys;

    /// Housekeeping: removes full buckets.
    fn tick(&self, now: Now) -> Option<Duration> {
        let mut full_at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        full_at.retain(|_, at| *at > now.monotonic_us() / 1000);
        Some(Duration::from_secs(1))
    }
}

/// Takes tokens from a bucket.
#[derive(Args)]
#[args(write, fast)]
pub struct Take {
    #[arg(key)]
    bucket: Bytes,
    #[arg(min = 1, max = 1000)]
    n: u64,
    #[arg(word = "BURST", default = 100, min = 1, max = 1000)]
    burst: u64,
}

impl Limiter {
    fn take(&self, take: Take, now: Now) -> Result<Map, Error> {
        let mut full_at = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now_ms = now.monotonic_us() / 1000;
        let full_ms = full_at.get(&take.bucket).copied().unwrap_or_default();
        let reset_ms = full_ms.saturating_sub(now_ms) + take.n * 1000;
        let Some(left_ms) = (take.burst * 1000).checked_sub(reset_ms) else {
            let retry_ms = reset_ms - take.burst * 1000;
            return Err(Error::new("LIMITED", format_args!("retry-ms={retry_ms}")));
        };
        full_at.insert(take.bucket, now_ms + reset_ms);
        let left = left_ms / 1000;
        Ok(Map::new().with("left", left).with("reset-ms", reset_ms))
    }
}

/// A router with the command.
pub fn router() -> Router<Limiter> {
    let router = Router::new(Limiter::default());
    router.command("LIMIT.TAKE", |cx, take: Take| cx.app().take(take, cx.now()))
}

fn main() -> std::io::Result<()> {
    let shutdown = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_return_over_time() {
        let mut client = super::router().client().resp3();
        assert_eq!(client.call("LIMIT.TAKE mail 30").get("left"), 70);
        assert!(client.call("LIMIT.TAKE mail 80").is_error());
        client.advance(super::Duration::from_secs(10));
        assert_eq!(client.call("LIMIT.TAKE mail 80").get("left"), 0);
    }
}
