//! A client for tests: a router's commands are called in memory, with no socket and no waiting.

mod reply;
mod request;

pub use reply::{Like, TestReply};
pub use request::IntoRequest;

use crate::session::{CloseReason, Session, SessionEvent, SessionStep};
use crate::{App, Engine, Host, Now, Options, Output, Peer, Proto, Router, Wake};
use resp_codec::binary::ReplyDecoder;
use resp_codec::{FrameDecoder, Kind, Limits, Value};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long [`TestClient::reply`] and [`TestClient::push`] wait for a sign of another thread.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time a test begins at: some day in 2023.
const EPOCH: Duration = Duration::from_secs(1_700_000_000);

/// A connection to a router's commands, in memory: what a client would send is served by the same
/// code as on a socket, at a time that only [`TestClient::advance`] moves.
///
/// A handler that panics fails the test, and so does one that writes less or more than one whole
/// reply.
///
/// ```
/// use respire_engine::{App, Map, NoKeys, Null, Router, Status};
///
/// struct Nothing;
/// impl App for Nothing {
///     type Conn = u32;
///     type Keys = NoKeys;
/// }
/// fn router() -> Router<Nothing> {
///     Router::new(Nothing).command("VISITS", |cx, ()| {
///         *cx.conn() += 1;
///         Map::new().with("visits", *cx.conn()).with("last", Null)
///     })
/// }
///
/// let mut client = router().client();
/// assert_eq!(client.call("PING"), Status("PONG"));
/// assert_eq!(client.call("VISITS").get("visits"), 1);
/// assert_eq!(client.call("VISITS").get("visits"), 2);
/// assert_eq!(client.call("visits").raw(), b"*4\r\n$6\r\nvisits\r\n:3\r\n$4\r\nlast\r\n$-1\r\n");
///
/// // Another connection to the same engine, in RESP3.
/// let mut other = client.connect().resp3();
/// assert_eq!(other.call("VISITS").raw(), b"%2\r\n$6\r\nvisits\r\n:1\r\n$4\r\nlast\r\n_\r\n");
/// assert_eq!(other.call("NOPE").error().split(' ').next(), Some("ERR"));
/// ```
///
/// # Panics
/// Whatever goes wrong fails the test, with the reason: a reply that does not come, a connection
/// that is closed, a handler that panics.
pub struct TestClient<A: App> {
    world: Arc<World<A>>,
    session: Session<A>,
    bell: Arc<Bell>,
    out: Output,
    decoder: Decoder,
    /// Bytes received and not yet decoded.
    bytes: Vec<u8>,
    replies: VecDeque<TestReply>,
    pushes: VecDeque<TestReply>,
    closed: Option<CloseReason>,
}

/// What the connections of a test share.
struct World<A: App> {
    engine: Arc<Engine<A>>,
    now: Mutex<Now>,
    watcher: Arc<Watcher>,
}

/// The process around the engine, as far as a test has one: it hears of panics.
#[derive(Default)]
struct Watcher {
    panic: Mutex<Option<String>>,
}

impl Host for Watcher {
    fn panicked(&self, command: &str, text: &str) {
        let mut panic = lock(&self.panic);
        panic.get_or_insert_with(|| format!("`{command}` panicked: {text}"));
    }
}

/// Rung by the engine when the session has something to look at.
#[derive(Default)]
struct Bell {
    is_woken: Mutex<bool>,
    rings: Condvar,
}

struct Ringer(Arc<Bell>);

impl Wake for Ringer {
    fn wake(&self) {
        *lock(&self.0.is_woken) = true;
        self.0.rings.notify_all();
    }
}

enum Decoder {
    Resp(FrameDecoder),
    Binary(ReplyDecoder),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<A: App> Router<A> {
    /// A client for tests of these commands: see [`TestClient`].
    #[must_use]
    pub fn client(self) -> TestClient<A> {
        self.client_with(Options::default())
    }

    /// The same, of an engine with other options; their host is replaced.
    #[must_use]
    pub fn client_with(self, options: Options) -> TestClient<A> {
        let now = Now::new(Duration::ZERO, EPOCH);
        let watcher = Arc::new(Watcher::default());
        let options = Options {
            host: Arc::clone(&watcher) as Arc<dyn Host>,
            ..options
        };
        let engine = Engine::new(self, options, now);
        TestClient::new(Arc::new(World {
            engine,
            now: Mutex::new(now),
            watcher,
        }))
    }
}

impl<A: App> TestClient<A> {
    fn new(world: Arc<World<A>>) -> Self {
        let bell = Arc::new(Bell::default());
        let now = *lock(&world.now);
        let waker = Box::new(Ringer(Arc::clone(&bell)));
        let session = world.engine.connect(Peer::default(), waker, now);
        Self {
            session: session.expect("fewer connections than `clients_max`"),
            world,
            bell,
            out: Output::new(),
            decoder: Decoder::Resp(FrameDecoder::new(Limits::CLIENT)),
            bytes: Vec::new(),
            replies: VecDeque::new(),
            pushes: VecDeque::new(),
            closed: None,
        }
    }

