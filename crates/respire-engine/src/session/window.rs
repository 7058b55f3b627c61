//! The look ahead: the next requests of a pipeline are decoded before the first of them runs, so
//! that the service can begin to load what they will touch.

use super::dispatch::Asked;
use crate::{App, ArgList, Engine};
use resp_codec::{Command, CommandDecoder, Span, Step};

/// Requests decoded ahead: about as many as memory serves at once.
const REQUESTS_MAX: usize = 16;

/// Arguments of all of them; one that does not fit is decoded when its turn comes.
const SPANS_MAX: usize = 64;

/// The next requests, as long as they are whole and short.
pub(super) struct Window<'b> {
    requests: [Decoded<'b>; REQUESTS_MAX],
    len: usize,
    spans: [Span; SPANS_MAX],
    spans_len: usize,
}

#[derive(Clone, Copy, Default)]
struct Decoded<'b> {
    wire: &'b [u8],
    /// Bytes of the turn up to and with this request.
    end: usize,
    spans_from: usize,
    spans_to: usize,
    word: u64,
    at: Option<u32>,
    key: &'b [u8],
    key_hash: Option<u64>,
}

impl<'b> Window<'b> {
    pub(super) fn new() -> Self {
        Self {
            requests: [Decoded::default(); REQUESTS_MAX],
            len: 0,
            spans: [Span::default(); SPANS_MAX],
            spans_len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Decodes the requests that begin at `from`, `max` at most. What is no whole request of a few
    /// arguments ends the window; the decoder then stands at the beginning of it.
    pub(super) fn fill(
        &mut self,
        decoder: &mut CommandDecoder,
        bytes: &'b [u8],
        from: usize,
        max: usize,
    ) {
        (self.len, self.spans_len) = (0, 0);
        // What was begun is not begun anew.
        if decoder.is_partial() {
            return;
        }
        let mut end = from;
        while self.len < max.min(REQUESTS_MAX) && end < bytes.len() {
            match decoder.decode(&bytes[end..]) {
                Ok(Step::Ready { item, consumed }) => {
                    if !self.push(&item, end + consumed) {
                        return;
                    }
                    end += consumed;
                }
                // Whether it is unfinished or wrong is found once more when its turn comes.
                Ok(Step::NeedMore { .. }) | Err(_) => return decoder.reset(),
            }
        }
    }

    /// Takes a request in; `false` if there is no room for its arguments.
    #[inline]
    fn push(&mut self, command: &Command<'_, 'b>, end: usize) -> bool {
        let spans = command.spans();
        let (from, to) = (self.spans_len, self.spans_len + spans.len());
        let Some(room) = self.spans.get_mut(from..to) else {
            return false;
        };
        if command.is_inline() {
            return false;
        }
        for (slot, span) in room.iter_mut().zip(spans) {
            *slot = *span;
        }
        self.spans_len = to;
        self.requests[self.len] = Decoded {
            wire: command.wire(),
            end,
            spans_from: from,
            spans_to: to,
            word: command.name_upper8(),
            ..Decoded::default()
        };
        self.len += 1;
        true
    }

    /// Finds the commands, and lets the service load what they will touch.
    pub(super) fn look_ahead<A: App>(&mut self, engine: &Engine<A>, db: u32) {
        let app = engine.app();
        let looks_ahead = self.len > 1 && app.looks_ahead();
        let requests = &mut self.requests[..self.len];
        for request in &mut *requests {
            let spans = &self.spans[request.spans_from..request.spans_to];
            let args = ArgList::new(request.wire, &[], spans);
            request.at = engine.table.find_plain(request.word, args);
            if !looks_ahead {
                continue;
            }
            let key_at = request
                .at
                .map_or(0, |at| engine.table.entry(at).first_key());
            if let Some(span) = spans.get(key_at).filter(|_| key_at > 0) {
                let key = &request.wire[span.at()..span.at() + span.len()];
                request.key = key;
                request.key_hash = Some(app.expect_key(db, key));
            }
        }
        if looks_ahead {
            for hash in requests.iter().filter_map(|request| request.key_hash) {
                app.expect_entry(db, hash);
            }
        }
    }

    /// The request at `nth`, and the bytes of the turn up to and with it.
    #[inline]
    pub(super) fn get(&self, nth: usize) -> (Asked<'_>, usize) {
        let request = &self.requests[nth];
        let spans = &self.spans[request.spans_from..request.spans_to];
        let asked = Asked {
            args: ArgList::new(request.wire, &[], spans),
            word: request.word,
            at: request.at,
            foreseen: request.key_hash.map(|hash| (request.key, hash)),
        };
        (asked, request.end)
    }
}
