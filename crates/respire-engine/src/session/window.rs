//! The look ahead: the next requests of a pipeline are decoded before their turn comes, so that the
//! service can begin to load what they will touch.
//!
//! It is a ring. While a request runs, the one some places behind it has been found in its table, and
//! the one as many places further on has just been decoded: memory answers while others run.

use super::dispatch::{Asked, Form};
use crate::table::name_word;
use crate::{App, ArgList, Engine};
use resp_codec::binary::{CALL, Request, RequestDecoder};
use resp_codec::{CommandDecoder, Span, Step};

/// Requests decoded ahead; a power of two.
const REQUESTS_MAX: usize = 16;

/// How far ahead of the request that runs entries are loaded; the rest of the ring waits for tables.
const ENTRIES_AHEAD: usize = REQUESTS_MAX / 2;

/// The most arguments of a request that is decoded ahead.
const SPANS_MAX: usize = 8;

/// The next requests, as long as they are whole and have few arguments.
///
/// `run <= loaded <= decoded <= run + REQUESTS_MAX` count requests since the ring was made.
pub(super) struct Window<'b> {
    bytes: &'b [u8],
    /// Bytes decoded.
    end: usize,
    /// Nothing more is decoded: what comes next has to be looked at when its turn comes.
    is_closed: bool,
    ring: [Decoded<'b>; REQUESTS_MAX],
    run: usize,
    loaded: usize,
    decoded: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Decoded<'b> {
    wire: &'b [u8],
    /// Bytes of the turn up to and with this request.
    end: usize,
    spans: [Span; SPANS_MAX],
    spans_len: usize,
    form: Form,
    at: Option<u32>,
    foreseen: Option<(&'b [u8], u64)>,
}

impl<'b> Window<'b> {
    /// The requests of `bytes` from `start` on. The decoder stands between requests.
    pub(super) fn new(bytes: &'b [u8], start: usize) -> Self {
        Self {
            bytes,
            end: start,
            is_closed: false,
            ring: [Decoded::NONE; REQUESTS_MAX],
            run: 0,
            loaded: 0,
            decoded: 0,
        }
    }

    /// Requests given out.
    pub(super) fn ran(&self) -> usize {
        self.run
    }

    /// Goes on to the next request. `false`: what comes next is no whole request of a few arguments;
    /// the decoder stands at the beginning of it.
    #[inline]
    pub(super) fn advance<A: App>(
        &mut self,
        engine: &Engine<A>,
        db: u32,
        decoder: &mut impl Decoder,
    ) -> bool {
        while !self.is_closed && self.decoded < self.run + REQUESTS_MAX {
            self.is_closed = !self.decode(engine, db, decoder);
        }
        while self.loaded < self.decoded.min(self.run + ENTRIES_AHEAD) {
            if let Some((_, expected)) = self.ring[self.loaded % REQUESTS_MAX].foreseen {
                engine.app().expect_entry(db, expected);
            }
            self.loaded += 1;
        }
        let has_next = self.run < self.decoded;
        self.run += usize::from(has_next);
        has_next
    }

    /// The request that [`Window::advance`] went on to, and the bytes of the turn up to and with it.
    #[inline]
    pub(super) fn current(&self) -> (Asked<'_>, usize) {
        let request = &self.ring[self.run.wrapping_sub(1) % REQUESTS_MAX];
        let asked = Asked {
            args: request.args(),
            form: request.form,
            at: request.at,
            foreseen: request.foreseen,
        };
        (asked, request.end)
    }

    /// Decodes one more request; `false` if it cannot be taken in.
    #[inline]
    fn decode<A: App>(&mut self, engine: &Engine<A>, db: u32, decoder: &mut impl Decoder) -> bool {
        if self.end == self.bytes.len() {
            return false;
        }
        let request = &mut self.ring[self.decoded % REQUESTS_MAX];
        let Some(consumed) = decoder.take(&self.bytes[self.end..], request) else {
            return false;
        };
        self.end += consumed;
        self.decoded += 1;
        request.end = self.end;
        request.look_up(engine, db);
        true
    }
}

/// A decoder of either protocol.
pub(super) trait Decoder {
    /// Decodes the request that `bytes` begin with; how many they are. `None` if it is not whole, not
    /// right, or does not fit: the decoder then still stands in front of it.
    fn take<'b>(&mut self, bytes: &'b [u8], into: &mut Decoded<'b>) -> Option<usize>;
}

impl Decoder for CommandDecoder {
    #[inline]
    fn take<'b>(&mut self, bytes: &'b [u8], into: &mut Decoded<'b>) -> Option<usize> {
        let Ok(Step::Ready { item, consumed }) = self.decode(bytes) else {
            self.reset();
            return None;
        };
        // The arguments of a line of text may lie in the decoder.
        let fits = !item.is_inline() && into.set_spans(item.spans());
        into.wire = item.wire();
        into.form = Form::Name(item.name_upper8());
        fits.then_some(consumed)
    }
}

