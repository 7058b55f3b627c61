//! Tests of peers that are slow, hostile, idle or gone.

use crate::harness::{Kind, Peer, Running, Setup, bulk, request};
use respire::engine::{Gate, GateKind};
use respire::net::Limits;
use std::io::{ErrorKind, Write};
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) fn half_closed_peer_gets_all_replies_and_then_the_end(kind: Kind) {
    let server = Running::start(kind);
    let value = vec![b'x'; 100_000];
    let mut peer = server.connect();
    peer.send(request(&[b"SET", b"key", &value]));
    for _ in 0..50 {
        peer.send("GET key\r\n");
    }
    peer.stream.shutdown(Shutdown::Write).unwrap();
    let expected = [b"+OK\r\n".to_vec(), bulk(&value).repeat(50)].concat();
    assert!(peer.rest() == expected);
    server.until("the connection is closed", |engine| {
        engine.clients().is_empty()
    });
}

/// A peer sends requests and reads no replies. The server must stop reading from it, so that the
/// requests fill the buffers of its own side.
pub(crate) fn server_does_not_read_from_a_peer_that_does_not_read(kind: Kind) {
    // Kernel buffers grow to megabytes by default. The requests are long, so that few of them fill
    // the buffers.
    let setup = Setup {
        receive_buffer_bytes: Some(16 << 10),
        ..Setup::new(kind)
    };
    let server = Setup {
        session: respire::engine::Limits {
            output_bytes_max: 100_000,
            ..respire::engine::Limits::DEFAULT
        },
        ..setup
    }
    .start();
    let mut peer = server.connect();
    let value = vec![b'v'; 20_000];
    peer.send(request(&[b"SET", b"key", &value]));
    peer.expect("+OK\r\n");

    let ask = format!("GET key{}\r\n", " ".repeat(991));
    let mut sent = 0;
    peer.stream
        .set_write_timeout(Some(Duration::from_millis(500)))
        .unwrap();
    while sent < SENT_BYTES_MAX {
        match peer.stream.write(&ask.as_bytes()[sent % ask.len()..]) {
            Ok(written) => sent += written,
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(sent < SENT_BYTES_MAX, "the server goes on reading");

    // Others are served meanwhile, and once the peer reads, it gets every reply.
    let mut other = server.connect();
    other.send("PING\r\n");
    other.expect("+PONG\r\n");
    let mut writer = peer.stream.try_clone().unwrap();
    writer.set_write_timeout(None).unwrap();
    let (asked, begun) = (sent.div_ceil(ask.len()), sent % ask.len());
    let finisher = std::thread::spawn(move || {
        if begun > 0 {
            writer.write_all(&ask.as_bytes()[begun..]).unwrap();
        }
    });
    let reply = bulk(&value);
    for _ in 0..asked {
        peer.expect(&reply);
    }
    finisher.join().unwrap();
}

/// More than all buffers between the two ends can hold.
const SENT_BYTES_MAX: usize = 32 << 20;

pub(crate) fn protocol_error_is_answered_before_the_end(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    // The bytes after the error are still on their way when the server ends the connection.
    peer.send("PING\r\n*1\r\n$-5\r\n");
    let mut flood = peer.stream.try_clone().unwrap();
    let flooding = std::thread::spawn(move || while flood.write_all(&[b'x'; 1024]).is_ok() {});
    peer.expect("+PONG\r\n-ERR Protocol error: invalid bulk length\r\n");
    peer.expect_gone();
    flooding.join().unwrap();
    server.until("the connection is closed", |engine| {
        engine.clients().is_empty()
    });
}

pub(crate) fn peer_that_ends_within_a_request_is_closed(kind: Kind) {
    let server = Running::start(kind);
    let mut peer = server.connect();
    peer.send("*2\r\n$4\r\nECHO\r\n$10\r\nhal");
    peer.stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(peer.rest(), b"");
}

pub(crate) fn idle_peer_is_closed_after_the_timeout(kind: Kind) {
    let server = Running::start(kind);
    let mut busy = server.connect();
    busy.send("CONFIG SET timeout 1\r\n");
    busy.expect("+OK\r\n");
    let mut idle = server.connect();
    idle.send("PING\r\n");
    idle.expect("+PONG\r\n");
    assert_eq!(idle.rest(), b"");
}

pub(crate) fn killed_peer_is_closed(kind: Kind) {
    let server = Running::start(kind);
    let (mut victim, mut killer) = (server.connect(), server.connect());
    let id = victim.id();
    killer.send(format!("CLIENT KILL ID {id}\r\n"));
    killer.expect(":1\r\n");
    assert_eq!(victim.rest(), b"");
    // A client that kills its own connection gets the reply first.
    let id = killer.id();
    killer.send(format!("CLIENT KILL SKIPME no ID {id}\r\n"));
    assert_eq!(killer.rest(), b":1\r\n");
    server.until("both are closed", |engine| engine.clients().is_empty());
}

pub(crate) fn killed_peer_is_closed_before_client_kill_replies(kind: Kind) {
    let server = Running::start(kind);
    let mut killer = server.connect();
    let kill = "CLIENT KILL TYPE normal\r\n";
    let in_exec = format!("MULTI\r\n{kill}EXEC\r\n");
    let exchanges = [
        (kill, ":50\r\n"),
        (&in_exec, "+OK\r\n+QUEUED\r\n*1\r\n:50\r\n"),
    ];
    for (request, reply) in exchanges.repeat(4) {
        let mut victims: Vec<_> = (0..50).map(|_| server.connect()).collect();
        for victim in &mut victims {
            victim.send("PING\r\n");
            victim.expect("+PONG\r\n");
        }
        killer.send(request);
        killer.expect(reply);
        assert_eq!(server.engine.clients().len(), 1);
        for mut victim in victims {
            // The end has already arrived: nothing has to be waited for.
            victim.stream.set_nonblocking(true).unwrap();
            assert_eq!(victim.rest(), b"");
        }
    }
}

pub(crate) fn killed_peer_that_does_not_read_is_closed(kind: Kind) {
    let server = Running::start(kind);
    let mut victim = server.connect();
    let id = victim.id();
    victim.send(request(&[b"SET", b"key", &vec![b'v'; 16 << 20]]));
    victim.expect("+OK\r\n");
    victim.send("GET key\r\nGET key\r\n");
    victim.expect("$16777216\r\n");
    let mut killer = server.connect();
    killer.send(format!("CLIENT KILL ID {id}\r\n"));
    killer.expect(":1\r\n");
    server.until("the victim is gone", |engine| {
        engine.clients().find(id).is_none()
    });
}

pub(crate) fn client_pause_delays_writes_until_unpause(kind: Kind) {
    let server = Running::start(kind);
    let (mut writer, mut admin) = (server.connect(), server.connect());
    admin.send("CLIENT PAUSE 3600000 WRITE\r\n");
    admin.expect("+OK\r\n");
    writer.send("GET key\r\nSET key 1\r\nGET key\r\n");
    writer.expect("$-1\r\n");
    // The write waits, and so do the requests after it.
    admin.send("GET key\r\n");
    admin.expect("$-1\r\n");
    admin.send("CLIENT UNPAUSE\r\n");
    admin.expect("+OK\r\n");
    writer.expect("+OK\r\n$1\r\n1\r\n");
}

pub(crate) fn paced_writers_are_answered_once_the_gate_opens(kind: Kind) {
    let server = Running::start(kind);
    let mut writers: Vec<_> = (0..100).map(|_| server.connect()).collect();
    let mut reader = server.connect();
    server.engine.close_gate(Gate::Pace);
    for writer in &mut writers {
        writer.send("GET key\r\nINCR key\r\n");
        writer.expect("$-1\r\n");
    }
    reader.send("GET key\r\n");
    reader.expect("$-1\r\n");
    server.engine.open_gate(GateKind::Pace);
    let mut replies: Vec<_> = writers.iter_mut().map(Peer::line).collect();
    replies.sort_by_key(|reply| reply[1..].parse::<u32>().unwrap());
    let expected: Vec<_> = (1..=100).map(|n| format!(":{n}")).collect();
    assert_eq!(replies, expected);
}

pub(crate) fn client_pause_ends_after_its_time(kind: Kind) {
    let server = Running::start(kind);
    let (mut writer, mut admin) = (server.connect(), server.connect());
    admin.send("CLIENT PAUSE 100\r\n");
    admin.expect("+OK\r\n");
    writer.send("SET key 1\r\n");
    writer.expect("+OK\r\n");
}

pub(crate) fn others_are_served_while_one_peer_keeps_sending(kind: Kind) {
    let limits = Limits {
        buffer_bytes: 4096,
        ..Limits::DEFAULT
    };
    let server = Setup {
        limits,
        ..Setup::new(kind)
    }
    .start();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut greedy = server.connect();
        greedy.send("CLIENT REPLY OFF\r\n");
        let is_over = &is_over;
        scope.spawn(move || {
            let pings = "PING\r\n".repeat(10_000);
            while !is_over.load(Ordering::Relaxed) {
                greedy.send(&pings);
            }
        });
        let mut modest = server.connect();
        for _ in 0..100 {
            modest.send("PING\r\n");
            modest.expect("+PONG\r\n");
        }
        is_over.store(true, Ordering::Relaxed);
    });
}
