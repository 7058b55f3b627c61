//! As much HTTP as a scrape needs: one request, one answer, everything bounded.

use super::CONTENT_TYPE;
use crate::clock;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// What a peer may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The length of a request up to the blank line.
    pub(super) head_bytes_max: usize,
    /// From the first byte that is waited for to the last that is written.
    pub(super) exchange: Duration,
}

impl Bounds {
    pub(super) const DEFAULT: Self = Self {
        head_bytes_max: 8 << 10,
        exchange: Duration::from_secs(5),
    };
}

/// More headers than any scraper sends.
const HEADERS_MAX: usize = 64;

/// What is read and thrown away after the answer, so that closing does not take it back.
const LINGER_BYTES_MAX: usize = 64 << 10;

/// An answer's first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ok,
    BadRequest,
    NotFound,
    MethodNotAllowed,
    Timeout,
    HeadTooLarge,
    Busy,
}

impl Status {
    fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::MethodNotAllowed => "405 Method Not Allowed",
            Self::Timeout => "408 Request Timeout",
            Self::HeadTooLarge => "431 Request Header Fields Too Large",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// Reads one request and answers it; `body` is what `GET /metrics` gets.
pub(super) fn answer(
    peer: &TcpStream,
    bounds: &Bounds,
    body: impl FnOnce() -> String,
) -> io::Result<()> {
    let mut exchange = Exchange::new(peer, bounds.exchange);
    let status = match exchange.read_head(bounds.head_bytes_max) {
        Ok(status) => status,
        Err(error) if is_timeout(&error) => {
            exchange = Exchange::new(peer, Duration::from_secs(1));
            Status::Timeout
        }
        Err(error) => return Err(error),
    };
    let text = if status == Status::Ok {
        message(status, &body())
    } else {
        message(status, &format!("{}\n", status.line()))
    };
    exchange.write(text.as_bytes())?;
    exchange.linger()
}

/// Tells a peer there is no room for that there is none, as far as it takes it at once.
pub(super) fn send_away(peer: &TcpStream) {
    let text = message(Status::Busy, "too many scrapes at once\n");
    let _ = peer.set_nonblocking(true);
    let _ = (&*peer).write(text.as_bytes());
    let _ = peer.shutdown(Shutdown::Write);
    // A request that has arrived already must not make TCP drop the answer.
    let _ = (&*peer).read(&mut [0; 512]);
}

fn message(status: Status, body: &str) -> String {
    let (line, length) = (status.line(), body.len());
    let kind = if status == Status::Ok {
        CONTENT_TYPE
    } else {
        "text/plain; charset=utf-8"
    };
    let allow = if status == Status::MethodNotAllowed {
        "Allow: GET\r\n"
    } else {
        ""
    };
    format!(
        "HTTP/1.1 {line}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{allow}\
         Connection: close\r\n\r\n{body}"
    )
}

/// What a request is answered with, once its head is complete.
fn route(head: &[u8]) -> Option<Status> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(head) {
        Ok(httparse::Status::Partial) => return None,
        Ok(httparse::Status::Complete(_)) => {}
        Err(httparse::Error::TooManyHeaders) => return Some(Status::HeadTooLarge),
        Err(_) => return Some(Status::BadRequest),
    }
    let path = request.path.unwrap_or_default().split('?').next();
    Some(if path != Some("/metrics") {
        Status::NotFound
    } else if request.method != Some("GET") {
        Status::MethodNotAllowed
    } else {
        Status::Ok
    })
}

/// A peer, and until when it has to be done.
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

    fn read_head(&self, bytes_max: usize) -> io::Result<Status> {
        let mut head = vec![0; bytes_max];
        let mut length = 0;
        loop {
            let read = self.read(&mut head[length..])?;
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            length += read;
            if let Some(status) = route(&head[..length]) {
                return Ok(status);
            }
            if length == bytes_max {
                return Ok(Status::HeadTooLarge);
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

    /// Ends our side and waits, within the bounds, for the peer to end its own.
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

    /// What a peer that sends these pieces is answered.
    fn ask(bounds: Bounds, pieces: &[&[u8]]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        thread::scope(|scope| {
            scope.spawn(|| {
                let (peer, _) = listener.accept().expect("the peer connects");
                answer(&peer, &bounds, || "numbers\n".to_owned()).expect("the peer stays");
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
    fn metrics_are_answered_however_the_request_is_cut() {
        let request = b"GET /metrics?name=x HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
        let whole = ask(Bounds::DEFAULT, &[request]);
        let lines: Vec<_> = whole.split("\r\n").collect();
        assert_eq!(
            lines,
            [
                "HTTP/1.1 200 OK",
                &format!("Content-Type: {CONTENT_TYPE}"),
                "Content-Length: 8",
                "Connection: close",
                "",
                "numbers\n"
            ]
        );
        let pieces: Vec<_> = request.chunks(1).collect();
        assert_eq!(ask(Bounds::DEFAULT, &pieces), whole);
    }

    #[test]
    fn other_requests_are_refused() {
        let many = "A: b\r\n".repeat(HEADERS_MAX + 1);
        for (head, status) in [
            ("GET / HTTP/1.1\r\n\r\n", Some(Status::NotFound)),
            ("GET /metrics/ HTTP/1.1\r\n\r\n", Some(Status::NotFound)),
            ("GET /METRICS HTTP/1.1\r\n\r\n", Some(Status::NotFound)),
            ("POST / HTTP/1.1\r\n\r\n", Some(Status::NotFound)),
            (
                "POST /metrics HTTP/1.1\r\n\r\n",
                Some(Status::MethodNotAllowed),
            ),
            (
                "HEAD /metrics HTTP/1.0\r\n\r\n",
                Some(Status::MethodNotAllowed),
            ),
            ("GET /metrics HTTP/1.0\r\n\r\n", Some(Status::Ok)),
            ("GET /metrics\r\n\r\n", Some(Status::BadRequest)),
            ("*1\r\n$4\r\nPING\r\n", Some(Status::BadRequest)),
            ("GET /metrics HTTP/1.1\r\nHost: a\r\n", None),
            ("", None),
        ] {
            assert_eq!(route(head.as_bytes()), status, "{head}");
        }
        let head = format!("GET /metrics HTTP/1.1\r\n{many}\r\n");
        assert_eq!(route(head.as_bytes()), Some(Status::HeadTooLarge));
        let refused = ask(Bounds::DEFAULT, &[b"PUT /metrics HTTP/1.1\r\n\r\n"]);
        assert!(refused.contains("\r\nAllow: GET\r\n"), "{refused}");
    }

    #[test]
    fn a_head_ends_within_its_bound() {
        let bounds = Bounds {
            head_bytes_max: 64,
            ..Bounds::DEFAULT
        };
        let head = |length: usize| {
            let head = "GET /metrics HTTP/1.1\r\nA: ";
            format!("{head}{}\r\n\r\n", "a".repeat(length - head.len() - 4))
        };
        assert!(ask(bounds, &[head(64).as_bytes()]).starts_with("HTTP/1.1 200 "));
        assert!(ask(bounds, &[head(65).as_bytes()]).starts_with("HTTP/1.1 431 "));
    }

    #[test]
    fn a_peer_that_does_not_finish_is_told_so() {
        let bounds = Bounds {
            exchange: Duration::from_millis(20),
            ..Bounds::DEFAULT
        };
        assert!(ask(bounds, &[b"GET /metr"]).starts_with("HTTP/1.1 408 "));
    }
}
