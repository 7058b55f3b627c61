//! `HELLO`, the command that selects the protocol of a connection.
//!
//! `HELLO [version [AUTH user password] [SETNAME name]]` is an ordinary command. Its reply is an
//! ordinary map, already in the new protocol: a flat array under RESP2. This module has both the
//! server's and the client's side, with Redis's texts.

use crate::args::Args;
use crate::encode::{Encoder, Proto};
use crate::frame::Frame;
use crate::number::parse_i64;
use crate::sink::Sink;
use crate::write::command;

/// The parsed arguments of a `HELLO`.
///
/// ```
/// use resp_codec::{CommandDecoder, Hello, Limits, Proto};
/// let mut decoder = CommandDecoder::new(Limits::SERVER);
/// let command = decoder.decode(b"HELLO 3 SETNAME app\r\n").unwrap().ready().unwrap();
/// let hello = Hello::parse(command.args()).unwrap();
/// assert_eq!((hello.proto, hello.auth, hello.name), (Some(Proto::Resp3), None, Some(&b"app"[..])));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Hello<'a> {
    /// The requested protocol, [`Proto::Resp2`] or [`Proto::Resp3`]; `None` to keep the current
    /// one.
    pub proto: Option<Proto>,
    /// User and password.
    pub auth: Option<(&'a [u8], &'a [u8])>,
    /// The connection's name; an empty name removes it.
    pub name: Option<&'a [u8]>,
}

/// The reason why a `HELLO` is refused. The connection stays open and keeps its protocol.
///
/// ```
/// use resp_codec::{CommandDecoder, Hello, HelloError, Limits};
/// let mut decoder = CommandDecoder::new(Limits::SERVER);
/// let command = decoder.decode(b"HELLO 4\r\n").unwrap().ready().unwrap();
/// assert_eq!(Hello::parse(command.args()), Err(HelloError::Unsupported));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HelloError<'a> {
    /// The version is not a canonical integer.
    NotAnInteger,
    /// The version is neither 2 nor 3.
    Unsupported,
    /// This option is unknown, or its arguments are missing.
    Option(&'a [u8]),
    /// The name contains a blank or a byte that is not printable ASCII.
    Name,
}

impl<'a> Hello<'a> {
    /// Parses the arguments of a `HELLO`, its name first.
    ///
    /// ```
    /// use resp_codec::{CommandDecoder, Hello, Limits, Proto};
    /// let mut decoder = CommandDecoder::new(Limits::SERVER);
    /// let command = decoder.decode(b"HELLO 2 AUTH default secret\r\n").unwrap().ready().unwrap();
    /// let hello = Hello::parse(command.args()).unwrap();
    /// assert_eq!(hello.proto, Some(Proto::Resp2));
    /// assert_eq!(hello.auth, Some((&b"default"[..], &b"secret"[..])));
    /// ```
    ///
    /// # Errors
    /// The first error, checked in the order of Redis.
    // spec: commands/hello
    pub fn parse(args: Args<'a>) -> Result<Self, HelloError<'a>> {
        let mut args = args.skip(1).iter();
        let mut hello = Hello::default();
        if let Some(version) = args.next() {
            hello.proto = Some(match parse_i64(version).ok_or(HelloError::NotAnInteger)? {
                2 => Proto::Resp2,
                3 => Proto::Resp3,
                _ => return Err(HelloError::Unsupported),
            });
        }
        while let Some(option) = args.next() {
            if option.eq_ignore_ascii_case(b"AUTH") && args.len() >= 2 {
                hello.auth = args.next().zip(args.next());
            } else if option.eq_ignore_ascii_case(b"SETNAME") && args.len() >= 1 {
                hello.name = args.next();
                if hello
                    .name
                    .is_some_and(|name| !name.iter().all(u8::is_ascii_graphic))
                {
                    return Err(HelloError::Name);
                }
            } else {
                return Err(HelloError::Option(option));
            }
        }
        Ok(hello)
    }

    /// Appends the command as a client sends it.
    ///
    /// ```
    /// use resp_codec::{Hello, Proto};
    /// let mut out = Vec::new();
    /// Hello { proto: Some(Proto::Resp3), auth: Some((b"u", b"p")), name: None }.write(&mut out);
    /// assert_eq!(out, b"*5\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n");
    /// ```
    pub fn write(&self, out: &mut impl Sink) {
        let version = match self.proto {
            Some(Proto::Resp2) => &b"2"[..],
            Some(_) => b"3",
            // The options are only valid after a version.
            None if self.auth.is_none() && self.name.is_none() => return command(out, &["HELLO"]),
            None => b"2",
        };
        let mut args: [&[u8]; 7] = [b"HELLO", version, b"", b"", b"", b"", b""];
        let mut len = 2;
        if let Some((user, password)) = self.auth {
            args[len..len + 3].copy_from_slice(&[b"AUTH", user, password]);
            len += 3;
        }
        if let Some(name) = self.name {
            args[len..len + 2].copy_from_slice(&[b"SETNAME", name]);
            len += 2;
        }
        command(out, &args[..len]);
    }
}

impl HelloError<'_> {
    /// Writes Redis's error reply.
    ///
    /// ```
    /// use resp_codec::{Encoder, HelloError, Proto};
    /// let mut out = Vec::new();
    /// HelloError::Option(b"X").reply(&mut Encoder::new(&mut out, Proto::Resp2));
    /// assert_eq!(out, b"-ERR Syntax error in HELLO option 'X'\r\n");
    /// ```
    pub fn reply<S: Sink>(self, encoder: &mut Encoder<'_, S>) {
        match self {
            HelloError::NotAnInteger => {
                encoder.error("ERR Protocol version is not an integer or out of range");
            }
            HelloError::Unsupported => encoder.error("NOPROTO unsupported protocol version"),
            HelloError::Option(option) => {
                encoder.error_parts(&[b"ERR Syntax error in HELLO option '", option, b"'"]);
            }
            HelloError::Name => encoder
                .error("ERR Client names cannot contain spaces, newlines or special characters."),
        }
    }
}

