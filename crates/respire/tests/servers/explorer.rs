//! Tests of the explorer's listener beside a busy server.

use crate::harness::{Kind, Peer, Running, Setup, request};
use data_encoding::BASE64;
use respire::explorer::{ExplorerListener, ExplorerServer, Page};
use respire::net::tap::Tap;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A stand-in for the page, which needs more than Rust to be built.
const HTML: &str = "<!doctype html><html><head><meta http-equiv=\"Content-Security-Policy\" \
    content=\"default-src 'none'; connect-src 'none'\" /></head><body></body></html>";

fn page() -> Page {
    Page::new(HTML.to_owned()).unwrap()
}

/// A server, and an explorer that shows its traffic.
fn start(kind: Kind) -> (Running, ExplorerServer) {
    let (tap, ears) = Tap::new();
    let mut setup = Setup::new(kind);
    setup.tap = tap;
    let server = setup.start();
    let listener = ExplorerListener::bind("127.0.0.1:0").unwrap();
    let explorer = listener
        .serve_live(&page(), ears, Arc::clone(&server.engine), kind.name())
        .unwrap();
    (server, explorer)
}

/// Sends a request unchanged, and returns the connection.
fn ask(address: SocketAddr, head: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    write!(stream, "{head}\r\n\r\n").unwrap();
    BufReader::new(stream)
}

/// The first line of a response, and the rest.
fn answer(address: SocketAddr, head: &str) -> (String, String) {
    let mut text = String::new();
    ask(address, head).read_to_string(&mut text).unwrap();
    let (line, rest) = text.split_once("\r\n").unwrap();
    (line.to_owned(), rest.to_owned())
}

/// A viewer of the live view.
struct Viewer(BufReader<TcpStream>);

impl Viewer {
    fn new(address: SocketAddr) -> Self {
        let head = "GET /tap HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: same-origin";
        let mut stream = ask(address, head);
        let mut headers = String::new();
        while !headers.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut headers).unwrap(), 0, "{headers}");
        }
        assert!(headers.starts_with("HTTP/1.1 200 OK\r\n"), "{headers}");
        assert!(headers.contains("\r\nContent-Type: text/event-stream\r\n"));
        assert!(!headers.contains("Content-Length"), "{headers}");
        Self(stream)
    }

    /// The next event: its name and its data.
    fn next(&mut self) -> (String, Value) {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "it ended");
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.trim_end().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (name, serde_json::from_str(data).unwrap());
            }
        }
    }

    /// The next event, which must have this name.
    #[track_caller]
    fn expect(&mut self, name: &str) -> Value {
        let (found, data) = self.next();
        assert_eq!(found, name, "{data}");
        data
    }

    /// The next event, which must have these bytes of this connection.
    #[track_caller]
    fn expect_bytes(&mut self, id: u64, from: &str, bytes: &str) {
        let data = self.expect("bytes");
        let shown = BASE64.decode(data["base64"].as_str().unwrap().as_bytes());
        let shown = shown.unwrap().escape_ascii().to_string();
        assert_eq!(shown, bytes.as_bytes().escape_ascii().to_string());
        assert_eq!(data["id"], id);
        assert_eq!(data["from"], from);
        assert!(data["at_us"].as_u64().unwrap() > 1_600_000_000_000_000);
        assert_eq!(data["cuts"][0], bytes.len(), "one read, or one write");
    }
}

/// Sends a request and reads its reply, so that later events follow it.
fn exchange(peer: &mut Peer<TcpStream>, request: &[u8], reply: &str) {
    peer.send(request);
    peer.expect(reply);
}