    /// Another connection to the same engine, at the same time; it speaks RESP2 at first.
    #[must_use]
    pub fn connect(&self) -> Self {
        Self::new(Arc::clone(&self.world))
    }

    /// This connection, speaking RESP3 from here on: `HELLO 3`.
    #[must_use]
    pub fn resp3(mut self) -> Self {
        self.call("HELLO 3");
        self
    }

    /// This connection, speaking the binary protocol (`CALL`). Nothing may have been sent yet.
    #[must_use]
    pub fn binary(mut self) -> Self {
        self.decoder = Decoder::Binary(ReplyDecoder::new(Limits::CLIENT));
        self
    }

    /// Sends a request and returns its reply: `call("SET k v")`, with the quoting of redis-cli, or
    /// `call(["SET", "k", "v"])`, or `call(("SET", key, value))`.
    ///
    /// Under RESP3 `SUBSCRIBE` and its like have no reply, only pushes: [`TestClient::send`] them,
    /// and read [`TestClient::push`].
    ///
    /// # Panics
    /// When the reply does not come within ten seconds of real time, or replies to requests that
    /// were sent before have not been read.
    #[track_caller]
    pub fn call(&mut self, request: impl IntoRequest) -> TestReply {
        self.send(request);
        let early = self.replies.len().saturating_sub(1);
        assert!(
            early == 0,
            "{early} replies to earlier requests were not read"
        );
        self.reply()
    }

    /// Sends a request, and leaves its reply to [`TestClient::reply`].
    ///
    /// # Panics
    /// When the request is no request, or the connection is closed.
    #[track_caller]
    pub fn send(&mut self, request: impl IntoRequest) {
        let request = request.into_request();
        assert!(!request.is_empty(), "a request has at least a name");
        let bytes = match self.decoder {
            Decoder::Resp(_) => request::resp(&request),
            Decoder::Binary(_) => request::binary(&request),
        };
        self.send_bytes(&bytes);
    }

    /// Sends bytes as they are: several requests, or a part of one.
    ///
    /// # Panics
    /// When the connection is closed.
    #[track_caller]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.assert_open();
        let now = self.now();
        let step = self.session.serve(bytes, now, &mut self.out);
        self.go_on(step);
    }

    /// The next reply that is no push. Waits for one that another thread has to give.
    ///
    /// # Panics
    /// When there is none within ten seconds of real time.
    #[track_caller]
    pub fn reply(&mut self) -> TestReply {
        self.wait("a reply", |client| client.replies.pop_front())
    }

    /// The next reply, if it is there.
    #[track_caller]
    pub fn try_reply(&mut self) -> Option<TestReply> {
        self.poll();
        self.replies.pop_front()
    }

    /// The next push, which only RESP3 has: in RESP2, messages come as replies. Waits for one that
    /// another thread has to give.
    ///
    /// # Panics
    /// When there is none within ten seconds of real time.
    #[track_caller]
    pub fn push(&mut self) -> TestReply {
        self.wait("a push", |client| client.pushes.pop_front())
    }

    /// The next push, if it is there.
    #[track_caller]
    pub fn try_push(&mut self) -> Option<TestReply> {
        self.poll();
        self.pushes.pop_front()
    }

    /// Moves the time of all connections ahead, does the housekeeping due, and wakes this
    /// connection if it waits for a time that has come.
    #[track_caller]
    pub fn advance(&mut self, by: Duration) {
        let now = {
            let mut now = lock(&self.world.now);
            *now = now.after(by);
            *now
        };
        let _ = self.world.engine.tick(now);
        self.poll();
    }

    /// The time.
    #[must_use]
    pub fn now(&self) -> Now {
        *lock(&self.world.now)
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &A {
        self.world.engine.app()
    }

    /// The engine that serves the connection.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine<A>> {
        &self.world.engine
    }

    /// Why the connection was closed, if it was.
    #[track_caller]
    pub fn closed(&mut self) -> Option<CloseReason> {
        self.poll();
        self.closed
    }