/// A server's reply to `HELLO`.
///
/// ```
/// use resp_codec::{Encoder, FrameDecoder, Limits, Proto, ServerHello};
/// let info = ServerHello { server: b"respire", version: b"1.0.0", proto: 3, id: 7, mode: b"standalone", role: b"master" };
/// for proto in [Proto::Resp2, Proto::Resp3] {
///     let mut wire = Vec::new();
///     info.reply(&mut Encoder::new(&mut wire, proto));
///     let mut decoder = FrameDecoder::new(Limits::CLIENT);
///     let frame = decoder.decode(&wire).unwrap().ready().unwrap();
///     assert_eq!(ServerHello::read(frame), Some(info));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerHello<'a> {
    /// The name of the product.
    pub server: &'a [u8],
    /// The version of the product.
    pub version: &'a [u8],
    /// The protocol from now on, 2 or 3.
    pub proto: i64,
    /// The connection's number.
    pub id: i64,
    /// `standalone`, `cluster` or `sentinel`.
    pub mode: &'a [u8],
    /// `master` or `replica`.
    pub role: &'a [u8],
}

impl<'a> ServerHello<'a> {
    /// Writes the reply: seven pairs in Redis's order, the last of which is an empty list of
    /// modules.
    ///
    /// ```
    /// use resp_codec::{Encoder, Proto, ServerHello};
    /// let info = ServerHello { server: b"redis", version: b"7.2.0", proto: 3, id: 5, mode: b"standalone", role: b"master" };
    /// let mut out = Vec::new();
    /// info.reply(&mut Encoder::new(&mut out, Proto::Resp3));
    /// assert!(out.starts_with(b"%7\r\n$6\r\nserver\r\n$5\r\nredis\r\n"));
    /// ```
    pub fn reply<S: Sink>(&self, encoder: &mut Encoder<'_, S>) {
        encoder.map(7);
        for (field, text) in [("server", self.server), ("version", self.version)] {
            encoder.bulk(field);
            encoder.bulk(text);
        }
        for (field, number) in [("proto", self.proto), ("id", self.id)] {
            encoder.bulk(field);
            encoder.int(number);
        }
        for (field, text) in [("mode", self.mode), ("role", self.role)] {
            encoder.bulk(field);
            encoder.bulk(text);
        }
        encoder.bulk("modules");
        encoder.array(0);
    }

