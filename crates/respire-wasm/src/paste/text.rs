//! Decodes hexadecimal digits, Base64, and lines of text.

use base64ct::{Base64Unpadded, Base64UrlUnpadded, Encoding};

/// Decodes pairs of hexadecimal digits with any separators.
pub(super) fn hex(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(bytes.len() / 2);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b',' | b':' | b';' | b'-' | b'{' | b'}' | b'['
            | b']' => {
                at += 1;
            }
            b'0' if matches!(bytes.get(at + 1), Some(b'x' | b'X')) => at += 2,
            _ => {
                out.push(pair(bytes, at)?);
                at += 2;
            }
        }
    }
    if out.is_empty() {
        return Err("there are no hex digits".to_owned());
    }
    Ok(out)
}

/// The byte of two hexadecimal digits.
pub(super) fn pair(bytes: &[u8], at: usize) -> Result<u8, String> {
    let digit = |at: usize| {
        let found = bytes
            .get(at)
            .and_then(|&byte| char::from(byte).to_digit(16));
        found.ok_or_else(|| format!("no hex digit at byte {at}"))
    };
    Ok((digit(at)? * 16 + digit(at + 1)?) as u8)
}

/// Decodes Base64 in either alphabet, with or without padding and line ends.
pub(super) fn base64(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte);
    let is_odd = |byte: &u8| !byte.is_ascii_whitespace() && !is_letter(*byte);
    if let Some(at) = bytes.iter().position(is_odd) {
        return Err(format!("no letter of Base64 at byte {at}"));
    }
    let letters = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    let text: String = letters.map(|&byte| char::from(byte)).collect();
    let padding = text.bytes().rev().take_while(|&byte| byte == b'=').count();
    let text = &text[..text.len() - padding.min(2)];
    if text.is_empty() {
        return Err("there are no letters of Base64".to_owned());
    }
    let decoded = if text.contains(['-', '_']) {
        Base64UrlUnpadded::decode_vec(text)
    } else {
        Base64Unpadded::decode_vec(text)
    };
    decoded.map_err(|error| error.to_string())
}

/// Converts the line ends of text to CRLF, and adds a missing last one.
pub(super) fn inline(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let is_text = |byte: &u8| *byte >= b' ' || b"\t\r\n".contains(byte);
    if bytes.is_empty() || !bytes.iter().all(is_text) || std::str::from_utf8(bytes).is_err() {
        return Err("this is no text".to_owned());
    }
    let mut out = Vec::with_capacity(bytes.len() + 2);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        out.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        out.extend_from_slice(b"\r\n");
    }
    Ok(out)
}
