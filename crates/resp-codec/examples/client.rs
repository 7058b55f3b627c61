//! A Redis client over `std::net`: sends its arguments as a command and prints the reply.
//!
//! `cargo run --example client -- SET greeting hello`; the server is `$REDIS`, or 127.0.0.1:6379.
//!
//! `call` skips pushes, so do not use it for `SUBSCRIBE` after `HELLO 3`: the server confirms that
//! only by pushes.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use resp_codec::{FrameDecoder, Limits, Step, Value, command};

/// A connection: the bytes that were read and not decoded yet, and the decoder.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    decoder: FrameDecoder,
}

impl Client {
    fn call(&mut self, args: &[String]) -> io::Result<Value> {
        let mut request = Vec::new();
        command(&mut request, args);
        self.stream.write_all(&request)?;
        loop {
            match self
                .decoder
                .decode(&self.buffer)
                .map_err(io::Error::other)?
            {
                Step::Ready { item, consumed } => {
                    let reply = (!item.is_push()).then(|| item.to_value());
                    self.buffer.drain(..consumed);
                    if let Some(reply) = reply {
                        return Ok(reply);
                    }
                }
                Step::NeedMore { .. } => self.fill()?,
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut chunk = [0; 16 * 1024];
        match self.stream.read(&mut chunk)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            len => self.buffer.extend_from_slice(&chunk[..len]),
        }
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let address = std::env::var("REDIS").unwrap_or_else(|_| "127.0.0.1:6379".into());
    let stream = TcpStream::connect(address)?;
    let mut client = Client {
        stream,
        buffer: Vec::new(),
        decoder: FrameDecoder::new(Limits::CLIENT),
    };
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args = if args.is_empty() {
        vec!["PING".into()]
    } else {
        args
    };
    writeln!(io::stdout(), "{:?}", client.call(&args)?)
}
