//! Reads one HTTP request and writes its response.

use super::request::Request;
use crate::clock;
use respire_engine::Bytes;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// The limits of one exchange.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The length of a request up to the blank line.
    pub head_bytes_max: usize,
    /// The time from waiting for the first byte to writing the last.
    pub exchange: Duration,
}

impl Bounds {
    /// 8 KiB and 5 seconds.
    pub const DEFAULT: Self = Self {
        head_bytes_max: 8 << 10,
        exchange: Duration::from_secs(5),
    };
}

/// More headers than any client sends.
const HEADERS_MAX: usize = 64;

/// The most bytes read and thrown away after the response, so that closing does not drop it.
const LINGER_BYTES_MAX: usize = 64 << 10;

/// The status of a refused request: the first line of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// 400: the bytes are not an HTTP request.
    BadRequest,
    /// 403: the request comes from a host or page that may not ask.
    Forbidden,
    /// 404: nothing exists at this path.
    NotFound,
    /// 405: only `GET` and `HEAD` are allowed.
    MethodNotAllowed,
    /// 408: the request was not complete in time.
    Timeout,
    /// 431: the head is longer than its limit.
    HeadTooLarge,
    /// 503: too many exchanges are running.
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::BadRequest => "400 Bad Request",
            Self::Forbidden => "403 Forbidden",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Timeout => "408 Request Timeout",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// The response to a request.
pub enum Answer {
    /// No more than the status.
    Refused(Status),
    /// A document.
    Document {
        /// Headers besides its length, as whole lines.
        headers: String,
        /// The bytes after the headers.
        body: Bytes,
    },
    /// A response of unknown length, written as a stream.
    Stream {
        /// Headers, as whole lines.
        headers: String,
        /// Writes the stream after the headers; [`Bounds::exchange`] no longer applies.
        write: Box<dyn FnOnce(&TcpStream)>,
    },
}

/// Reads one request and responds with the answer of `route`.
pub(super) fn answer(
    peer: &TcpStream,
    bounds: &Bounds,
    route: impl Fn(&Request<'_>) -> Answer,
) -> io::Result<()> {
    let mut exchange = Exchange::new(peer, bounds.exchange);
    let Response { answer, is_head } = match exchange.read_head(bounds.head_bytes_max, route) {
        Ok(response) => response,
        Err(error) if is_timeout(&error) => {
            exchange = Exchange::new(peer, Duration::from_secs(1));
            Response::refused(Status::Timeout)
        }
        Err(error) => return Err(error),
    };
    match answer {
        Answer::Refused(status) => exchange.write(refusal(status, is_head).as_bytes())?,
        Answer::Document { headers, body } => {
            let length = body.len();
            let head = format!("Content-Length: {length}\r\n{headers}");
            exchange.write(ok(&head).as_bytes())?;
            if !is_head {
                exchange.write(&body)?;
            }
        }
        Answer::Stream { headers, write } => {
            exchange.write(ok(&headers).as_bytes())?;
            if !is_head {
                write(peer);
            }
            // The stream may have taken any time; only the closing of the connection is left.
            exchange = Exchange::new(peer, Duration::from_secs(1));
        }
    }
    exchange.linger()
}

/// Tells a peer that the listener is busy, as far as its socket takes the response at once.
pub(super) fn refuse_busy(peer: &TcpStream) {
    let _ = peer.set_nonblocking(true);
    let _ = (&*peer).write(refusal(Status::Busy, false).as_bytes());
    let _ = peer.shutdown(Shutdown::Write);
    // Read a request that has arrived already, or TCP drops the response.
    let _ = (&*peer).read(&mut [0; 512]);
}

fn ok(headers: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{headers}Connection: close\r\n\r\n")
}

fn refusal(status: Status, is_head: bool) -> String {
    let line = status.line();
    let length = line.len() + 1;
    let allow = if status == Status::MethodNotAllowed {
        "Allow: GET, HEAD\r\n"
    } else {
        ""
    };
    let mut text = format!(
        "HTTP/1.1 {line}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\n{allow}Connection: close\r\n\r\n"
    );
    if !is_head {
        text += line;
        text.push('\n');
    }
    text
}

/// The response to a request.
struct Response {
    answer: Answer,
    /// Whether to send only the head of the response.
    is_head: bool,
}

impl Response {
    fn refused(status: Status) -> Self {
        Self {
            answer: Answer::Refused(status),
            is_head: false,
        }
    }
}

/// The response to a request; `None` while its head is incomplete. `HEAD` gets the response to
/// `GET` without the body, so routes need not know it.
fn respond(head: &[u8], route: impl FnOnce(&Request<'_>) -> Answer) -> Option<Response> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    let refused = match request.parse(head) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {
            let method = request.method.unwrap_or_default();
            let path = request.path.unwrap_or_default();
            let is_head = method == "HEAD";
            let headers = request.headers.iter();
            let headers: Vec<_> = headers.map(|header| (header.name, header.value)).collect();
            let answer = route(&Request {
                method: if is_head { "GET" } else { method },
                path: path.split_once('?').map_or(path, |(path, _)| path),
                headers: &headers,
            });
            return Some(Response { answer, is_head });
        }
        Err(httparse::Error::TooManyHeaders) => Status::HeadTooLarge,
        Err(_) => Status::BadRequest,
    };
    Some(Response::refused(refused))
}

/// An exchange with a peer, with its deadline.
struct Exchange<'p> {
    peer: &'p TcpStream,
    due_us: u64,
}

impl<'p> Exchange<'p> {
    fn new(peer: &'p TcpStream, time: Duration) -> Self {
        let due_us = clock::now().after(time).monotonic_us();
        Self { peer, due_us }
    }

