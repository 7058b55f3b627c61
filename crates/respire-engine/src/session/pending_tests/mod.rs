//! Tests of deferred replies with a small application, a simulated clock and no socket.

mod ends;
mod order;
mod pushes;

use super::{CloseReason, Session, SessionEvent, SessionStep};
use crate::{
    App, ArgIter, Args, Arity, Engine, Error, Flags, Later, Limits, NoKeys, NoWake, Now, Options,
    Output, Peer, PushError, Pusher, Router, Spec, Stream,
};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// The application: it keeps unanswered calls for the test to answer.
#[derive(Default)]
struct Desk {
    waiting: Mutex<VecDeque<Later>>,
    pushers: Mutex<Vec<Pusher>>,
    wakers: Mutex<Vec<Waker>>,
    cancelled: AtomicUsize,
    dropped: AtomicUsize,
}

impl App for Desk {
    type Conn = ();
    type Keys = NoKeys;
}

/// Arguments that only set flags.
macro_rules! flagged {
    ($name:ident, $flags:expr) => {
        struct $name;
        impl Args for $name {
            const SPEC: Spec = Spec {
                flags: $flags,
                complexity: "",
                ..Spec::EMPTY
            };
            fn parse(_: &mut ArgIter<'_>) -> Result<Self, Error> {
                Ok(Self)
            }
        }
    };
}
flagged!(Piped, Flags::PIPELINED);
flagged!(Blocking, Flags::BLOCKING);

struct Text(String);
impl Args for Text {
    const SPEC: Spec = Spec {
        arity: Arity::exactly(2),
        ..Spec::EMPTY
    };
    fn parse(args: &mut ArgIter<'_>) -> Result<Self, Error> {
        let text = args.next().unwrap_or_default();
        Ok(Self(String::from_utf8_lossy(text).into_owned()))
    }
}

/// Counts how often it is dropped.
struct Counted(Arc<Desk>);
impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

const DUE: Duration = Duration::from_millis(100);

fn router() -> Router<Desk> {
    let keep = |desk: &Desk, later| desk.waiting.lock().unwrap().push_back(later);
    Router::new(Desk::default())
        .deferred("wait", move |cx, (), later| keep(cx.app(), later))
        .deferred("pipe", move |cx, Piped, later| keep(cx.app(), later))
        .deferred("take", move |cx, Blocking, later| {
            keep(cx.app(), later.deadline(DUE, "nothing"));
        })
        .deferred("block", move |cx, Blocking, later| keep(cx.app(), later))
        .deferred("lose", |_, (), later| drop(later))
        .deferred("echo", |_, text: Text, later| {
            later.reply(bytes::Bytes::from(text.0));
        })
        .deferred("break", |_, (), _| panic!("a defect, on purpose"))
        .deferred("get", move |cx, Text(_), later| keep(cx.app(), later))
        .future("soon", |_, ()| async { "soon" })
        .future("burst", |_, ()| async {
            let nothing: Option<u8> = std::hint::black_box(None);
            i64::from(nothing.expect("a defect, on purpose"))
        })
        .future("poll", |desk: Arc<Desk>, Piped| {
            let mut is_first = true;
            let counted = Counted(Arc::clone(&desk));
            poll_fn(move |cx| {
                let _held = &counted;
                if std::mem::take(&mut is_first) {
                    desk.wakers.lock().unwrap().push(cx.waker().clone());
                    return Poll::Pending;
                }
                Poll::Ready("polled")
            })
        })
        .command("watch", |cx, ()| {
            cx.app().pushers.lock().unwrap().push(cx.pusher());
        })
        .command("tell", |cx, text: Text| {
            let sent = cx.pusher().push(("news", bytes::Bytes::from(text.0)));
            sent.map_err(|error| Error::owned(format!("ERR {error}")))
        })
        .command("large", |_, ()| {
            Stream::from_read(200_000, std::io::repeat(b'x'))
        })
}

fn start() -> Now {
    Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
}

/// A connection, its clock and its engine.
struct Line {
    engine: Arc<Engine<Desk>>,
    session: Session<Desk>,
    now: Now,
    step: SessionStep,
}

impl Line {
    fn with(limits: Limits) -> Self {
        let options = Options {
            limits,
            ..Options::default()
        };
        Self::to(&Engine::new(router(), options, start()))
    }

    fn new() -> Self {
        Self::with(Limits::DEFAULT)
    }

    fn to(engine: &Arc<Engine<Desk>>) -> Self {
        let session = engine.connect(Peer::default(), Box::new(NoWake), start());
        Self {
            engine: Arc::clone(engine),
            session: session.expect("below maxclients"),
            now: start(),
            step: SessionStep::NeedInput,
        }
    }

    /// Sends these lines, and returns the replies of the turn with `|` for line ends.
    fn ask(&mut self, lines: &str) -> String {
        let lines: String = lines.split('|').map(|line| format!("{line}\r\n")).collect();
        self.send(lines.as_bytes())
    }

    fn send(&mut self, bytes: &[u8]) -> String {
        let mut out = Output::new();
        self.step = self.session.serve(bytes, self.now, &mut out);
        self.drain(out)
    }

    fn poll(&mut self) -> String {
        self.tell(SessionEvent::Turn)
    }

    fn tell(&mut self, event: SessionEvent<'_, Desk>) -> String {
        let mut out = Output::new();
        self.step = self.session.serve(event, self.now, &mut out);
        self.drain(out)
    }

    fn drain(&mut self, mut out: Output) -> String {
        let mut replies = out.take();
        for _ in 0..1000 {
            if self.step != SessionStep::Flush {
                return String::from_utf8_lossy(&replies).replace("\r\n", "|");
            }
            self.step = self.session.serve(SessionEvent::Turn, self.now, &mut out);
            replies.extend(out.take());
        }
        panic!("the session flushes without end");
    }

    fn pass(&mut self, time: Duration) -> String {
        self.now = self.now.after(time);
        self.poll()
    }

    fn desk(&self) -> &Desk {
        self.engine.app()
    }

    /// The oldest unanswered call.
    fn next(&self) -> Later {
        let next = self.desk().waiting.lock().unwrap().pop_front();
        next.expect("something waits")
    }

    fn nth(&self, n: usize) -> Later {
        let nth = self.desk().waiting.lock().unwrap().remove(n);
        nth.expect("something waits")
    }

    fn flags(&self, other: &mut Self) -> String {
        let id = self.session.client().id();
        let list = other.ask(&format!("CLIENT LIST ID {id}"));
        let flags = list
            .split(' ')
            .find_map(|field| field.strip_prefix("flags="));
        flags.expect("every line has flags").to_owned()
    }

    fn stats(&self, name: &str) -> (u64, u64) {
        let at = self
            .engine
            .table
            .find_name(name.as_bytes())
            .expect("a command");
        let stats = &self.engine.table.entry(at).stats;
        (
            stats.calls.load(Ordering::Relaxed),
            stats.failed.load(Ordering::Relaxed),
        )
    }
}
