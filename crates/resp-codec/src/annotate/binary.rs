//! Annotates requests and replies of the binary protocol.

use super::paint::Painter;
use super::reply::Levels;
use super::{Ending, Role};
use crate::binary::{CALL, ReplyDecoder, RequestDecoder, SET};
use crate::limits::Limits;
use crate::step::Step;

/// Paints one request.
pub(super) fn paint_request(painter: &mut Painter<'_, '_>, limits: &Limits) -> Ending {
    let mut decoder = RequestDecoder::new(*limits);
    let base = painter.at();
    let (stop, end) = match decoder.decode(&painter.buf()[base..]) {
        Ok(Step::Ready { consumed, .. }) => (base + consumed, Ending::Whole),
        Ok(Step::NeedMore { hint, .. }) => (painter.buf().len(), Ending::Torn { missing: hint }),
        Err(error) => (base + error.offset, Ending::Bad(error.shifted(base))),
    };
    painter.stop_at(stop);
    let count = match painter.byte() {
        Some(CALL) => number(painter.buf(), base + 1),
        Some(SET) => 2,
        _ => 1,
    };
    let op = painter.byte();
    painter.run(1, Role::Type);
    if op == Some(CALL) {
        painter.run(4, Role::Length);
    }
    for _ in 0..count {
        if painter.byte().is_none() {
            break;
        }
        painter.next_node();
        sized(painter);
    }
    painter.next_node();
    end
}

/// Paints one tagged value.
pub(super) fn paint_reply(painter: &mut Painter<'_, '_>, limits: &Limits) -> Ending {
    let mut decoder = ReplyDecoder::new(*limits);
    let base = painter.at();
    let (stop, end) = match decoder.decode(&painter.buf()[base..]) {
        Ok(Step::Ready { consumed, .. }) => (base + consumed, Ending::Whole),
        Ok(Step::NeedMore { hint, .. }) => (painter.buf().len(), Ending::Torn { missing: hint }),
        Err(error) => (base + error.offset, Ending::Bad(error.shifted(base))),
    };
    painter.stop_at(stop);
    let mut levels = Levels::default();
    let nodes = decoder.nodes();
    for (index, node) in nodes.iter().enumerate() {
        levels.enter(painter, index, node, nodes.len());
        token(painter);
        painter.next_node();
    }
    levels.leave(painter, nodes.len());
    token(painter);
    painter.to(stop, Role::Payload);
    end
}

/// Paints a tag and the fields that it announces.
fn token(painter: &mut Painter<'_, '_>) {
    let Some(tag) = painter.byte() else { return };
    painter.run(1, Role::Type);
    match tag {
        b'_' => {}
        b'#' => painter.run(1, Role::Field),
        b':' | b',' => painter.run(8, Role::Field),
        b'*' | b'~' | b'>' | b'%' | b'|' => painter.run(4, Role::Length),
        b'=' => {
            let len = number(painter.buf(), painter.at());
            painter.run(4, Role::Length);
            painter.run(len.min(3), Role::Format);
            painter.run(len.saturating_sub(3), Role::Payload);
        }
        _ => sized(painter),
    }
}

/// Paints a length and the payload of that length.
fn sized(painter: &mut Painter<'_, '_>) {
    let len = number(painter.buf(), painter.at());
    painter.run(4, Role::Length);
    painter.run(len, Role::Payload);
}

/// The `u32` at `at`, or 0 if the buffer ends before it does.
fn number(buf: &[u8], at: usize) -> usize {
    crate::binary::load4(buf, at).unwrap_or(0) as usize
}
