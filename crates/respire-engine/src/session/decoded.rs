//! A request that is decoded before its turn, stored as positions in the turn's bytes.

use super::dispatch::{Form, PreparedRequest};
use crate::command::keyspace::Hint;
use crate::command::table::name_word;
use crate::{App, ArgList, Engine, Keyspace, Spec};
use resp_codec::binary::{CALL, Request, RequestDecoder};
use resp_codec::{CommandDecoder, Span, Step};

/// The most arguments of a request that is decoded ahead.
pub(super) const SPANS_MAX: usize = 8;

/// A request in the bytes `'b` of a turn, and the keyspace's hint for its first key.
pub(super) struct Decoded<'b, A: App> {
    /// Where the request begins in the bytes of the turn.
    pub(super) start: usize,
    pub(super) shape: Shape,
    /// `None` if it has no key or the keyspace was not asked.
    hint: Option<Hint<'b, A>>,
}

/// A decoded request without the bytes of its arguments. Requests with the same framing
/// share it, as most requests of a pipeline do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Length of the request in bytes.
    pub(super) len: usize,
    spans: [Span; SPANS_MAX],
    spans_len: usize,
    form: Form,
    at: Option<u32>,
    /// The index of the argument that is its first key, or 0.
    key_at: usize,
    /// The index of the argument that names an element of the key's value, or 0.
    element_at: usize,
    /// Whether it names the element by its rank.
    is_by_rank: bool,
}

/// A request decoder of either protocol.
pub(super) trait Decoder {
    /// Decodes the request at the front of `bytes` and returns its length. Returns `None` if it is
    /// incomplete, invalid or has too many arguments; the decoder then has not moved past its
    /// beginning.
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
        // The arguments of an inline request may lie in the decoder's own buffer.
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
            element_at: 0,
            is_by_rank: false,
        },
        hint: None,
    };

    /// Passes the first key of the request to the keyspace; `bytes` are those of the turn. Returns
    /// whether there is a key.
    #[inline(always)]
    pub(super) fn foresee(&mut self, engine: &Engine<A>, db: u32, bytes: &'b [u8]) -> bool {
        let key = self.shape.arg(self.shape.key_at, &bytes[self.start..]);
        self.hint = key.map(|key| A::Keys::foresee(engine.app(), db, key));
        key.is_some()
    }

    /// Asks the keyspace, some requests later, to load the value of the same key.
    #[inline(always)]
    pub(super) fn find(&mut self, engine: &Engine<A>, db: u32) {
        if let Some(hint) = &mut self.hint {
            A::Keys::find(engine.app(), db, hint);
        }
    }

    /// Asks the keyspace, again some requests later, to load the element of the value that the request
    /// names, if it names one. Returns whether to call [`Decoded::locate`] some requests later.
    #[inline(always)]
    pub(super) fn warm(&self, engine: &Engine<A>, db: u32, bytes: &[u8]) -> bool {
        match (&self.hint, self.element(bytes)) {
            (Some(hint), Some(rank)) if self.shape.is_by_rank => {
                A::Keys::warm_rank(engine.app(), db, hint, rank);
                false
            }
            (Some(hint), Some(element)) => A::Keys::warm(engine.app(), db, hint, element),
            _ => false,
        }
    }

    /// Asks the keyspace to search for the element, if [`Decoded::warm`] returned `true`.
    pub(super) fn locate(&self, engine: &Engine<A>, db: u32, bytes: &[u8]) {
        if let (Some(hint), Some(element)) = (&self.hint, self.element(bytes)) {
            A::Keys::locate(engine.app(), db, hint, element);
        }
    }

    /// The element that the request names, if it names one.
    #[inline(always)]
    fn element<'r>(&self, bytes: &'r [u8]) -> Option<&'r [u8]> {
        self.shape.arg(self.shape.element_at, &bytes[self.start..])
    }

    /// The request, and the length of the turn's bytes up to its end.
    #[inline(always)]
    pub(super) fn prepared<'r>(&'r self, bytes: &'r [u8]) -> (PreparedRequest<'r, A>, usize) {
        let Self { start, shape, hint } = self;
        let end = start + shape.len;
        let prepared = PreparedRequest {
            args: shape.args(&bytes[*start..end]),
            form: shape.form,
            at: shape.at,
            hint: hint.as_ref().map(|hint| A::Keys::shorten(hint)),
        };
        (prepared, end)
    }
}

impl Shape {
    /// Decodes the request at the front of `bytes` and finds its command. Returns how many bytes it
    /// took, with any empty requests in front of it. `None`: see [`Decoder::take`].
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

    /// Whether decoding the front of `bytes` gives this shape.
    pub(super) fn is_read_from<A: App>(
        &self,
        engine: &Engine<A>,
        decoder: &mut impl Decoder,
        bytes: &[u8],
    ) -> bool {
        let mut read = *self;
        read.read(engine, decoder, bytes) == Some(self.len)
            && read.spans[..read.spans_len] == self.spans[..self.spans_len]
            && (read.len, read.at) == (self.len, self.at)
            && (read.key_at, read.element_at) == (self.key_at, self.element_at)
            && read.is_by_rank == self.is_by_rank
            && read.form == self.form
    }

    /// Copies the spans of the arguments; `false` if there are too many.
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

    /// Whether the request names an element of its key's value.
    #[inline(always)]
    pub(super) fn has_element(&self) -> bool {
        self.element_at != 0
    }

    /// The argument of this index of the request at the front of `bytes`, unless it is 0.
    #[inline(always)]
    fn arg<'r>(&self, at: usize, bytes: &'r [u8]) -> Option<&'r [u8]> {
        if at == 0 {
            return None;
        }
        let span = self.spans[..self.spans_len].get(at)?;
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
        let of_entry = |at| {
            let entry = engine.table.entry(at);
            let Spec { element, rank, .. } = *entry.spec();
            (entry.first_key(), element, rank)
        };
        let (key_at, element, rank) = self.at.map_or((0, 0, 0), of_entry);
        self.key_at = if key_at < self.spans_len { key_at } else { 0 };
        self.is_by_rank = element == 0 && rank != 0;
        self.element_at = usize::from(if self.is_by_rank { rank } else { element });
    }

    /// Whether the request at the front of `next` has the same framing and name as this one, which
    /// is at the front of `wire`. Decoders look at nothing else.
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

/// Whether two slices of equal length are equal. The bytes between arguments are few: two words
/// that may overlap cover them.
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
