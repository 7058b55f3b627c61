//! Inline requests: splits a line into words, with Redis's quoting.

use alloc::vec::Vec;

use super::decoder::put_span;
use crate::args::Span;

/// A piece of a line other than the text of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Blanks between words.
    Space,
    Quote,
    /// A complete escape within quotes.
    Escape,
}

/// A callback that gets each piece with its offset and its length.
pub(crate) trait Trace: FnMut(Piece, usize, usize) {}

impl<T: FnMut(Piece, usize, usize)> Trace for T {}

/// C's `isspace` in the C locale.
const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

/// Whether `byte` ends a word outside quotes. Fewer bytes than [`is_space`], as in Redis.
const fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// Splits `line` (without its end) into words. Returns their number, or the offset of the wrong
/// quote.
///
/// A plain word is a span of the line; a word with quotes is unescaped into `scratch`.
pub(crate) fn split(
    line: &[u8],
    spans: &mut Vec<Span>,
    scratch: &mut Vec<u8>,
    trace: &mut impl Trace,
) -> Result<usize, usize> {
    let mut count = 0;
    let mut at = 0;
    loop {
        let blank = line[at..]
            .iter()
            .take_while(|&&byte| is_space(byte))
            .count();
        trace(Piece::Space, at, blank);
        at += blank;
        if at == line.len() {
            return Ok(count);
        }
        let plain = line[at..]
            .iter()
            .take_while(|&&byte| !ends_word(byte) && !matches!(byte, b'"' | b'\''))
            .count();
        let end = at + plain;
        let span = if matches!(line.get(end), Some(b'"' | b'\'')) {
            let start = scratch.len();
            scratch.extend_from_slice(&line[at..end]);
            at = quoted(line, end, scratch, trace)?;
            Span::in_scratch(start as u32, (scratch.len() - start) as u32)
        } else {
            let span = Span::new(at as u32, plain as u32);
            at = end;
            span
        };
        put_span(spans, count, span);
        count += 1;
    }
}

/// Reads the quoted end of a word from its quote at `open`, and returns where the word ends.
fn quoted(
    line: &[u8],
    open: usize,
    scratch: &mut Vec<u8>,
    trace: &mut impl Trace,
) -> Result<usize, usize> {
    trace(Piece::Quote, open, 1);
    let end = match line[open] {
        b'"' => double_quoted(line, open, scratch, trace)?,
        _ => single_quoted(line, open, scratch, trace)?,
    };
    trace(Piece::Quote, end - 1, 1);
    // A closing quote ends the word: only a blank may follow.
    match line.get(end) {
        Some(&next) if !is_space(next) => Err(end),
        _ => Ok(end),
    }
}

/// Reads `"…"` at `open`, and returns the offset after the closing quote.
fn double_quoted(
    line: &[u8],
    open: usize,
    scratch: &mut Vec<u8>,
    trace: &mut impl Trace,
) -> Result<usize, usize> {
    let mut at = open + 1;
    loop {
        match line[at..] {
            [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                trace(Piece::Escape, at, 4);
                scratch.push(hex(high) << 4 | hex(low));
                at += 4;
            }
            [b'\\', escaped, ..] => {
                trace(Piece::Escape, at, 2);
                scratch.push(unescape(escaped));
                at += 2;
            }
            [b'"', ..] => return Ok(at + 1),
            [byte, ..] => {
                scratch.push(byte);
                at += 1;
            }
            [] => return Err(open),
        }
    }
}

/// Reads `'…'` at `open`, where only `\'` is an escape, and returns the offset after the closing
/// quote.
fn single_quoted(
    line: &[u8],
    open: usize,
    scratch: &mut Vec<u8>,
    trace: &mut impl Trace,
) -> Result<usize, usize> {
    let mut at = open + 1;
    loop {
        match line[at..] {
            [b'\\', b'\'', ..] => {
                trace(Piece::Escape, at, 2);
                scratch.push(b'\'');
                at += 2;
            }
            [b'\'', ..] => return Ok(at + 1),
            [byte, ..] => {
                scratch.push(byte);
                at += 1;
            }
            [] => return Err(open),
        }
    }
}

const fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

const fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
