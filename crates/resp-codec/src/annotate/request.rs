//! Annotates RESP requests, inline requests included.

use super::paint::Painter;
use super::{Ending, Role, reply};
use crate::command::{CommandDecoder, Piece, split};
use crate::grammar::{Length, find, length};
use crate::limits::Limits;
use crate::step::Step;

/// Paints one request, and the empty requests before it.
pub(super) fn paint(painter: &mut Painter<'_, '_>, limits: &Limits) -> Ending {
    let mut decoder = CommandDecoder::new(*limits);
    let base = painter.at();
    let have = painter.buf().len();
    let (stop, end) = match decoder.decode(&painter.buf()[base..]) {
        Ok(Step::Ready { consumed, .. }) => (base + consumed, Ending::Whole),
        Ok(Step::NeedMore { consumed, .. }) if base + consumed == have => (have, Ending::Empty),
        Ok(Step::NeedMore { hint, .. }) => (have, Ending::Torn { missing: hint }),
        Err(error) => (base + error.offset, Ending::Bad(error.shifted(base))),
    };
    painter.stop_at(stop);
    while let Some(byte) = painter.byte() {
        match byte {
            b'*' => multibulk(painter),
            _ => inline(painter),
        }
    }
    end
}

/// Paints `*n CRLF` and the bulk strings it announces.
fn multibulk(painter: &mut Painter<'_, '_>) {
    let count = match length(painter.buf(), painter.at() + 1) {
        Length::Whole { value, .. } => value,
        _ => 0,
    };
    painter.set_depth(0);
    reply::token(painter);
    painter.next_node();
    painter.set_depth(1);
    for _ in 0..count {
        if painter.byte().is_none() {
            break;
        }
        reply::token(painter);
        painter.next_node();
    }
    painter.set_depth(0);
}

/// Paints a line and its words.
fn inline(painter: &mut Painter<'_, '_>) {
    let start = painter.at();
    let rest = &painter.buf()[start..];
    let end = find(rest, b'\n');
    let line = &rest[..end.unwrap_or(rest.len())];
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    let mut words = Words::default();
    // Only the positions of the words are needed, not the words.
    let _ = split(
        text,
        &mut alloc::vec::Vec::new(),
        &mut alloc::vec::Vec::new(),
        &mut |piece, at, len| {
            let role = match piece {
                Piece::Space => Role::Space,
                Piece::Quote => Role::Quote,
                Piece::Escape => Role::Escape,
            };
            words.to(painter, start + at, Role::InlineArg);
            words.to(painter, start + at + len, role);
        },
    );
    words.to(painter, start + text.len(), Role::InlineArg);
    painter.to(start + line.len() + usize::from(end.is_some()), Role::Crlf);
    painter.next_node();
}

/// Counts the words of a line as nodes. Blanks belong to the word before them; those at the start
/// of the line belong to the first word.
#[derive(Default)]
struct Words {
    has_word: bool,
    is_after_blank: bool,
}

impl Words {
    fn to(&mut self, painter: &mut Painter<'_, '_>, end: usize, role: Role) {
        if end <= painter.at() {
            return;
        }
        if role == Role::Space {
            self.is_after_blank = true;
        } else {
            if self.has_word && self.is_after_blank {
                painter.next_node();
            }
            (self.has_word, self.is_after_blank) = (true, false);
        }
        painter.to(end, role);
    }
}
