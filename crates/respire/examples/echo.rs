//! The smallest server: one command, which repeats its argument and counts the calls of this
//! connection.
//!
//! ```console
//! $ cargo run --example echo
//! $ redis-cli -p 7000 SAY hello
//! 1) "hello"
//! 2) (integer) 1
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, Args, Bytes, NoKeys, Router};

/// No shared state, and a counter for each connection.
pub struct Echo;

impl App for Echo {
    type Conn = u64;
    type Keys = NoKeys;
}

/// Says it again.
#[derive(Args)]
#[args(fast)]
pub struct Say {
    what: Bytes,
}

/// A router with the command.
pub fn router() -> Router<Echo> {
    Router::new(Echo).command("SAY", |cx, say: Say| {
        *cx.conn() += 1;
        (say.what, *cx.conn())
    })
}

fn main() -> std::io::Result<()> {
    let shutdown = Shutdown::on_signals()?;
    serve::on(Flavour::default(), router(), "127.0.0.1:7000", shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::router;

    #[test]
    fn each_connection_has_its_own_count() {
        let mut client = router().client();
        assert_eq!(client.call("SAY hello").at(0), "hello");
        assert_eq!(client.call("say hello").at(1), 2);
        assert_eq!(client.connect().call("SAY hello").at(1), 1);
    }
}
