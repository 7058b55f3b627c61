//! Words of a line with quotes, as Redis's `sdssplitargs` reads and `sdscatrepr` writes them.

/// The words of a line; `None` if its quotes are not balanced. Redis ends a line at a NUL byte.
pub(super) fn split(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut words = Vec::new();
    let mut rest = trimmed(line);
    while !rest.is_empty() {
        let mut word = Vec::new();
        rest = one(rest, &mut word)?;
        words.push(word);
        rest = trimmed(rest);
    }
    Some(words)
}

fn trimmed(line: &[u8]) -> &[u8] {
    let spaces = line.iter().take_while(|byte| is_space(**byte)).count();
    &line[spaces..]
}

/// Reads one word, and returns what follows it.
fn one<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return Some(rest),
            [byte, ..] if is_space(*byte) => return Some(rest),
            [b'"', after @ ..] => return closed(double(after, word)?),
            [b'\'', after @ ..] => return closed(single(after, word)?),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

/// A closing quote must be followed by a space or nothing.
fn closed(rest: &[u8]) -> Option<&[u8]> {
    rest.first()
        .is_none_or(|byte| is_space(*byte))
        .then_some(rest)
}

fn double<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'"', after @ ..] => return Some(after),
            [b'\\', b'x', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                word.push(nibble(*high) << 4 | nibble(*low));
                rest = after;
            }
            [b'\\', byte, after @ ..] => {
                word.push(match byte {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

fn single<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match rest {
            [] => return None,
            [b'\'', after @ ..] => return Some(after),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                rest = after;
            }
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

/// What C's `isspace` calls a space.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

/// Whether Redis quotes a name.
pub(super) fn needs_quotes(name: &str) -> bool {
    let odd = |byte: u8| !byte.is_ascii_graphic() || matches!(byte, b'"' | b'\'' | b'\\');
    name.is_empty() || name.bytes().any(odd)
}

/// Appends a name in quotes.
pub(super) fn quote(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    for byte in name.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => out.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_redis_does() {
        let words = |line: &str| split(line.as_bytes());
        let list =
            |items: &[&str]| Some(items.iter().map(|item| item.as_bytes().to_vec()).collect());
        assert_eq!(words("  a  bc\t"), list(&["a", "bc"]));
        assert_eq!(words(r#""a b" 'c d'"#), list(&["a b", "c d"]));
        assert_eq!(words(r#""\x41\n\"\q" '\''"#), list(&["A\n\"q", "'"]));
        assert_eq!(words(r#"""#), None);
        assert_eq!(words(r#""a"b"#), None);
        assert_eq!(words("'a"), None);
        assert_eq!(words(r#"a"b c"d"#), None);
        assert_eq!(words(r#"a"b c""#), list(&["ab c"]));
        assert_eq!(words(""), list(&[]));
    }

    #[test]
    fn quoted_names_are_read_as_written() {
        for name in ["a b", "\"", "\\x41", "ä", "\t\n", "'"] {
            assert!(needs_quotes(name));
            let mut line = Vec::new();
            quote(&mut line, name);
            assert_eq!(split(&line), Some(vec![name.as_bytes().to_vec()]));
        }
        assert!(!needs_quotes("appendonly.aof.1.incr.aof"));
    }
}
