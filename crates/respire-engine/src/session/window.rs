//! The look ahead: the next requests of a pipeline are decoded before their turn comes, so that the
//! service can begin to load what they will touch. Those that are framed as the one before, as most
//! are, need no decoding.
//!
//! It is a ring. While a request runs, the one some places behind it has been found in its table, and
//! the one as many places further on has just been decoded: memory answers while others run.

use super::decoded::{Decoded, Decoder, SPANS_MAX};
use super::dispatch::Asked;
use crate::{App, ArgList, Engine};

/// Requests decoded ahead; a power of two.
const REQUESTS_MAX: usize = 16;

/// How far ahead of the request that runs entries are loaded; the rest of the ring waits for tables.
const ENTRIES_AHEAD: usize = REQUESTS_MAX / 2;

/// The next requests, as long as they are whole and have few arguments.
///
/// `run <= decoded <= run + REQUESTS_MAX` count requests since the ring was made, and `loaded` those whose
/// entries the keyspace was told to load.
pub(super) struct Window<'b, A: App> {
    bytes: &'b [u8],
    /// Whether the keyspace is told of keys,
    is_far: bool,
    /// and of which database they are.
    db: u32,
    /// How many are decoded at a time: one where nothing is won by more.
    requests_max: usize,
    /// Bytes decoded.
    end: usize,
    /// Nothing more is decoded: what comes next has to be looked at when its turn comes.
    is_closed: bool,
    ring: [Decoded<'b, A>; REQUESTS_MAX],
    run: usize,
    loaded: usize,
    decoded: usize,
    /// The last request that was framed in another way than those decoded since.
    other: Option<usize>,
}

impl<'b, A: App> Window<'b, A> {
    /// The requests of `bytes` from `start` on. The decoder stands between requests. The keyspace is
    /// told which keys of the database come next if they are far away.
    pub(super) fn new(bytes: &'b [u8], start: usize, is_far: bool, db: u32) -> Self {
        Self {
            bytes,
            is_far,
            db,
            requests_max: if is_far { REQUESTS_MAX } else { 1 },
            end: start,
            is_closed: false,
            ring: [const { Decoded::NONE }; REQUESTS_MAX],
            run: 0,
            loaded: 0,
            decoded: 0,
            other: None,
        }
    }

    /// Requests given out.
    pub(super) fn ran(&self) -> usize {
        self.run
    }

    /// Goes on to the next request. `false`: what comes next is no whole request of a few arguments;
    /// the decoder stands at the beginning of it.
    #[inline]
    pub(super) fn advance(&mut self, engine: &Engine<A>, decoder: &mut impl Decoder) -> bool {
        while !self.is_closed && self.decoded < self.run + self.requests_max {
            self.is_closed = !self.decode(engine, decoder);
        }
        while self.is_far && self.loaded < self.decoded.min(self.run + ENTRIES_AHEAD) {
            self.ring[self.loaded % REQUESTS_MAX].find(engine, self.db);
            self.loaded += 1;
        }
        let has_next = self.run < self.decoded;
        self.run += usize::from(has_next);
        debug_assert!(self.run <= self.decoded && self.loaded <= self.decoded);
        debug_assert!(self.decoded <= self.run + REQUESTS_MAX && self.end <= self.bytes.len());
        has_next
    }

    /// The request that [`Window::advance`] went on to, and the bytes of the turn up to and with it.
    #[inline(always)]
    pub(super) fn current(&self) -> (Asked<'_, A>, usize) {
        self.ring[self.run.wrapping_sub(1) % REQUESTS_MAX].asked(self.bytes)
    }

    /// A request of the ring that is framed as the one that `next` begins with: the last one, or the
    /// last one before those that are framed as that one.
    #[inline(always)]
    fn find_twin(&mut self, next: &[u8]) -> Option<usize> {
        let last = self.decoded.checked_sub(1)?;
        if self.is_twin(last, next) {
            return Some(last % REQUESTS_MAX);
        }
        let other = self.other.replace(last)?;
        let is_there = self.decoded - other < REQUESTS_MAX;
        (is_there && self.is_twin(other, next)).then_some(other % REQUESTS_MAX)
    }

    #[inline(always)]
    fn is_twin(&self, nth: usize, next: &[u8]) -> bool {
        let Decoded { start, shape, .. } = &self.ring[nth % REQUESTS_MAX];
        shape.is_of(&self.bytes[*start..], next)
    }