    /// Reads the reply, in either protocol. `None` if it is an error, or if the protocol version is
    /// missing.
    ///
    /// A server without `HELLO` replies with an error (`-ERR unknown command`) and speaks RESP2.
    ///
    /// ```
    /// use resp_codec::{FrameDecoder, Limits, ServerHello};
    /// let mut decoder = FrameDecoder::new(Limits::CLIENT);
    /// let frame = decoder.decode(b"%2\r\n$6\r\nserver\r\n$6\r\nvalkey\r\n$5\r\nproto\r\n:3\r\n").unwrap().ready().unwrap();
    /// let hello = ServerHello::read(frame).unwrap();
    /// assert_eq!((hello.server, hello.proto), (&b"valkey"[..], 3));
    /// let refused = decoder.decode(b"-ERR unknown command\r\n").unwrap().ready().unwrap();
    /// assert_eq!(ServerHello::read(refused), None, "this server speaks RESP2");
    /// ```
    pub fn read(frame: Frame<'_, 'a>) -> Option<Self> {
        let mut info = ServerHello {
            server: b"",
            version: b"",
            proto: 0,
            id: 0,
            mode: b"",
            role: b"",
        };
        let mut parts = frame.children();
        while let (Some(field), Some(value)) = (parts.next(), parts.next()) {
            let text = || value.bytes().unwrap_or_default();
            match field.bytes()? {
                b"server" => info.server = text(),
                b"version" => info.version = text(),
                b"proto" => info.proto = value.int()?,
                b"id" => info.id = value.int()?,
                b"mode" => info.mode = text(),
                b"role" => info.role = text(),
                _ => {}
            }
        }
        (info.proto != 0).then_some(info)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;
    use std::string::String;

    use super::*;
    use crate::{CommandDecoder, Limits};

    fn reply(line: &str) -> String {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let command = decoder.decode(line.as_bytes()).unwrap().ready().unwrap();
        let mut out = Vec::new();
        let mut encoder = Encoder::new(&mut out, Proto::Resp2);
        match Hello::parse(command.args()) {
            Ok(_) => encoder.ok(),
            Err(error) => error.reply(&mut encoder),
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hello_is_accepted_with_options_in_any_order() {
        for line in [
            "HELLO\n",
            "HELLO 2\n",
            "hello 3 auth u p setname n\n",
            "HELLO 3 SETNAME n AUTH u p\n",
        ] {
            assert_eq!(reply(line), "+OK\r\n", "{line}");
        }
        assert_eq!(reply("HELLO 3 SETNAME \"\"\n"), "+OK\r\n");
    }

    #[test]
    fn hello_error_replies_match_redis() {
        let number = "-ERR Protocol version is not an integer or out of range\r\n";
        let version = "-NOPROTO unsupported protocol version\r\n";
        let name = "-ERR Client names cannot contain spaces, newlines or special characters.\r\n";
        for (line, expected) in [
            ("HELLO abc\n", number),
            ("HELLO 03\n", number),
            ("HELLO 1\n", version),
            ("HELLO 4\n", version),
            (
                "HELLO 3 AUTH u\n",
                "-ERR Syntax error in HELLO option 'AUTH'\r\n",
            ),
            (
                "HELLO 3 \"x\\ny\"\n",
                "-ERR Syntax error in HELLO option 'x y'\r\n",
            ),
            ("HELLO 3 SETNAME \"a b\"\n", name),
        ] {
            assert_eq!(reply(line), expected, "{line}");
        }
    }

    #[test]
    fn written_hello_parses_back() {
        for hello in [
            Hello::default(),
            Hello {
                proto: Some(Proto::Resp2),
                ..Hello::default()
            },
            Hello {
                proto: Some(Proto::Resp3),
                auth: Some((b"u", b"")),
                name: Some(b"n"),
            },
        ] {
            let mut out = Vec::new();
            hello.write(&mut out);
            let mut decoder = CommandDecoder::new(Limits::SERVER);
            let command = decoder.decode(&out).unwrap().ready().unwrap();
            assert_eq!(Hello::parse(command.args()), Ok(hello));
        }
    }
}
