//! A typed command that Lua scripts call with `redis.call`: `PRICE.NET cents country` computes a net
//! price, and a script books it together with the stock of the article, as one atomic step.
//!
//! With the text of [`SELL`] in a variable:
//!
//! ```console
//! $ cargo run --example typed_commands_in_lua
//! $ redis-cli -p 7000 SET stock:lamp 1
//! OK
//! $ redis-cli -p 7000 EVAL "$SELL" 2 stock:lamp takings 1190 DE
//! (integer) 1000
//! $ redis-cli -p 7000 EVAL "$SELL" 2 stock:lamp takings 1190 DE
//! (error) SOLDOUT none left
//! ```

use respire::commands::{Kv, add_to};
use respire::serve::{self, Flavour, Shutdown};
use respire::store::{Config, Store};
use respire::{Args, Error, Router, script};

/// Computes a price without its tax.
#[derive(Args)]
#[args(readonly, fast)]
pub struct Net {
    #[arg(min = 1, max = 1_000_000_000)]
    cents: u64,
    country: String,
}

impl Net {
    fn cents(&self) -> Result<u64, Error> {
        let percent = match &*self.country {
            "DE" => 19,
            "FR" => 20,
            _ => return Err(Error::new("NOTAX", format_args!("for {}", self.country))),
        };
        Ok(self.cents * 100 / (100 + percent))
    }
}

/// Sells one article: takes it from its stock and adds its net price to the takings. Others see both or
/// neither.
pub const SELL: &str = "\
-- If the command refuses the country, nothing is sold.
local net = redis.call('PRICE.NET', ARGV[1], ARGV[2])
local left = redis.call('GET', KEYS[1])
if not left or tonumber(left) == 0 then
  return redis.error_reply('SOLDOUT none left')
end
redis.call('DECR', KEYS[1])
redis.call('INCRBY', KEYS[2], net)
return net";

/// A router with the commands.
pub fn router() -> Router<Kv> {
    let kv = Kv::new(Store::new(Config::default()));
    let router = add_to(Router::new(kv)).command("PRICE.NET", |_, net: Net| net.cents());
    script::add_to(router)
}

fn main() -> std::io::Result<()> {
    let shutdown = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{SELL, router, script};

    #[test]
    fn script_calls_the_command_and_the_commands_on_keys() {
        let mut client = router().client();
        client.call("SET stock:lamp 2");
        let sell = |country| ["EVAL", SELL, "2", "stock:lamp", "takings", "1190", country];
        assert_eq!(client.call(sell("DE")), 1000);
        let refused = client.call(sell("XX"));
        assert!(refused.error().starts_with("NOTAX for XX"), "{refused:?}");
        assert_eq!(
            client.call("MGET stock:lamp takings").at(0),
            "1",
            "nothing was sold"
        );
        assert_eq!(client.call(sell("DE")), 1000);
        assert_eq!(client.call(sell("DE")).error(), "SOLDOUT none left");
        assert_eq!(client.call("GET takings"), "2000");
    }

    #[test]
    fn script_has_no_mistakes() {
        let client = router().client();
        assert_eq!(script::check(client.engine(), SELL.as_bytes()), []);
    }
}
