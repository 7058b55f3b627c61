//! Codecs for tokio-util: [`ServerCodec`] decodes requests and encodes replies, [`ClientCodec`]
//! does the opposite.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio_util::codec;

use crate::args::{Args, Span};
use crate::command::CommandDecoder;
use crate::encode::{self, Proto};
use crate::error::Error;
use crate::frame::{FrameDecoder, OwnedFrame};
use crate::limits::Limits;
use crate::step::Step;
use crate::value::Value;
use crate::write::command;

/// The most bytes reserved ahead of an announced payload.
const RESERVE_MAX: usize = 1024 * 1024;

/// The reason why a connection ended.
///
/// ```
/// use bytes::BytesMut;
/// use resp_codec::{ClientCodec, CodecError, ErrorKind, Limits};
/// use tokio_util::codec::Decoder;
/// let error = ClientCodec::new(Limits::CLIENT).decode(&mut BytesMut::from("#x\r\n")).unwrap_err();
/// let CodecError::Protocol(error) = error else { panic!("no I/O here") };
/// assert_eq!((error.kind, error.offset), (ErrorKind::InvalidBoolean, 1));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum CodecError {
    /// The connection failed.
    Io(io::Error),
    /// The peer violated the protocol; the offset counts from the first byte of the request or
    /// reply with the error.
    Protocol(Error),
}

impl From<io::Error> for CodecError {
    fn from(error: io::Error) -> Self {
        CodecError::Io(error)
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CodecError::Io(error) => error.fmt(f),
            CodecError::Protocol(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for CodecError {}

/// A request that owns its bytes: two allocations, for any number of arguments.
///
/// ```
/// # use bytes::BytesMut;
/// # use resp_codec::{Limits, ServerCodec};
/// # use tokio_util::codec::Decoder;
/// # let mut codec = ServerCodec::new(Limits::SERVER);
/// let command = codec.decode(&mut BytesMut::from("GET key\r\n")).unwrap().unwrap();
/// // It outlives the buffer, and can be sent to another task.
/// let name = std::thread::spawn(move || command.args()[0].to_vec()).join().unwrap();
/// assert_eq!(name, b"GET");
/// ```
#[derive(Clone)]
pub struct OwnedCommand {
    bytes: Bytes,
    scratch: Box<[u8]>,
    spans: Box<[Span]>,
}

impl OwnedCommand {
    /// The arguments, the command's name first.
    ///
    /// ```
    /// # use bytes::BytesMut;
    /// # use resp_codec::{Limits, ServerCodec};
    /// # use tokio_util::codec::Decoder;
    /// # let mut codec = ServerCodec::new(Limits::SERVER);
    /// let command = codec.decode(&mut BytesMut::from("GET key\r\n")).unwrap().unwrap();
    /// assert_eq!(command.args().iter().collect::<Vec<_>>(), [b"GET", b"key"]);
    /// ```
    pub fn args(&self) -> Args<'_> {
        Args::new(&self.bytes, &self.scratch, &self.spans)
    }

    /// The command's name as sent; it may be empty.
    ///
    /// ```
    /// # use bytes::BytesMut;
    /// # use resp_codec::{Limits, ServerCodec};
    /// # use tokio_util::codec::Decoder;
    /// # let mut codec = ServerCodec::new(Limits::SERVER);
    /// let command = codec.decode(&mut BytesMut::from("gEt key\r\n")).unwrap().unwrap();
    /// assert!(command.name().eq_ignore_ascii_case(b"get"));
    /// ```
    #[inline]
    pub fn name(&self) -> &[u8] {
        self.args().resolve(self.spans[0])
    }

    /// The argument at `index`, sharing the request's buffer; an unescaped inline argument is
    /// copied.
    ///
    /// ```
    /// # use bytes::BytesMut;
    /// # use resp_codec::{Limits, ServerCodec};
    /// # use tokio_util::codec::Decoder;
    /// # let mut codec = ServerCodec::new(Limits::SERVER);
    /// let command = codec.decode(&mut BytesMut::from("GET key\r\n")).unwrap().unwrap();
    /// let key = command.share(1).unwrap();
    /// assert_eq!(key, "key");
    /// assert_eq!(key.as_ptr(), command.args()[1].as_ptr(), "no copy");
    /// ```
    pub fn share(&self, index: usize) -> Option<Bytes> {
        let span = self.spans.get(index)?;
        let arg = self.args().resolve(*span);
        Some(if span.is_scratch() {
            Bytes::copy_from_slice(arg)
        } else {
            self.bytes.slice_ref(arg)
        })
    }

    /// The bytes of the request exactly as they were sent.
    ///
    /// ```
    /// # use bytes::BytesMut;
    /// # use resp_codec::{Limits, ServerCodec};
    /// # use tokio_util::codec::Decoder;
    /// # let mut codec = ServerCodec::new(Limits::SERVER);
    /// let command = codec.decode(&mut BytesMut::from("\r\nGET key\r\nPI")).unwrap().unwrap();
    /// assert_eq!(command.wire(), "GET key\r\n");
    /// ```
    pub const fn wire(&self) -> &Bytes {
        &self.bytes
    }
}

impl fmt::Debug for OwnedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OwnedCommand").field(&self.args()).finish()
    }
}

