//! Tests of how pending calls end: by deadline, by kill, with their client, and in places where
//! nothing may wait.

use super::*;

#[test]
fn deadline_answers_with_the_fallback() {
    let mut line = Line::new();
    line.ask("TAKE|PING");
    let due = start().after(DUE).monotonic_us();
    assert_eq!(line.session.next_timeout(), Some(due));
    assert_eq!(line.pass(DUE - Duration::from_millis(1)), "");
    let later = line.next();
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    later.on_cancel(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    assert!(!later.cancelled());
    assert_eq!(line.pass(Duration::from_millis(1)), "$7|nothing|+PONG|");
    assert!(later.cancelled());
    assert_eq!(told.load(Ordering::Relaxed), 1);
    assert!(!later.reply("too late"));
    assert_eq!(line.poll(), "");
    assert_eq!(line.session.next_timeout(), None);
}

#[test]
fn deadline_can_be_set_while_the_call_is_pending() {
    let mut line = Line::new();
    line.ask("WAIT");
    assert_eq!(line.session.next_timeout(), None);
    let later = line
        .next()
        .deadline(Duration::MAX, "never")
        .deadline(DUE, "due");
    assert_eq!(line.pass(DUE), "$3|due|");
    drop(later);
    assert_eq!(line.poll(), "");
}

#[test]
fn killing_a_connection_cancels_its_pending_calls() {
    let mut line = Line::new();
    let mut other = Line::to(&line.engine);
    line.ask("WAIT");
    let later = line.next();
    let engine = Arc::clone(&line.engine);
    later.on_cancel(move || {
        engine.app().cancelled.fetch_add(1, Ordering::Relaxed);
    });
    assert_eq!(other.ask("CLIENT KILL ID 1"), ":1|");
    assert_eq!(line.poll(), "");
    assert_eq!(line.step, SessionStep::Close(CloseReason::Killed));
    assert!(later.cancelled());
    assert_eq!(line.desk().cancelled.load(Ordering::Relaxed), 1);
}

#[test]
fn end_of_input_cancels_blocking_calls_at_once_and_others_later() {
    let mut line = Line::new();
    line.ask("BLOCK|PING");
    assert_eq!(line.tell(SessionEvent::End), "");
    assert_eq!(line.step, SessionStep::Close(CloseReason::Eof));
    assert!(line.next().cancelled());

    let mut line = Line::new();
    line.ask("WAIT|PING|WAIT");
    assert_eq!(line.tell(SessionEvent::End), "");
    assert_eq!(line.step, SessionStep::NeedInput);
    line.next().reply(());
    assert_eq!(line.poll(), "+OK|+PONG|");
    let patience = Duration::from_millis(u64::from(Limits::DEFAULT.half_closed_ms_max));
    let due = start().after(patience).monotonic_us();
    assert_eq!(line.session.next_timeout(), Some(due));
    assert_eq!(line.pass(patience), "");
    assert_eq!(line.step, SessionStep::Close(CloseReason::Eof));
    assert!(line.next().cancelled());
}

#[test]
fn shutdown_waits_for_pending_replies_and_ends_blocking_calls_early() {
    let mut line = Line::new();
    line.ask("WAIT|PING");
    assert_eq!(line.tell(SessionEvent::Stop), "");
    assert_eq!(line.step, SessionStep::NeedInput);
    line.next().reply(());
    assert_eq!(line.poll(), "+OK|+PONG|");
    assert_eq!(line.step, SessionStep::Close(CloseReason::ShuttingDown));

    let mut line = Line::new();
    line.ask("TAKE|PING");
    assert_eq!(line.tell(SessionEvent::Stop), "$7|nothing|+PONG|");
    assert_eq!(line.step, SessionStep::Close(CloseReason::ShuttingDown));
}

#[test]
fn last_reply_is_sent_before_the_connection_closes() {
    for (last, replies) in [
        ("QUIT", "+OK|"),
        ("*1\r\n:5", "-ERR Protocol error: expected '$', got ':'|"),
    ] {
        let mut line = Line::new();
        assert_eq!(line.ask(&format!("PIPE|PIPE|{last}|PING")), "");
        assert_eq!(line.step, SessionStep::NeedInput);
        line.nth(1).reply(2_i64);
        assert_eq!(line.poll(), "");
        line.next().reply(1_i64);
        assert_eq!(line.poll(), format!(":1|:2|{replies}"));
        assert!(matches!(line.step, SessionStep::Close(_)), "{last}");
    }
}

#[test]
fn muted_replies_are_awaited_and_dropped() {
    let mut line = Line::new();
    assert_eq!(line.ask("CLIENT REPLY SKIP|WAIT|PING"), "");
    line.next().reply(1_i64);
    assert_eq!(line.poll(), "+PONG|");
    assert_eq!(
        line.ask("CLIENT REPLY OFF|WAIT|ECHO a|PIPE|CLIENT REPLY ON"),
        ""
    );
    line.next().reply(1_i64);
    assert_eq!(line.poll(), "");
    line.next().reply(1_i64);
    assert_eq!(line.poll(), "+OK|");
}

#[test]
fn skip_applies_to_the_request_held_back_by_a_pause() {
    let mut line = Line::new();
    let mut other = Line::to(&line.engine);
    line.ask("CLIENT REPLY SKIP");
    other.ask("CLIENT PAUSE 100 ALL");
    assert_eq!(line.ask("PING|ECHO a"), "");
    assert_eq!(line.poll(), "");
    assert_eq!(line.pass(DUE), "$1|a|");
}

#[test]
fn each_answer_restarts_the_grace_period_of_a_closed_side() {
    let mut line = Line::new();
    line.ask("PIPE|PIPE|PIPE|PIPE");
    assert_eq!(line.tell(SessionEvent::End), "");
    for n in 1..=3_i64 {
        assert_eq!(line.pass(Duration::from_millis(600)), "");
        assert_eq!(line.step, SessionStep::NeedInput, "{n}");
        line.next().reply(n);
        assert_eq!(line.poll(), format!(":{n}|"));
    }
    assert_eq!(line.pass(Duration::from_millis(999)), "");
    assert_eq!(line.step, SessionStep::NeedInput);
    line.pass(Duration::from_millis(1));
    assert_eq!(line.step, SessionStep::Close(CloseReason::Eof));
}

#[test]
fn exec_takes_immediate_answers_and_never_waits() {
    let mut line = Line::new();
    assert_eq!(
        line.ask("MULTI|ECHO a|TAKE|WAIT|LOSE|SOON|PING"),
        "+OK|+QUEUED|+QUEUED|+QUEUED|+QUEUED|-ERR Command not allowed inside a transaction|+QUEUED|"
    );
    assert!(line.ask("EXEC").starts_with("-EXECABORT"));
    line.ask("MULTI|ECHO a|TAKE|WAIT|LOSE|PING");
    assert_eq!(
        line.ask("EXEC|PING"),
        "*5|$1|a|$7|nothing|-ERR the command would have to wait, which it cannot inside EXEC or a script|\
         -ERR the command gave no reply|+PONG|+PONG|"
    );
    assert!(line.next().cancelled() && line.next().cancelled());
    assert_eq!(line.stats("wait"), (1, 1));
}

#[test]
fn blocked_clients_are_listed_and_can_be_unblocked() {
    let mut line = Line::new();
    let mut other = Line::to(&line.engine);
    assert_eq!(other.ask("CLIENT UNBLOCK 1"), ":0|");
    line.ask("TAKE");
    assert_eq!(line.flags(&mut other), "b");
    assert!(other.ask("INFO clients").contains("blocked_clients:1|"));
    assert_eq!(other.ask("CLIENT UNBLOCK 1|CLIENT UNBLOCK 1"), ":1|:0|");
    assert_eq!(line.poll(), "$7|nothing|");
    assert!(line.next().cancelled());
    line.ask("BLOCK");
    assert_eq!(other.ask("CLIENT UNBLOCK 1 ERROR"), ":1|");
    assert_eq!(
        line.poll(),
        "-UNBLOCKED client unblocked via CLIENT UNBLOCK|"
    );
    line.ask("BLOCK");
    assert_eq!(other.ask("CLIENT UNBLOCK 1 TIMEOUT"), ":1|");
    assert_eq!(line.poll(), "$-1|");
    assert_eq!(line.flags(&mut other), "N");
    line.ask("PIPE");
    assert_eq!(line.flags(&mut other), "N", "it can go on");
}

#[test]
fn connection_with_a_pending_call_is_not_idle() {
    let mut line = Line::new();
    line.ask("CONFIG SET timeout 10|WAIT");
    assert_eq!(line.session.next_timeout(), None);
    assert_eq!(line.pass(Duration::from_secs(60)), "");
    assert_eq!(line.step, SessionStep::NeedInput);
    line.next().reply(());
    assert_eq!(line.poll(), "+OK|");
    assert_eq!(
        line.step,
        SessionStep::NeedInput,
        "it was not idle while it waited"
    );
    line.pass(Duration::from_secs(10));
    assert_eq!(line.step, SessionStep::Close(CloseReason::Idle));
}

#[test]
fn future_is_polled_when_woken_and_dropped_with_its_client() {
    let mut line = Line::new();
    assert_eq!(line.ask("POLL|PING|POLL"), "");
    assert_eq!(line.poll(), "");
    let wakers = std::mem::take(&mut *line.desk().wakers.lock().unwrap());
    assert_eq!(wakers.len(), 2);
    wakers[1].wake_by_ref();
    assert_eq!(line.poll(), "");
    wakers[0].wake_by_ref();
    assert_eq!(line.poll(), "$6|polled|+PONG|$6|polled|");
    let desk = line.desk();
    assert_eq!(desk.dropped.load(Ordering::Relaxed), 2);
    line.ask("POLL");
    let engine = Arc::clone(&line.engine);
    drop(line);
    assert_eq!(engine.app().dropped.load(Ordering::Relaxed), 3);
}

#[test]
fn spawned_future_is_woken_and_dropped_when_its_client_disconnects() {
    type Tasks = Arc<Mutex<Vec<crate::BoxFuture>>>;
    let tasks = Tasks::default();
    let spawned = Arc::clone(&tasks);
    let spawn = move |task| spawned.lock().unwrap().push(task);
    let engine = Engine::new(router().spawn_on(spawn), Options::default(), start());
    let mut line = Line::to(&engine);
    line.ask("POLL");
    let mut task = tasks.lock().unwrap().pop().expect("spawned");
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = std::task::Context::from_waker(&waker);
    assert!(task.as_mut().poll(&mut cx).is_pending());
    drop(line);
    assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    assert!(task.as_mut().poll(&mut cx).is_ready());
    assert_eq!(engine.app().dropped.load(Ordering::Relaxed), 1);
}

/// Panics when it is dropped.
struct PanicsOnDrop;
impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        panic!("a defect, on purpose");
    }
}

