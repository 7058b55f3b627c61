//! Guesses the notation of pasted bytes (raw, hex dump, string literal and others), and decodes it.
//!
//! Each notation is tried in one pass over the text, so the cost is linear.

mod dump;
mod escaped;
mod text;

use crate::guess_mode;
use crate::mode::mode_number;
use serde::Serialize;

/// The most bytes of a guess that are shown.
const PREVIEW_MAX: usize = 64;

/// A notation of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Raw,
    Hex,
    Hexdump,
    Base64,
    Escaped,
    Inline,
    Pcap,
    PcapNg,
}

/// The notations that decode to a document's bytes. [`crate::Capture`] reads captures.
const FORMATS: [Format; 6] = [
    Format::Raw,
    Format::Hex,
    Format::Hexdump,
    Format::Base64,
    Format::Escaped,
    Format::Inline,
];

/// A notation in which the pasted bytes can be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Guess {
    /// Its name for [`decode_as`]; `pcap` and `pcapng` are for [`crate::Capture`].
    pub format: &'static str,
    /// Its name for people.
    pub label: &'static str,
    /// How likely it is, up to 100.
    pub score: u32,
    /// The mode that the decoded bytes seem to have, by number.
    pub mode: u32,
    /// The number of decoded bytes.
    pub bytes: u32,
    /// The first 64 decoded bytes.
    pub preview: Vec<u8>,
    /// The reason why it is likely.
    pub why: &'static str,
}

impl Format {
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Raw => ("raw", "bytes as they are"),
            Self::Hex => ("hex", "hexadecimal"),
            Self::Hexdump => ("hexdump", "hex dump"),
            Self::Base64 => ("base64", "Base64"),
            Self::Escaped => ("escaped", "string with escapes"),
            Self::Inline => ("inline", "lines of text"),
            Self::Pcap => ("pcap", "capture (pcap)"),
            Self::PcapNg => ("pcapng", "capture (pcapng)"),
        }
    }

    fn decode(self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        match self {
            Self::Raw => Ok(bytes.to_vec()),
            Self::Hex => text::hex(bytes),
            Self::Hexdump => dump::decode(bytes),
            Self::Base64 => text::base64(bytes),
            Self::Escaped => escaped::decode(bytes),
            Self::Inline => text::inline(bytes),
            Self::Pcap | Self::PcapNg => Err("a capture is opened, not decoded".to_owned()),
        }
    }
}

/// The notations in which these bytes can be read, the likeliest first; raw bytes are always among
/// them. O(n).
///
/// ```
/// let guesses = respire_wasm::guesses(b"2b 4f 4b 0d 0a");
/// assert_eq!((guesses[0].format, guesses[0].preview.as_slice()), ("hex", &b"+OK\r\n"[..]));
/// ```
#[must_use]
pub fn guesses(bytes: &[u8]) -> Vec<Guess> {
    if let Some(format) = capture_format(bytes) {
        let (name, label) = format.names();
        let capture = Guess {
            format: name,
            label,
            score: 100,
            mode: 0,
            bytes: bytes.len() as u32,
            preview: bytes[..bytes.len().min(PREVIEW_MAX)].to_vec(),
            why: "it begins like a capture file",
        };
        return vec![capture, guess(Format::Raw, bytes, bytes)];
    }
    let mut all: Vec<Guess> = Vec::new();
    for format in FORMATS {
        if let Ok(decoded) = format.decode(bytes) {
            let guess = guess(format, bytes, &decoded);
            // Of two equally likely guesses, the simpler one stays first.
            let at = all.partition_point(|other| other.score >= guess.score);
            all.insert(at, guess);
        }
    }
    all
}

/// Decodes bytes in this notation.
///
/// # Errors
/// If they are not in this notation; the text says what is wrong and where.
pub fn decode_as(format: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
    let found = FORMATS.into_iter().find(|known| known.names().0 == format);
    let found = found.ok_or_else(|| format!("there is no format {format}"))?;
    found.decode(bytes)
}

fn guess(format: Format, pasted: &[u8], decoded: &[u8]) -> Guess {
    let (name, label) = format.names();
    let mode = guess_mode(decoded);
    let (score, why) = score(format, pasted, decoded);
    Guess {
        format: name,
        label,
        score,
        mode: mode_number(mode),
        bytes: decoded.len() as u32,
        preview: decoded[..decoded.len().min(PREVIEW_MAX)].to_vec(),
        why,
    }
}

