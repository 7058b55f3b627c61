//! A client for tests: it calls a router's commands in memory, without a socket and without
//! waiting.

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

/// How long [`TestClient::reply`] and [`TestClient::push`] wait for another thread.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time at the start of a test, in 2023.
const START_TIME: Duration = Duration::from_secs(1_700_000_000);

/// A connection to a router's commands in memory. Requests are served by the same code as on a
/// socket. Only [`TestClient::advance`] changes the time.
///
/// The test fails if a handler panics, or writes more or less than one complete reply.
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
/// The test fails with a reason if a reply does not come, the connection is closed, or a handler
/// panics.
pub struct TestClient<A: App> {
    server: Arc<TestServer<A>>,
    session: Session<A>,
    wake_state: Arc<WakeState>,
    out: Output,
    decoder: Decoder,
    /// Bytes received and not yet decoded.
    bytes: Vec<u8>,
    replies: VecDeque<TestReply>,
    pushes: VecDeque<TestReply>,
    closed: Option<CloseReason>,
}

/// The state that the connections of a test share.
struct TestServer<A: App> {
    engine: Arc<Engine<A>>,
    now: Mutex<Now>,
    panics: Arc<PanicRecorder>,
}

/// The host of a test: it records panics.
#[derive(Default)]
struct PanicRecorder {
    panic: Mutex<Option<String>>,
}

impl Host for PanicRecorder {
    fn panicked(&self, command: &str, text: &str) {
        let mut panic = lock(&self.panic);
        panic.get_or_insert_with(|| format!("`{command}` panicked: {text}"));
    }
}

/// The wake state of the session.
#[derive(Default)]
struct WakeState {
    is_woken: Mutex<bool>,
    woken: Condvar,
}

struct WakeHandle(Arc<WakeState>);

impl Wake for WakeHandle {
    fn wake(&self) {
        *lock(&self.0.is_woken) = true;
        self.0.woken.notify_all();
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

    /// As [`Router::client`], with other options. Their host is replaced.
    #[must_use]
    pub fn client_with(self, options: Options) -> TestClient<A> {
        let now = Now::new(Duration::ZERO, START_TIME);
        let panics = Arc::new(PanicRecorder::default());
        let options = Options {
            host: Arc::clone(&panics) as Arc<dyn Host>,
            ..options
        };
        let engine = Engine::new(self, options, now);
        TestClient::new(Arc::new(TestServer {
            engine,
            now: Mutex::new(now),
            panics,
        }))
    }
}

impl<A: App> TestClient<A> {
    fn new(server: Arc<TestServer<A>>) -> Self {
        let wake_state = Arc::new(WakeState::default());
        let now = *lock(&server.now);
        let waker = Box::new(WakeHandle(Arc::clone(&wake_state)));
        let session = server.engine.connect(Peer::default(), waker, now);
        Self {
            session: session.expect("fewer connections than `clients_max`"),
            server,
            wake_state,
            out: Output::new(),
            decoder: Decoder::Resp(FrameDecoder::new(Limits::CLIENT)),
            bytes: Vec::new(),
            replies: VecDeque::new(),
            pushes: VecDeque::new(),
            closed: None,
        }
    }

    /// Another connection to the same engine, with the same clock. It starts with RESP2.
    #[must_use]
    pub fn connect(&self) -> Self {
        Self::new(Arc::clone(&self.server))
    }

    /// Switches this connection to RESP3: `HELLO 3`.
    #[must_use]
    pub fn resp3(mut self) -> Self {
        self.call("HELLO 3");
        self
    }

    /// Switches this connection to the binary protocol (`CALL`). Call it before the first request.
    #[must_use]
    pub fn binary(mut self) -> Self {
        self.decoder = Decoder::Binary(ReplyDecoder::new(Limits::CLIENT));
        self
    }

    /// Sends a request and returns its reply: `call("SET k v")`, with the quoting of redis-cli, or
    /// `call(["SET", "k", "v"])`, or `call(("SET", key, value))`.
    ///
    /// In RESP3, `SUBSCRIBE` and similar commands have only pushes and no reply: use
    /// [`TestClient::send`] and [`TestClient::push`] for them.
    ///
    /// # Panics
    /// If the reply does not come within ten seconds of real time, or if replies to earlier
    /// requests are unread.
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

