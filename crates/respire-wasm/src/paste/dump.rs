//! Decodes hex dumps of `xxd`, `hexdump -C`, `od` and Wireshark.

use super::text::pair;

/// Decodes lines of an offset, hexadecimal bytes, and optionally the same bytes as text.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut offset: Option<(u64, u64)> = None;
    let mut start = 0;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let here = start;
        start += line.len();
        let line = line.trim_ascii_end();
        if line.is_empty() {
            continue;
        }
        if line == b"*" {
            return Err(format!("the dump leaves out equal lines at byte {here}"));
        }
        let (number, rest) = number(line).ok_or_else(|| format!("no offset at byte {here}"))?;
        let before = out.len() as u64;
        // Each offset must follow from the length of the previous line; in hexadecimal, or in octal
        // as od prints it.
        if let Some((first, _)) = offset
            && number.wrapping_sub(first) != before
            && octal(line).wrapping_sub(first) != before
        {
            return Err(format!(
                "the offset does not follow the last one at byte {here}"
            ));
        }
        offset.get_or_insert((number, before));
        row(rest, &mut out);
    }
    if out.is_empty() {
        return Err("there are no lines of a dump".to_owned());
    }
    Ok(out)
}

/// The offset at the start of a line, and the rest of the line.
fn number(line: &[u8]) -> Option<(u64, &[u8])> {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"0x").unwrap_or(line);
    let len = line
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let rest = &line[len..];
    let is_end = matches!(rest.first(), None | Some(b' ' | b'\t' | b':'));
    if !(4..=16).contains(&len) || !is_end {
        return None;
    }
    let digits = std::str::from_utf8(&line[..len]).ok()?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    Some((number, rest.strip_prefix(b":").unwrap_or(rest)))
}

fn octal(line: &[u8]) -> u64 {
    let digits = line.split(|byte| byte.is_ascii_whitespace()).next();
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
    digits
        .and_then(|digits| u64::from_str_radix(digits, 8).ok())
        .unwrap_or(u64::MAX)
}

/// Appends the bytes of a line: groups of hexadecimal digits, up to where the text begins.
fn row(line: &[u8], out: &mut Vec<u8>) {
    const ROW_MAX: usize = 64;
    let first = out.len();
    let mut at = 0;
    while at < line.len() && out.len() - first < ROW_MAX {
        let blanks = line[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let group = line[at + blanks..]
            .iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count();
        let end = at + blanks + group;
        // A group after a wide gap, or one that is not entirely hexadecimal, is the text. The
        // halves of a line may be an extra blank apart.
        let is_text =
            group == 0 || group % 2 == 1 || !matches!(line.get(end), None | Some(b' ' | b'\t'));
        let is_behind_gap =
            blanks > 3 || (blanks == 2 && at > 0 && !(out.len() - first).is_multiple_of(8));
        if is_text || (at > 0 && is_behind_gap) {
            return;
        }
        for digit in (at + blanks..end).step_by(2) {
            match pair(line, digit) {
                Ok(byte) => out.push(byte),
                Err(_) => return,
            }
        }
        at = end;
    }
}
