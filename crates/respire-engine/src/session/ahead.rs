//! Looks ahead across sessions: a thread that has read from several connections starts to load the
//! keys of all their first requests before it answers the first one.

use super::decoded::Decoded;
use super::{Session, Wire};
use crate::client::ClientShared;
use crate::{App, Keyspace};
use std::sync::Arc;

/// Bytes to be served to a session, with their first request decoded ([`Session::look_ahead`]).
///
/// It borrows the bytes, so the decoded request always matches them. Only the session that looked
/// at the bytes uses the decoded request; any other session ignores it and decodes the bytes
/// itself.
pub struct Ahead<'b, A: App> {
    bytes: &'b [u8],
    /// The client of the session that decoded the request, and the request; `None` if nothing was
    /// decoded.
    found: Option<(Arc<ClientShared>, Decoded<'b, A>)>,
}

impl<'b, A: App> Ahead<'b, A> {
    /// Bytes that no session has looked at.
    #[must_use]
    pub fn unseen(bytes: &'b [u8]) -> Self {
        Self { bytes, found: None }
    }

    pub(super) fn bytes(&self) -> &'b [u8] {
        self.bytes
    }
}

impl<A: App> std::fmt::Debug for Ahead<'_, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ahead")
            .field("bytes_len", &self.bytes.len())
            .field("is_found", &self.found.is_some())
            .finish()
    }
}

