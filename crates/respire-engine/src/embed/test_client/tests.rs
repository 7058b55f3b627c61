//! Tests of the test client.

use super::*;
use crate::{Error, IntoReply, NoKeys, Null, Reply, Status};
use std::thread;

#[derive(Default)]
struct Words;

impl App for Words {
    type Conn = Vec<String>;
    type Keys = NoKeys;
}

/// Announces three elements and writes the given number.
struct Broken(i64);

impl IntoReply for Broken {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.array(3);
        (0..self.0).for_each(|n| reply.int(n));
    }
}

struct Count(i64);

impl crate::Args for Count {
    const SPEC: crate::Spec = crate::Spec {
        arity: crate::Arity::exactly(2),
        ..crate::Spec::EMPTY
    };

    fn parse(args: &mut crate::ArgIter<'_>) -> Result<Self, Error> {
        args.required("n").map(Self)
    }
}

fn client() -> TestClient<Words> {
    let router = Router::new(Words)
        .command("BROKEN", |_, n: Count| Broken(n.0))
        .command("PANIC", |_, ()| -> () { panic!("no such thing") })
        .command("HALF", |_, ()| 0.5)
        .command("TRUE", |_, ()| true)
        .command("NONE", |_, ()| None::<i64>)
        .command("FAIL", |_, ()| Error::fixed("FULL of words"))
        .command("TIME", |cx, ()| cx.now().unix_ms());
    router.client()
}

#[test]
fn requests_are_lines_or_arguments() {
    let mut client = client();
    assert_eq!(client.call("ECHO \"two words\\x00\""), "two words\0");
    assert_eq!(client.call(["ECHO", "two words"]), "two words");
    assert_eq!(
        client.call(("ECHO", b"\xff".as_slice())),
        b"\xff".as_slice()
    );
    assert_eq!(client.call(vec!["ECHO", "*1"]), "*1");
    let many = (
        "MGETX", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11",
    );
    assert!(client.call(many).is_error());
    assert_eq!(client.call(format!("ECHO {}", 5)), "5");
}

#[test]
fn replies_compare_equal_in_every_protocol() {
    let all = [client(), client().resp3(), client().binary()];
    for mut client in all {
        assert_eq!(client.call("HALF"), 0.5);
        assert_eq!(client.call("TRUE"), true);
        assert_eq!(client.call("NONE"), Null);
        assert_eq!(client.call("FAIL"), Error::fixed("FULL of words"));
        assert_eq!(client.call("PING"), Status("PONG"));
        assert_eq!(client.call("BROKEN 3"), [0, 1, 2]);
        assert_ne!(client.call("BROKEN 3"), [0, 1]);
        assert_ne!(client.call("FAIL"), "FULL of words");
    }
}

#[test]
fn clock_changes_only_with_advance_and_for_all_connections() {
    let mut client = client();
    let mut other = client.connect();
    let began = client.call("TIME").int();
    other.advance(Duration::from_secs(90));
    assert_eq!(client.call("TIME"), began + 90_000);
}

#[test]
fn pushes_are_read_separately_from_replies() {
    let mut listener = client().resp3();
    let mut publisher = listener.connect();
    listener.send("SUBSCRIBE news");
    assert_eq!(listener.push().at(0), "subscribe");
    assert_eq!(publisher.call("PUBLISH news hello"), 1);
    assert_eq!(listener.call("PING"), Status("PONG"));
    assert_eq!(listener.push(), ["message", "news", "hello"]);
    assert!(listener.try_push().is_none() && listener.try_reply().is_none());
}

#[test]
fn missing_reply_is_reported_with_unread_pushes() {
    let mut listener = client().resp3();
    listener.send("SUBSCRIBE news");
    assert!(listener.try_reply().is_none());
    let text = listener.missing("a reply");
    assert!(
        text.starts_with("a reply did not come")
            && text.contains("pushes that were not read")
            && text.contains("subscribe"),
        "{text}"
    );
}

#[test]
fn reply_waits_for_another_thread() {
    let mut listener = client();
    let mut publisher = listener.connect();
    assert_eq!(listener.call("SUBSCRIBE news").at(2), 1);
    let sender = thread::spawn(move || publisher.call("PUBLISH news hello").int());
    assert_eq!(listener.reply(), ["message", "news", "hello"]);
    assert_eq!(sender.join().expect("a publisher"), 1);
}

#[test]
fn split_and_pipelined_requests_are_answered_in_order() {
    let mut client = client();
    client.send_bytes(b"PING\r\n*2\r\n$4\r\nEC");
    assert_eq!(client.reply(), Status("PONG"));
    assert!(client.try_reply().is_none());
    client.send_bytes(b"HO\r\n$1\r\nx\r\n");
    assert_eq!(client.reply(), "x");
    assert_eq!(client.call("QUIT"), Status("OK"));
    assert_eq!(client.closed(), Some(CloseReason::Quit));
}

fn panic_of(test: impl FnOnce() + Send + 'static) -> String {
    let panic = thread::spawn(test).join().expect_err("a failed test");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
        .expect("a text")
}

#[test]
fn panicking_handler_fails_the_test() {
    let text = panic_of(|| drop(client().call("PANIC")));
    assert_eq!(text, "`panic` panicked: no such thing");
    let mut client = client();
    let (reply, panic) = client.call_panicking("PANIC");
    assert_eq!(reply, Error::fixed("ERR internal error"));
    assert_eq!(panic, "`panic` panicked: no such thing");
    assert_eq!(client.call("PING"), Status("PONG"));
}

#[cfg(debug_assertions)]
#[test]
fn incomplete_aggregate_fails_the_test() {
    for count in [0, 2, 4] {
        let text = panic_of(move || drop(client().call(format!("BROKEN {count}"))));
        assert!(text.starts_with("`broken` panicked: "), "{text}");
    }
    let text = panic_of(|| drop(client().resp3().call("BROKEN 2")));
    assert!(text.contains("is not whole"), "{text}");
    let text = panic_of(|| drop(client().binary().call("BROKEN 4")));
    assert!(text.contains("more than one reply"), "{text}");
}
