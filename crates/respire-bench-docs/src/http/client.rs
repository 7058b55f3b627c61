//! The clients of the comparison: each has one connection, makes calls and compares every reply
//! with the expected one.

use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use resp_codec::{FrameDecoder, Limits, Step};
use serde::Serialize;
use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use super::call::{Call, JsonReply, PATH};
use super::counted::Counted;

/// An error on a connection: the system's error, or a description of a wrong reply.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The ways to make calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// RESP, written and read with `resp-codec`.
    Resp,
    /// HTTP/1.1 with hyper: GET with query parameters, the reply is text.
    Get,
    /// HTTP/1.1 with hyper: POST, request and reply are JSON.
    Post,
    /// The bytes of the GET request are prepared; of the reply only the length is parsed and the
    /// body compared.
    ReplayedGet,
    /// The same with the POST request.
    ReplayedPost,
}

/// One connection.
pub(super) enum Link {
    Plain(Box<Plain>),
    Hyper(Hyper),
}

impl Link {
    pub(super) async fn new(
        client: Client,
        stream: Counted,
        call: Arc<Call>,
    ) -> Result<Self, Failure> {
        Ok(match client {
            Client::Resp => Self::Plain(Box::new(Plain::resp(stream, call))),
            Client::ReplayedGet => Self::Plain(Box::new(Plain::get(stream, &call))),
            Client::ReplayedPost => Self::Plain(Box::new(Plain::post(stream, &call))),
            Client::Get => Self::Hyper(Hyper::new(stream, call, false).await?),
            Client::Post => Self::Hyper(Hyper::new(stream, call, true).await?),
        })
    }

    /// Makes `count` calls and waits until at least one is answered; returns how many are.
    pub(super) async fn exchange(&mut self, count: usize) -> Result<usize, Failure> {
        match self {
            Self::Plain(link) => link.exchange(count).await,
            Self::Hyper(link) => {
                for _ in 0..count {
                    link.call().await?;
                }
                Ok(count)
            }
        }
    }
}

/// A connection that writes and reads raw bytes.
pub(super) struct Plain {
    stream: Counted,
    speech: Protocol,
    out: Vec<u8>,
    written: usize,
    input: Vec<u8>,
    start: usize,
    end: usize,
}

/// The protocol of a plain connection.
enum Protocol {
    Resp {
        call: Arc<Call>,
        decoder: FrameDecoder,
        reply: String,
    },
    Replayed {
        request: Vec<u8>,
        body: Vec<u8>,
    },
}

/// Room for replies; a reply that does not fit is wrong.
const INPUT_BYTES_MIN: usize = 64 * 1024;
const HEAD_BYTES_MAX: usize = 4 * 1024;
const HEADERS_MAX: usize = 32;

impl Plain {
    fn new(stream: Counted, speech: Protocol, reply: usize) -> Self {
        Self {
            stream,
            speech,
            out: Vec::new(),
            written: 0,
            input: vec![0; INPUT_BYTES_MIN.max(reply + HEAD_BYTES_MAX)],
            start: 0,
            end: 0,
        }
    }

    fn resp(stream: Counted, call: Arc<Call>) -> Self {
        let reply = call.reply();
        let length = reply.len();
        let speech = Protocol::Resp {
            call,
            decoder: FrameDecoder::new(Limits::CLIENT),
            reply,
        };
        Self::new(stream, speech, length)
    }

    fn get(stream: Counted, call: &Call) -> Self {
        let request = format!("GET {} HTTP/1.1\r\nhost: localhost\r\n\r\n", call.query());
        Self::replayed(stream, request.into_bytes(), call.reply().into_bytes())
    }

    fn post(stream: Counted, call: &Call) -> Self {
        let json = call.json();
        let length = json.len();
        let head = format!(
            "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n"
        );
        Self::replayed(
            stream,
            [head.as_bytes(), &json[..]].concat(),
            call.json_reply(),
        )
    }

    fn replayed(stream: Counted, request: Vec<u8>, body: Vec<u8>) -> Self {
        let length = body.len();
        Self::new(stream, Protocol::Replayed { request, body }, length)
    }

    async fn exchange(&mut self, count: usize) -> Result<usize, Failure> {
        for _ in 0..count {
            self.speech.write(&mut self.out);
        }
        loop {
            poll_fn(|cx| self.poll_move(cx)).await?;
            let answered = self.answered()?;
            if answered > 0 {
                return Ok(answered);
            }
        }
    }

