//! The modes (what a buffer holds) as the numbers that the page uses, and guessing the mode.

use crate::names::is_command;
use resp_codec::annotate::{Ending, Mode, annotate_frame};
use resp_codec::{CommandDecoder, Limits, Step, binary};

/// The most bytes examined for a guess.
const LOOKED_AT_MAX: usize = 64 * 1024;

/// The mode with this number; `None` means *guess*.
pub(crate) fn mode_of(number: u32) -> Result<Option<Mode>, String> {
    Ok(Some(match number {
        0 => Mode::Requests,
        1 => Mode::Replies,
        2 => Mode::BinaryRequests,
        3 => Mode::BinaryReplies,
        4 => return Ok(None),
        _ => return Err(format!("there is no mode {number}")),
    }))
}

/// The number of a mode.
pub(crate) const fn mode_number(mode: Mode) -> u32 {
    match mode {
        Mode::Requests => 0,
        Mode::Replies => 1,
        Mode::BinaryRequests => 2,
        Mode::BinaryReplies => 3,
    }
}

/// The limits with this number.
pub(crate) fn limits_of(number: u32) -> Result<Limits, String> {
    Ok(match number {
        0 => Limits::SERVER,
        1 => Limits::UNAUTHENTICATED,
        2 => Limits::CLIENT,
        _ => return Err(format!("there are no limits {number}")),
    })
}

/// The mode that these bytes seem to have: by their first byte; if it fits several modes, the one
/// that decodes furthest without an error. Examines the first 64 KiB.
///
/// ```
/// use resp_codec::annotate::Mode;
/// use respire_wasm::guess_mode;
/// assert_eq!(guess_mode(b"*1\r\n$4\r\nPING\r\n"), Mode::Requests);
/// assert_eq!(guess_mode(b"*1\r\n$5\r\nworld\r\n"), Mode::Replies);
/// assert_eq!(guess_mode(b"$\x02\0\0\0hi"), Mode::BinaryReplies);
/// ```
#[must_use]
pub fn guess_mode(bytes: &[u8]) -> Mode {
    let start = &bytes[..bytes.len().min(LOOKED_AT_MAX)];
    let Some(&first) = start.first() else {
        return Mode::Requests;
    };
    if binary::is_op(first) {
        return Mode::BinaryRequests;
    }
    let candidates: &[Mode] = match first {
        b'*' => match first_name_is_known(start) {
            Some(true) => return Mode::Requests,
            Some(false) => &[Mode::Replies, Mode::BinaryReplies, Mode::Requests],
            None => &[Mode::Requests, Mode::Replies, Mode::BinaryReplies],
        },
        b'+' | b'-' | b':' | b'$' | b'_' | b'#' | b',' | b'(' | b'!' | b'=' | b'%' | b'~'
        | b'|' | b'>' => &[Mode::Replies, Mode::BinaryReplies],
        _ => return Mode::Requests,
    };
    let is_text = begins_with_line(start);
    let mut best = (candidates[0], readable(start, candidates[0]));
    for &mode in &candidates[1..] {
        let is_binary = mode == Mode::BinaryReplies;
        if is_binary && is_text {
            continue;
        }
        let read = readable(start, mode);
        // A line of text may contain zeros but seldom does, while nearly all binary lengths have
        // one.
        if read > best.1 || (read == best.1 && is_binary && begins_with_length(start)) {
            best = (mode, read);
        }
    }
    best.0
}

/// The number of the guessed mode.
#[must_use]
pub fn guess_mode_number(bytes: &[u8]) -> u32 {
    mode_number(guess_mode(bytes))
}

/// Whether the first request names a command, as far as its bytes are there; `None` if the name is
/// incomplete.
fn first_name_is_known(bytes: &[u8]) -> Option<bool> {
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    if let Ok(Step::Ready { item, .. }) = decoder.decode(bytes) {
        return Some(is_command(item.name()));
    }
    let mut marks = Vec::new();
    annotate_frame(bytes, 0, Mode::Requests, &Limits::SERVER, &mut marks);
    let mut payloads = marks.iter().zip(marks.iter().skip(1));
    let (name, _) = payloads.find(|(mark, next)| {
        mark.role == resp_codec::annotate::Role::Payload
            && next.role == resp_codec::annotate::Role::Crlf
    })?;
    Some(is_command(&bytes[name.at as usize..][..name.len as usize]))
}

/// Whether the bytes after the first may be the length of a binary frame: below 16 MiB, so at least
/// one byte is 0.
fn begins_with_length(bytes: &[u8]) -> bool {
    bytes.get(1..5).is_some_and(|len| len.contains(&0))
}

/// Whether the bytes begin with a line of text. If the line is complete, an error after it does not
/// make the bytes binary.
fn begins_with_line(bytes: &[u8]) -> bool {
    let line = bytes.windows(2).position(|two| two == b"\r\n");
    line.is_some_and(|end| bytes[..end].iter().all(|&byte| byte >= b' '))
}

/// The number of bytes before the first error.
fn readable(bytes: &[u8], mode: Mode) -> usize {
    let (mut marks, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        marks.clear();
        match annotate_frame(bytes, at, mode, &Limits::SERVER, &mut marks) {
            (_, Ending::Bad(error)) => return error.offset,
            (end, _) => at = end,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guess_is_the_mode_a_person_would_choose() {
        let guesses: [(&[u8], Mode); 15] = [
            (b"", Mode::Requests),
            (b"PING\r\n", Mode::Requests),
            (b"*2\r\n$3\r\nget\r\n$1\r\nk", Mode::Requests),
            (b"*2\r\n$3\r\nGE", Mode::Requests),
            (b"*1\r\n$4\r\nPINGPONG\r\n", Mode::Requests),
            (b"*2\r\n$3\r\nfoo\r\n:1\r\n", Mode::Replies),
            (b"%1\r\n+a\r\n:1\r\n", Mode::Replies),
            (b"-ERR no\r\n", Mode::Replies),
            (b"$5\r\nhel", Mode::Replies),
            (b"\x01\x01\0\0\0k", Mode::BinaryRequests),
            (b":\x01\0\0\0\0\0\0\0", Mode::BinaryReplies),
            (b"*\x01\0\0\0_", Mode::BinaryReplies),
            (b"+\x03\0\0\0a\r\n", Mode::BinaryReplies),
            (b"+OK\r\n\0+OK\r\n", Mode::Replies),
            (b":1\r\n+OK\r\r\n:2\r\n", Mode::Replies),
        ];
        for (bytes, mode) in guesses {
            assert_eq!(guess_mode(bytes), mode, "{}", bytes.escape_ascii());
        }
    }
}