/// The server's codec: decodes requests, encodes [`Value`]s as replies.
///
/// ```
/// use bytes::BytesMut;
/// use resp_codec::{Limits, Proto, ServerCodec, Value};
/// use tokio_util::codec::{Decoder, Encoder};
/// let mut codec = ServerCodec::new(Limits::SERVER);
/// let mut input = BytesMut::from("*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n");
/// let command = codec.decode(&mut input).unwrap().unwrap();
/// assert_eq!(&command.args()[1], b"hi");
/// let mut output = BytesMut::new();
/// codec.encode(Value::Bulk(command.args()[1].to_vec()), &mut output).unwrap();
/// assert_eq!(output, "$2\r\nhi\r\n");
/// ```
#[derive(Debug)]
pub struct ServerCodec {
    decoder: CommandDecoder,
    proto: Proto,
}

impl ServerCodec {
    /// A codec at the start of a connection; it encodes RESP2.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use resp_codec::{Limits, ServerCodec, Value};
    /// use tokio_util::codec::Encoder;
    /// let mut output = BytesMut::new();
    /// ServerCodec::new(Limits::SERVER).encode(Value::NULL, &mut output).unwrap();
    /// assert_eq!(output, "$-1\r\n");
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self {
            decoder: CommandDecoder::new(limits),
            proto: Proto::Resp2,
        }
    }

    /// Writes replies in `proto` from now on, for example after `HELLO`.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use resp_codec::{Limits, Proto, ServerCodec, Value};
    /// use tokio_util::codec::Encoder;
    /// let mut codec = ServerCodec::new(Limits::SERVER);
    /// codec.set_proto(Proto::Resp3);
    /// let mut output = BytesMut::new();
    /// codec.encode(Value::NULL, &mut output).unwrap();
    /// assert_eq!(output, "_\r\n");
    /// ```
    pub const fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
    }

    /// Changes the limits, for example after `AUTH`.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use resp_codec::{Limits, ServerCodec};
    /// use tokio_util::codec::Decoder;
    /// let mut codec = ServerCodec::new(Limits::UNAUTHENTICATED);
    /// // The password was right.
    /// codec.set_limits(Limits::SERVER);
    /// assert!(codec.decode(&mut BytesMut::from("*11\r\n")).unwrap().is_none());
    /// ```
    pub const fn set_limits(&mut self, limits: Limits) {
        self.decoder.set_limits(limits);
    }
}

impl codec::Decoder for ServerCodec {
    type Item = OwnedCommand;
    type Error = CodecError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<OwnedCommand>, CodecError> {
        let (spans, scratch, len, consumed) =
            match self.decoder.decode(src).map_err(CodecError::Protocol)? {
                Step::Ready { item, consumed } => (
                    item.spans().into(),
                    item.scratch().into(),
                    item.wire().len(),
                    consumed,
                ),
                Step::NeedMore { consumed, hint } => {
                    src.advance(consumed);
                    src.reserve(hint.min(RESERVE_MAX));
                    return Ok(None);
                }
            };
        let mut bytes = src.split_to(consumed).freeze();
        // Empty requests preceded this one.
        bytes.advance(consumed - len);
        Ok(Some(OwnedCommand {
            bytes,
            scratch,
            spans,
        }))
    }
}

impl codec::Encoder<Value> for ServerCodec {
    type Error = CodecError;

    fn encode(&mut self, reply: Value, dst: &mut BytesMut) -> Result<(), CodecError> {
        codec::Encoder::encode(self, &reply, dst)
    }
}

impl codec::Encoder<&Value> for ServerCodec {
    type Error = CodecError;

    fn encode(&mut self, reply: &Value, dst: &mut BytesMut) -> Result<(), CodecError> {
        reply.encode(&mut encode::Encoder::new(dst, self.proto));
        Ok(())
    }
}

