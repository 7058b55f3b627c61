//! Decodes MessagePack within a string, token by token.

use crate::quote::quote;
use rmp::Marker;
use rmp::decode::{Bytes, RmpRead, read_marker};
use serde::Serialize;

/// The most tokens that are returned.
const TOKENS_MAX: usize = 10_000;

/// The deepest nesting that is decoded.
const DEPTH_MAX: usize = 128;

/// The most bytes of a string that are shown.
const SHOWN_MAX: usize = 80;

/// The decoded tokens, and the error if there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MsgPack {
    /// Whether the bytes are MessagePack from the first to the last.
    pub ok: bool,
    /// The error, if the bytes are not MessagePack.
    pub error: Option<String>,
    /// Offset where decoding ended.
    pub at: u32,
    /// The values, in the order of their first bytes.
    pub tokens: Vec<MsgPackToken>,
    /// Whether further values were omitted.
    pub cut: bool,
}

/// A value of MessagePack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct MsgPackToken {
    /// `nil`, `bool`, `int`, `float`, `str`, `bin`, `array`, `map` or `ext`.
    pub kind: &'static str,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset after its type and length.
    pub head: u32,
    /// Offset after all its content.
    pub end: u32,
    /// The number of values around it.
    pub depth: u32,
    /// The number of the value around it, or -1.
    pub parent: i32,
    /// Its value, or its size.
    pub text: String,
}

/// Decodes `bytes` as MessagePack; `base` is their offset in the document.
///
/// ```
/// let read = respire_wasm::msgpack(b"\x82\xa1a\x01\xa1b\x92\xc3\xc0", 100);
/// assert!(read.ok);
/// assert_eq!((read.tokens[2].text.as_str(), read.tokens[2].start), ("1", 103));
/// ```
#[must_use]
pub fn msgpack(bytes: &[u8], base: usize) -> MsgPack {
    let mut walk = Walk {
        bytes,
        base,
        tokens: Vec::new(),
        open: Vec::new(),
    };
    let (mut at, mut error, mut cut) = (0, None, false);
    while at < bytes.len() {
        if walk.tokens.len() >= TOKENS_MAX {
            cut = true;
            break;
        }
        match walk.token(at) {
            Ok(end) => at = end,
            Err(text) => {
                error = Some(text);
                break;
            }
        }
    }
    if error.is_none() && !cut && !walk.open.is_empty() {
        error = Some("it ends within a value".to_owned());
    }
    if bytes.is_empty() {
        error = Some("there are no bytes".to_owned());
    }
    MsgPack {
        ok: error.is_none() && !cut,
        error,
        at: (base + at) as u32,
        tokens: walk.tokens,
        cut,
    }
}

struct Walk<'b> {
    bytes: &'b [u8],
    base: usize,
    tokens: Vec<MsgPackToken>,
    /// The values around the current one, and how many values each still needs.
    open: Vec<(usize, u64)>,
}

/// The head of a value: its type, where the head ends, the payload's length, the number of values
/// within.
struct Head {
    kind: &'static str,
    end: usize,
    payload: usize,
    values: u64,
    text: String,
}

impl Walk<'_> {
    /// Decodes the token at `at` and returns where it ends.
    fn token(&mut self, at: usize) -> Result<usize, String> {
        let head = head(&self.bytes[at..]).ok_or("it ends within a value")??;
        let (start, body) = (self.base + at, at + head.end);
        let end = body
            .checked_add(head.payload)
            .filter(|&end| end <= self.bytes.len());
        let end = end.ok_or("it ends within a value")?;
        let text = match head.kind {
            "str" => quote(&self.bytes[body..end], SHOWN_MAX),
            "bin" | "ext" => format!("{} bytes", head.payload),
            _ => head.text,
        };
        let parent = self.open.last().map_or(-1, |&(parent, _)| parent as i32);
        let number = self.tokens.len();
        self.tokens.push(MsgPackToken {
            kind: head.kind,
            start: start as u32,
            head: (self.base + body) as u32,
            end: (self.base + end) as u32,
            depth: self.open.len() as u32,
            parent,
            text,
        });
        if let Some((_, left)) = self.open.last_mut() {
            *left -= 1;
        }
        if head.values > 0 {
            if self.open.len() >= DEPTH_MAX {
                return Err(format!("it is nested deeper than {DEPTH_MAX}"));
            }
            self.open.push((number, head.values));
        }
        while let Some((closed, _)) = self.open.pop_if(|(_, left)| *left == 0) {
            self.tokens[closed].end = (self.base + end) as u32;
        }
        Ok(end)
    }
}

