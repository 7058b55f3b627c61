//! Look-ahead in a pipeline: decodes the next requests before their turn, so that the keyspace can
//! start to load their keys. A request with the same framing as the one before, which is the usual
//! case, needs no decoding.
//!
//! The window is a ring. While a request runs, the keyspace has located the key of the request some
//! places after it, and the request twice as far ahead has just been decoded. So memory loads
//! overlap with running requests.

use super::decoded::{Decoded, Decoder, SPANS_MAX};
use super::dispatch::PreparedRequest;
use crate::{App, ArgList, Engine};

/// Requests decoded ahead; a power of two.
const REQUESTS_MAX: usize = 16;

/// How far ahead of the running request entries are loaded. The rest of the ring waits for the
/// table's memory.
const ENTRIES_AHEAD: usize = REQUESTS_MAX / 2;

/// How far ahead of the running request elements of values are loaded.
const ELEMENTS_AHEAD: usize = ENTRIES_AHEAD / 2;

/// How far ahead of the running request elements are searched for, if the memory of the search was
/// loaded.
const LOCATED_AHEAD: usize = ELEMENTS_AHEAD / 2;

/// The next requests, as long as they are complete and have few arguments.
///
/// `run <= decoded <= run + REQUESTS_MAX` count requests since the ring was made. `loaded` counts
/// those whose entries the keyspace was asked to load.
pub(super) struct Window<'b, A: App> {
    bytes: &'b [u8],
    /// Whether keys are passed to the keyspace.
    is_far: bool,
    /// The database of these keys.
    db: u32,
    /// How many requests are decoded at a time: one if more would not help.
    requests_max: usize,
    /// Bytes decoded so far.
    end: usize,
    /// Decoding has stopped: the next request is decoded when its turn comes.
    is_closed: bool,
    ring: [Decoded<'b, A>; REQUESTS_MAX],
    run: usize,
    loaded: usize,
    decoded: usize,
    /// How many requests were warmed: asked for the element that they name.
    warmed: usize,
    /// How many requests were located, or needed not.
    located: usize,
    /// The requests of the ring to be located, a bit each.
    to_locate: u16,
    /// Whether a request of the window names an element.
    has_elements: bool,
    /// The last request with another framing than those decoded since.
    other: Option<usize>,
}

