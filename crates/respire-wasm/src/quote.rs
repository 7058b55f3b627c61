//! Shows bytes as text, with escapes for unprintable characters.

/// Bytes in double quotes, as redis-cli prints them.
pub(crate) fn quote(bytes: &[u8], max: usize) -> String {
    let mut out = String::with_capacity(bytes.len().min(max) + 2);
    out.push('"');
    push_text(&mut out, bytes, max, Some('"'));
    out
}

/// Writes at most `max` bytes as text, with escapes for unprintable characters; then `end`, which
/// is escaped within the text.
pub(crate) fn push_text(out: &mut String, bytes: &[u8], max: usize, end: Option<char>) {
    let shown = &bytes[..bytes.len().min(max)];
    match std::str::from_utf8(shown) {
        // Text of any alphabet stays text.
        Ok(text) => text.chars().for_each(|char| push_escaped(out, char, end)),
        Err(_) => {
            let escaped = shown.iter().map(|&byte| char::from(byte));
            escaped.for_each(|char| match char {
                '\u{80}'..='\u{ff}' => out.push_str(&format!("\\x{:02x}", char as u32)),
                _ => push_escaped(out, char, end),
            });
        }
    }
    out.extend(end);
    if shown.len() < bytes.len() {
        out.push('…');
    }
}

fn push_escaped(out: &mut String, char: char, end: Option<char>) {
    match char {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\0'..='\u{1f}' | '\u{7f}' => out.push_str(&format!("\\x{:02x}", char as u32)),
        _ => {
            if Some(char) == end {
                out.push('\\');
            }
            out.push(char);
        }
    }
}
