//! Tests from the first connection to the end of the server.

use crate::harness::{Kind, Running, Setup, request};

pub(crate) fn connection_above_maxclients_is_refused(kind: Kind) {
    let server = Setup {
        clients_max: 2,
        ..Setup::new(kind)
    }
    .start();
    let (mut first, mut second) = (server.connect(), server.connect());
    for peer in [&mut first, &mut second] {
        peer.send("PING\r\n");
        peer.expect("+PONG\r\n");
    }
    let mut third = server.connect();
    assert_eq!(third.rest(), b"-ERR max number of clients reached\r\n");

    drop(first);
    server.until("a place is free", |engine| engine.clients().len() == 1);
    let mut fourth = server.connect();
    fourth.send("PING\r\n");
    fourth.expect("+PONG\r\n");

    drop((second, fourth));
    let report = server.stop();
    assert_eq!((report.accepted, report.refused), (3, 1));
}

pub(crate) fn thousand_idle_connections_do_not_disturb_others(kind: Kind) {
    // Each test process holds both ends of each connection.
    assert_eq!(respire::net::process::raise_descriptor_limit(4000), 4000);
    let server = Running::start(kind);
    let mut idle: Vec<_> = (0..1000).map(|_| server.connect()).collect();
    server.until("all are open", |engine| engine.clients().len() == 1000);
    let mut busy = server.connect();
    for count in 1..=1000 {
        busy.send("INCR n\r\n");
        busy.expect(format!(":{count}\r\n"));
    }
    for peer in &mut idle {
        peer.send("GET n\r\n");
        peer.expect("$4\r\n1000\r\n");
    }
    drop((idle, busy));
    server.until("all are closed", |engine| engine.clients().is_empty());
}

pub(crate) fn shutdown_answers_arrived_requests(kind: Kind) {
    let server = Running::start(kind);
    let mut asking = server.connect();
    let mut idle = server.connect();
    idle.send("PING\r\n");
    idle.expect("+PONG\r\n");
    asking.send(request(&[b"SET", b"key", &vec![b'v'; 8 << 20]]));
    asking.expect("+OK\r\n");
    // More than the sockets hold, so that the server is still sending when it stops.
    asking.send("GET key\r\nGET key\r\nPING\r\n");
    asking.expect("$8388608\r\n");
    let address = server.address;
    server.shutdown.request();
    assert_eq!(idle.rest(), b"", "an idle connection ends at once");
    let rest = asking.rest();
    assert_eq!(rest.len(), 2 * (8 << 20) + 2 + 10 + 2 + 7);
    assert!(rest.ends_with(b"+PONG\r\n"));
    assert_eq!(server.stop().cut, 0);
    assert!(
        std::net::TcpStream::connect(address).is_err(),
        "the port is closed"
    );
}

pub(crate) fn shutdown_cuts_a_peer_that_does_not_read(kind: Kind) {
    let server = Setup::new(kind).with_grace_ms(50).start();
    let mut peer = server.connect();
    peer.send(request(&[b"SET", b"key", &vec![b'v'; 16 << 20]]));
    peer.expect("+OK\r\n");
    peer.send("GET key\r\n");
    peer.expect("$16777216\r\n");
    assert_eq!(server.stop().cut, 1);
}

pub(crate) fn second_shutdown_request_does_not_wait(kind: Kind) {
    let mut server = Setup::new(kind).with_grace_ms(3_600_000).start();
    let mut peer = server.connect();
    peer.send(request(&[b"SET", b"key", &vec![b'v'; 16 << 20]]));
    peer.expect("+OK\r\n");
    peer.send("GET key\r\n");
    peer.expect("$16777216\r\n");
    server.shutdown.request();
    server.shutdown.force();
    assert_eq!(server.join().cut, 1);
}

pub(crate) fn shutdown_command_stops_the_server(kind: Kind) {
    let mut server = Running::start(kind);
    let mut peer = server.connect();
    peer.send("SHUTDOWN NOSAVE\r\n");
    assert_eq!(peer.rest(), b"");
    assert_eq!(server.join().cut, 0);
}