    /// Decodes one more request; `false` if it cannot be taken in.
    #[inline]
    fn decode(&mut self, engine: &Engine<A>, decoder: &mut impl Decoder) -> bool {
        let rest = &self.bytes[self.end..];
        if rest.is_empty() {
            return false;
        }
        let at = self.decoded % REQUESTS_MAX;
        if let Some(twin) = self.find_twin(rest) {
            // It would be decoded to the very same.
            let shape = self.ring[twin].shape;
            debug_assert!(shape.is_read_from(engine, decoder, rest));
            self.end += shape.len;
            self.ring[at].shape = shape;
        } else {
            let Some(consumed) = self.ring[at].shape.read(engine, decoder, rest) else {
                return false;
            };
            self.end += consumed;
        }
        let request = &mut self.ring[at];
        request.start = self.end - request.shape.len;
        if self.is_far {
            request.foresee(engine, self.db, self.bytes);
        }
        self.decoded += 1;
        true
    }
}

/// Whether requests like this one can be decoded ahead.
pub(super) fn fits(args: &ArgList<'_>) -> bool {
    args.len() <= SPANS_MAX
}

#[cfg(test)]
mod tests {
    use crate::session::{Session, SessionEvent, SessionStep};
    use crate::{
        App, ArgList, Arity, Cx, Engine, Error, KeySpec, Keyspace, NoWake, Now, Options, Output,
        Peer, Reply, Router, Row, SectionScope, Spec,
    };
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// Notes which keys it is told to expect, and which entries.
    #[derive(Default)]
    struct Seer {
        keys: Mutex<Vec<Vec<u8>>>,
        entries: Mutex<Vec<u64>>,
    }

    impl App for Seer {
        type Conn = ();
        type Keys = Self;
    }

    impl Keyspace<Self> for Seer {
        type Conn = ();
        type Held = ();
        /// The key, what was made of it, and whether it was looked for.
        type Hint<'k> = (&'k [u8], u64, bool);