/// How likely a notation is, if the bytes decode in it.
fn score(format: Format, pasted: &[u8], decoded: &[u8]) -> (u32, &'static str) {
    let is_frame = begins_as_frame(decoded);
    match format {
        Format::Raw if begins_as_frame(pasted) && has_crlf(pasted) => {
            (90, "it begins like a frame and has CRLF")
        }
        Format::Raw if pasted.iter().any(|byte| *byte < 9) => {
            (85, "it has bytes that are not text")
        }
        Format::Raw => (30, "always possible"),
        Format::Hexdump if is_frame => (
            97,
            "lines of offsets and hex; decoded, they begin like a frame",
        ),
        Format::Hexdump => (80, "lines of offsets and hex"),
        Format::Hex if is_frame => (95, "only hex digits; decoded, they begin like a frame"),
        Format::Hex => (60, "only hex digits"),
        Format::Escaped if is_frame => (93, "it has escapes; decoded, it begins like a frame"),
        Format::Escaped => (50, "it has escapes or is in quotes"),
        Format::Base64 if is_frame => (
            88,
            "only letters of Base64; decoded, they begin like a frame",
        ),
        Format::Base64 => (20, "only letters of Base64"),
        Format::Inline if is_frame => (70, "lines of text, their ends made CRLF"),
        Format::Inline => (40, "lines of text"),
        Format::Pcap | Format::PcapNg => (100, "it begins like a capture file"),
    }
}

/// Whether the first line is one of RESP, or the first byte is an operation of the binary protocol.
fn begins_as_frame(bytes: &[u8]) -> bool {
    let Some((&first, rest)) = bytes.split_first() else {
        return false;
    };
    let second = rest.first().copied().unwrap_or(b'0');
    match first {
        b'*' | b'$' | b':' | b'%' | b'~' | b'>' | b'|' | b'!' | b'=' => {
            second.is_ascii_digit() || b"-?".contains(&second) || rest.get(2) == Some(&0)
        }
        b'+' | b'-' | b'(' | b',' => has_crlf(bytes) || second.is_ascii_graphic(),
        b'_' => second == b'\r',
        b'#' => matches!(second, b't' | b'f'),
        first => resp_codec::binary::is_op(first),
    }
}

fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

