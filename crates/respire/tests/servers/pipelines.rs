//! Tests of requests in small pieces, in great numbers and of great size.

use crate::harness::{Kind, Peer, Running, Setup, bulk, request};
use respire::net::Limits;
use std::io::Write;

pub(crate) fn request_sent_byte_by_byte_is_answered(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    let requests = [
        request(&[b"SET", b"key", b"value"]),
        request(&[b"GET", b"key"]),
        b"PING hello\r\n".to_vec(),
        request(&[b"STRLEN", b"key"]),
    ];
    for byte in requests.concat() {
        peer.send([byte]);
    }
    peer.expect("+OK\r\n$5\r\nvalue\r\n$5\r\nhello\r\n:5\r\n");
}

pub(crate) fn hundred_thousand_pipelined_commands_are_answered_in_order(kind: Kind) {
    const COMMANDS: usize = 100_000;
    let server = Running::start(kind);
    let peer = server.connect();
    let mut reader = Peer {
        stream: peer.stream.try_clone().unwrap(),
    };
    let writer = std::thread::spawn(move || {
        let mut peer = peer;
        let pipeline: Vec<u8> = (0..COMMANDS)
            .flat_map(|_| request(&[b"INCR", b"n"]))
            .collect();
        peer.send(pipeline);
    });
    for count in 1..=COMMANDS {
        assert_eq!(reader.line(), format!(":{count}"));
    }
    writer.join().unwrap();
}

/// An edge is reported once: a connection that ends its turn with bytes left in its socket must be
/// driven again. With small turns and reads, nearly every turn ends this way.
pub(crate) fn small_turns_leave_no_request_unanswered(kind: Kind) {
    const COMMANDS: usize = 2000;
    let limits = Limits {
        buffer_bytes: 16,
        io_calls_per_turn_max: 4,
        ..Limits::DEFAULT
    };
    let session = respire::engine::Limits {
        commands_per_poll_max: 2,
        output_bytes_max: 32,
        ..respire::engine::Limits::DEFAULT
    };
    let server = Setup {
        limits,
        session,
        ..Setup::new(kind)
    }
    .start();
    let mut peer = server.connect();
    let pipeline: Vec<u8> = (0..COMMANDS)
        .flat_map(|_| request(&[b"INCR", b"n"]))
        .collect();
    peer.send(pipeline);
    for count in 1..=COMMANDS {
        assert_eq!(peer.line(), format!(":{count}"));
    }
}

pub(crate) fn reply_larger_than_the_socket_buffer_arrives_whole(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    let value: Vec<u8> = (0..32 << 20).map(|at: u32| (at % 251) as u8).collect();
    peer.send(request(&[b"SET", b"large", &value]));
    peer.expect("+OK\r\n");
    // A small reply before and after each large one, all requested at once.
    peer.send("PING\r\nGET large\r\nPING\r\nGET large\r\nPING\r\n");
    for _ in 0..2 {
        peer.expect("+PONG\r\n");
        peer.expect(bulk(&value));
    }
    peer.expect("+PONG\r\n");
}

pub(crate) fn large_value_arrives_whole_in_small_reads(kind: Kind) {
    let limits = Limits {
        buffer_bytes: 1000,
        ..Limits::DEFAULT
    };
    let server = Setup {
        limits,
        ..Setup::new(kind)
    }
    .start();
    let mut peer = server.connect();
    let value = vec![b'v'; 3 << 20];
    for piece in request(&[b"SET", b"key", &value]).chunks(333_333) {
        peer.send(piece);
        peer.stream.flush().unwrap();
    }
    peer.expect("+OK\r\n");
    peer.send("STRLEN key\r\n");
    peer.expect(format!(":{}\r\n", value.len()));
}

pub(crate) fn binary_protocol_is_served_on_the_same_port(kind: Kind) {
    let server = Running::start(kind);
    let part = |bytes: &[u8]| [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
    let set = [vec![3], part(b"hello"), part(b"world")].concat();
    let get = [vec![1], part(b"hello")].concat();
    let delete = [vec![2], part(b"hello")].concat();

    let mut peer = server.connect();
    peer.send([&set[..], &get, &delete, &get].concat());
    peer.expect([part(b""), part(b"world"), part(b"world"), part(b"")].concat());

    // The same keys, over the other protocol.
    peer.send(&set);
    peer.expect(part(b""));
    let mut resp = server.connect();
    resp.send("GET hello\r\n");
    resp.expect("$5\r\nworld\r\n");
}

pub(crate) fn unix_socket_serves_the_same_commands(kind: Kind) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.sock");
    let server = Setup {
        unix_socket: Some(path.clone()),
        ..Setup::new(kind)
    }
    .start();
    let mut unix = Peer::connect_unix(&path);
    unix.send("SET key unix\r\nGET key\r\nCLIENT INFO\r\n");
    unix.expect("+OK\r\n$4\r\nunix\r\n");
    unix.line();
    let info = unix.line();
    assert!(
        info.contains(&format!("addr={}:0 ", path.display())),
        "{info}"
    );
    let mut tcp = server.connect();
    tcp.send("GET key\r\n");
    tcp.expect("$4\r\nunix\r\n");
}
