//! Tests of the blocking examples, in memory with a test clock, and over sockets on both flavours.

#![cfg(feature = "derive")]
#![expect(clippy::unwrap_used, reason = "a test may")]

#[path = "../examples/blpop.rs"]
#[expect(dead_code, reason = "it is a program of its own")]
mod blpop;
#[path = "../examples/job_queue.rs"]
#[expect(dead_code, reason = "it is a program of its own")]
mod job_queue;

use respire::engine::{Engine, Options};
use respire::net::{Config, Listeners, clock};
use respire::serve::{Flavour, Shutdown};
use respire::{App, Null, Router};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn blpop_returns_an_element_or_waits() {
    let mut first = blpop::router().client();
    let (mut second, mut other) = (first.connect(), first.connect());
    assert_eq!(other.call("RPUSH tasks a"), 1);
    assert_eq!(first.call("BLPOP tasks 0"), vec!["tasks", "a"]);
    let refused = first.call("BLPOP tasks -1");
    assert_eq!(refused.error(), "ERR timeout is negative");
    first.send("BLPOP tasks 1.5");
    second.send("BLPOP tasks 0");
    first.advance(Duration::from_millis(1499));
    assert!(first.try_reply().is_none());
    first.advance(Duration::from_millis(1));
    assert_eq!(first.reply(), Null);
    // The first client no longer waits, so the second gets the element.
    assert_eq!(other.call("RPUSH tasks b c"), 2);
    assert_eq!(second.reply(), vec!["tasks", "b"]);
    assert_eq!(other.call("BLPOP tasks 0"), vec!["tasks", "c"]);
}

#[test]
fn blpop_removes_lists_that_are_no_longer_used() {
    let mut client = blpop::router().client();
    let mut gone = client.connect();
    let kept =
        |client: &respire::engine::TestClient<blpop::Lists>| client.app().0.lock().unwrap().len();
    client.call("RPUSH tasks a");
    assert_eq!(kept(&client), 1);
    client.call("BLPOP tasks 0");
    assert_eq!(kept(&client), 0);
    client.send("BLPOP other 1");
    gone.send("BLPOP other 0");
    assert_eq!(kept(&client), 1);
    client.advance(Duration::from_secs(1));
    assert_eq!(client.reply(), Null);
    assert_eq!(kept(&client), 1);
    drop(gone);
    assert_eq!(kept(&client), 0);
}

#[test]
fn job_goes_to_one_taker_and_all_watchers() {
    let mut taker = job_queue::router().client();
    let (mut gone, mut watcher) = (taker.connect(), taker.connect().resp3());
    let mut putter = taker.connect();
    watcher.call("JOB.WATCH mail");
    gone.send("JOB.TAKE mail 60000");
    taker.send("JOB.TAKE mail 60000");
    drop(gone);
    putter.call("JOB.PUT mail one");
    assert_eq!(taker.reply(), "one");
    assert_eq!(watcher.push(), vec!["job", "one"]);
    putter.call("JOB.PUT mail two");
    assert_eq!(taker.call("JOB.TAKE mail 0"), "two");
    taker.send("JOB.TAKE mail 10");
    taker.advance(Duration::from_millis(10));
    assert_eq!(taker.reply(), Null);
}

/// Serves the commands on a flavour while `talk` uses them over sockets.
fn serving<A: App>(flavour: Flavour, router: Router<A>, talk: impl FnOnce(&dyn Fn() -> TcpStream)) {
    let config = Config::default();
    let listeners = Listeners::on(&[([127, 0, 0, 1], 0).into()], &config).unwrap();
    let address = listeners.local_addresses()[0];
    let engine = Engine::new(router, Options::default(), clock::now());
    let shutdown = Shutdown::new();
    let stop = shutdown.clone();
    let server = std::thread::spawn(move || flavour.serve(listeners, engine, config, stop));
    talk(&|| {
        let socket = TcpStream::connect(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        socket
    });
    shutdown.request();
    server.join().unwrap().unwrap();
}

#[track_caller]
fn expect(socket: &mut TcpStream, reply: &str) {
    let mut read = vec![0; reply.len()];
    socket.read_exact(&mut read).unwrap();
    assert_eq!(String::from_utf8_lossy(&read), reply);
}

#[test]
fn both_flavours_wake_waiting_clients() {
    for flavour in Flavour::ALL {
        serving(*flavour, blpop::router(), |connect| {
            let (mut taker, mut putter) = (connect(), connect());
            taker.write_all(b"BLPOP q 0\r\nBLPOP q 0.001\r\n").unwrap();
            putter.write_all(b"RPUSH q x\r\n").unwrap();
            expect(&mut putter, ":1\r\n");
            expect(&mut taker, "*2\r\n$1\r\nq\r\n$1\r\nx\r\n$-1\r\n");
        });
        serving(*flavour, job_queue::router(), |connect| {
            let (mut taker, mut putter) = (connect(), connect());
            putter.write_all(b"HELLO 3\r\nJOB.WATCH q\r\n").unwrap();
            taker.write_all(b"JOB.TAKE q 60000\r\n").unwrap();
            putter.write_all(b"JOB.PUT q x\r\nQUIT\r\n").unwrap();
            expect(&mut taker, "$1\r\nx\r\n");
            let mut heard = String::new();
            putter.read_to_string(&mut heard).unwrap();
            let end = "+OK\r\n+OK\r\n>2\r\n$3\r\njob\r\n$1\r\nx\r\n+OK\r\n";
            assert!(heard.ends_with(end), "{heard}");
        });
    }
}
