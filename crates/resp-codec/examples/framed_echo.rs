//! An echo server on tokio-util's `Framed`: answers `ECHO text` and `PING`.
//!
//! Try it with `redis-cli -p 6380 echo hello`.

use futures::{SinkExt, StreamExt};
use resp_codec::{Limits, ServerCodec, Value};
use tokio::net::TcpListener;
use tokio_util::codec::Framed;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:6380").await?;
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut connection = Framed::new(stream, ServerCodec::new(Limits::SERVER));
            while let Some(Ok(command)) = connection.next().await {
                let args = command.args();
                let reply = match args[0].to_ascii_uppercase().as_slice() {
                    b"ECHO" if args.len() == 2 => Value::from(&args[1]),
                    b"PING" => Value::Simple(b"PONG".to_vec()),
                    _ => Value::Error(b"ERR only ECHO and PING are known".to_vec()),
                };
                if connection.send(reply).await.is_err() {
                    break;
                }
            }
        });
    }
}
