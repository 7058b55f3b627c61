//! The look ahead: the next requests of a pipeline are decoded before their turn comes, so that the
//! service can begin to load what they will touch.
//!
//! It is a ring. While a request runs, the one some places behind it has been found in its table, and
//! the one as many places further on has just been decoded: memory answers while others run.

use super::dispatch::Asked;
use crate::{App, ArgList, Engine};
use resp_codec::{Command, CommandDecoder, Span, Step};

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

#[derive(Clone, Copy, Default)]
struct Decoded<'b> {
    wire: &'b [u8],
    /// Bytes of the turn up to and with this request.
    end: usize,
    spans: [Span; SPANS_MAX],
    spans_len: usize,
    word: u64,
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
            ring: [Decoded::default(); REQUESTS_MAX],
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
        decoder: &mut CommandDecoder,
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
            args: ArgList::new(request.wire, &[], &request.spans[..request.spans_len]),
            word: request.word,
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
        decoder: &mut CommandDecoder,
    ) -> bool {
        if self.end == self.bytes.len() {
            return false;
        }
        match decoder.decode(&self.bytes[self.end..]) {
            Ok(Step::Ready { item, consumed }) => {
                let end = self.end + consumed;
                let request = &mut self.ring[self.decoded % REQUESTS_MAX];
                if !request.take(&item, end) {
                    return false;
                }
                request.look_up(engine, db);
                self.end = end;
                self.decoded += 1;
                true
            }
            // Whether it is unfinished or wrong is found once more when its turn comes.
            Ok(Step::NeedMore { .. }) | Err(_) => {
                decoder.reset();
                false
            }
        }
    }
}

impl<'b> Decoded<'b> {
    /// Takes a request over; `false` if it has too many arguments, or they are not in the buffer.
    #[inline]
    fn take(&mut self, command: &Command<'_, 'b>, end: usize) -> bool {
        let spans = command.spans();
        if spans.len() > SPANS_MAX || command.is_inline() {
            return false;
        }
        for (slot, span) in self.spans.iter_mut().zip(spans) {
            *slot = *span;
        }
        self.spans_len = spans.len();
        self.wire = command.wire();
        self.end = end;
        self.word = command.name_upper8();
        true
    }

    /// Finds the command, and lets the service load where its first key is looked for.
    #[inline]
    fn look_up<A: App>(&mut self, engine: &Engine<A>, db: u32) {
        let spans = &self.spans[..self.spans_len];
        let args = ArgList::new(self.wire, &[], spans);
        self.at = engine.table.find_plain(self.word, args);
        let key_at = self.at.map_or(0, |at| engine.table.entry(at).first_key());
        self.foreseen = match spans.get(key_at) {
            Some(span) if key_at > 0 => {
                let key = &self.wire[span.at()..span.at() + span.len()];
                Some((key, engine.app().expect_key(db, key)))
            }
            _ => None,
        };
    }
}
