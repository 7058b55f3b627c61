//! Guesses what the sender meant, to suggest fixes for each kind of error.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::Mode;
use super::bytes::ByteSet;
use super::fix::{Fix, Place, TRIED_MAX};
use crate::error::ErrorKind;

impl Place<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.buf.get(at).copied()
    }

    /// The offset of the next CRLF at or after `from`.
    fn crlf_from(&self, from: usize) -> Option<usize> {
        let rest = self.buf.get(from..)?;
        rest.windows(2)
            .take(TRIED_MAX)
            .position(|pair| pair == b"\r\n")
            .map(|at| from + at)
    }

    /// The offset of the first byte of the line that has the error.
    fn line(&self) -> usize {
        let before = &self.buf[self.frame..self.at];
        before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(self.frame, |at| self.frame + at + 1)
    }

    /// Suggests lengths, for a payload that is longer or shorter than its length says.
    pub(super) fn lengths(&self, fixes: &mut Vec<Fix>) {
        if self.kind != ErrorKind::InvalidBulkLength {
            return;
        }
        // The header is the last one whose payload would end at the error.
        let Some((digits, payload)) = self.header() else {
            return;
        };
        let reached = self.buf.len().min(self.at + 1);
        let within = self.buf[payload..reached]
            .windows(2)
            .rposition(|pair| pair == b"\r\n");
        let declared = crate::number::parse_i64(&self.buf[digits..payload - 2]);
        let mut length = |end: usize, why| {
            let why = counted_otherwise(&self.buf[payload..end], declared).unwrap_or(why);
            let with = format!("{}", end - payload).into_bytes();
            fixes.push(Fix::new(digits, payload - 2 - digits, with, why));
        };
        if let Some(end) = within {
            length(
                payload + end,
                "the length is that of the payload up to CRLF",
            );
        }
        if let Some(end) = self.crlf_from(self.at) {
            length(end, "the length is that of the whole payload");
            let why = "the payload ends where its length says";
            fixes.push(Fix::new(self.at, end - self.at, vec![], why));
        }
        let why = "CRLF is missing behind the payload";
        fixes.push(Fix::new(self.at, 0, b"\r\n".to_vec(), why));
    }

    /// The digits of the length whose payload ends at the error, and where the payload begins.
    fn header(&self) -> Option<(usize, usize)> {
        let frame = &self.buf[self.frame..self.at];
        let ends = frame
            .windows(2)
            .enumerate()
            .rev()
            .filter(|(_, pair)| *pair == b"\r\n");
        for (end, _) in ends.take(64) {
            let line = frame[..end]
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |at| at + 1);
            let header = &frame[line..end];
            let digits = header.get(1..).and_then(crate::number::parse_i64);
            if let (Some(b'$' | b'!' | b'=' | b';'), Some(len)) = (header.first(), digits)
                && usize::try_from(len).is_ok_and(|len| (end + 2 + len).abs_diff(frame.len()) <= 1)
            {
                return Some((self.frame + line + 1, self.frame + end + 2));
            }
        }
        None
    }

    /// Suggests CRLF, for a line that ends with LF alone, with CR alone, or with the letters `\r
    /// `.
    pub(super) fn line_ends(&self, fixes: &mut Vec<Fix>) {
        if self.byte(self.at) == Some(b'\n') {
            fixes.push(Fix::new(
                self.at,
                0,
                b"\r".to_vec(),
                "CR is missing before LF",
            ));
        }
        if self.at > 0 && self.byte(self.at - 1) == Some(b'\r') {
            fixes.push(Fix::new(
                self.at,
                0,
                b"\n".to_vec(),
                "LF is missing behind CR",
            ));
        }
        let end = self.buf.len().min(self.frame + TRIED_MAX);
        let text = &self.buf[self.frame..end];
        if text.windows(4).any(|four| four == br"\r\n") {
            let mut with = Vec::with_capacity(text.len());
            let mut rest = text;
            while let Some(&byte) = rest.first() {
                if let Some(after) = rest.strip_prefix(br"\r\n") {
                    with.extend_from_slice(b"\r\n");
                    rest = after;
                } else {
                    with.push(byte);
                    rest = &rest[1..];
                }
            }
            fixes.push(Fix::new(
                self.frame,
                text.len(),
                with,
                "the letters \\r\\n stand for CRLF",
            ));
        }
        if let Some(line) = self.buf[self.frame..end]
            .split_inclusive(|&byte| byte == b'\n')
            .next()
            && !line.ends_with(b"\r\n")
            && line.ends_with(b"\n")
        {
            let mut with = Vec::with_capacity(text.len());
            for (index, &byte) in text.iter().enumerate() {
                if byte == b'\n' && (index == 0 || text[index - 1] != b'\r') {
                    with.push(b'\r');
                }
                with.push(byte);
            }
            fixes.push(Fix::new(
                self.frame,
                text.len(),
                with,
                "every line ends with CRLF",
            ));
        }
    }

    /// Suggests type bytes, for a value of the wrong type.
    pub(super) fn structure(&self, fixes: &mut Vec<Fix>) {
        let line = self.line();
        let end = self.crlf_from(self.at);
        let rest_of_line = end.map(|end| end - self.at);
        match self.kind {
            ErrorKind::ExpectedBulk(byte) => {
                if let Some(len) = rest_of_line {
                    let header = |len: usize| format!("${len}\r\n").into_bytes();
                    fixes.push(Fix::new(
                        self.at,
                        0,
                        header(len),
                        "the header of the bulk string is missing",
                    ));
                    if matches!(byte, b'+' | b':') {
                        let why = "arguments are bulk strings whatever they mean";
                        fixes.push(Fix::new(self.at, 1, header(len - 1), why));
                    }
                }
                self.count(fixes);
            }
            ErrorKind::UnknownType(_) => {
                if let Some(len) = rest_of_line {
                    let with = format!("${len}\r\n").into_bytes();
                    fixes.push(Fix::new(
                        self.at,
                        0,
                        with,
                        "the header of the bulk string is missing",
                    ));
                }
                fixes.push(Fix::new(
                    self.at,
                    0,
                    b"+".to_vec(),
                    "the type byte is missing",
                ));
            }
            ErrorKind::InvalidMultibulkLength | ErrorKind::InvalidBulkLength
                if self.byte(line + 1) == Some(b'-') =>
            {
                if let Some(len) = self.crlf_from(line).map(|end| end - line) {
                    let with = if self.mode == Mode::Requests {
                        b"$0\r\n".to_vec()
                    } else {
                        b"_".to_vec()
                    };
                    fixes.push(Fix::new(line, len, with, "nothing was meant"));
                    fixes.push(Fix::new(
                        line,
                        len,
                        b"$-1".to_vec(),
                        "the null bulk string was meant",
                    ));
                }
            }
            _ => {}
        }
    }

    /// Suggests changes for a push, an end or a chunk at a place where the grammar forbids it.
    pub(super) fn misplaced(&self, fixes: &mut Vec<Fix>) {
        match self.kind {
            ErrorKind::NestedPush => {
                fixes.push(Fix::new(self.at, 1, b"*".to_vec(), "an array was meant"))
            }
            ErrorKind::InvalidPush => fixes.push(Fix::new(
                self.line(),
                1,
                b"*".to_vec(),
                "an array was meant",
            )),
            ErrorKind::OddMap => fixes.push(Fix::new(
                self.at,
                0,
                b"_\r\n".to_vec(),
                "the last value is missing",
            )),
            ErrorKind::StrayEnd => {
                fixes.push(Fix::new(self.at, 3, vec![], "there is nothing to end"));
                fixes.push(Fix::new(
                    self.at,
                    0,
                    b"_\r\n".to_vec(),
                    "the last value is missing",
                ));
            }
            ErrorKind::StrayChunk => fixes.push(Fix::new(
                self.at,
                1,
                b"$".to_vec(),
                "a bulk string was meant",
            )),
            ErrorKind::ExpectedChunk => {
                fixes.push(Fix::new(
                    self.at,
                    0,
                    b";0\r\n".to_vec(),
                    "the end of the streamed string is missing",
                ));
                fixes.push(Fix::new(self.at, 1, b";".to_vec(), "a chunk was meant"));
            }
            _ => {}
        }
        fixes.retain(|fix| fix.at + fix.len <= self.buf.len());
    }

    /// Suggests a count, for a request with fewer arguments than it announces.
    fn count(&self, fixes: &mut Vec<Fix>) {
        if self.byte(self.frame) != Some(b'*') {
            return;
        }
        let Some(end) = self.crlf_from(self.frame).filter(|&end| end < self.at) else {
            return;
        };
        let mut found = 0;
        let mut at = end + 2;
        while at < self.at {
            let Some(end) = self.crlf_from(at) else {
                return;
            };
            let digits = self.buf.get(at + 1..end).and_then(crate::number::parse_i64);
            let len = digits.and_then(|len| usize::try_from(len).ok());
            let Some(len) = len else { return };
            at = end + 2 + len + 2;
            found += 1;
        }
        if found > 0 {
            let with = format!("{found}").into_bytes();
            let why = "fewer arguments were meant than announced";
            fixes.push(Fix::new(self.frame + 1, end - self.frame - 1, with, why));
        }
    }

    /// Suggests the RESP form, for a number written as in other languages.
    pub(super) fn numbers(&self, fixes: &mut Vec<Fix>) {
        let line = self.line();
        let Some(end) = self.crlf_from(line) else {
            return;
        };
        let Some(text) = self
            .buf
            .get(line + 1..end)
            .and_then(|text| core::str::from_utf8(text).ok())
        else {
            return;
        };
        let whole = |with: &str, why| Fix::new(line + 1, text.len(), with.as_bytes().to_vec(), why);
        let lower = text.to_ascii_lowercase();
        match self.kind {
            ErrorKind::InvalidDouble => {
                let bare = lower.trim_start_matches('+');
                match bare {
                    "infinity" | "inf" => fixes.push(whole("inf", "infinity is written inf")),
                    "-infinity" | "-inf" => fixes.push(whole("-inf", "infinity is written -inf")),
                    "nan" | "+nan" | "-nan" => {
                        fixes.push(whole("nan", "not a number is written nan"))
                    }
                    _ => {}
                }
                if let Some(point) = text.find('.') {
                    let why = "a digit is missing before the point";
                    fixes.push(Fix::new(line + 1 + point, 0, b"0".to_vec(), why));
                }
                fixes.push(whole(text.trim(), "blanks do not belong there"));
            }
            ErrorKind::InvalidBoolean => match lower.as_str() {
                "true" | "t" | "1" => fixes.push(whole("t", "true is written t")),
                "false" | "f" | "0" => fixes.push(whole("f", "false is written f")),
                _ => {}
            },
            ErrorKind::InvalidInteger | ErrorKind::InvalidBigNumber => {
                fixes.push(whole(text.trim(), "blanks do not belong there"));
                if self.kind == ErrorKind::InvalidInteger {
                    fixes.push(Fix::new(line, 1, b"(".to_vec(), "a big number was meant"));
                    fixes.push(Fix::new(line, 1, b",".to_vec(), "a double was meant"));
                }
            }
            ErrorKind::InvalidBulkLength | ErrorKind::InvalidMultibulkLength => {
                let digits = text.trim().trim_start_matches('+').trim_start_matches('0');
                let digits = if digits.is_empty() { "0" } else { digits };
                fixes.push(whole(digits, "a length is plain digits"));
            }
            _ => {}
        }
    }

    /// Suggests quotes, for an inline request with one quote too many or too few.
    pub(super) fn quotes(&self, fixes: &mut Vec<Fix>) {
        if self.kind != ErrorKind::UnbalancedQuotes {
            return;
        }
        fixes.push(Fix::new(
            self.at,
            0,
            b" ".to_vec(),
            "a blank is missing behind the quote",
        ));
        let rest = &self.buf[self.at..];
        if let Some(len) = rest.iter().position(|&byte| byte == b'\n') {
            let end = self.at + len - usize::from(rest[..len].ends_with(b"\r"));
            fixes.push(Fix::new(
                end,
                0,
                vec![rest[0]],
                "the closing quote is missing",
            ));
        }
    }

    /// Suggests to replace, insert or remove one byte.
    pub(super) fn single_bytes(&self, expected: &ByteSet, fixes: &mut Vec<Fix>) {
        fixes.push(Fix::new(
            self.at,
            1,
            vec![],
            "this byte does not belong there",
        ));
        if expected.len() <= 4 {
            for byte in expected.iter() {
                fixes.push(Fix::new(self.at, 1, vec![byte], "another byte was meant"));
                fixes.push(Fix::new(self.at, 0, vec![byte], "a byte is missing"));
            }
        }
    }
}