/// Decodes a head; `None` if it is incomplete.
fn head(bytes: &[u8]) -> Option<Result<Head, String>> {
    let mut read = Bytes::new(bytes);
    let marker = read_marker(&mut read).ok()?;
    let (mut payload, mut values, mut text) = (0, 0, String::new());
    let kind = match marker {
        Marker::Null => {
            text.push_str("nil");
            "nil"
        }
        Marker::True | Marker::False => {
            text.push_str(if marker == Marker::True {
                "true"
            } else {
                "false"
            });
            "bool"
        }
        Marker::FixPos(_)
        | Marker::FixNeg(_)
        | Marker::U8
        | Marker::U16
        | Marker::U32
        | Marker::U64
        | Marker::I8
        | Marker::I16
        | Marker::I32
        | Marker::I64 => {
            text = integer(marker, &mut read)?;
            "int"
        }
        Marker::F32 => {
            text = f32::from_bits(read.read_data_u32().ok()?).to_string();
            "float"
        }
        Marker::F64 => {
            text = f64::from_bits(read.read_data_u64().ok()?).to_string();
            "float"
        }
        Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
            payload = size(marker, &mut read)?;
            "str"
        }
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
            payload = size(marker, &mut read)?;
            "bin"
        }
        Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
            values = size(marker, &mut read)? as u64;
            text = format!("array of {values}");
            "array"
        }
        Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
            let pairs = size(marker, &mut read)?;
            values = pairs as u64 * 2;
            text = format!("map of {pairs}");
            "map"
        }
        Marker::Reserved => return Some(Err("the byte c1 is never used".to_owned())),
        _ => {
            // The type of an extension is one byte before its payload.
            payload = size(marker, &mut read)? + 1;
            "ext"
        }
    };
    Some(Ok(Head {
        kind,
        end: read.position() as usize,
        payload,
        values,
        text,
    }))
}

fn integer(marker: Marker, read: &mut Bytes<'_>) -> Option<String> {
    Some(match marker {
        Marker::FixPos(value) => value.to_string(),
        Marker::FixNeg(value) => value.to_string(),
        Marker::U8 => read.read_data_u8().ok()?.to_string(),
        Marker::U16 => read.read_data_u16().ok()?.to_string(),
        Marker::U32 => read.read_data_u32().ok()?.to_string(),
        Marker::U64 => read.read_data_u64().ok()?.to_string(),
        Marker::I8 => read.read_data_i8().ok()?.to_string(),
        Marker::I16 => read.read_data_i16().ok()?.to_string(),
        Marker::I32 => read.read_data_i32().ok()?.to_string(),
        _ => read.read_data_i64().ok()?.to_string(),
    })
}

/// The length or count after a marker.
fn size(marker: Marker, read: &mut Bytes<'_>) -> Option<usize> {
    Some(match marker {
        Marker::FixStr(len) | Marker::FixArray(len) | Marker::FixMap(len) => usize::from(len),
        Marker::FixExt1 => 1,
        Marker::FixExt2 => 2,
        Marker::FixExt4 => 4,
        Marker::FixExt8 => 8,
        Marker::FixExt16 => 16,
        Marker::Str8 | Marker::Bin8 | Marker::Ext8 => usize::from(read.read_data_u8().ok()?),
        Marker::Str16 | Marker::Bin16 | Marker::Ext16 | Marker::Array16 | Marker::Map16 => {
            usize::from(read.read_data_u16().ok()?)
        }
        _ => read.read_data_u32().ok()? as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tokens_have_nesting_spans_and_texts() {
        let read = msgpack(
            b"\x82\xa1a\x93\x01\xff\xcb\x3f\xf8\0\0\0\0\0\0\xa1b\xc4\x02hi",
            0,
        );
        assert_eq!(read.error, None);
        let rows: Vec<_> = read
            .tokens
            .iter()
            .map(|token| (token.kind, token.text.as_str(), token.parent))
            .collect();
        assert_eq!(
            rows,
            [
                ("map", "map of 2", -1),
                ("str", "\"a\"", 0),
                ("array", "array of 3", 0),
                ("int", "1", 2),
                ("int", "-1", 2),
                ("float", "1.5", 2),
                ("str", "\"b\"", 0),
                ("bin", "2 bytes", 0),
            ]
        );
        assert_eq!((read.tokens[0].end, read.tokens[2].end), (21, 15));
    }

    #[test]
    fn errors_have_their_offset() {
        assert_eq!(
            msgpack(b"\x92\x01", 7).error.as_deref(),
            Some("it ends within a value")
        );
        assert_eq!(msgpack(b"\x01\xc1", 7).at, 8);
        assert!(!msgpack(b"", 0).ok);
        assert!(
            msgpack(&[0x91; 200], 0)
                .error
                .is_some_and(|text| text.contains("deeper"))
        );
        assert!(msgpack(&[1; TOKENS_MAX + 1], 0).cut);
        assert!(!msgpack(b"\xdd\xff\xff\xff\xff", 0).ok);
    }

    proptest! {
        #[test]
        fn tokens_of_any_bytes_nest(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let read = msgpack(&bytes, 0);
            for token in &read.tokens {
                prop_assert!(token.start < token.head && token.head <= token.end);
                if let Ok(parent) = usize::try_from(token.parent) {
                    prop_assert!(read.tokens[parent].start < token.start);
                    prop_assert_eq!(read.tokens[parent].depth + 1, token.depth);
                }
            }
        }
    }
}
