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

    /// The next request to run, and the bytes of the turn up to and with it. `None`: what comes next
    /// is no whole request of a few arguments; the decoder stands at the beginning of it.
    #[inline]
    pub(super) fn next<A: App>(
        &mut self,
        engine: &Engine<A>,
        db: u32,
        decoder: &mut impl Decoder,
    ) -> Option<(Asked<'_>, usize)> {
        while !self.is_closed && self.decoded < self.run + REQUESTS_MAX {
            self.is_closed = !self.decode(engine, db, decoder);
        }
        while self.loaded < self.decoded.min(self.run + ENTRIES_AHEAD) {
            if let Some((_, expected)) = self.ring[self.loaded % REQUESTS_MAX].foreseen {
                engine.app().expect_entry(db, expected);
            }
            self.loaded += 1;
        }
        if self.run == self.decoded {
            return None;
        }
        let request = &self.ring[self.run % REQUESTS_MAX];
        self.run += 1;
        let asked = Asked {
            args: request.args(),
            form: request.form,
            at: request.at,
            foreseen: request.foreseen,
        };
        Some((asked, request.end))
    }

    /// Decodes one more request; `false` if it cannot be taken in.
    #[inline]
    fn decode<A: App>(
        &mut self,
        engine: &Engine<A>,
        db: u32,
        decoder: &mut impl Decoder,
    ) -> bool {
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
    #[inline]
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