/// A command whose future holds a value that panics when it is dropped.
fn panics_on_drop() -> Router<Desk> {
    router().future("panics_on_drop", |_, ()| {
        let held = PanicsOnDrop;
        poll_fn(move |_| {
            let _held = &held;
            Poll::<i64>::Pending
        })
    })
}

#[test]
fn panic_while_dropping_a_spawned_future_is_contained() {
    type Tasks = Arc<Mutex<Vec<crate::BoxFuture>>>;
    let tasks = Tasks::default();
    let spawned = Arc::clone(&tasks);
    let spawn = move |task| spawned.lock().unwrap().push(task);
    let engine = Engine::new(
        panics_on_drop().spawn_on(spawn),
        Options::default(),
        start(),
    );
    for is_polled in [true, false] {
        let mut line = Line::to(&engine);
        line.ask("PANICS_ON_DROP");
        let mut task = tasks.lock().unwrap().pop().expect("spawned");
        let mut cx = std::task::Context::from_waker(Waker::noop());
        assert!(task.as_mut().poll(&mut cx).is_pending());
        drop(line);
        if is_polled {
            assert!(task.as_mut().poll(&mut cx).is_ready());
        }
        drop(task);
    }
}

#[test]
fn session_closes_completely_when_a_drop_panics() {
    let engine = Engine::new(panics_on_drop(), Options::default(), start());
    let mut line = Line::to(&engine);
    line.ask("HELLO 3|SUBSCRIBE a|PIPE|PANICS_ON_DROP");
    drop(line);
    assert_eq!(engine.clients().len(), 0);
    // An unread answer holds the values that its reply is made of.
    let mut line = Line::to(&engine);
    line.ask("WAIT");
    let held = PanicsOnDrop;
    let body = move |bytes_max: usize| {
        let _held = &held;
        Some(bytes::Bytes::from(vec![0; bytes_max]))
    };
    assert!(line.next().cancelled(), "the first");
    assert!(line.next().reply(Stream::new(1 << 20, body)));
    drop(line);
    assert_eq!(engine.clients().len(), 0);
}

#[derive(Default)]
struct Woken(AtomicUsize);
impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