/// Says which unit a wrong length counts, if it is right in that unit. The usual mistake in
/// languages whose strings are not bytes.
fn counted_otherwise(payload: &[u8], declared: Option<i64>) -> Option<&'static str> {
    let declared = usize::try_from(declared?).ok()?;
    let text = core::str::from_utf8(payload).ok()?;
    let is_characters = declared == text.chars().count();
    let is_utf16 = declared == text.encode_utf16().count();
    match (is_characters, is_utf16) {
        _ if declared == payload.len() => None,
        (true, true) => {
            Some("the length counts characters (or UTF-16 units), it has to count bytes")
        }
        (true, false) => Some("the length counts characters, it has to count bytes"),
        (false, true) => {
            Some("the length counts UTF-16 units, as JavaScript and Java do; it has to count bytes")
        }
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Limits;
    use crate::annotate::{Mode, diagnose};
    use alloc::format;

    #[test]
    fn fix_names_the_unit_that_a_wrong_length_counts() {
        for (text, length, unit) in [
            ("Zoë!", 4, "counts characters (or UTF-16 units)"),
            ("a😀b", 3, "counts characters,"),
            ("a😀b", 4, "counts UTF-16 units"),
            ("hello", 4, "is that of the whole payload"),
        ] {
            let input = format!("${length}\r\n{text}\r\n");
            let diagnosis = diagnose(input.as_bytes(), Mode::Replies, &Limits::CLIENT);
            let fixes = diagnosis.expect("the input is invalid").fixes;
            let mended = format!("${}\r\n{text}\r\n", text.len());
            let fix = fixes
                .iter()
                .find(|fix| fix.apply(input.as_bytes()) == mended.as_bytes());
            let why = fix.expect("a fix corrects the length").why;
            assert!(why.contains(unit), "{text} {length}: {why}");
        }
    }
}
