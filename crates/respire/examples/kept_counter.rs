//! A command of one's own whose keys survive a restart: `HIT page` counts.
//!
//! ```console
//! $ redis-cli -p 7000 HIT index
//! (integer) 1
//! ```

use respire::commands::{self, Kv, add_to};
use respire::disk::{Failed, Values};
use respire::serve::{self, Flavour, Shutdown};
use respire::store::{Config, Expiry, Store};
use respire::{Args, Bytes, Router};

/// Counts a hit of a page.
#[derive(Args)]
#[args(write)]
pub struct Hit(#[arg(key)] Bytes);

/// A router with the command, beside Redis's.
pub fn router() -> Router<Kv> {
    let kv = Kv::new(Store::new(Config::default()));
    add_to(Router::new(kv)).command("HIT", |cx, Hit(page): Hit| {
        commands::view(cx).update(&page, |slot| {
            let count = slot.get().and_then(|it| it.value().as_string()?.to_int());
            let count = count.unwrap_or(0) + 1;
            slot.set(count, Expiry::Keep);
            count
        })
    })
}

fn main() -> Result<(), Failed> {
    let (flavour, shutdown) = (Flavour::default(), Shutdown::on_signals()?);
    let values = Values {
        appendonly: true,
        ..Values::default()
    };
    serve::kept(flavour, router(), "127.0.0.1:7000", values, shutdown)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader, Write};
    use std::{net::TcpStream, path::Path, thread};

    /// Serves the commands from this directory for one request, and returns its reply.
    fn hit(flavour: Flavour, dir: &Path) -> String {
        let (dir, appendonly, shutdown) = (dir.to_owned(), true, Shutdown::new());
        let values = Values {
            dir,
            appendonly,
            ..Values::default()
        };
        let server = serve::Kept::bind(flavour, router(), "127.0.0.1:0", values).unwrap();
        let mut socket = TcpStream::connect(server.addresses()[0]).unwrap();
        let mut replies = BufReader::new(socket.try_clone().unwrap()).lines();
        let stopper = shutdown.clone();
        let server = thread::spawn(move || server.serve(stopper));
        let reply = loop {
            socket.write_all(b"HIT index\r\n").unwrap();
            let reply = replies.next().unwrap().unwrap();
            if !reply.starts_with("-LOADING") {
                break reply;
            }
        };
        shutdown.request();
        server.join().unwrap().unwrap();
        reply
    }

    #[test]
    fn counts_survive_restarts_in_either_flavour() {
        let folder = tempfile::tempdir().unwrap();
        let flavours = Flavour::ALL.iter().cycle().take(4);
        let replies: Vec<_> = flavours.map(|it| hit(*it, folder.path())).collect();
        assert_eq!(replies, [":1", ":2", ":3", ":4"]);
    }
}
