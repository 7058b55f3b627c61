//! Parses the two notations of bytes in a transcript: command lines quoted as in redis-cli, and raw
//! bytes with escapes. Also fills in the values that are only known when a line is played.

/// Splits a command line into arguments as redis-cli does: blanks separate, `"..."` allows the
/// escapes `
///  \r \t \a \b \\ \" \xHH`, `'...'` only `\'`.
///
/// # Errors
/// If a quote is not closed, or a byte other than a blank follows it.
pub fn split_args(line: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let mut args = Vec::new();
    let mut rest = line;
    loop {
        while let [b' ' | b'\t', tail @ ..] = rest {
            rest = tail;
        }
        if rest.is_empty() {
            return Ok(args);
        }
        let (arg, tail) = split_one(rest)?;
        args.push(arg);
        rest = tail;
    }
}

fn split_one(mut rest: &[u8]) -> Result<(Vec<u8>, &[u8]), String> {
    let mut arg = Vec::new();
    loop {
        match rest {
            [] | [b' ' | b'\t', ..] => return Ok((arg, rest)),
            [quote @ (b'"' | b'\''), tail @ ..] => {
                rest = quoted(*quote, tail, &mut arg)?;
                if !matches!(rest, [] | [b' ' | b'\t', ..]) {
                    return Err("a closing quote must be followed by a blank".to_owned());
                }
            }
            [byte, tail @ ..] => {
                arg.push(*byte);
                rest = tail;
            }
        }
    }
}

fn quoted<'r>(quote: u8, mut rest: &'r [u8], arg: &mut Vec<u8>) -> Result<&'r [u8], String> {
    loop {
        match rest {
            [] => return Err("a quote is not closed".to_owned()),
            [byte, tail @ ..] if *byte == quote => return Ok(tail),
            [b'\\', b'\'', tail @ ..] if quote == b'\'' => {
                arg.push(b'\'');
                rest = tail;
            }
            [b'\\', ..] if quote == b'"' => rest = escaped(rest, arg),
            [byte, tail @ ..] => {
                arg.push(*byte);
                rest = tail;
            }
        }
    }
}

/// Replaces the escapes `\r
///  \t \a \b \\ \xHH` by their bytes; other bytes stay.
#[must_use]
pub fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [byte, tail @ ..] = rest {
        if *byte == b'\\' {
            rest = escaped(rest, &mut bytes);
        } else {
            bytes.push(*byte);
            rest = tail;
        }
    }
    bytes
}

/// Appends the byte of the escape at the start of `rest`, which is a backslash, and returns what
/// follows the escape.
fn escaped<'r>(rest: &'r [u8], out: &mut Vec<u8>) -> &'r [u8] {
    match rest {
        [_, b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
            out.push((nibble(*high) << 4) | nibble(*low));
            tail
        }
        [_, letter, tail @ ..] => {
            out.push(match letter {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'a' => 7,
                b'b' => 8,
                other => *other,
            });
            tail
        }
        _ => {
            out.extend_from_slice(rest);
            &[]
        }
    }
}

fn nibble(hex: u8) -> u8 {
    match hex {
        b'0'..=b'9' => hex - b'0',
        b'a'..=b'f' => hex - b'a' + 10,
        _ => hex - b'A' + 10,
    }
}

/// Fills in placeholders: `{unix+5}` and `{unix_ms-100}` are the time of the target plus an offset;
/// `{text*3}` is `texttexttext`. Other braces stay.
#[must_use]
pub fn expand(line: &str, unix_ms: u64) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        let filled = rest[open..].find('}').and_then(|close| {
            let inner = &rest[open + 1..open + close];
            Some((placeholder(inner, unix_ms)?, open + close + 1))
        });
        match filled {
            Some((text, after)) => {
                out.push_str(&text);
                rest = &rest[after..];
            }
            None => {
                out.push('{');
                rest = &rest[open + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

fn placeholder(inner: &str, unix_ms: u64) -> Option<String> {
    let unix_ms = i64::try_from(unix_ms).ok()?;
    if let Some((text, count)) = inner.rsplit_once('*') {
        return Some(text.repeat(count.parse().ok()?));
    }
    let (base, offset) = if let Some(offset) = inner.strip_prefix("unix_ms") {
        (unix_ms, offset)
    } else {
        (unix_ms / 1000, inner.strip_prefix("unix")?)
    };
    let offset: i64 = if offset.is_empty() {
        0
    } else {
        offset.parse().ok()?
    };
    Some((base + offset).to_string())
}

/// Shows bytes in the notation of the transcripts, one line per CRLF, for messages.
#[must_use]
pub fn show(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = bytes;
    while let [byte, tail @ ..] = rest {
        rest = tail;
        match (byte, tail) {
            (b'\r', [b'\n', after @ ..]) => {
                text.push_str(if after.is_empty() { "" } else { "\n" });
                rest = after;
            }
            (b' '..=b'~', _) => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    text
}

/// Encodes a command as clients send it: an array of bulk strings.
#[must_use]
pub fn encode_command<A: AsRef<[u8]>>(args: &[A]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", args.len()).into_bytes();
    for arg in args {
        let arg = arg.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
        bytes.extend_from_slice(arg);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_args_follows_redis_cli() {
        let check = |line: &str, expected: &[&[u8]]| {
            assert_eq!(split_args(line.as_bytes()).unwrap(), expected, "{line}");
        };
        check("SET k v", &[b"SET", b"k", b"v"]);
        check("  SET\tk  \"\" ", &[b"SET", b"k", b""]);
        check(r#"ECHO "a\x00\r\n\"b""#, &[b"ECHO", b"a\x00\r\n\"b"]);
        check(r"ECHO 'a\n\'b'", &[b"ECHO", b"a\\n'b"]);
        assert!(split_args(b"ECHO \"a").is_err());
        assert!(split_args(b"ECHO \"a\"b").is_err());
    }

    #[test]
    fn expand_fills_times_and_repetitions_and_leaves_other_braces() {
        assert_eq!(expand("{unix+5} {unix_ms-1} {unix}", 7_000), "12 6999 7");
        assert_eq!(expand("a{xy*3}b {int} {", 0), "axyxyxyb {int} {");
    }

    #[test]
    fn unescape_and_show_are_inverse() {
        assert_eq!(unescape(br"*1\r\n\x00\\"), b"*1\r\n\x00\\");
        assert_eq!(show(b"*1\r\n$1\r\n\x00\r\n"), "*1\n$1\n\\x00");
    }
}