/// Look-ahead in three steps before [`SessionEvent::Ahead`](super::SessionEvent::Ahead), for drivers
/// that read from several connections and then answer them one after another. A session looks ahead
/// in a pipeline by itself.
impl<A: App> Session<A> {
    /// First step: decodes the first request of `bytes` and passes its key to the keyspace
    /// ([`Keyspace::foresee`]). Does nothing if that cannot help: if all keys are in the cache, if
    /// the session has unanswered input, or if the request is incomplete.
    ///
    /// ```
    /// use respire_engine::driver::{SessionEvent, SessionStep};
    /// use respire_engine::{Engine, NoWake, Now, Options, Output, Peer, Router};
    /// use std::time::Duration;
    ///
    /// let now = Now::new(Duration::ZERO, Duration::ZERO);
    /// let engine = Engine::new(Router::new(()), Options::default(), now);
    /// let connect = || engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
    /// let mut sessions = [0, 1, 2].map(|_| connect());
    /// let mut ahead: Vec<_> = sessions.iter_mut().map(|it| it.look_ahead(b"PING\r\n")).collect();
    /// for (session, ahead) in sessions.iter().zip(&mut ahead) {
    ///     session.find_ahead(ahead);
    /// }
    /// for (session, ahead) in sessions.iter().zip(&ahead) {
    ///     session.warm_ahead(ahead);
    /// }
    /// for (session, ahead) in sessions.iter_mut().zip(ahead) {
    ///     let mut out = Output::new();
    ///     assert_eq!(session.serve(SessionEvent::Ahead(ahead), now, &mut out), SessionStep::NeedInput);
    ///     assert_eq!(out.to_vec(), b"+PONG\r\n");
    /// }
    /// ```
    pub fn look_ahead<'b>(&mut self, bytes: &'b [u8]) -> Ahead<'b, A> {
        let is_single = !self.is_pipelined && self.is_quiet();
        let mut ahead = Ahead::unseen(bytes);
        if is_single && A::Keys::is_far(self.engine.app()) {
            let mut request = Decoded::NONE;
            if self.decode_ahead(bytes, &mut request) {
                ahead.found = Some((Arc::clone(&self.core.client.shared), request));
            }
        }
        ahead
    }

    /// Whether there is a complete request with a key.
    fn decode_ahead<'b>(&mut self, bytes: &'b [u8], request: &mut Decoded<'b, A>) -> bool {
        let (engine, shape) = (&self.engine, &mut request.shape);
        let consumed = match &mut self.wire {
            Wire::Undecided => None,
            Wire::Resp => shape.read(engine, &mut self.decoder, bytes),
            Wire::Binary(decoder) => shape.read(engine, &mut **decoder, bytes),
        };
        consumed.is_some_and(|consumed| {
            request.start = consumed - request.shape.len;
            request.foresee(engine, self.core.client.db(), bytes)
        })
    }

    /// Second step, after the first step of all connections: the keyspace starts to load the value
    /// of the key ([`Keyspace::find`]).
    pub fn find_ahead(&self, ahead: &mut Ahead<'_, A>) {
        if let Some((_, request)) = &mut ahead.found {
            request.find(&self.engine, self.core.client.db());
        }
    }

    /// Third step, after the second of all connections: the keyspace starts to load the element of the
    /// value that the request names, if it names one ([`Keyspace::warm`]).
    pub fn warm_ahead(&self, ahead: &Ahead<'_, A>) {
        if let Some((_, request)) = &ahead.found {
            // There is no pipeline behind the request, during which a search could still load something.
            let _is_to_be_located = request.warm(&self.engine, self.core.client.db(), ahead.bytes);
        }
    }

    /// The decoded first request of `ahead`, if this session decoded it and may use it now.
    pub(super) fn foreseen<'a, 'b>(&self, ahead: &'a Ahead<'b, A>) -> Option<&'a Decoded<'b, A>> {
        // Another session may have other commands or another protocol. Bytes that this session
        // received since come before these.
        let (client, request) = ahead.found.as_ref()?;
        let is_own = Arc::ptr_eq(client, &self.core.client.shared);
        let request = (is_own && self.is_between_requests()).then_some(request)?;
        debug_assert!(request.start + request.shape.len <= ahead.bytes.len());
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use crate::session::{Session, SessionEvent, SessionStep};
    use crate::{
        App, ArgList, Arity, Cx, Engine, Error, KeySpec, Keyspace, NoWake, Now, Options, Output,
        Peer, Reply, Router, Row, SectionScope, Spec,
    };
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// Counts the keys passed to `foresee`, and the requests that came with a hint.
    #[derive(Default)]
    struct HintCounter {
        expected: AtomicU64,
        foreseen: AtomicU64,
    }

    impl App for HintCounter {
        type Conn = ();
        type Keys = Self;
    }

    impl Keyspace<Self> for HintCounter {
        type Conn = ();
        type Held = ();
        /// The key, and whether `find` was called for it.
        type Hint<'k> = (&'k [u8], bool);

        fn shorten<'s, 'k: 's>(hint: &'s Self::Hint<'k>) -> &'s Self::Hint<'s> {
            hint
        }

        fn is_far(_: &Self) -> bool {
            true
        }

        fn foresee<'k>(counter: &Self, _: u32, key: &'k [u8]) -> Self::Hint<'k> {
            counter.expected.fetch_add(1, Ordering::Relaxed);
            (key, false)
        }

        fn find(_: &Self, _: u32, hint: &mut Self::Hint<'_>) {
            hint.1 = true;
        }

        fn atomically(_: &Self, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
            body(&mut ());
        }
    }

    static GET: Spec = Spec {
        name: "get",
        arity: Arity::exactly(2),
        keys: &[KeySpec::at(1)],
        ..Spec::EMPTY
    };

    fn get(
        cx: &mut Cx<'_, HintCounter>,
        args: ArgList<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<(), Error> {
        if let Some(hint) = cx.parts().hint {
            assert_eq!(*hint, (&args[0], true));
            cx.app().foreseen.fetch_add(1, Ordering::Relaxed);
        }
        reply.bulk(&args[0]);
        Ok(())
    }

    fn now() -> Now {
        Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
    }

    struct Line {
        session: Session<HintCounter>,
        out: Output,
        /// The step that the last call returned.
        step: SessionStep,
    }

    impl Line {
        fn new() -> Self {
            let router = Router::new(HintCounter::default()).add(Row {
                spec: &GET,
                run: get,
            });
            let engine = Engine::new(router, Options::default(), now());
            Self {
                session: engine
                    .connect(Peer::default(), Box::new(NoWake), now())
                    .expect("there is room"),
                out: Output::new(),
                step: SessionStep::NeedInput,
            }
        }

        fn serve(&mut self, bytes: &[u8]) {
            self.step = self.session.serve(bytes, now(), &mut self.out);
            self.rest();
        }

        fn serve_ahead(&mut self, bytes: &[u8]) {
            let mut ahead = self.session.look_ahead(bytes);
            self.session.find_ahead(&mut ahead);
            self.step = self
                .session
                .serve(SessionEvent::Ahead(ahead), now(), &mut self.out);
            self.rest();
        }

        fn rest(&mut self) {
            while self.step == SessionStep::Flush {
                self.step = self.session.serve(SessionEvent::Turn, now(), &mut self.out);
            }
        }

        fn counts(&self) -> (u64, u64) {
            let app = self.session.engine.app();
            let count = |of: &AtomicU64| of.load(Ordering::Relaxed);
            (count(&app.expected), count(&app.foreseen))
        }
    }

    fn request(args: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        resp_codec::command(&mut bytes, args);
        bytes
    }

    #[test]
    fn single_requests_are_looked_ahead_in_both_protocols() {
        let mut line = Line::new();
        // The first byte of the connection chooses the protocol.
        line.serve(&request(&["GET", "first"]));
        for nth in 1..=3 {
            line.serve_ahead(&request(&["GET", "key"]));
            assert_eq!(line.counts(), (nth, nth));
        }
        line.serve_ahead(&[b"\r\n", &request(&["GET", "behind a blank line"])[..]].concat());
        assert_eq!(line.counts(), (4, 4));
        let mut line = Line::new();
        let get = |key| [1, 1, 0, 0, 0, key];
        line.serve(&get(b'a'));
        line.serve_ahead(&get(b'b'));
        assert_eq!(line.counts().0, 1);
    }

    #[test]
    fn incomplete_request_or_one_without_a_key_is_served_normally() {
        let mut line = Line::new();
        line.serve(b"PING\r\n");
        for bytes in [
            &request(&["PING"])[..],
            &request(&["GET"]),
            &request(&["NOPE", "key"]),
            b"GET line\r\n",
            b"*2\r\n$3\r\nGET\r\n$4\r\nha",
            b"lf\r\n",
        ] {
            line.serve_ahead(bytes);
        }
        assert_eq!(line.counts(), (0, 0));
        let replies = line.out.to_vec();
        assert_eq!(String::from_utf8_lossy(&replies).matches("\r\n").count(), 8);
        assert!(replies.ends_with(b"$4\r\nline\r\n$4\r\nhalf\r\n"));
    }

    #[test]
    fn request_decoded_by_another_session_is_not_used() {
        let (mut line, mut other) = (Line::new(), Line::new());
        line.serve(b"PING\r\n");
        other.serve(b"PING\r\n");
        let bytes = request(&["GET", "one"]);
        let ahead = line.session.look_ahead(&bytes);
        other.step = other
            .session
            .serve(SessionEvent::Ahead(ahead), now(), &mut other.out);
        assert_eq!(other.step, SessionStep::NeedInput);
        assert!(other.out.to_vec().ends_with(b"$3\r\none\r\n"));
        assert_eq!((line.counts(), other.counts()), ((1, 0), (0, 0)));
    }

    #[test]
    fn request_decoded_before_other_bytes_arrived_is_not_used() {
        let mut line = Line::new();
        line.serve(b"PING\r\n");
        let (half, end) = (b"*2\r\n$3\r\nGET\r\n$25\r\n", b"\r\n");
        let bytes = request(&["GET", "one"]);
        let ahead = line.session.look_ahead(&bytes);
        let _step = line.session.serve(half, now(), &mut line.out);
        line.step = line
            .session
            .serve(SessionEvent::Ahead(ahead), now(), &mut line.out);
        line.serve(b"xyz");
        line.serve(end);
        let replies = line.out.to_vec();
        assert_eq!(
            String::from_utf8_lossy(&replies).split("\r\n").nth(1),
            Some("$25")
        );
        assert_eq!(line.counts(), (1, 0));
    }

    #[test]
    fn replies_do_not_depend_on_looking_ahead_or_on_how_input_is_split() {
        let kinds: [&[&str]; 9] = [
            &["GET", "a"],
            &["MULTI"],
            &["GET", "queued"],
            &["EXEC"],
            &["CLIENT", "REPLY", "SKIP"],
            &["GET", "unheard"],
            &["NOPE"],
            &["HELLO", "3"],
            &["GET", "b"],
        ];
        let ends: [&[u8]; 3] = [b"", b"*1\r\n$4\r\nQUIT\r\nPING\r\n", b"*1\r\n!"];
        for end in ends {
            let mut bytes = kinds.map(request).concat();
            bytes.extend_from_slice(end);
            for (first, second) in [(1, 40), (7, 11), (30, 31), (60, 3), (120, 90), (400, 1)] {
                let (mut ahead, mut plain) = (Line::new(), Line::new());
                let (mut rest, mut is_first) = (&bytes[..], true);
                while !rest.is_empty() {
                    let piece = if is_first { first } else { second };
                    let (now, later) = rest.split_at(rest.len().min(piece));
                    ahead.serve_ahead(now);
                    plain.serve(now);
                    assert_eq!(ahead.step, plain.step);
                    (rest, is_first) = (later, !is_first);
                    if let SessionStep::Close(_) = plain.step {
                        break;
                    }
                }
                assert_eq!(ahead.out.to_vec(), plain.out.to_vec());
            }
        }
    }
}
