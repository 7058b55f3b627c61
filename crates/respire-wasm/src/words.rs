//! Turns a line that a user types into a request in any protocol.

use crate::tables::Wire;
use resp_codec::{CommandDecoder, Limits, Step, binary, command};
use serde::Serialize;

/// The words of a line, or the error if it cannot be split.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Words {
    /// The bytes of each word.
    pub words: Vec<Vec<u8>>,
    /// The error in the line.
    pub error: Option<String>,
    /// The offset of the error, in bytes of UTF-8.
    pub at: u32,
}

/// Splits a line as the server does: with the quotes and escapes of redis-cli.
///
/// ```
/// use respire_wasm::split_words;
/// assert_eq!(split_words(r#"SET k "a\x00b""#).words[2], b"a\0b");
/// assert!(split_words("SET k 'open").error.is_some());
/// ```
#[must_use]
pub fn split_words(line: &str) -> Words {
    let mut words = Words {
        words: Vec::new(),
        error: None,
        at: 0,
    };
    // Use the server's own rule for inline requests. There, a line cannot begin with a star, and
    // ends at the first line end: work around both.
    let line: Vec<u8> = line
        .bytes()
        .map(|byte| if byte == b'\n' { b' ' } else { byte })
        .collect();
    let is_array = line.trim_ascii_start().starts_with(b"*");
    let lead: &[u8] = if is_array { b"x " } else { b"" };
    let input = [lead, &line, b"\n"].concat();
    let mut decoder = CommandDecoder::new(Limits::SERVER);
    match decoder.decode(&input) {
        Ok(Step::Ready { item, .. }) => {
            let args = item.args();
            let all = args.iter().skip(usize::from(is_array));
            words.words = all.map(<[u8]>::to_vec).collect();
        }
        Ok(Step::NeedMore { .. }) => {}
        Err(error) => {
            words.error = Some(error.kind.to_string());
            words.at = error.offset.saturating_sub(lead.len()) as u32;
        }
    }
    words
}

/// Encodes a request with these words.
///
/// # Errors
/// If there are no words, or if `wire` requires an operation and the words are none.
///
/// ```
/// use respire_wasm::{Wire, encode_words};
/// let words = [b"GET".to_vec(), b"a b".to_vec()];
/// assert_eq!(encode_words(&words, Wire::Inline).unwrap(), b"GET \"a b\"\r\n");
/// assert_eq!(encode_words(&words, Wire::Resp2).unwrap(), b"*2\r\n$3\r\nGET\r\n$3\r\na b\r\n");
/// ```
pub fn encode_words(words: &[Vec<u8>], wire: Wire) -> Result<Vec<u8>, String> {
    if words.is_empty() {
        return Err("a request has at least one word".to_owned());
    }
    let mut out = Vec::new();
    match wire {
        Wire::Resp2 | Wire::Resp3 => command(&mut out, words),
        Wire::Binary => binary::write_call(&mut out, words),
        Wire::Operation => write_operation(&mut out, words)?,
        Wire::Inline => {
            let quoted: Vec<_> = words.iter().map(|word| quote_word(word)).collect();
            out.extend_from_slice(&quoted.join(&b' '));
            out.extend_from_slice(b"\r\n");
        }
    }
    Ok(out)
}

/// Writes the operation of the binary protocol that has the effect of the words.
fn write_operation(out: &mut Vec<u8>, words: &[Vec<u8>]) -> Result<(), String> {
    let is = |at: usize, name: &str| words[at].eq_ignore_ascii_case(name.as_bytes());
    match words {
        [_, key] if is(0, "GET") => binary::write_get(out, key),
        [_, key] if is(0, "GETDEL") || is(0, "DEL") => binary::write_delete(out, key),
        [_, key, value] if is(0, "SET") => binary::write_set(out, key, value),
        [_, key, value, _] if is(0, "SET") && is(3, "GET") => binary::write_set(out, key, value),
        _ => return Err("there are operations for GET key, SET key value and DEL key".to_owned()),
    }
    Ok(())
}

/// Encodes a request with the words of a line.
///
/// # Errors
/// If the line cannot be split, has no words, or `wire` requires an operation and the words are
/// none.
pub fn encode_command(line: &str, wire: Wire) -> Result<Vec<u8>, String> {
    let Words { words, error, at } = split_words(line);
    match error {
        Some(error) => Err(format!("{error} at byte {at}")),
        None => encode_words(&words, wire),
    }
}

/// A word as a line needs it: in quotes only if necessary.
fn quote_word(word: &[u8]) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"'\\".contains(byte);
    if !word.is_empty() && word.iter().all(|byte| is_plain(byte) || *byte > 0x7f) {
        return word.to_vec();
    }
    let mut out = b"\"".to_vec();
    for &byte in word {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            7 => out.extend(b"\\a"),
            8 => out.extend(b"\\b"),
            0..0x20 | 0x7f => out.extend(format!("\\x{byte:02x}").bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_round_trip_through_every_wire(
            words in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..8), 1..5),
        ) {
            for wire in [Wire::Resp2, Wire::Resp3, Wire::Inline] {
                let bytes = encode_words(&words, wire).expect("has words");
                // An inline request cannot begin with a star: that is an array.
                if wire == Wire::Inline && bytes[0] == b'*' {
                    continue;
                }
                let mut decoder = CommandDecoder::new(Limits::SERVER);
                let request = decoder.decode(&bytes).expect("right").ready().expect("whole");
                let found: Vec<_> = request.args().iter().map(<[u8]>::to_vec).collect();
                prop_assert_eq!(&found, &words);
            }
            let bytes = encode_words(&words, Wire::Binary).expect("has words");
            let mut decoder = binary::RequestDecoder::new(Limits::SERVER);
            let request = decoder.decode(&bytes).expect("right").ready().expect("whole");
            let found: Vec<_> = request.args().iter().map(<[u8]>::to_vec).collect();
            prop_assert_eq!(&found, &words);
        }
    }

    #[test]
    fn line_with_a_star_or_an_error_is_split_as_typed() {
        assert_eq!(split_words("*1 x").words, [b"*1".to_vec(), b"x".to_vec()]);
        assert_eq!(split_words("").words.len(), 0);
        let fault = split_words("SET k \"v\"x");
        assert_eq!(fault.at, 9);
        assert!(encode_command("SET k \"v\"x", Wire::Resp2).is_err());
        assert!(encode_command(" ", Wire::Resp2).is_err());
    }
}