    /// Lets the handler that has just panicked be, and says what it said; for tests of what comes
    /// after. Anything else reports the panic and fails the test.
    #[must_use]
    pub fn take_panic(&mut self) -> Option<String> {
        lock(&self.world.watcher.panic).take()
    }

    /// Sends a request whose handler is expected to panic, and returns the reply and what was said.
    ///
    /// # Panics
    /// When it does not panic.
    #[track_caller]
    pub fn call_panicking(&mut self, request: impl IntoRequest) -> (TestReply, String) {
        self.send(request);
        let panic = self.take_panic();
        let panic = panic.expect("no handler panicked");
        (self.reply(), panic)
    }

    #[track_caller]
    fn wait(
        &mut self,
        what: &str,
        mut take: impl FnMut(&mut Self) -> Option<TestReply>,
    ) -> TestReply {
        loop {
            self.poll();
            self.report_panic();
            if let Some(taken) = take(self) {
                return taken;
            }
            if let Some(reason) = self.closed {
                panic!(
                    "there is no {what}: the connection was closed ({})",
                    reason.text()
                );
            }
            let is_woken = lock(&self.bell.is_woken);
            let is_silent = |is_woken: &mut bool| !*is_woken;
            let waited = self
                .bell
                .rings
                .wait_timeout_while(is_woken, PATIENCE, is_silent);
            let (is_woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            drop(is_woken);
            assert!(!timeout.timed_out(), "{}", self.missing(what));
        }
    }

    /// What is said when `what` did not come.
    fn missing(&self, what: &str) -> String {
        let received = self.bytes.escape_ascii();
        let mut text = format!("{what} did not come; what was received of it: b\"{received}\"");
        if !self.pushes.is_empty() {
            let pushes = &self.pushes;
            text.push_str(&format!("; pushes that were not read: {pushes:?}"));
        }
        text
    }

    /// Looks whether the session has something to say.
    #[track_caller]
    fn poll(&mut self) {
        if self.closed.is_none() {
            *lock(&self.bell.is_woken) = false;
            let now = self.now();
            let step = self.session.serve(SessionEvent::Turn, now, &mut self.out);
            self.go_on(step);
        }
    }

    /// Takes what was written, and polls until the session waits for its peer or a time.
    #[track_caller]
    fn go_on(&mut self, mut step: SessionStep) {
        loop {
            self.bytes.extend(self.out.take());
            match step {
                SessionStep::Flush => {
                    step = self
                        .session
                        .serve(SessionEvent::Turn, self.now(), &mut self.out)
                }
                SessionStep::NeedInput => break,
                SessionStep::Close(reason) => {
                    self.closed = Some(reason);
                    break;
                }
            }
        }
        self.decode();
    }

    /// Decodes what is whole.
    #[track_caller]
    fn decode(&mut self) {
        let mut start = 0;
        while start < self.bytes.len() {
            let bytes = &self.bytes[start..];
            let decoded = match &mut self.decoder {
                Decoder::Resp(decoder) => decoder.decode(bytes),
                Decoder::Binary(decoder) => decoder.decode(bytes),
            };
            let (value, used): (Value, usize) = match decoded {
                Ok(resp_codec::Step::Ready { item, consumed }) => (item.to_value(), consumed),
                Ok(resp_codec::Step::NeedMore { .. }) => break,
                Err(error) => panic!(
                    "what was received is no reply: {error}: b\"{}\"",
                    bytes.escape_ascii()
                ),
            };
            let is_push = value.kind() == Kind::Push;
            let reply = TestReply::new(value, bytes[..used].to_vec());
            if is_push {
                self.pushes.push_back(reply);
            } else {
                self.replies.push_back(reply);
            }
            start += used;
        }
        self.bytes.drain(..start);
    }

    #[track_caller]
    fn report_panic(&self) {
        if let Some(panic) = lock(&self.world.watcher.panic).take() {
            panic!("{panic}");
        }
    }

    #[track_caller]
    fn assert_open(&self) {
        if let Some(reason) = self.closed {
            panic!("the connection is closed ({})", reason.text());
        }
    }

    /// The protocol replies come in.
    #[must_use]
    pub fn proto(&self) -> Proto {
        match self.decoder {
            Decoder::Resp(_) => self.session.client().proto(),
            Decoder::Binary(_) => Proto::Binary,
        }
    }
}

impl<A: App> std::fmt::Debug for TestClient<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestClient")
            .field("session", &self.session)
            .field("replies", &self.replies)
            .field("pushes", &self.pushes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