    /// Sends a request; [`TestClient::reply`] reads its reply.
    ///
    /// # Panics
    /// If the request is invalid, or the connection is closed.
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

    /// Sends raw bytes: several requests, or a part of one.
    ///
    /// # Panics
    /// If the connection is closed.
    #[track_caller]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.assert_open();
        let now = self.now();
        let step = self.session.serve(bytes, now, &mut self.out);
        self.run_turns(step);
    }

    /// The next reply that is not a push. Waits if another thread has to send it.
    ///
    /// # Panics
    /// If there is none within ten seconds of real time.
    #[track_caller]
    pub fn reply(&mut self) -> TestReply {
        self.wait("a reply", |client| client.replies.pop_front())
    }

    /// The next reply, if it has arrived.
    #[track_caller]
    pub fn try_reply(&mut self) -> Option<TestReply> {
        self.poll();
        self.replies.pop_front()
    }

    /// The next push. Only RESP3 has pushes: in RESP2, messages come as replies. Waits if another
    /// thread has to send it.
    ///
    /// # Panics
    /// If there is none within ten seconds of real time.
    #[track_caller]
    pub fn push(&mut self) -> TestReply {
        self.wait("a push", |client| client.pushes.pop_front())
    }

    /// The next push, if it has arrived.
    #[track_caller]
    pub fn try_push(&mut self) -> Option<TestReply> {
        self.poll();
        self.pushes.pop_front()
    }

    /// Advances the time of all connections, does the due housekeeping, and polls this connection
    /// if it was waiting for a time that has come.
    #[track_caller]
    pub fn advance(&mut self, by: Duration) {
        let now = {
            let mut now = lock(&self.server.now);
            *now = now.after(by);
            *now
        };
        let _ = self.server.engine.tick(now);
        self.poll();
    }

    /// The current time of the test.
    #[must_use]
    pub fn now(&self) -> Now {
        *lock(&self.server.now)
    }

    /// The application.
    #[must_use]
    pub fn app(&self) -> &A {
        self.server.engine.app()
    }

    /// The engine that serves the connection.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine<A>> {
        &self.server.engine
    }

    /// Why the connection was closed, if it was.
    #[track_caller]
    pub fn closed(&mut self) -> Option<CloseReason> {
        self.poll();
        self.closed
    }

    /// Returns the message of the handler that has just panicked, and clears it, to test the
    /// behaviour afterwards. Any other call reports the panic and fails the test.
    #[must_use]
    pub fn take_panic(&mut self) -> Option<String> {
        lock(&self.server.panics.panic).take()
    }

    /// Sends a request whose handler is expected to panic. Returns the reply and the panic's
    /// message.
    ///
    /// # Panics
    /// If it does not panic.
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
            let is_woken = lock(&self.wake_state.is_woken);
            let is_silent = |is_woken: &mut bool| !*is_woken;
            let waited = self
                .wake_state
                .woken
                .wait_timeout_while(is_woken, TIMEOUT, is_silent);
            let (is_woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            drop(is_woken);
            assert!(!timeout.timed_out(), "{}", self.missing(what));
        }
    }

    /// The failure message if `what` did not come.
    fn missing(&self, what: &str) -> String {
        let received = self.bytes.escape_ascii();
        let mut text = format!("{what} did not come; what was received of it: b\"{received}\"");
        if !self.pushes.is_empty() {
            let pushes = &self.pushes;
            text.push_str(&format!("; pushes that were not read: {pushes:?}"));
        }
        text
    }

    /// Polls the session.
    #[track_caller]
    fn poll(&mut self) {
        if self.closed.is_none() {
            *lock(&self.wake_state.is_woken) = false;
            let now = self.now();
            let step = self.session.serve(SessionEvent::Turn, now, &mut self.out);
            self.run_turns(step);
        }
    }

    /// Reads the written bytes, and polls until the session waits for its peer or for a time.
    #[track_caller]
    fn run_turns(&mut self, mut step: SessionStep) {
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

    /// Decodes complete replies.
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
        if let Some(panic) = lock(&self.server.panics.panic).take() {
            panic!("{panic}");
        }
    }

    #[track_caller]
    fn assert_open(&self) {
        if let Some(reason) = self.closed {
            panic!("the connection is closed ({})", reason.text());
        }
    }

    /// The protocol of the replies.
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