    /// Writes pending bytes as far as possible, and reads once. Reading each time avoids a deadlock
    /// with a peer that stops reading while its replies wait.
    fn poll_move(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.written < self.out.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out[self.written..])? {
                Poll::Ready(count) => self.written += count,
                Poll::Pending => break,
            }
        }
        if self.written == self.out.len() {
            self.out.clear();
            self.written = 0;
        }
        let mut room = ReadBuf::new(&mut self.input[self.end..]);
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room))?;
        match room.filled().len() {
            0 => Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
            count => {
                self.end += count;
                Poll::Ready(Ok(()))
            }
        }
    }

    /// The number of whole replies read; an error if one is wrong.
    fn answered(&mut self) -> Result<usize, Failure> {
        let mut count = 0;
        while let Some(length) = self.speech.read(&self.input[self.start..self.end])? {
            self.start += length;
            count += 1;
        }
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.end == self.input.len() {
            if self.start == 0 {
                return Err(wrong(&self.input));
            }
            self.input.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        Ok(count)
    }
}

impl Protocol {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Resp { call, .. } => call.write_resp(out),
            Self::Replayed { request, .. } => out.extend_from_slice(request),
        }
    }

    /// The length of the first reply; `None` if it is incomplete.
    fn read(&mut self, input: &[u8]) -> Result<Option<usize>, Failure> {
        if input.is_empty() {
            return Ok(None);
        }
        match self {
            Self::Resp { decoder, reply, .. } => match decoder.decode(input)? {
                Step::NeedMore { .. } => Ok(None),
                Step::Ready { item, consumed } if item.bytes() == Some(reply.as_bytes()) => {
                    Ok(Some(consumed))
                }
                Step::Ready { consumed, .. } => Err(wrong(&input[..consumed])),
            },
            Self::Replayed { body, .. } => {
                let Some((head, length)) = head(input)? else {
                    return Ok(None);
                };
                match input.get(head..head + length) {
                    None => Ok(None),
                    Some(own) if own == body => Ok(Some(head + length)),
                    Some(_) => Err(wrong(input)),
                }
            }
        }
    }
}

/// Lengths of the head and the body of an HTTP reply; `None` if the head is incomplete.
fn head(input: &[u8]) -> Result<Option<(usize, usize)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = response.parse(input)? else {
        return Ok(None);
    };
    let mut length = response.headers.iter();
    let length = length.find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| str::from_utf8(header.value).ok()?.parse().ok());
    match (response.code, length) {
        (Some(200), Some(length)) if length < input.len().max(1 << 30) => Ok(Some((head, length))),
        _ => Err(wrong(input)),
    }
}

/// HTTP through hyper, as Rust programs use it.
pub(super) struct Hyper {
    sender: SendRequest<Full<Bytes>>,
    call: Arc<Call>,
    reply: String,
    is_json: bool,
    host: HeaderValue,
}

impl Hyper {
    async fn new(stream: Counted, call: Arc<Call>, is_json: bool) -> Result<Self, Failure> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // The connection task ends with the sender, which also reports its errors.
        tokio::spawn(async move { drop(connection.await) });
        Ok(Self {
            sender,
            reply: call.reply(),
            call,
            is_json,
            host: HeaderValue::from_static("localhost"),
        })
    }

    async fn call(&mut self) -> Result<(), Failure> {
        let request = if self.is_json {
            Request::post(PATH)
                .header(HOST, &self.host)
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(Full::new(self.call.json()))
        } else {
            Request::get(self.call.query())
                .header(HOST, &self.host)
                .body(Full::default())
        };
        self.sender.ready().await?;
        let response = self.sender.send_request(request?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        let right = match (status, self.is_json) {
            (StatusCode::OK, false) => body == self.reply.as_bytes(),
            (StatusCode::OK, true) => {
                serde_json::from_slice::<JsonReply<String>>(&body)?.reply == self.reply
            }
            _ => false,
        };
        right.then_some(()).ok_or_else(|| wrong(&body))
    }
}

/// An error for a wrong reply.
fn wrong(reply: &[u8]) -> Failure {
    /// The error shows this much of the reply.
    const SHOWN_BYTES: usize = 120;
    let shown = &reply[..reply.len().min(SHOWN_BYTES)];
    let text: &dyn fmt::Display = &shown.escape_ascii();
    format!("wrong reply: {text}").into()
}
