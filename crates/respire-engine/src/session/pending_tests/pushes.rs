//! Tests of pushed messages between replies.

use super::*;

#[test]
fn pushes_go_between_replies_and_never_overtake_a_finished_one() {
    let mut line = Line::new();
    line.ask("HELLO 3|WATCH");
    let pusher = line.desk().pushers.lock().unwrap()[0].clone();
    assert_eq!(line.ask("TELL a|PING"), "+OK|>2|$4|news|$1|a|+PONG|");
    // A pending call does not hold back messages from other connections.
    line.ask("WAIT");
    pusher.push(("news", 1_i64)).unwrap();
    assert_eq!(line.poll(), ">2|$4|news|:1|");
    line.next().reply(());
    pusher.push(("news", 2_i64)).unwrap();
    assert_eq!(line.poll(), "+OK|>2|$4|news|:2|");
    // A finished reply behind a pending call goes first.
    assert_eq!(line.ask("PIPE|PIPE|TELL b"), "");
    assert_eq!(line.poll(), "");
    line.nth(1).reply(2_i64);
    assert_eq!(line.poll(), "");
    line.next().reply(1_i64);
    assert_eq!(line.poll(), ":1|:2|+OK|>2|$4|news|$1|b|");
}

#[test]
fn pushes_need_resp3_or_a_subscription() {
    let mut line = Line::new();
    line.ask("WATCH");
    let pusher = line.desk().pushers.lock().unwrap()[0].clone();
    assert_eq!(pusher.push(("k",)), Err(PushError::NotSubscribed));
    line.ask("SUBSCRIBE c");
    pusher.push(("k", 1_i64, None::<i64>)).unwrap();
    assert_eq!(line.poll(), "*3|$1|k|:1|$-1|");
    // A queued message is dropped once the peer would take it for a reply.
    pusher.push(("k",)).unwrap();
    let sent = line.ask("UNSUBSCRIBE");
    assert!(sent.starts_with("*1|$1|k|*3|$11|unsubscribe|"), "{sent}");
    line.ask("HELLO 3");
    pusher.push(("k", None::<i64>)).unwrap();
    assert_eq!(line.poll(), ">2|$1|k|_|");
    drop(line);
    assert_eq!(pusher.push(("k",)), Err(PushError::Gone));
}

#[test]
fn pusher_is_bounded_in_bytes() {
    let mut line = Line::new();
    line.ask("HELLO 3|WATCH");
    let pusher = line.desk().pushers.lock().unwrap()[0].clone();
    let small = pusher.clone().bytes_max(300);
    let small = small.when_full(crate::WhenFull::DropNewest);
    let sent = (0..100).filter(|_| small.push(("k",)).is_ok()).count();
    assert!((1..20).contains(&sent), "{sent} were sent");
    assert_eq!(small.push(("k",)), Err(PushError::Full));
    assert_eq!(line.poll(), ">1|$1|k|".repeat(sent));
    assert_eq!(line.step, SessionStep::NeedInput);
    let strict = pusher.bytes_max(300);
    while strict.push(("k",)).is_ok() {}
    assert_eq!(line.poll(), "");
    assert_eq!(line.step, SessionStep::Close(CloseReason::Overrun));
}

#[test]
fn stream_in_a_message_is_sent_completely_or_not_at_all() {
    let mut line = Line::new();
    line.ask("HELLO 3|WATCH");
    let pusher = line.desk().pushers.lock().unwrap()[0].clone();
    let stream = |len| Stream::from_read(len, &b"four"[..]);
    assert_eq!(pusher.push(("k", stream(5), 1_i64)), Err(PushError::Broken));
    pusher.push(("k", stream(4))).unwrap();
    assert_eq!(line.poll(), ">2|$1|k|$4|four|");
    assert_eq!(line.ask("PING"), "+PONG|");
}
