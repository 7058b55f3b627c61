//! Tests of values that arrive and leave in many pieces.

use crate::harness::{Kind, Peer, Running, bulk, request};
use std::io::Read;
use std::net::TcpStream;

/// Around the size at which a value gets an allocation of its own, and far beyond.
const SIZES: [usize; 6] = [
    (64 << 10) - 1,
    64 << 10,
    (64 << 10) + 1,
    200_000,
    1 << 20,
    64 << 20,
];

fn value(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at % 251) as u8).collect()
}

/// A length and bytes, as in the binary protocol.
fn part(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

pub(crate) fn values_of_every_size_round_trip(kind: Kind) {
    let server = Running::start(kind);
    let (mut resp, mut binary) = (server.connect(), server.connect());
    let mut before = Vec::new();
    for len in SIZES {
        let value = value(len);
        // Small requests before and after it, in the same writes.
        resp.send(
            [
                &b"PING\r\n"[..],
                &request(&[b"SET", b"resp", &value]),
                b"PING\r\n",
            ]
            .concat(),
        );
        resp.expect(b"+PONG\r\n+OK\r\n+PONG\r\n");
        resp.send("GET resp\r\n");
        resp.expect(bulk(&value));
        binary.send(
            [
                &b"\x03"[..],
                &part(b"binary"),
                &part(&value),
                b"\x01",
                &part(b"none"),
            ]
            .concat(),
        );
        binary.expect(part(&before));
        binary.expect(part(b""));
        binary.send([&b"\x01"[..], &part(b"binary")].concat());
        binary.expect(part(&value));
        before = value;
    }
}

pub(crate) fn every_write_command_accepts_large_values(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    let (one, two) = (value(300_000), vec![b'2'; 100_000]);
    let both = [&one[..], &two].concat();
    let asked: [(&[&[u8]], &[u8]); 8] = [
        (&[b"SETNX", b"a", &one], b":1\r\n"),
        (&[b"SETNX", b"a", &two], b":0\r\n"),
        (&[b"SET", b"b", &two, b"EX", b"1000", b"NX"], b"+OK\r\n"),
        (&[b"APPEND", b"c", &one], b":300000\r\n"),
        (&[b"APPEND", b"c", &two], b":400000\r\n"),
        (&[b"MSET", b"d", &two, b"e", &one], b"+OK\r\n"),
        (&[b"PSETEX", b"f", b"1000000", &one], b"+OK\r\n"),
        (&[b"SETRANGE", b"a", b"300000", &two], b":400000\r\n"),
    ];
    for (asked, answer) in asked {
        peer.send(request(asked));
        peer.expect(answer);
    }
    let kept: [(&[u8], &[u8]); 6] = [
        (b"a", &both),
        (b"b", &two),
        (b"c", &both),
        (b"d", &two),
        (b"e", &one),
        (b"f", &one),
    ];
    for (key, value) in kept {
        peer.send(request(&[b"GET", key]));
        peer.expect(bulk(value));
    }
    peer.send(request(&[b"GETSET", b"b", &one]));
    peer.expect(bulk(&two));
    let queued = request(&[b"SET", b"d", &one]);
    peer.send([&b"MULTI\r\n"[..], &queued, b"GET d\r\nEXEC\r\n"].concat());
    peer.expect(b"+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n");
    peer.expect(bulk(&one));
}

pub(crate) fn value_sent_in_small_pieces_arrives_whole(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    let value = value(100_000);
    for piece in request(&[b"SET", b"k", &value]).chunks(777) {
        peer.send(piece);
    }
    peer.expect("+OK\r\n");
    peer.send("GET k\r\n");
    peer.expect(bulk(&value));
}

pub(crate) fn unfinished_value_is_dropped(kind: Kind) {
    let server = Running::start(kind);
    let request = request(&[b"SET", b"k", &value(1 << 20)]);
    for sent in [30, 70_000, request.len() - 1] {
        server.connect().send(&request[..sent]);
    }
    let mut peer = server.connect();
    peer.send("PING\r\n");
    peer.expect("+PONG\r\n");
    server.until("the others are gone", |engine| engine.clients().len() == 1);
    peer.send("EXISTS k\r\n");
    peer.expect(":0\r\n");
}

pub(crate) fn client_list_counts_the_bytes_of_an_unfinished_value(kind: Kind) {
    let server = Running::start(kind);
    let (mut peer, mut other) = (server.connect(), server.connect());
    peer.send("CLIENT SETNAME sender\r\n");
    peer.expect("+OK\r\n");
    let request = request(&[b"SET", b"k", &value(1 << 20)]);
    peer.send(&request[..500_000]);
    let listed = |other: &mut Peer<TcpStream>| {
        other.send("CLIENT LIST\r\n");
        let len: usize = other.line()[1..].parse().unwrap();
        let mut list = vec![0; len + 2];
        other.stream.read_exact(&mut list).unwrap();
        String::from_utf8(list).unwrap()
    };
    while !listed(&mut other)
        .lines()
        .any(|line| line.contains("name=sender") && line.contains("qbuf=500000 "))
    {
        std::thread::yield_now();
    }
    peer.send(&request[500_000..]);
    peer.expect("+OK\r\n");
}