impl<'b, A: App> Window<'b, A> {
    /// A window on the requests of `bytes` from `start` on. The decoder must be between requests.
    /// If `is_far`, the keys of database `db` are passed to the keyspace.
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
            warmed: 0,
            located: 0,
            to_locate: 0,
            has_elements: false,
            other: None,
        }
    }

    /// How many requests were returned.
    pub(super) fn ran(&self) -> usize {
        self.run
    }

    /// Moves on to the next request. `false`: the next request is incomplete or has many arguments;
    /// the decoder is at its beginning.
    #[inline]
    pub(super) fn advance(&mut self, engine: &Engine<A>, decoder: &mut impl Decoder) -> bool {
        while !self.is_closed && self.decoded < self.run + self.requests_max {
            self.is_closed = !self.decode(engine, decoder);
        }
        while self.is_far && self.loaded < self.decoded.min(self.run + ENTRIES_AHEAD) {
            self.ring[self.loaded % REQUESTS_MAX].find(engine, self.db);
            self.loaded += 1;
        }
        if self.has_elements {
            self.warm(engine);
        }
        let has_next = self.run < self.decoded;
        self.run += usize::from(has_next);
        debug_assert!(self.run <= self.decoded && self.loaded <= self.decoded);
        debug_assert!(self.decoded <= self.run + REQUESTS_MAX && self.end <= self.bytes.len());
        has_next
    }

    /// Loads the elements that the next requests name.
    #[inline(never)]
    fn warm(&mut self, engine: &Engine<A>) {
        self.warmed = self.warmed.max(self.run);
        while self.warmed < self.loaded.min(self.run + ELEMENTS_AHEAD) {
            let at = self.warmed % REQUESTS_MAX;
            let is_to_locate = self.ring[at].warm(engine, self.db, self.bytes);
            self.to_locate = self.to_locate & !(1 << at) | u16::from(is_to_locate) << at;
            self.warmed += 1;
        }
        if self.to_locate != 0 {
            self.locate(engine);
        }
    }

    /// Loads the elements that the very next requests name.
    fn locate(&mut self, engine: &Engine<A>) {
        self.located = self.located.max(self.run);
        while self.located < self.warmed.min(self.run + LOCATED_AHEAD) {
            let at = self.located % REQUESTS_MAX;
            if self.to_locate >> at & 1 != 0 {
                self.to_locate &= !(1 << at);
                self.ring[at].locate(engine, self.db, self.bytes);
            }
            self.located += 1;
        }
    }

    /// The request that [`Window::advance`] moved to, and the length of the turn's bytes up to its
    /// end.
    #[inline(always)]
    pub(super) fn current(&self) -> (PreparedRequest<'_, A>, usize) {
        self.ring[self.run.wrapping_sub(1) % REQUESTS_MAX].prepared(self.bytes)
    }

    /// A request of the ring with the same framing as the one at the front of `next`: the last
    /// request, or the last one before the current run of equal framing.
    #[inline(always)]
    fn find_same_framing(&mut self, next: &[u8]) -> Option<usize> {
        let last = self.decoded.checked_sub(1)?;
        if self.has_same_framing(last, next) {
            return Some(last % REQUESTS_MAX);
        }
        let other = self.other.replace(last)?;
        let is_there = self.decoded - other < REQUESTS_MAX;
        (is_there && self.has_same_framing(other, next)).then_some(other % REQUESTS_MAX)
    }

    #[inline(always)]
    fn has_same_framing(&self, nth: usize, next: &[u8]) -> bool {
        let Decoded { start, shape, .. } = &self.ring[nth % REQUESTS_MAX];
        shape.is_of(&self.bytes[*start..], next)
    }

    /// Decodes one more request; `false` if the window cannot hold it.
    #[inline]
    fn decode(&mut self, engine: &Engine<A>, decoder: &mut impl Decoder) -> bool {
        let rest = &self.bytes[self.end..];
        if rest.is_empty() {
            return false;
        }
        let at = self.decoded % REQUESTS_MAX;
        if let Some(same) = self.find_same_framing(rest) {
            // Decoding would give the same result.
            let shape = self.ring[same].shape;
            debug_assert!(shape.is_read_from(engine, decoder, rest));
            self.end += shape.len;
            self.ring[at].shape = shape;
        } else {
            let Some(consumed) = self.ring[at].shape.read(engine, decoder, rest) else {
                return false;
            };
            self.end += consumed;
            self.has_elements |= self.is_far && self.ring[at].shape.has_element();
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

    /// Records the keys passed to `foresee` and to `find`.
    #[derive(Default)]
    struct HintRecorder {
        keys: Mutex<Vec<Vec<u8>>>,
        entries: Mutex<Vec<u64>>,
        elements: Mutex<Vec<Vec<u8>>>,
        located: Mutex<Vec<Vec<u8>>>,
        ranks: Mutex<Vec<Vec<u8>>>,
    }

    impl App for HintRecorder {
        type Conn = ();
        type Keys = Self;
    }

    impl Keyspace<Self> for HintRecorder {
        type Conn = ();
        type Held = ();
        /// The key, its hash, and whether `find` was called for it.
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

        fn foresee<'k>(recorder: &Self, _: u32, key: &'k [u8]) -> Self::Hint<'k> {
            recorder.keys.lock().expect("no panic").push(key.to_vec());
            (key, number(key), false)
        }

        fn find(recorder: &Self, _: u32, hint: &mut Self::Hint<'_>) {
            recorder.entries.lock().expect("no panic").push(hint.1);
            hint.2 = true;
        }

        /// The elements whose names end with an even digit are to be located.
        fn warm(recorder: &Self, _: u32, hint: &Self::Hint<'_>, element: &[u8]) -> bool {
            assert!(hint.2, "the entry is looked for first");
            recorder
                .elements
                .lock()
                .expect("no panic")
                .push(element.to_vec());
            is_even(element)
        }

        fn warm_rank(recorder: &Self, _: u32, hint: &Self::Hint<'_>, rank: &[u8]) {
            assert!(hint.2, "the entry is looked for first");
            recorder.ranks.lock().expect("no panic").push(rank.to_vec());
        }

        fn locate(recorder: &Self, _: u32, _: &Self::Hint<'_>, element: &[u8]) {
            let warmed = recorder.elements.lock().expect("no panic");
            assert!(
                warmed.iter().any(|warmed| warmed == element),
                "it is warmed first"
            );
            let mut located = recorder.located.lock().expect("no panic");
            located.push(element.to_vec());
        }

        fn atomically(_: &Self, _: &SectionScope<'_>, _: Now, body: &mut dyn FnMut(&mut ())) {
            body(&mut ());
        }
    }

    fn is_even(name: &[u8]) -> bool {
        name.last().is_some_and(|digit| digit % 2 == 0)
    }

    fn number(key: &[u8]) -> u64 {
        key.iter().fold(7, |sum, byte| sum * 31 + u64::from(*byte))
    }

    static GET: Spec = Spec {
        name: "get",
        arity: Arity::at_least(2),
        keys: &[KeySpec::at(1)],
        element: 2,
        ..Spec::EMPTY
    };

    static RANGE: Spec = Spec {
        name: "range",
        arity: Arity::at_least(2),
        keys: &[KeySpec::at(1)],
        rank: 2,
        ..Spec::EMPTY
    };

    /// Replies with its key, and checks that the hint is about that key.
    fn get(
        cx: &mut Cx<'_, HintRecorder>,
        args: ArgList<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<(), Error> {
        if let Some(hint) = cx.parts().hint {
            assert_eq!(*hint, (&args[0], number(&args[0]), true));
        }
        reply.bulk(&args[0]);
        Ok(())
    }

    fn connect() -> (Arc<Engine<HintRecorder>>, Session<HintRecorder>) {
        let row = |spec| Row { spec, run: get };
        let router = Router::new(HintRecorder::default())
            .add(row(&GET))
            .add(row(&RANGE));
        let engine = Engine::new(router, Options::default(), now());
        let session = engine
            .connect(Peer::default(), Box::new(NoWake), now())
            .expect("there is room");
        (engine, session)
    }

    fn now() -> Now {
        Now::new(Duration::from_secs(1), Duration::from_secs(1_700_000_000))
    }

    /// Serves the pieces one after another, with further turns while there is more.
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

    /// Requests of every kind: short, with many arguments, invalid, unknown, inline, and some that
    /// change how later ones are handled.
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
    fn replies_are_the_same_with_and_without_looking_ahead() {
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
    fn framing_that_differs_by_one_byte_is_decoded_again() {
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
    fn keys_are_looked_ahead_in_a_pipeline_but_not_for_single_requests() {
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
        // The very first request came before the session knew that others follow.
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
    fn elements_that_requests_name_are_loaded_in_their_order() {
        let (engine, mut session) = connect();
        let mut out = Output::new();
        let names: Vec<String> = (0..40).map(|nth| format!("field{nth}")).collect();
        let whole: Vec<u8> = names
            .iter()
            .enumerate()
            .flat_map(|(nth, name)| match nth % 10 {
                9 => request(&["GET", "key"]),
                8 => request(&["ECHO", name]),
                _ => request(&["GET", "key", name]),
            })
            .collect();
        for _ in 0..2 {
            let _step = session.serve(&whole, now(), &mut out);
        }
        let named = |names: &[String]| -> Vec<Vec<u8>> {
            let numbered = names.iter().filter(|name| !name.ends_with(['8', '9']));
            numbered.map(|name| name.clone().into_bytes()).collect()
        };
        // The very first request came before the session knew that others follow.
        let expected = [named(&names[1..]), named(&names)].concat();
        assert_eq!(*engine.app().elements.lock().expect("no panic"), expected);
        let even = expected.into_iter().filter(|name| is_even(name));
        let even: Vec<Vec<u8>> = even.collect();
        assert_eq!(*engine.app().located.lock().expect("no panic"), even);
    }

    #[test]
    fn ranks_that_requests_name_are_loaded_in_their_order() {
        let (engine, mut session) = connect();
        let mut out = Output::new();
        let ranks: Vec<String> = (100..140).map(|rank| rank.to_string()).collect();
        let whole: Vec<u8> = ranks
            .iter()
            .flat_map(|rank| request(&["RANGE", "key", rank]))
            .collect();
        let _step = session.serve(&whole, now(), &mut out);
        // The very first request came before the session knew that others follow.
        let expected = ranks[1..].iter().map(String::as_bytes);
        let loaded = engine.app().ranks.lock().expect("no panic");
        assert!(loaded.iter().map(Vec::as_slice).eq(expected));
        assert!(engine.app().elements.lock().expect("no panic").is_empty());
    }

    #[test]
    fn binary_requests_are_looked_ahead() {
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
