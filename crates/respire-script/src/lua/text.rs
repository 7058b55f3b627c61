//! Texts of scripts in replies of one line.

use std::borrow::Cow;

/// What Redis shows of a text in a reply of one line: the bytes before its first NUL.
pub(super) fn until_nul(text: &[u8]) -> &[u8] {
    let len = text.iter().position(|byte| *byte == 0);
    &text[..len.unwrap_or(text.len())]
}

/// A text without the line ends at its start and its end.
pub(super) fn without_breaks_around(text: &[u8]) -> &[u8] {
    let start = text.iter().take_while(|byte| is_break(byte)).count();
    let text = &text[start..];
    let end = text.iter().rev().take_while(|byte| is_break(byte)).count();
    &text[..text.len() - end]
}

/// A text as a reply of one line shows it: until its first NUL, with blanks for line ends.
pub(super) fn line(text: &[u8]) -> Cow<'_, [u8]> {
    on_one_line(until_nul(text))
}

/// The text of an error as a reply shows it. Line ends in front of it become blanks, as `-` stands before
/// them; those behind it are left out.
pub(super) fn error_line(text: &[u8]) -> Cow<'_, [u8]> {
    let text = until_nul(text);
    let start = text.iter().take_while(|byte| is_break(byte)).count();
    let end = start + without_breaks_around(text).len();
    on_one_line(&text[..end])
}

fn on_one_line(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(is_break) {
        return Cow::Borrowed(text);
    }
    let blank = |byte: &u8| if is_break(byte) { b' ' } else { *byte };
    Cow::Owned(text.iter().map(blank).collect())
}

fn is_break(byte: &u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_at_the_first_nul_and_has_blanks_for_line_ends() {
        assert_eq!(line(b"a\r\nb \0c"), &b"a  b "[..]);
        assert_eq!(error_line(b"\nERR a\nb \r\n"), &b" ERR a b "[..]);
        assert_eq!(without_breaks_around(b"\r\na\nb\n"), b"a\nb");
        assert_eq!(error_line(b"\r\n"), &b"  "[..]);
    }
}
