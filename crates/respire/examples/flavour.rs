//! One set of commands on either server. Choose the server
//!
//! * by feature, where a build has only one: `cargo run --example flavour --no-default-features
//!   --features mio`;
//! * by argument, where it has both: `cargo run --example flavour tokio` or `.. flavour mio`.
//!
//! ```console
//! $ redis-cli -p 7000 FLAVOUR
//! "mio"
//! ```

use respire::serve::{self, Flavour, Shutdown};
use respire::{App, NoKeys, Router};
use std::env;
use std::io::{Error, ErrorKind};

/// The service: its flavour.
pub struct Served(Flavour);

impl App for Served {
    type Conn = ();
    type Keys = NoKeys;
}

/// A router with the command.
pub fn router(flavour: Flavour) -> Router<Served> {
    Router::new(Served(flavour)).command("FLAVOUR", |cx, ()| cx.app().0.name())
}

/// The flavour of this name; without a name, the first of this build.
pub fn chosen(name: Option<&str>) -> Option<Flavour> {
    let Some(name) = name else {
        return Some(Flavour::default());
    };
    Flavour::ALL
        .iter()
        .copied()
        .find(|flavour| flavour.name() == name)
}

fn main() -> std::io::Result<()> {
    let Some(flavour) = chosen(env::args().nth(1).as_deref()) else {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "this build has no such flavour",
        ));
    };
    serve::on(
        flavour,
        router(flavour),
        "127.0.0.1:7000",
        Shutdown::on_signals()?,
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flavour_is_found_by_its_name() {
        for flavour in Flavour::ALL {
            assert_eq!(chosen(Some(flavour.name())), Some(*flavour));
            assert_eq!(router(*flavour).client().call("FLAVOUR"), flavour.name());
        }
        assert_eq!(chosen(None), Some(Flavour::ALL[0]));
        assert_eq!(chosen(Some("libuv")), None);
    }
}
