//! A reply decoder independent of the codec: slow and small, so that the tests do not depend on the
//! code under test.

/// One reply of RESP2 or RESP3.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `+`: a status.
    Simple(Vec<u8>),
    /// `-` or `!`: an error.
    Error(Vec<u8>),
    /// `:`: an integer.
    Int(i64),
    /// `$`: a string.
    Bulk(Vec<u8>),
    /// `$-1`, `*-1` or `_`: null; the byte is the one it began with.
    Null(u8),
    /// `,`: a double, as text.
    Double(Vec<u8>),
    /// `#`: true or false.
    Bool(bool),
    /// `(`: a big number, as text.
    BigNumber(Vec<u8>),
    /// `=`: a string with a format.
    Verbatim(Vec<u8>),
    /// `*`: a list.
    Array(Vec<Self>),
    /// `%`: pairs.
    Map(Vec<(Self, Self)>),
    /// `~`: a set.
    Set(Vec<Self>),
    /// `>`: an out-of-band message.
    Push(Vec<Self>),
}

impl Value {
    /// Whether the value is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        matches!(self, Self::Error(_))
    }

    /// The bytes of a string, status or error.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Simple(bytes)
            | Self::Error(bytes)
            | Self::Bulk(bytes)
            | Self::Verbatim(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The elements of a list, a set or a push; for a map, keys and values alternate.
    #[must_use]
    pub fn into_elements(self) -> Vec<Self> {
        match self {
            Self::Array(items) | Self::Set(items) | Self::Push(items) => items,
            Self::Map(pairs) => pairs
                .into_iter()
                .flat_map(|(key, value)| [key, value])
                .collect(),
            other => vec![other],
        }
    }
}

/// The error for bytes that are not a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The deepest nesting of replies; `COMMAND DOCS` needs about ten levels.
const DEPTH_MAX: usize = 64;

/// Parses one reply at the start of `bytes`: its value and length, or `None` if more bytes must
/// come.
///
/// # Errors
/// If the bytes cannot be the beginning of any reply.
pub fn parse(bytes: &[u8]) -> Result<Option<(Value, usize)>, Malformed> {
    let mut reader = Reader { bytes, at: 0 };
    match reader.value(0) {
        Ok(value) => Ok(Some((value, reader.at))),
        Err(Stop::Short) => Ok(None),
        Err(Stop::Malformed) => Err(Malformed),
    }
}

enum Stop {
    Short,
    Malformed,
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Reader<'b> {
    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        if depth > DEPTH_MAX {
            return Err(Stop::Malformed);
        }
        let line = self.line()?;
        let (kind, text) = line.split_first().ok_or(Stop::Malformed)?;
        Ok(match kind {
            b'+' => Value::Simple(text.to_vec()),
            b'-' => Value::Error(text.to_vec()),
            b':' => Value::Int(number(text)?),
            b',' => Value::Double(text.to_vec()),
            b'(' => Value::BigNumber(text.to_vec()),
            b'_' if text.is_empty() => Value::Null(b'_'),
            b'#' if text == b"t" || text == b"f" => Value::Bool(text == b"t"),
            b'$' | b'*' if text == b"-1" => Value::Null(*kind),
            b'$' => Value::Bulk(self.payload(text)?),
            b'!' => Value::Error(self.payload(text)?),
            b'=' => Value::Verbatim(self.payload(text)?),
            b'*' => Value::Array(self.items(text, depth)?),
            b'~' => Value::Set(self.items(text, depth)?),
            b'>' => Value::Push(self.items(text, depth)?),
            b'%' => Value::Map(self.pairs(text, depth)?),
            _ => return Err(Stop::Malformed),
        })
    }

    fn line(&mut self) -> Result<&'b [u8], Stop> {
        let rest = &self.bytes[self.at..];
        let end = rest
            .windows(2)
            .position(|pair| pair == b"\r\n")
            .ok_or(Stop::Short)?;
        self.at += end + 2;
        Ok(&rest[..end])
    }

    fn payload(&mut self, len: &[u8]) -> Result<Vec<u8>, Stop> {
        let len = count(len)?;
        let rest = &self.bytes[self.at..];
        let end = rest.get(len..len + 2).ok_or(Stop::Short)?;
        if end != b"\r\n" {
            return Err(Stop::Malformed);
        }
        self.at += len + 2;
        Ok(rest[..len].to_vec())
    }

    fn items(&mut self, len: &[u8], depth: usize) -> Result<Vec<Value>, Stop> {
        (0..count(len)?).map(|_| self.value(depth + 1)).collect()
    }

    fn pairs(&mut self, len: &[u8], depth: usize) -> Result<Vec<(Value, Value)>, Stop> {
        (0..count(len)?)
            .map(|_| Ok((self.value(depth + 1)?, self.value(depth + 1)?)))
            .collect()
    }
}

fn number(text: &[u8]) -> Result<i64, Stop> {
    std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(Stop::Malformed)
}

fn count(text: &[u8]) -> Result<usize, Stop> {
    usize::try_from(number(text)?).map_err(|_| Stop::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_reply_is_parsed_once_it_is_complete() {
        let bytes = b"%1\r\n+k\r\n*3\r\n:-1\r\n$2\r\nab\r\n_\r\n+next\r\n";
        let expected = Value::Map(vec![(
            Value::Simple(b"k".to_vec()),
            Value::Array(vec![
                Value::Int(-1),
                Value::Bulk(b"ab".to_vec()),
                Value::Null(b'_'),
            ]),
        )]);
        let len = bytes.len() - b"+next\r\n".len();
        assert_eq!(parse(bytes), Ok(Some((expected, len))));
        for short in 0..len {
            assert_eq!(parse(&bytes[..short]), Ok(None), "{short}");
        }
    }

    #[test]
    fn malformed_reply_is_refused() {
        for bytes in [
            &b"?\r\n"[..],
            b":x\r\n",
            b"$-2\r\n",
            b"#x\r\n",
            b"\r\n",
            b"$1\r\nabc",
        ] {
            assert_eq!(parse(bytes), Err(Malformed), "{}", bytes.escape_ascii());
        }
        assert_eq!(parse("*1\r\n".repeat(100).as_bytes()), Err(Malformed));
    }
}