impl Decoder for RequestDecoder {
    #[inline]
    fn take<'b>(&mut self, bytes: &'b [u8], into: &mut Decoded<'b>) -> Option<usize> {
        let Ok(Step::Ready { item, consumed }) = self.decode(bytes) else {
            self.reset();
            return None;
        };
        into.wire = item.wire();
        into.form = Form::Operation(item.op());
        into.set_spans(item.spans()).then_some(consumed)
    }
}

impl<'b> Decoded<'b> {
    const NONE: Self = Self {
        wire: &[],
        end: 0,
        spans: [Span::new(0, 0); SPANS_MAX],
        spans_len: 0,
        form: Form::Name(0),
        at: None,
        foreseen: None,
    };

    /// Takes the arguments over; `false` if there are too many.
    #[inline]
    fn set_spans(&mut self, spans: &[Span]) -> bool {
        for (slot, span) in self.spans.iter_mut().zip(spans) {
            *slot = *span;
        }
        self.spans_len = spans.len();
        spans.len() <= SPANS_MAX
    }

    #[inline]
    fn args(&self) -> ArgList<'_> {
        let spans = &self.spans[..self.spans_len];
        match self.form {
            Form::Name(_) => ArgList::new(self.wire, &[], spans),
            Form::Operation(op) => Request::new(op, self.wire, spans).args(),
        }
    }

    /// Finds the command, and lets the service load where its first key is looked for.
    #[inline(always)]
    fn look_up<A: App>(&mut self, engine: &Engine<A>, db: u32) {
        let args = self.args();
        self.at = match self.form {
            Form::Name(word) => engine.table.find_plain(word, args),
            Form::Operation(CALL) => {
                let word = args.get(0).map(name_word);
                word.and_then(|word| engine.table.find_plain(word, args))
            }
            Form::Operation(op) => engine.binary.entry(op),
        };
        let key_at = self.at.map_or(0, |at| engine.table.entry(at).first_key());
        self.foreseen = match self.spans[..self.spans_len].get(key_at) {
            Some(span) if key_at > 0 => {
                let key = &self.wire[span.at()..span.at() + span.len()];
                Some((key, engine.app().expect_key(db, key)))
            }
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        App, ArgList, Arity, Cx, Engine, Error, KeySpec, NoWake, Now, Options, Output, Peer, Reply,
        Router, Row, Session, Spec, Step,
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

        fn databases(&self) -> u32 {
            2
        }

        fn looks_ahead(&self) -> bool {
            true
        }

        fn expect_key(&self, _: u32, key: &[u8]) -> u64 {
            self.keys.lock().expect("no panic").push(key.to_vec());
            number(key)
        }

        fn expect_entry(&self, _: u32, expected: u64) {
            self.entries.lock().expect("no panic").push(expected);
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
        if let Some((key, expected)) = cx.foreseen() {
            assert_eq!((key, expected), (&args[0], number(&args[0])));
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
            while step == Step::Flush {
                step = session.poll(now(), &mut out);
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
