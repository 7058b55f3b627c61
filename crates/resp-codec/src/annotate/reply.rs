//! Annotates RESP replies.

use super::paint::Painter;
use super::{Ending, Role};
use crate::frame::{FrameDecoder, Node, Part};
use crate::grammar::{Length, length};
use crate::limits::Limits;
use crate::step::Step;

/// Paints one frame.
pub(super) fn paint(painter: &mut Painter<'_, '_>, limits: &Limits) -> Ending {
    let mut decoder = FrameDecoder::new(*limits);
    let base = painter.at();
    let (stop, end) = match decoder.decode(&painter.buf()[base..]) {
        Ok(Step::Ready { consumed, .. }) => (base + consumed, Ending::Whole),
        Ok(Step::NeedMore { hint, .. }) => (painter.buf().len(), Ending::Torn { missing: hint }),
        Err(error) => (base + error.offset, Ending::Bad(error.shifted(base))),
    };
    painter.stop_at(stop);
    let mut levels = Levels::default();
    for (index, node) in decoder.nodes.iter().enumerate() {
        levels.enter(painter, index, node, decoder.nodes.len());
        token(painter);
        painter.next_node();
    }
    // An incomplete or invalid token has no node yet.
    levels.leave(painter, decoder.nodes.len());
    token(painter);
    painter.to(stop, Role::Payload);
    end
}

/// The ends of the aggregates around the current node of the tape.
#[derive(Default)]
pub(super) struct Levels(alloc::vec::Vec<usize>);

impl Levels {
    /// Moves to the node at `index` of a tape of `len` nodes.
    pub(super) fn enter(
        &mut self,
        painter: &mut Painter<'_, '_>,
        index: usize,
        node: &Node,
        len: usize,
    ) {
        self.leave(painter, index);
        let holds = match node.part {
            Part::Streamed => true,
            Part::Value => node.kind.is_aggregate() && node.len > 0,
            _ => false,
        };
        if holds {
            // The end of an incomplete aggregate is not known yet.
            let end = if node.skip == 1 {
                usize::MAX
            } else {
                index + node.skip as usize
            };
            self.0.push(if end > len { usize::MAX } else { end });
        }
    }

    /// Leaves the aggregates that end at `index`.
    pub(super) fn leave(&mut self, painter: &mut Painter<'_, '_>, index: usize) {
        while self.0.pop_if(|end| *end <= index).is_some() {}
        painter.set_depth(self.0.len());
    }
}

/// Paints one header, or one line with its payload, or the part of it before the stop.
pub(super) fn token(painter: &mut Painter<'_, '_>) {
    let Some(tag) = painter.byte() else { return };
    let start = painter.at();
    painter.run(1, Role::Type);
    match tag {
        b'+' | b'-' => text(painter, Role::Payload),
        b'#' => text(painter, Role::Payload),
        b':' | b',' | b'(' => {
            painter.run_while(Role::Sign, |byte| matches!(byte, b'+' | b'-'));
            text(painter, Role::Digits);
        }
        b'$' | b'!' | b'=' | b';' => blob(painter, tag, start),
        _ => {
            head(painter, tag);
            painter.crlf();
        }
    }
}

fn text(painter: &mut Painter<'_, '_>, role: Role) {
    painter.run_while(role, |byte| !matches!(byte, b'\r' | b'\n'));
    painter.crlf();
}

/// Paints a length, count or `?`.
fn head(painter: &mut Painter<'_, '_>, tag: u8) {
    match painter.byte() {
        Some(b'?') => painter.run(1, Role::StreamOpen),
        Some(b'0') if tag == b';' => painter.run(1, Role::StreamEnd),
        _ => {
            painter.run_while(Role::Sign, |byte| matches!(byte, b'+' | b'-'));
            painter.run_while(Role::Length, |byte| byte.is_ascii_digit());
        }
    }
}

fn blob(painter: &mut Painter<'_, '_>, tag: u8, start: usize) {
    head(painter, tag);
    painter.crlf();
    let Length::Whole { value, end } = length(painter.buf(), start + 1) else {
        return;
    };
    let Ok(len @ 0..) = usize::try_from(value) else {
        return;
    };
    if painter.at() < end || (tag == b';' && len == 0) {
        return;
    }
    if tag == b'=' {
        painter.run(len.min(3), Role::Format);
        painter.run(len.saturating_sub(3).min(1), Role::Colon);
    }
    painter.to(end.saturating_add(len), Role::Payload);
    painter.crlf();
}