pub(crate) fn traffic_is_shown_frame_by_frame(kind: Kind) {
    let (server, explorer) = start(kind);
    let mut early = server.connect();
    let early_id = 1;
    server.until("it is served", |engine| engine.clients().len() == 1);
    let mut viewer = Viewer::new(explorer.address());
    let hello = viewer.expect("hello");
    assert_eq!(hello["flavour"], kind.name());
    let open = viewer.expect("open");
    assert_eq!(open["id"], early_id);
    assert_eq!(open["peer"], early.stream.local_addr().unwrap().to_string());

    let set = request(&[b"SET", b"k", b"v"]);
    exchange(&mut early, &set, "+OK\r\n");
    viewer.expect_bytes(
        early_id,
        "client",
        "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n",
    );
    viewer.expect_bytes(early_id, "server", "+OK\r\n");
    exchange(&mut early, b"AUTH user secret\r\nGET k\r\n", "-");
    viewer.expect_bytes(early_id, "client", "AUTH user ******\r\nGET k\r\n");
    let refused = viewer.expect("bytes");
    assert_eq!(refused["from"], "server");

    let mut late = server.connect();
    let id = viewer.expect("open")["id"].as_u64().unwrap();
    late.send("SUBSCRIBE c\r\n");
    viewer.expect_bytes(id, "client", "SUBSCRIBE c\r\n");
    viewer.expect_bytes(id, "server", "*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
    early.send("PUBLISH c hi\r\n");
    viewer.expect_bytes(early_id, "client", "PUBLISH c hi\r\n");
    let told: Vec<_> = (0..2)
        .map(|_| viewer.expect("bytes")["id"].as_u64())
        .collect();
    assert!(
        told.contains(&Some(id)) && told.contains(&Some(early_id)),
        "{told:?}"
    );
    assert_eq!(server.engine.clients().len(), 2, "viewers are no clients");

    late.send("*1\r\n:5\r\n");
    viewer.expect_bytes(id, "client", "*1\r\n:5\r\n");
    assert_eq!(viewer.expect("bytes")["from"], "server");
    let close = viewer.expect("close");
    assert_eq!(close["id"], id);
    assert_eq!(close["why"], "protocol error");
}

pub(crate) fn large_frames_are_left_out_and_the_binary_protocol_is_marked(kind: Kind) {
    let (server, explorer) = start(kind);
    let mut viewer = Viewer::new(explorer.address());
    viewer.expect("hello");
    let mut peer = server.connect();
    viewer.expect("open");
    let value = vec![b'v'; 1 << 20];
    let set = request(&[b"SET", b"k", &value]);
    exchange(&mut peer, &set, "+OK\r\n");
    // The gap in the request is reported when the next request begins.
    assert_eq!(viewer.expect("bytes")["from"], "server");
    exchange(&mut peer, b"PING\r\n", "+PONG\r\n");
    let lost = viewer.expect("lost");
    assert_eq!(lost["bytes"], set.len());
    assert_eq!(lost["from"], "client");
    assert_eq!(lost["why"], "too large");
    viewer.expect_bytes(1, "client", "PING\r\n");
    viewer.expect_bytes(1, "server", "+PONG\r\n");

    let mut binary = server.connect();
    viewer.expect("open");
    exchange(&mut binary, b"\x01\x01\0\0\0n", "\0\0\0\0");
    for from in ["client", "server"] {
        let data = viewer.expect("bytes");
        assert_eq!(data["protocol"], "binary");
        assert_eq!(data["from"], from);
    }
}

pub(crate) fn only_this_machine_and_the_page_itself_are_admitted(kind: Kind) {
    let (server, explorer) = start(kind);
    let address = explorer.address();
    let status = |head: &str| answer(address, head).0;
    for (head, line) in [
        ("GET / HTTP/1.1\r\nHost: evil.example", "403 Forbidden"),
        ("GET / HTTP/1.1", "403 Forbidden"),
        ("GET /tap HTTP/1.1\r\nHost: evil.example", "403 Forbidden"),
        (
            "GET /tap HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site",
            "403 Forbidden",
        ),
        (
            "POST / HTTP/1.1\r\nHost: localhost",
            "405 Method Not Allowed",
        ),
        ("GET /x HTTP/1.1\r\nHost: localhost", "404 Not Found"),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:80", "200 OK"),
        ("HEAD / HTTP/1.1\r\nHost: localhost", "200 OK"),
        ("HEAD /tap HTTP/1.1\r\nHost: localhost", "200 OK"),
    ] {
        assert_eq!(status(head), format!("HTTP/1.1 {line}"), "{head}");
    }
    let (_, text) = answer(address, "GET / HTTP/1.1\r\nHost: [::1]:8123");
    for part in [
        "\r\nContent-Type: text/html; charset=utf-8\r\n",
        "\r\nContent-Security-Policy: default-src 'none'; connect-src 'self'; frame-ancestors 'none'\r\n",
        "\r\nX-Content-Type-Options: nosniff\r\n",
        "\r\nX-Frame-Options: DENY\r\n",
        "\r\nReferrer-Policy: no-referrer\r\n",
        "<meta name=\"respire-tap\" content=\"/tap\" />",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let everywhere = ExplorerListener::bind("0.0.0.0:0").unwrap();
    let (_, ears) = Tap::new();
    let refused = everywhere.serve_live(&page(), ears, server.engine.clone(), "x");
    assert_eq!(
        refused.unwrap_err().kind(),
        std::io::ErrorKind::InvalidInput
    );
}

pub(crate) fn without_a_tap_the_page_shows_nothing_of_the_server(kind: Kind) {
    let _server = Running::start(kind);
    let listener = ExplorerListener::bind("127.0.0.1:0").unwrap();
    let explorer = listener.serve(&page()).unwrap();
    let (line, _) = answer(explorer.address(), "GET /tap HTTP/1.1\r\nHost: localhost");
    assert_eq!(line, "HTTP/1.1 404 Not Found");
    let (line, text) = answer(explorer.address(), "GET / HTTP/1.1\r\nHost: localhost");
    assert_eq!(line, "HTTP/1.1 200 OK");
    assert!(text.ends_with(HTML));
}

pub(crate) fn viewers_that_do_not_read_slow_no_client_and_are_disconnected(kind: Kind) {
    let (server, explorer) = start(kind);
    let address = explorer.address();
    let viewers: Vec<_> = (0..4).map(|_| Viewer::new(address)).collect();
    let mut peer = server.connect();
    let value = vec![b'v'; 32 << 10];
    exchange(&mut peer, &request(&[b"SET", b"k", &value]), "+OK\r\n");
    let reply = [b"$32768\r\n", &value[..], b"\r\n"].concat();
    // No viewer reads: another one is admitted only after one was disconnected.
    let head = "GET /tap HTTP/1.1\r\nHost: localhost";
    let mut line = String::new();
    while !line.contains(" 200 ") {
        for _ in 0..100 {
            peer.send("GET k\r\n");
            peer.expect(&reply);
        }
        line.clear();
        ask(address, head).read_line(&mut line).unwrap();
        assert!(line.contains(" 200 ") || line.contains(" 503 "), "{line}");
    }
    drop(viewers);
}

pub(crate) fn viewers_are_limited_and_disconnected_at_the_end(kind: Kind) {
    let (_server, explorer) = start(kind);
    let mut viewers: Vec<_> = (0..4).map(|_| Viewer::new(explorer.address())).collect();
    let head = "GET /tap HTTP/1.1\r\nHost: localhost";
    let (line, _) = answer(explorer.address(), head);
    assert_eq!(line, "HTTP/1.1 503 Service Unavailable");
    drop(explorer);
    for viewer in &mut viewers {
        let mut rest = String::new();
        viewer.0.read_to_string(&mut rest).unwrap();
        assert!(
            rest.is_empty() || rest.starts_with("event: hello\n"),
            "{rest}"
        );
    }
}
