//! Writes one command.

use core::fmt::{self, Write as _};
use resp_codec::{Encoder, Proto};
use respire_store::{ScoreText, StreamId, StringRef};

/// A command whose arguments are appended one after another.
pub(super) struct Command<'o> {
    encoder: Encoder<'o, Vec<u8>>,
}

impl<'o> Command<'o> {
    /// Begins with these bytes: the number of arguments, and the first of them.
    #[inline]
    pub(super) fn new(out: &'o mut Vec<u8>, header: &[u8]) -> Self {
        out.extend_from_slice(header);
        let encoder = Encoder::new(out, Proto::Resp2);
        Command { encoder }
    }

    /// Begins with the name, to be followed by so many arguments.
    pub(super) fn of(out: &'o mut Vec<u8>, name: &[u8], arguments: usize) -> Self {
        let mut encoder = Encoder::new(out, Proto::Resp2);
        encoder.array(1 + arguments);
        encoder.bulk(name);
        Command { encoder }
    }

    /// Goes on with arguments of a command that others begin and end.
    pub(super) fn within(out: &'o mut Vec<u8>) -> Self {
        Self::new(out, b"")
    }

    /// Appends whole arguments as they are.
    #[inline]
    pub(super) fn raw(&mut self, arguments: &[u8]) -> &mut Self {
        self.encoder.raw(arguments);
        self
    }

    #[inline]
    pub(super) fn bytes(&mut self, argument: &[u8]) -> &mut Self {
        self.encoder.bulk(argument);
        self
    }

    #[inline]
    pub(super) fn int(&mut self, argument: i64) -> &mut Self {
        self.encoder.bulk_int(argument);
        self
    }

    pub(super) fn index(&mut self, argument: usize) -> &mut Self {
        self.unsigned(argument as u64)
    }

    pub(super) fn unsigned(&mut self, argument: u64) -> &mut Self {
        match i64::try_from(argument) {
            Ok(number) => self.int(number),
            Err(_) => self.bytes(argument.to_string().as_bytes()),
        }
    }

    #[inline]
    pub(super) fn string(&mut self, argument: StringRef<'_>) -> &mut Self {
        match argument {
            StringRef::Int(number) => self.int(number),
            StringRef::Bytes(bytes) => self.bytes(bytes),
            StringRef::Shared(bytes) => self.bytes(bytes),
        }
    }

    pub(super) fn score(&mut self, score: f64) -> &mut Self {
        self.bytes(ScoreText::new(score).as_bytes())
    }

    pub(super) fn id(&mut self, id: StreamId) -> &mut Self {
        let mut text = IdText {
            bytes: [0; 41],
            len: 0,
        };
        let written = write!(text, "{id}");
        debug_assert!(written.is_ok(), "there is room for every ID");
        self.bytes(&text.bytes[..text.len])
    }
}

/// The text of an ID: two numbers of up to 20 digits.
struct IdText {
    bytes: [u8; 41],
    len: usize,
}

impl fmt::Write for IdText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