/// The client's codec: decodes replies and pushes, encodes requests.
///
/// A request is a list of arguments, the command's name first: an array, a slice, a `Vec` or a
/// reference to one, of `&str`, `String`, `Bytes`, `Vec<u8>` or anything else that is
/// `AsRef<[u8]>`. A server does not answer an empty list.
///
/// # Pushes are decoded as well
/// Each item is either the reply to the oldest request without one, or a push, which answers no
/// request: check [`Frame::is_push`](crate::Frame::is_push) first. Under RESP3 the server confirms
/// `SUBSCRIBE`, `PSUBSCRIBE`, `SSUBSCRIBE` and their opposites only by pushes, one per channel. A
/// client that skips pushes while it waits for the reply to `SUBSCRIBE` waits forever.
///
/// ```
/// use bytes::BytesMut;
/// use resp_codec::{ClientCodec, Limits};
/// use tokio_util::codec::{Decoder, Encoder};
/// let mut codec = ClientCodec::new(Limits::CLIENT);
/// let mut output = BytesMut::new();
/// codec.encode(["GET", "key"], &mut output).unwrap();
/// assert_eq!(output, "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n");
/// let mut input = BytesMut::from("$2\r\nhi\r\n");
/// let reply = codec.decode(&mut input).unwrap().unwrap();
/// assert_eq!(reply.frame().str(), Some("hi"));
/// ```
#[derive(Debug)]
pub struct ClientCodec {
    decoder: FrameDecoder,
}

impl ClientCodec {
    /// A codec at the start of a connection.
    ///
    /// ```
    /// use bytes::BytesMut;
    /// use resp_codec::{ClientCodec, Limits};
    /// use tokio_util::codec::Decoder;
    /// let mut codec = ClientCodec::new(Limits::CLIENT);
    /// let reply = codec.decode(&mut BytesMut::from(":42\r\n")).unwrap().unwrap();
    /// assert_eq!(reply.frame().int(), Some(42));
    /// ```
    pub const fn new(limits: Limits) -> Self {
        Self {
            decoder: FrameDecoder::new(limits),
        }
    }
}

impl codec::Decoder for ClientCodec {
    type Item = OwnedFrame;
    type Error = CodecError;

    fn decode(&mut self, src: &mut BytesMut) -> Result<Option<OwnedFrame>, CodecError> {
        let consumed = match self.decoder.decode(src).map_err(CodecError::Protocol)? {
            Step::Ready { consumed, .. } => consumed,
            Step::NeedMore { consumed, hint } => {
                src.advance(consumed);
                src.reserve(hint.min(RESERVE_MAX));
                return Ok(None);
            }
        };
        let bytes = src.split_to(consumed).freeze();
        let frame = self.decoder.last(&bytes);
        Ok(Some(OwnedFrame::new(frame, &bytes)))
    }
}

impl<A, const N: usize> codec::Encoder<[A; N]> for ClientCodec
where
    A: AsRef<[u8]>,
{
    type Error = CodecError;

    fn encode(&mut self, args: [A; N], dst: &mut BytesMut) -> Result<(), CodecError> {
        command(dst, &args);
        Ok(())
    }
}

impl<A, const N: usize> codec::Encoder<&[A; N]> for ClientCodec
where
    A: AsRef<[u8]>,
{
    type Error = CodecError;

    fn encode(&mut self, args: &[A; N], dst: &mut BytesMut) -> Result<(), CodecError> {
        command(dst, args);
        Ok(())
    }
}

impl<A> codec::Encoder<&[A]> for ClientCodec
where
    A: AsRef<[u8]>,
{
    type Error = CodecError;

    fn encode(&mut self, args: &[A], dst: &mut BytesMut) -> Result<(), CodecError> {
        command(dst, args);
        Ok(())
    }
}

impl<A> codec::Encoder<Vec<A>> for ClientCodec
where
    A: AsRef<[u8]>,
{
    type Error = CodecError;

    fn encode(&mut self, args: Vec<A>, dst: &mut BytesMut) -> Result<(), CodecError> {
        command(dst, &args);
        Ok(())
    }
}

impl<A> codec::Encoder<&Vec<A>> for ClientCodec
where
    A: AsRef<[u8]>,
{
    type Error = CodecError;

    fn encode(&mut self, args: &Vec<A>, dst: &mut BytesMut) -> Result<(), CodecError> {
        command(dst, args);
        Ok(())
    }
}
