//! Looking ahead across sessions: a thread that has read from several of them lets the service begin to
//! load what each of them asks for, before it answers the first.

use super::decoded::Decoded;
use super::{Session, Wire};
use crate::{App, Now, Output, Step};

/// What is known of the first request of some bytes before a session is served them
/// ([`Session::look_ahead`]). Made once, and used for one request after another.
#[derive(Debug)]
pub struct Ahead {
    /// How many bytes were looked at; 0 if nothing is known of them.
    bytes_len: usize,
    request: Decoded,
}

impl Default for Ahead {
    fn default() -> Self {
        Self {
            bytes_len: 0,
            request: Decoded::NONE,
        }
    }
}

impl Ahead {
    /// The request, if it is one of these bytes.
    fn of(&self, bytes: &[u8]) -> Option<&Decoded> {
        (self.bytes_len > 0 && self.bytes_len == bytes.len()).then_some(&self.request)
    }
}

/// Looking ahead, for drivers that have read from several connections and answer them one after another. A
/// pipeline looks ahead by itself.
impl<A: App> Session<A> {
    /// The first step: decodes the first request of `bytes`, which the session is served next, and tells the
    /// service which key it names ([`App::expect_key`]). Where that is of no use, it does nothing: the
    /// service does not look ahead, the session is in the midst of something, or the request is not whole.
    ///
    /// ```
    /// use respire_engine::{Ahead, App, Engine, NoWake, Now, Options, Output, Peer, Router, Step};
    /// use std::time::Duration;
    ///
    /// struct Nothing;
    /// impl App for Nothing {
    ///     type Conn = ();
    /// }
    /// let now = Now::new(Duration::ZERO, Duration::ZERO);
    /// let engine = Engine::new(Router::new(Nothing), Options::default(), now);
    /// let connect = || engine.connect(Peer::default(), Box::new(NoWake), now).unwrap();
    /// let mut ready = [0, 1, 2].map(|_| (connect(), b"PING\r\n", Ahead::default()));
    /// for (session, bytes, ahead) in &mut ready {
    ///     session.look_ahead(*bytes, ahead);
    /// }
    /// for (session, _, ahead) in &mut ready {
    ///     session.find_ahead(ahead);
    /// }
    /// for (session, bytes, ahead) in &mut ready {
    ///     let mut out = Output::new();
    ///     assert_eq!(session.serve_ahead(*bytes, ahead, now, &mut out), Step::NeedInput);
    ///     assert_eq!(out.to_vec(), b"+PONG\r\n");
    /// }
    /// ```
    pub fn look_ahead(&mut self, bytes: &[u8], ahead: &mut Ahead) {
        ahead.bytes_len = 0;
        let is_single = !self.is_pipelined && self.is_quiet();
        if is_single
            && self.engine.app().looks_ahead()
            && self.decode_ahead(bytes, &mut ahead.request)
        {
            ahead.bytes_len = bytes.len();
        }
    }

    /// Whether there is a request, and a key in it.
    fn decode_ahead(&mut self, bytes: &[u8], request: &mut Decoded) -> bool {
        let (engine, shape) = (&self.engine, &mut request.shape);
        let consumed = match &mut self.wire {
            Wire::Undecided => None,
            Wire::Resp => shape.read(engine, &mut self.decoder, bytes),
            Wire::Binary(decoder) => shape.read(engine, &mut **decoder, bytes),
        };
        consumed.is_some_and(|consumed| {
            request.start = consumed - request.shape.len;
            request.expect_key(engine, self.core.client.db(), bytes)
        })
    }

    /// The second step, once others have been looked ahead to as well: the service begins to load what the
    /// key holds ([`App::expect_entry`]).
    pub fn find_ahead(&self, ahead: &mut Ahead) {
        if ahead.bytes_len > 0 {
            let db = self.core.client.db();
            ahead.request.expect_entry(&self.engine, db);
        }
    }

