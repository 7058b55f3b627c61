//! All commands of the key-value server, an additional command, and a replacement for one of
//! Redis's.
//!
//! ```console
//! $ cargo run --example key_value
//! $ redis-cli -p 7000 MSET a 1 b 2
//! OK
//! $ redis-cli -p 7000 SIZES a b c
//! 1) "a"
//! 2) (integer) 1
//! 3) "b"
//! 4) (integer) 1
//! $ redis-cli -p 7000 KEYS '*'
//! (error) NOPERM use SCAN
//! ```

use respire::commands::{self, Kv, add_to};
use respire::serve::{self, Flavour, Shutdown};
use respire::store::{Config, EntryRef, Store};
use respire::{Args, Bytes, Error, Rest, Router};
use std::collections::BTreeMap;

/// Returns the lengths of the strings at these keys, leaving out those that are not there.
#[derive(Args)]
#[args(readonly, complexity = "O(N) with N the number of keys")]
pub struct Sizes {
    #[arg(key, at_least = 1)]
    keys: Rest<Bytes>,
}

/// Lists the keys, which takes as long as there are many.
#[derive(Args)]
pub struct Keys {
    #[expect(dead_code, reason = "what is asked for is refused, whatever it is")]
    pattern: Bytes,
}

/// A router with the commands.
pub fn router() -> Router<Kv> {
    let kv = Kv::new(Store::new(Config::default()));
    add_to(Router::new(kv))
        .command("SIZES", |cx, sizes: Sizes| {
            let mut view = commands::view(cx);
            let len = |entry: EntryRef<'_>| Some(entry.value().as_string()?.len());
            let sizes = sizes.keys.into_iter().filter_map(|key| {
                let size = view.read(&key, |entry| entry.and_then(len))?;
                Some((key, size))
            });
            sizes.collect::<BTreeMap<_, _>>()
        })
        .command("KEYS", |_, _: Keys| Error::fixed("NOPERM use SCAN"))
}

fn main() -> std::io::Result<()> {
    let shutdown = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn own_commands_work_beside_redis_commands() {
        let mut client = super::router().client();
        client.call("MSET a 1 b 22");
        assert_eq!(client.call("SIZES b a c").get("b"), 2);
        client.call("MULTI");
        client.call("SET a 333");
        client.call("SIZES a");
        assert_eq!(client.call("EXEC").at(1).get("a"), 3);
        assert_eq!(client.call("KEYS *").error(), "NOPERM use SCAN");
        assert_eq!(
            client
                .call("SCAN 0 COUNT 100")
                .at(1)
                .elements()
                .map(<[_]>::len),
            Some(2)
        );
    }
}