/// The capture format that these bytes begin with.
fn capture_format(bytes: &[u8]) -> Option<Format> {
    match bytes.first_chunk()? {
        [0xa1, 0xb2, 0xc3 | 0x3c, 0xd4 | 0x4d] | [0xd4 | 0x4d, 0xc3 | 0x3c, 0xb2, 0xa1] => {
            Some(Format::Pcap)
        }
        [0x0a, 0x0d, 0x0d, 0x0a] => Some(Format::PcapNg),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64ct::{Base64, Encoding};
    use proptest::prelude::*;

    const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";

    /// Pasted bytes, the notation to guess, and the decoded bytes.
    const TABLE: &[(&[u8], &str, &[u8])] = &[
        (PING, "raw", PING),
        (b"\x01\x01\0\0\0k", "raw", b"\x01\x01\0\0\0k"),
        (b"2a310d0a24340d0a50494e470d0a", "hex", PING),
        (b"2A 31 0D 0A 24 34 0D 0A 50 49 4E 47 0D 0A", "hex", PING),
        (b"0x2a, 0x31, 0x0d, 0x0a, 0x24,\n0x34, 0x0d, 0x0a, 0x50, 0x49, 0x4e, 0x47, 0x0d, 0x0a", "hex", PING),
        (b"2a:31:0d:0a:24:34:0d:0a:50:49:4e:47:0d:0a", "hex", PING),
        (b"\\x2a\\x31\\x0d\\x0a\\x24\\x34\\x0d\\x0aPING\\x0d\\x0a", "escaped", PING),
        (b"00000000: 2a31 0d0a 2434 0d0a 5049 4e47 0d0a       *1..$4..PING..\n", "hexdump", PING),
        (b"00000000  2a 31 0d 0a 24 34 0d 0a  50 49 4e 47 0d 0a        |*1..$4..PING..|\n0000000e\n", "hexdump", PING),
        (b"0000000 31 2a 0a 0d 34 24 0a 0d\n", "hexdump", b"1*\n\r4$\n\r"),
        (b"0000   2a 31 0d 0a 24 34 0d 0a 50 49 4e 47 0d 0a         *1..$4..PING..\n", "hexdump", PING),
        (b"000000 2a 31 0d 0a 24 34 0d 0a 50 49 4e 47 0d 0a        >*1..$4..PING..<\n00000e\n", "hexdump", PING),
        (b"KjENCiQ0DQpQSU5HDQo=", "base64", PING),
        (b"KjENCiQ0DQpQ\nSU5HDQo", "base64", PING),
        (br#""*1\r\n$4\r\nPING\r\n""#, "escaped", PING),
        (br"*1\r\n$4\r\nPING\r\n", "escaped", PING),
        (br"b'*1\r\n$4\r\nPING\r\n'", "escaped", PING),
        (br#"b"*1\r\n$4\r\nPING\r\n""#, "escaped", PING),
        (b"\"*1\\r\\n\"\n  \"$4\\r\\n\"\n  \"PING\\r\\n\";", "escaped", PING),
        (br"printf '*1\r\n$4\r\nPING\r\n'", "escaped", PING),
        (br#""\u002a1\r\n""#, "escaped", b"*1\r\n"),
        (br"\0521\015\012", "escaped", b"*1\r\n"),
        (b"*1\n$4\nPING\n", "inline", PING),
        (b"SET k v\nGET k\n", "inline", b"SET k v\r\nGET k\r\n"),
        (b"PING", "inline", b"PING\r\n"),
        (b"\x0a\x0d\x0d\x0a\x1c\0\0\0", "pcapng", b"\x0a\x0d\x0d\x0a\x1c\0\0\0"),
        (b"\xd4\xc3\xb2\xa1\x02\0\x04\0", "pcap", b"\xd4\xc3\xb2\xa1\x02\0\x04\0"),
    ];

    #[test]
    fn pasted_samples_are_guessed_and_decoded() {
        for (pasted, format, meant) in TABLE {
            let guesses = guesses(pasted);
            let shown = String::from_utf8_lossy(pasted);
            assert_eq!(guesses[0].format, *format, "{shown}: {guesses:?}");
            if !format.starts_with("pcap") {
                let decoded = decode_as(format, pasted).expect("the format was just guessed");
                assert_eq!(decoded, *meant, "{shown}");
                assert_eq!(guesses[0].bytes as usize, meant.len());
            }
            assert!(guesses.iter().any(|guess| guess.format == "raw"));
        }
    }

    proptest! {
        #[test]
        fn every_guess_decodes_and_raw_changes_nothing(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            for guess in guesses(&bytes) {
                if !guess.format.starts_with("pcap") {
                    let decoded = decode_as(guess.format, &bytes).expect("it was guessed");
                    prop_assert_eq!(decoded.len() as u32, guess.bytes);
                }
            }
            prop_assert_eq!(decode_as("raw", &bytes), Ok(bytes));
        }

        #[test]
        fn bytes_in_every_notation_are_decoded_back(bytes in prop::collection::vec(any::<u8>(), 1..80)) {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x} ")).collect();
            prop_assert_eq!(decode_as("hex", hex.as_bytes()), Ok(bytes.clone()));
            let base64 = Base64::encode_string(&bytes);
            prop_assert_eq!(decode_as("base64", base64.as_bytes()), Ok(bytes.clone()));
            let escaped = format!("\"{}\"", bytes.escape_ascii());
            prop_assert_eq!(decode_as("escaped", escaped.as_bytes()), Ok(bytes.clone()));
            let dump: String = bytes
                .chunks(16)
                .enumerate()
                .map(|(line, bytes)| {
                    let hex: String = bytes.iter().map(|byte| format!(" {byte:02x}")).collect();
                    format!("{:08x} {hex}  |{}|\n", line * 16, "x".repeat(bytes.len()))
                })
                .collect();
            prop_assert_eq!(decode_as("hexdump", dump.as_bytes()), Ok(bytes));
        }
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        assert_eq!(
            decode_as("hex", b"2a 3x"),
            Err("no hex digit at byte 4".to_owned())
        );
        assert!(decode_as("hex", b"2a 3").is_err());
        assert_eq!(
            decode_as("base64", b"KjEN\nC%=="),
            Err("no letter of Base64 at byte 6".to_owned())
        );
        assert!(decode_as("base64", b"KjEN-+==").is_err());
        assert!(decode_as("escaped", b"plain").is_err());
        assert!(decode_as("escaped", br"\xg0").is_err());
        assert!(decode_as("morse", b"").is_err());
        assert!(decode_as("inline", b"\xff\xfe").is_err());
    }
}
