//! Tests of messages between connections: their delivery, and the cost of a slow subscriber to
//! others.

use crate::harness::{Kind, Running, Setup, request};
use respire::engine::Limits;

pub(crate) fn message_reaches_an_idle_subscriber(kind: Kind) {
    let server = Running::start(kind);
    let (mut subscriber, mut publisher) = (server.connect(), server.connect());
    subscriber.send("SUBSCRIBE news\r\n");
    subscriber.expect("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    for _ in 0..100 {
        publisher.send("PUBLISH news hello\r\n");
        publisher.expect(":1\r\n");
        subscriber.expect("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n");
    }
    drop(subscriber);
    server.until("the subscription ends", |engine| {
        engine.clients().len() == 1
    });
    publisher.send("PUBLISH news hello\r\n");
    publisher.expect(":0\r\n");
}

pub(crate) fn stalled_subscriber_is_closed_and_delays_no_one(kind: Kind) {
    let session = Limits {
        mailbox_bytes_max: 4 << 20,
        ..Limits::DEFAULT
    };
    let server = Setup {
        session,
        ..Setup::new(kind)
    }
    .start();
    let (mut stalled, mut quick) = (server.connect(), server.connect());
    let mut publisher = server.connect();
    for subscriber in [&mut stalled, &mut quick] {
        subscriber.send("SUBSCRIBE news\r\n");
        subscriber.expect("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n");
    }
    let payload = vec![b'x'; 32 << 10];
    let publish = request(&[b"PUBLISH", b"news", &payload]);
    let mut message = b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$32768\r\n".to_vec();
    message.extend_from_slice(&payload);
    message.extend_from_slice(b"\r\n");
    // 32 MiB in all: more than the sockets and the mailbox of the stalled subscriber can hold.
    let mut listeners = String::new();
    for _ in 0..1024 {
        publisher.send(&publish);
        listeners = publisher.line();
        quick.expect(&message);
    }
    assert_eq!(listeners, ":1", "the stalled subscriber is still connected");
    server.until("the stalled subscriber is closed", |engine| {
        engine.clients().len() == 2
    });
}
