//! A request that was decoded before its turn, and is kept without the bytes that it lies in.

use super::dispatch::{Asked, Form};
use crate::command::keyspace::Hint;
use crate::command::table::name_word;
use crate::{App, ArgList, Engine, Keyspace};
use resp_codec::binary::{CALL, Request, RequestDecoder};
use resp_codec::{CommandDecoder, Span, Step};

/// The most arguments of a request that is decoded ahead.
pub(super) const SPANS_MAX: usize = 8;

/// A request in the bytes `'b` of a turn, and what the keyspace knows of its first key.
pub(super) struct Decoded<'b, A: App> {
    /// Where it begins in the bytes of the turn.
    pub(super) start: usize,
    pub(super) shape: Shape,
    /// Nothing, if it has no key or the keyspace was not asked.
    hint: Option<Hint<'b, A>>,
}

/// All that is known of a request but for the bytes of its arguments: the same for those that are
/// framed alike, as most of a pipeline are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Bytes of the request.
    pub(super) len: usize,
    spans: [Span; SPANS_MAX],
    spans_len: usize,
    form: Form,
    at: Option<u32>,
    /// The argument that is its first key, or 0.
    key_at: usize,
}

/// A decoder of either protocol.
pub(super) trait Decoder {
    /// Decodes the request that `bytes` begin with; how many they are. `None` if it is not whole, not
    /// right, or does not fit: the decoder then still stands in front of it.
    fn take(&mut self, bytes: &[u8], into: &mut Shape) -> Option<usize>;
}

impl Decoder for CommandDecoder {
    #[inline]
    fn take(&mut self, bytes: &[u8], into: &mut Shape) -> Option<usize> {
        let Ok(Step::Ready { item, consumed }) = self.decode(bytes) else {
            self.reset();
            return None;
        };
        into.len = item.wire().len();
        into.form = Form::Name(item.name_upper8());
        // The arguments of a line of text may lie in the decoder.
        let fits = !item.is_inline() && into.set_spans(item.spans());
        fits.then_some(consumed)
    }
}

impl Decoder for RequestDecoder {
    #[inline]
    fn take(&mut self, bytes: &[u8], into: &mut Shape) -> Option<usize> {
        let Ok(Step::Ready { item, consumed }) = self.decode(bytes) else {
            self.reset();
            return None;
        };
        into.len = item.wire().len();
        into.form = Form::Operation(item.op());
        into.set_spans(item.spans()).then_some(consumed)
    }
}

impl<'b, A: App> Decoded<'b, A> {
    pub(super) const NONE: Self = Self {
        start: 0,
        shape: Shape {
            len: 0,
            spans: [Span::new(0, 0); SPANS_MAX],
            spans_len: 0,
            form: Form::Name(0),
            at: None,
            key_at: 0,
        },
        hint: None,
    };

    /// Tells the keyspace of the key, in the bytes of the turn, that the request names first; whether there
    /// is one.
    #[inline(always)]
    pub(super) fn foresee(&mut self, engine: &Engine<A>, db: u32, bytes: &'b [u8]) -> bool {
        let key = self.shape.key(&bytes[self.start..]);
        self.hint = key.map(|key| A::Keys::foresee(engine.app(), db, key));
        key.is_some()
    }

    /// Tells the keyspace, some requests later, of the same key again.
    #[inline(always)]
    pub(super) fn find(&mut self, engine: &Engine<A>, db: u32) {
        if let Some(hint) = &mut self.hint {
            A::Keys::find(engine.app(), db, hint);
        }
    }

    /// The request, and the bytes of the turn up to and with it.
    #[inline(always)]
    pub(super) fn asked<'r>(&'r self, bytes: &'r [u8]) -> (Asked<'r, A>, usize) {
        let Self { start, shape, hint } = self;
        let end = start + shape.len;
        let asked = Asked {
            args: shape.args(&bytes[*start..end]),
            form: shape.form,
            at: shape.at,
            hint: hint.as_ref().map(|hint| A::Keys::shorten(hint)),
        };
        (asked, end)
    }
}