    /// The third step: [`Session::serve`], with what has been found out about these very bytes. Nothing
    /// else was done with the session since, or the first request may be answered by what is no longer so.
    pub fn serve_ahead(&mut self, bytes: &[u8], ahead: &Ahead, now: Now, out: &mut Output) -> Step {
        self.serve_decoded(bytes, ahead.of(bytes), now, out)
    }
}

#[cfg(test)]
mod tests {
    use super::Ahead;
    use crate::{
        App, ArgList, Arity, Cx, Engine, Error, KeySpec, NoWake, Now, Options, Output, Peer, Reply,
        Router, Row, Session, Spec, Step,
    };
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    /// Counts the keys that it is told to expect, and that were foreseen when they came.
    #[derive(Default)]
    struct Seer {
        expected: AtomicU64,
        foreseen: AtomicU64,
    }

    impl App for Seer {
        type Conn = ();

        fn looks_ahead(&self) -> bool {
            true
        }

        fn expect_key(&self, db: u32, key: &[u8]) -> u64 {
            self.expected.fetch_add(1, Ordering::Relaxed);
            (u64::from(db) << 32) | key.len() as u64
        }

        fn expect_entry(&self, _: u32, expected: u64) -> u64 {
            !expected
        }
    }

    static GET: Spec = Spec {
        name: "get",
        arity: Arity::exactly(2),
        keys: &[KeySpec::at(1)],
        ..Spec::EMPTY
    };

    fn get(cx: &mut Cx<'_, Seer>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
        if let Some(foreseen) = cx.foreseen() {
            let key = args[0].len() as u64;
            assert_eq!(
                (foreseen.bytes, foreseen.key, foreseen.entry),
                (&args[0], key, !key)
            );
            cx.app().foreseen.fetch_add(1, Ordering::Relaxed);
        }
        reply.bulk(&args[0]);
        Ok(())
    }

    fn now() -> Now {
        Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
    }

    struct Line {
        session: Session<Seer>,
        ahead: Ahead,
        out: Output,
        /// What the last call returned.
        step: Step,
    }

    impl Line {
        fn new() -> Self {
            let router = Router::new(Seer::default()).add(Row {
                spec: &GET,
                run: get,
            });
            let engine = Engine::new(router, Options::default(), now());
            Self {
                session: engine
                    .connect(Peer::default(), Box::new(NoWake), now())
                    .expect("there is room"),
                ahead: Ahead::default(),
                out: Output::new(),
                step: Step::NeedInput,
            }
        }

        fn serve(&mut self, bytes: &[u8]) {
            self.step = self.session.serve(bytes, now(), &mut self.out);
            self.rest();
        }

        fn serve_ahead(&mut self, bytes: &[u8]) {
            let Self { session, ahead, .. } = self;
            session.look_ahead(bytes, ahead);
            session.find_ahead(ahead);
            self.step = session.serve_ahead(bytes, ahead, now(), &mut self.out);
            self.rest();
        }

        fn rest(&mut self) {
            while self.step == Step::Flush {
                self.step = self.session.poll(now(), &mut self.out);
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
    fn single_requests_are_foreseen_in_both_protocols() {
        let mut line = Line::new();
        // The first byte of all decides which protocol it is.
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
    fn what_is_not_a_whole_request_with_a_key_is_served_all_the_same() {
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
    fn what_was_found_for_other_bytes_is_not_used() {
        let mut line = Line::new();
        line.serve(b"PING\r\n");
        let (one, other) = (request(&["GET", "one"]), request(&["GET", "other"]));
        line.session.look_ahead(&one, &mut line.ahead);
        line.session.find_ahead(&mut line.ahead);
        let step = line
            .session
            .serve_ahead(&other, &line.ahead, now(), &mut line.out);
        assert_eq!(step, Step::NeedInput);
        assert!(line.out.to_vec().ends_with(b"$5\r\nother\r\n"));
        assert_eq!(line.counts(), (1, 0));
    }

    #[test]
    fn any_cut_of_a_stream_is_answered_as_without_looking_ahead() {
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
                    if let Step::Close(_) = plain.step {
                        break;
                    }
                }
                assert_eq!(ahead.out.to_vec(), plain.out.to_vec());
            }
        }
    }
}