        fn shorten<'s, 'k: 's>(hint: &'s Self::Hint<'k>) -> &'s Self::Hint<'s> {
            hint
        }

        fn databases(_: &Self) -> u32 {
            2
        }

        fn is_far(_: &Self) -> bool {
            true
        }

        fn foresee<'k>(seer: &Self, _: u32, key: &'k [u8]) -> Self::Hint<'k> {
            seer.keys.lock().expect("no panic").push(key.to_vec());
            (key, number(key), false)
        }

        fn find(seer: &Self, _: u32, hint: &mut Self::Hint<'_>) {
            seer.entries.lock().expect("no panic").push(hint.1);
            hint.2 = true;
        }

        fn atomically(_: &Self, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
            body(&mut ());
        }
    }

    fn number(key: &[u8]) -> u64 {
        key.iter().fold(7, |sum, byte| sum * 31 + u64::from(*byte))
    }

    static GET: Spec = Spec {
        name: "get",
        arity: Arity::at_least(2),
        keys: &[KeySpec::at(1)],
        ..Spec::EMPTY
    };

    /// Answers with its key; what was foreseen must be about that very key.
    fn get(cx: &mut Cx<'_, Seer>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
        if let Some(hint) = cx.parts().hint {
            assert_eq!(*hint, (&args[0], number(&args[0]), true));
        }
        reply.bulk(&args[0]);
        Ok(())
    }

    fn connect() -> (Arc<Engine<Seer>>, Session<Seer>) {
        let router = Router::new(Seer::default()).add(Row {
            spec: &GET,
            run: get,
        });
        let engine = Engine::new(router, Options::default(), now());
        let session = engine
            .connect(Peer::default(), Box::new(NoWake), now())
            .expect("there is room");
        (engine, session)
    }

    fn now() -> Now {
        Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
    }

    /// Serves pieces one after another, and polls as long as there is more.
    fn replies<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Vec<u8> {
        let (_engine, mut session) = connect();
        let mut out = Output::new();
        for piece in pieces {
            let mut step = session.serve(piece, now(), &mut out);
            while step == SessionStep::Flush {
                step = session.serve(SessionEvent::Turn, now(), &mut out);
            }
        }
        out.to_vec()
    }

    fn request(args: &[&str]) -> Vec<u8> {
        let mut bytes = Vec::new();
        resp_codec::command(&mut bytes, args);
        bytes
    }

    /// Requests of every kind: short, with many arguments, wrong, unknown, as lines, and such that
    /// change what follows.
    fn mixed() -> Vec<Vec<u8>> {
        let mut requests: Vec<Vec<u8>> = (0..20)
            .map(|nth| request(&["GET", &format!("key{nth}")]))
            .collect();
        let many: Vec<&str> = std::iter::once("GET").chain(["many"; 30]).collect();
        requests.push(request(&many));
        requests.push(b"GET line\r\n".to_vec());
        for args in [
            &["GET"][..],
            &["NOPE", "a"],
            &["SELECT", "1"],
            &["MULTI"],
            &["GET", "queued"],
            &["EXEC"],
            &["CLIENT", "REPLY", "SKIP"],
            &["GET", "unheard"],
            &["ECHO", "heard"],
            &["GET", ""],
        ] {
            requests.push(request(args));
        }
        requests.push(b"*0\r\n".to_vec());
        requests.extend((0..20).map(|nth| request(&["GET", &format!("more{nth}")])));
        requests
    }

    #[test]
    fn requests_ahead_are_answered_as_if_they_came_one_by_one() {
        for end in [
            &b""[..],
            b"*1\r\n$4\r\nQUIT\r\n*1\r\n$4\r\nPING\r\n",
            b"*1\r\n!",
        ] {
            let mut requests = mixed();
            requests.push(end.to_vec());
            let one_by_one = replies(requests.iter().map(|request| &request[..]));
            let whole = requests.concat();
            assert!(one_by_one.len() > 600);
            assert_eq!(replies([&whole[..]].into_iter()), one_by_one);
            for at in 0..whole.len() {
                let (head, tail) = whole.split_at(at);
                assert_eq!(
                    replies([head, tail].into_iter()),
                    one_by_one,
                    "split at {at}"
                );
            }
        }
    }

    #[test]
    fn requests_framed_alike_but_for_a_byte_are_answered_as_if_they_came_one_by_one() {
        let kinds = [
            request(&["GET", "a"]),
            request(&["GET", "b"]),
            request(&["ECHO", "c"]),
            request(&["GET", "d"]),
            request(&["ECHO", "e"]),
            request(&["ECHO", "f", "g", &"h".repeat(40)]),
            request(&["ECHO", "i", "j", &"k".repeat(40)]),
        ];
        for nth in 0..kinds.len() {
            for at in 0..kinds[nth].len() {
                for byte in [b'0', b'1', b'9', b'*', b'$', b'\r', b'\n', b'x', 0] {
                    let mut requests = kinds.to_vec();
                    requests[nth][at] = byte;
                    let one_by_one = replies(requests.iter().map(|request| &request[..]));
                    assert_eq!(
                        replies([&requests.concat()[..]].into_iter()),
                        one_by_one,
                        "byte {byte} at {at} of request {nth}"
                    );
                }
            }
        }
    }

    #[test]
    fn keys_of_a_pipeline_are_expected_in_order_and_those_of_single_requests_are_not() {
        let (engine, mut session) = connect();
        let mut out = Output::new();
        for nth in 0..3 {
            let _step = session.serve(&request(&["GET", &format!("single{nth}")]), now(), &mut out);
        }
        assert!(engine.app().keys.lock().expect("no panic").is_empty());
        let names: Vec<String> = (0..40).map(|nth| format!("key{nth}")).collect();
        let whole: Vec<u8> = names
            .iter()
            .flat_map(|name| request(&["GET", name]))
            .collect();
        for _ in 0..2 {
            let _step = session.serve(&whole, now(), &mut out);
        }
        let keys = engine.app().keys.lock().expect("no panic");
        // Only the very first request came before it was known that others follow.
        let expected = names[1..].iter().chain(&names).map(String::as_bytes);
        assert!(keys.iter().map(Vec::as_slice).eq(expected));
        let entries = engine.app().entries.lock().expect("no panic");
        assert!(
            entries
                .iter()
                .copied()
                .eq(keys.iter().map(|key| number(key)))
        );
    }

    #[test]
    fn binary_requests_are_looked_ahead_to() {
        let whole: Vec<u8> = (0..40)
            .flat_map(|nth| [1, 2, 0, 0, 0, b'k', b'a' + nth % 20])
            .collect();
        let one_by_one = replies(whole.chunks(7));
        for at in 0..whole.len() {
            let (head, tail) = whole.split_at(at);
            assert_eq!(
                replies([head, tail].into_iter()),
                one_by_one,
                "split at {at}"
            );
        }
        let (engine, mut session) = connect();
        let _step = session.serve(&whole, now(), &mut Output::new());
        assert_eq!(engine.app().keys.lock().expect("no panic").len(), 39);
    }
}