    fn left(&self) -> io::Result<Duration> {
        let left = clock::until(self.due_us, clock::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.peer.set_read_timeout(Some(self.left()?))?;
        (&*self.peer).read(buffer)
    }

    fn read_head(
        &self,
        bytes_max: usize,
        route: impl Fn(&Request<'_>) -> Answer,
    ) -> io::Result<Response> {
        let mut head = vec![0; bytes_max];
        let mut length = 0;
        loop {
            let read = self.read(&mut head[length..])?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            length += read;
            if let Some(asked) = respond(&head[..length], &route) {
                return Ok(asked);
            }
            if length == bytes_max {
                return Ok(Response::refused(Status::HeadTooLarge));
            }
        }
    }

    fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.peer.set_write_timeout(Some(self.left()?))?;
            let written = (&*self.peer).write(bytes)?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// Shuts down our side and waits, within limits, for the peer to close its side.
    fn linger(&self) -> io::Result<()> {
        self.peer.shutdown(Shutdown::Write)?;
        let mut buffer = [0; 1024];
        let mut dropped = 0;
        while dropped < LINGER_BYTES_MAX {
            match self.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => dropped += read,
                Err(error) if is_timeout(&error) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn route(request: &Request<'_>) -> Answer {
        match (request.path, request.method) {
            ("/numbers", "GET") => Answer::Document {
                headers: "Content-Type: text/plain\r\n".to_owned(),
                body: Bytes::from_static(b"numbers\n"),
            },
            ("/numbers", _) => Answer::Refused(Status::MethodNotAllowed),
            _ => Answer::Refused(Status::NotFound),
        }
    }

    /// The response to a peer that sends these pieces.
    fn ask(bounds: Bounds, pieces: &[&[u8]]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::scope(|scope| {
            scope.spawn(|| {
                let (peer, _) = listener.accept().expect("the peer connects");
                answer(&peer, &bounds, route).expect("the peer stays");
            });
            let mut peer = TcpStream::connect(address).expect("it listens");
            for piece in pieces {
                peer.write_all(piece).expect("it reads");
            }
            let mut answer = String::new();
            peer.read_to_string(&mut answer)
                .expect("it answers and ends");
            answer
        })
    }

    #[test]
    fn request_is_answered_however_it_is_split() {
        let request = b"GET /numbers HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
        let whole = ask(Bounds::DEFAULT, &[request]);
        let lines: Vec<_> = whole.split("\r\n").collect();
        assert_eq!(
            lines,
            [
                "HTTP/1.1 200 OK",
                "Content-Length: 8",
                "Content-Type: text/plain",
                "Connection: close",
                "",
                "numbers\n"
            ]
        );
        let pieces: Vec<_> = request.chunks(1).collect();
        assert_eq!(ask(Bounds::DEFAULT, &pieces), whole);
    }

    #[test]
    fn path_ends_before_its_query() {
        let whole = ask(Bounds::DEFAULT, &[b"GET /numbers?name=x HTTP/1.1\r\n\r\n"]);
        assert!(whole.ends_with("\r\n\r\nnumbers\n"), "{whole}");
    }

    #[test]
    fn head_gets_the_response_to_get_without_the_body() {
        for path in ["/numbers", "/else"] {
            let of = |method: &str| {
                let request = format!("{method} {path} HTTP/1.1\r\n\r\n");
                ask(Bounds::DEFAULT, &[request.as_bytes()])
            };
            let whole = of("GET");
            let end = whole.find("\r\n\r\n").expect("a head") + 4;
            assert!(end < whole.len(), "{whole}");
            assert_eq!(of("HEAD"), whole[..end]);
        }
    }

    #[test]
    fn invalid_requests_are_refused() {
        let many = format!("GET /numbers HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(65));
        for (head, line) in [
            ("GET /numbers\r\n\r\n", "400 Bad Request"),
            ("*1\r\n$4\r\nPING\r\n", "400 Bad Request"),
            ("GET /else HTTP/1.1\r\n\r\n", "404 Not Found"),
            (&many, "431 Request Header Fields Too Large"),
        ] {
            let answer = ask(Bounds::DEFAULT, &[head.as_bytes()]);
            assert!(answer.starts_with(&format!("HTTP/1.1 {line}\r\n")));
            assert!(answer.ends_with(&format!("\r\n\r\n{line}\n")), "{answer}");
        }
        let refused = ask(Bounds::DEFAULT, &[b"PUT /numbers HTTP/1.1\r\n\r\n"]);
        assert!(refused.starts_with("HTTP/1.1 405 "), "{refused}");
        assert!(refused.contains("\r\nAllow: GET, HEAD\r\n"), "{refused}");
        for head in ["GET /numbers HTTP/1.1\r\nHost: a\r\n", ""] {
            assert!(respond(head.as_bytes(), route).is_none(), "{head}");
        }
    }

    #[test]
    fn head_above_its_limit_is_refused() {
        let bounds = Bounds {
            head_bytes_max: 64,
            ..Bounds::DEFAULT
        };
        let head = |length: usize| {
            let head = "GET /numbers HTTP/1.1\r\nA: ";
            format!("{head}{}\r\n\r\n", "a".repeat(length - head.len() - 4))
        };
        assert!(ask(bounds, &[head(64).as_bytes()]).starts_with("HTTP/1.1 200 "));
        assert!(ask(bounds, &[head(65).as_bytes()]).starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn unfinished_request_times_out() {
        let bounds = Bounds {
            exchange: Duration::from_millis(20),
            ..Bounds::DEFAULT
        };
        assert!(ask(bounds, &[b"GET /numb"]).starts_with("HTTP/1.1 408 "));
    }
}
