//! Addresses of servers, how to connect and log in, and a blocking client for requests before and
//! after a load.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use std::{fmt, mem};

use resp_codec::binary::{ReplyDecoder, write_call};
use resp_codec::{FrameDecoder, Limits, Step, Value, command};

use crate::error::{Error, Result};
use crate::workload::Protocol;

/// How long to wait for a connection, and for each reply of the blocking client.
const PATIENCE: Duration = Duration::from_secs(5);

/// The address of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// TCP.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
    /// A Unix socket.
    Unix(PathBuf),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    /// `HOST:PORT`, `[IPV6]:PORT` or `unix:PATH`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        let parts = text.rsplit_once(':');
        let tcp = parts.and_then(|(host, port)| {
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let port = port.parse().ok()?;
            (!host.is_empty()).then(|| Self::Tcp {
                host: host.to_owned(),
                port,
            })
        });
        tcp.ok_or_else(|| format!("{text:?} is neither HOST:PORT nor unix:PATH"))
    }
}

/// How a connection logs in before its load.
#[derive(Clone, Debug, Default)]
pub struct Login {
    /// User of `AUTH`.
    pub user: Option<String>,
    /// Password of `AUTH`; without it no `AUTH` is sent.
    pub password: Option<String>,
    /// Database of `SELECT`; 0 is not sent.
    pub database: u32,
    /// `HELLO 3` with [`Protocol::Resp3`].
    pub protocol: Protocol,
}

/// A blocking connection.
#[derive(Debug)]
pub enum Socket {
    /// TCP, with `TCP_NODELAY`.
    Tcp(TcpStream),
    /// Unix.
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
}

impl Socket {
    /// # Errors
    /// [`Error::Io`] with the address.
    pub fn connect(target: &Target) -> Result<Self> {
        let what = || Error::io(format!("connect to {target}"));
        match target {
            Target::Tcp { host, port } => {
                let addresses = (host.as_str(), *port).to_socket_addrs().map_err(what())?;
                let mut last = io::Error::new(io::ErrorKind::NotFound, "no address of that name");
                for address in addresses {
                    match TcpStream::connect_timeout(&address, PATIENCE) {
                        Ok(stream) => {
                            stream.set_nodelay(true).map_err(what())?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(what()(last))
            }
            #[cfg(unix)]
            Target::Unix(path) => std::os::unix::net::UnixStream::connect(path)
                .map(Self::Unix)
                .map_err(what()),
            #[cfg(not(unix))]
            Target::Unix(_) => Err(Error::flag("--unixsocket", "this system has none")),
        }
    }

    /// Makes reads and writes fail after this time without progress.
    ///
    /// # Errors
    /// When the system refuses it.
    pub fn set_patience(&self, patience: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => {
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))
            }
            #[cfg(unix)]
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(patience))?;
                stream.set_write_timeout(Some(patience))
            }
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buf),
            #[cfg(unix)]
            Self::Unix(stream) => stream.read(buf),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buf),
            #[cfg(unix)]
            Self::Unix(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Decoder {
    Resp(Box<FrameDecoder>),
    Binary(Box<ReplyDecoder>),
}

/// A blocking client: one request, one reply.
pub struct Client {
    socket: Socket,
    server: String,
    decoder: Decoder,
    input: Vec<u8>,
}

impl Client {
    /// Connects and logs in.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Server`] if the login is refused.
    pub fn connect(target: &Target, login: &Login) -> Result<Self> {
        let socket = Socket::connect(target)?;
        let server = target.to_string();
        socket
            .set_patience(PATIENCE)
            .map_err(Error::io(format!("timeouts of {server}")))?;
        let decoder = match login.protocol {
            Protocol::Binary => Decoder::Binary(Box::new(ReplyDecoder::new(Limits::CLIENT))),
            _ => Decoder::Resp(Box::new(FrameDecoder::new(Limits::CLIENT))),
        };
        let mut client = Self {
            socket,
            server,
            decoder,
            input: Vec::new(),
        };
        client.login(login)?;
        Ok(client)
    }

    fn login(&mut self, login: &Login) -> Result<()> {
        if let Some(password) = &login.password {
            let user = login.user.as_deref();
            let words: Vec<&str> = ["AUTH"]
                .into_iter()
                .chain(user)
                .chain([&**password])
                .collect();
            self.must("--password", &words)?;
        }
        if login.protocol == Protocol::Resp3 {
            self.must("--protocol resp3", &["HELLO", "3"])?;
        }
        if login.database > 0 {
            self.must("--db", &["SELECT", &login.database.to_string()])?;
        }
        Ok(())
    }

    fn must(&mut self, flag: &str, words: &[&str]) -> Result<Value> {
        let reply = self.call(words)?;
        if reply.is_error() {
            let text = reply.as_str().unwrap_or("an error").to_owned();
            let reason = format!("{flag}: {} was refused: {text}", words[0]);
            return Err(Error::server(&self.server, reason));
        }
        Ok(reply)
    }

    /// Sends a command and reads its reply, which may be an error reply.
    ///
    /// # Errors
    /// [`Error::Io`] if no reply arrives in time, [`Error::Server`] if the bytes are not a reply.
    pub fn call(&mut self, words: &[&str]) -> Result<Value> {
        let mut request = Vec::new();
        match self.decoder {
            Decoder::Resp(_) => command(&mut request, words),
            Decoder::Binary(_) => write_call(&mut request, words),
        }
        let what = format!("{} to {}", words[0], self.server);
        let what = || Error::io(what.clone());
        self.socket.write_all(&request).map_err(what())?;
        let mut room = vec![0; 16 * 1024];
        loop {
            match self.socket.read(&mut room).map_err(what())? {
                0 => {
                    let reason = format!("closed the connection on {}", words[0]);
                    return Err(Error::server(&self.server, reason));
                }
                n => self.input.extend_from_slice(&room[..n]),
            }
            if let Some(reply) = self.reply()? {
                return Ok(reply);
            }
        }
    }

    fn reply(&mut self) -> Result<Option<Value>> {
        let step = match &mut self.decoder {
            Decoder::Resp(decoder) => decoder.decode(&self.input),
            Decoder::Binary(decoder) => decoder.decode(&self.input),
        };
        let step = step.map_err(|e| Error::server(&self.server, format!("not a reply: {e}")))?;
        Ok(match step {
            Step::NeedMore { .. } => None,
            Step::Ready { item, consumed } => {
                let value = item.to_value();
                self.input.drain(..consumed);
                Some(value)
            }
        })
    }

    /// One line of `INFO`, such as `process_id`.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn info(&mut self, section: &str, field: &str) -> Result<Option<String>> {
        let reply = self.call(&["INFO", section])?;
        let text = reply.without_attributes().as_str().unwrap_or_default();
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
        Ok(line.map(|line| line.trim().to_owned()))
    }

    /// The connection, for use by a load.
    ///
    /// # Errors
    /// [`Error::Server`] if the server sent more than it was asked for.
    pub fn into_socket(mut self) -> Result<Socket> {
        if mem::take(&mut self.input).is_empty() {
            Ok(self.socket)
        } else {
            Err(Error::server(&self.server, "replies beyond the login's"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_is_printed_as_it_was_parsed() {
        for text in ["localhost:6379", "[::1]:7000", "unix:/run/redis.sock"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for bad in ["localhost", ":1", "host:70000", ""] {
            assert!(bad.parse::<Target>().is_err(), "{bad}");
        }
    }
}