impl Shape {
    /// Decodes the request that `bytes` begin with and finds its command; how many bytes they are with the
    /// empty requests that may lie in front of it. `None`: see [`Decoder::take`].
    #[inline(always)]
    pub(super) fn read<A: App>(
        &mut self,
        engine: &Engine<A>,
        decoder: &mut impl Decoder,
        bytes: &[u8],
    ) -> Option<usize> {
        let consumed = decoder.take(bytes, self)?;
        self.look_up(engine, &bytes[consumed - self.len..consumed]);
        Some(consumed)
    }

    /// Whether this is what the front of `bytes` is decoded to.
    pub(super) fn is_read_from<A: App>(
        &self,
        engine: &Engine<A>,
        decoder: &mut impl Decoder,
        bytes: &[u8],
    ) -> bool {
        let mut read = *self;
        read.read(engine, decoder, bytes) == Some(self.len)
            && read.spans[..read.spans_len] == self.spans[..self.spans_len]
            && (read.len, read.at, read.key_at) == (self.len, self.at, self.key_at)
            && read.form == self.form
    }

    /// Takes the arguments over; `false` if there are too many.
    #[inline]
    fn set_spans(&mut self, spans: &[Span]) -> bool {
        for (slot, span) in self.spans.iter_mut().zip(spans) {
            *slot = *span;
        }
        self.spans_len = spans.len();
        spans.len() <= SPANS_MAX
    }

    #[inline(always)]
    fn args<'r>(&'r self, wire: &'r [u8]) -> ArgList<'r> {
        let spans = &self.spans[..self.spans_len];
        match self.form {
            Form::Name(_) => ArgList::new(wire, &[], spans),
            Form::Operation(op) => Request::new(op, wire, spans).args(),
        }
    }

    /// The first key of the request that `bytes` begin with.
    #[inline(always)]
    fn key<'r>(&self, bytes: &'r [u8]) -> Option<&'r [u8]> {
        if self.key_at == 0 {
            return None;
        }
        let span = self.spans[..self.spans_len].get(self.key_at)?;
        Some(&bytes[span.at()..span.at() + span.len()])
    }

    /// Finds the command.
    #[inline(always)]
    fn look_up<A: App>(&mut self, engine: &Engine<A>, wire: &[u8]) {
        let args = self.args(wire);
        self.at = match self.form {
            Form::Name(word) => engine.table.find_plain(word, args),
            Form::Operation(CALL) => {
                let word = args.get(0).map(name_word);
                word.and_then(|word| engine.table.find_plain(word, args))
            }
            Form::Operation(op) => engine.binary.entry(op),
        };
        let key_at = self.at.map_or(0, |at| engine.table.entry(at).first_key());
        self.key_at = if key_at < self.spans_len { key_at } else { 0 };
    }

    /// Whether the request that `next` begins with is like this one, which `wire` begins with, but
    /// for the bytes of its arguments behind the name. Decoders look at nothing else.
    #[inline(always)]
    pub(super) fn is_of(&self, wire: &[u8], next: &[u8]) -> bool {
        let (Some(wire), Some(next)) = (wire.get(..self.len), next.get(..self.len)) else {
            return false;
        };
        let mut from = 0;
        for span in self.spans[..self.spans_len].get(1..).unwrap_or_default() {
            if span.is_scratch() {
                continue;
            }
            if !is_same(&wire[from..span.at()], &next[from..span.at()]) {
                return false;
            }
            from = span.at() + span.len();
        }
        is_same(&wire[from..], &next[from..])
    }
}

/// Whether two pieces of one length are equal. What lies between arguments is short: two words that
/// may overlap cover it.
#[inline(always)]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    match a.len() {
        0 => true,
        2..4 => has_same_ends::<2>(a, b),
        4..8 => has_same_ends::<4>(a, b),
        8..=16 => has_same_ends::<8>(a, b),
        17..=32 => has_same_ends::<16>(a, b),
        _ => a == b,
    }
}

#[inline(always)]
fn has_same_ends<const N: usize>(a: &[u8], b: &[u8]) -> bool {
    a.first_chunk::<N>() == b.first_chunk() && a.last_chunk::<N>() == b.last_chunk()
}
