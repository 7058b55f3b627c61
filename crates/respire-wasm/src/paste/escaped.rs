//! Decodes string literals of C, Python, Rust, JSON, JavaScript and printf.

use super::text::pair;

/// Decodes a string with escapes: one or more quoted literals, or bare text.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let text = bytes.trim_ascii();
    if let Some(start) = quote_at(text) {
        return literals(text, start);
    }
    if !text.contains(&b'\\') {
        return Err("there are no escapes".to_owned());
    }
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        at = unit(text, at, &mut out)?;
    }
    Ok(out)
}

/// Offset of the first quote, if only the start of a literal precedes it: `b"`, `$'`, a call of
/// printf, a name and an equals sign.
fn quote_at(text: &[u8]) -> Option<usize> {
    let at = text.iter().position(|byte| matches!(byte, b'"' | b'\''))?;
    let is_plain =
        |byte: &u8| byte.is_ascii_alphanumeric() || b" _=(&$-[]*.:%\t\r\n".contains(byte);
    let lead = &text[..at];
    (at <= 64
        && lead.iter().all(is_plain)
        && lead
            .first()
            .is_none_or(|first| !b"*$:%-".contains(first) || at == 1))
    .then_some(at)
}

/// Decodes consecutive literals.
fn literals(text: &[u8], start: usize) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = start;
    loop {
        let is_raw = text[..at].ends_with(b"r") || text[..at].ends_with(b"R");
        at = literal(text, at, is_raw, &mut out)?;
        // Blanks, a plus, a comma, a line end and a prefix may separate two literals.
        let glue = |byte: &&u8| byte.is_ascii_whitespace() || b"+,\\bBrRuUfF.()".contains(byte);
        let next = at + text[at..].iter().take_while(glue).count();
        match text.get(next) {
            Some(b'"' | b'\'') => at = next,
            None | Some(b';' | b'|' | b']' | b'}') => return Ok(out),
            Some(_) => return Err(format!("something follows the string at byte {next}")),
        }
    }
}

/// Decodes the literal with its quote at `at`, and returns where it ends.
fn literal(text: &[u8], at: usize, is_raw: bool, out: &mut Vec<u8>) -> Result<usize, String> {
    let quote = text[at];
    let mut at = at + 1;
    loop {
        match text.get(at) {
            None => return Err("the string has no end".to_owned()),
            Some(&byte) if byte == quote => return Ok(at + 1),
            Some(&byte) if is_raw => {
                out.push(byte);
                at += 1;
            }
            Some(_) => at = unit(text, at, out)?,
        }
    }
}

/// Decodes a byte or an escape, and returns where it ends.
fn unit(text: &[u8], at: usize, out: &mut Vec<u8>) -> Result<usize, String> {
    if text[at] != b'\\' {
        out.push(text[at]);
        return Ok(at + 1);
    }
    let cut = || format!("the escape is not whole at byte {at}");
    let letter = *text.get(at + 1).ok_or_else(cut)?;
    let plain = match letter {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        b'e' => 27,
        b'\\' | b'"' | b'\'' | b'/' | b'?' | b'$' | b'`' | b'%' => letter,
        b'\n' => {
            // A continued line; Rust skips the blanks at the start of the next one.
            let blanks = text[at + 2..]
                .iter()
                .take_while(|byte| byte.is_ascii_whitespace());
            return Ok(at + 2 + blanks.count());
        }
        b'x' => {
            out.push(pair(text, at + 2)?);
            return Ok(at + 4);
        }
        b'u' | b'U' => return unicode(text, at, out).ok_or_else(cut),
        b'0'..=b'7' => {
            let digits = text[at + 1..]
                .iter()
                .take(3)
                .take_while(|byte| (b'0'..=b'7').contains(byte));
            let digits: Vec<u8> = digits.copied().collect();
            let value = digits
                .iter()
                .fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            out.push(u8::try_from(value).map_err(|_| cut())?);
            return Ok(at + 1 + digits.len());
        }
        _ => {
            return Err(format!(
                "no escape begins with \\{} at byte {at}",
                letter.escape_ascii()
            ));
        }
    };
    out.push(plain);
    Ok(at + 2)
}

/// Decodes `\u1234`, `\U00012345` or `\u{123}`; a pair of surrogates is one character.
fn unicode(text: &[u8], at: usize, out: &mut Vec<u8>) -> Option<usize> {
    let number = |from: usize, to: usize| {
        let digits = std::str::from_utf8(text.get(from..to)?).ok()?;
        u32::from_str_radix(digits, 16).ok()
    };
    let (value, mut end) = if text.get(at + 2) == Some(&b'{') {
        let len = text[at + 3..]
            .iter()
            .take(7)
            .position(|&byte| byte == b'}')?;
        (number(at + 3, at + 3 + len)?, at + 4 + len)
    } else {
        let len = if text[at + 1] == b'U' { 8 } else { 4 };
        (number(at + 2, at + 2 + len)?, at + 2 + len)
    };
    let mut point = value;
    if (0xd800..0xdc00).contains(&value) && text.get(end..end + 2) == Some(br"\u") {
        let low = number(end + 2, end + 6).filter(|low| (0xdc00..0xe000).contains(low))?;
        point = 0x1_0000 + ((value - 0xd800) << 10) + (low - 0xdc00);
        end += 6;
    }
    let char = char::from_u32(point)?;
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    Some(end)
}
