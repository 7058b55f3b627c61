//! A proxy that counts commands: `count_proxy 127.0.0.1:7000 127.0.0.1:6379`.
//!
//! Bytes are forwarded unchanged; the codec only watches, and needs no buffer beyond one request.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;

use resp_codec::{CommandDecoder, Limits, Step};

static COUNTS: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

fn main() -> io::Result<()> {
    let mut args = std::env::args().skip(1);
    let listen = args.next().unwrap_or_else(|| "127.0.0.1:7000".into());
    let server = args.next().unwrap_or_else(|| "127.0.0.1:6379".into());
    for client in TcpListener::bind(listen)?.incoming() {
        let (client, server) = (client?, TcpStream::connect(&server)?);
        let (mut replies, mut back) = (server.try_clone()?, client.try_clone()?);
        thread::spawn(move || io::copy(&mut replies, &mut back));
        thread::spawn(move || pass(client, server));
    }
    Ok(())
}

/// Forwards requests until the client is done, and counts them by name.
fn pass(mut client: TcpStream, mut server: TcpStream) -> io::Result<()> {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    let (mut buffer, mut chunk) = (Vec::new(), [0; 16 * 1024]);
    loop {
        let len = client.read(&mut chunk)?;
        if len == 0 {
            return server.shutdown(std::net::Shutdown::Write);
        }
        server.write_all(&chunk[..len])?;
        buffer.extend_from_slice(&chunk[..len]);
        let mut done = 0;
        loop {
            match decoder.decode(&buffer[done..]).map_err(io::Error::other)? {
                Step::Ready { item, consumed } => {
                    let name = String::from_utf8_lossy(item.name()).to_uppercase();
                    let mut counts = COUNTS
                        .lock()
                        .unwrap_or_else(|poisoned| poisoned.into_inner());
                    *counts.entry(name).or_default() += 1;
                    done += consumed;
                    writeln!(io::stdout(), "{counts:?}")?;
                }
                Step::NeedMore { consumed, .. } => {
                    done += consumed;
                    break;
                }
            }
        }
        buffer.drain(..done);
    }
}
