//! Checks each reply: compares it with the expected bytes, and decodes it only if they differ.

use resp_codec::{Frame, FrameDecoder, Limits, Step, binary};

use crate::workload::{Expect, Kind, Protocol, Wire};

/// How thoroughly replies are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// Each reply must be of its command's kind. Use this for a server that another program filled.
    Replies,
    /// Also, each value must be the one that belongs to its key.
    #[default]
    Values,
}

/// The result of checking a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The expected reply, and the key existed.
    Hit,
    /// The expected reply of a missing key.
    Miss,
    /// An error reply.
    Failed,
    /// Any other reply: a wrong value, or the wrong kind of reply.
    Mismatch,
}

/// The state of the read buffer's first reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// Part of a reply. The whole reply has at least `need` bytes, as far as is known.
    Partial {
        /// Bytes from the reply's start; more than the buffer holds now.
        need: usize,
    },
    /// A whole reply.
    Reply {
        /// Its length in bytes.
        len: usize,
        /// The result of the check.
        outcome: Outcome,
    },
}

/// The longest unexpected reply, such as an error's text, beyond the size of a value.
const UNEXPECTED_BYTES_MAX: usize = 1 << 20;

/// Compares replies with the requests they answer.
pub struct Checker {
    verify: Verify,
    wire: Wire,
    /// `$<size>\r\n` or the binary length: the beginning of a reply with a value.
    header: Vec<u8>,
    /// `\r\n` or nothing.
    trailer: &'static [u8],
    limits: Limits,
    decoder: FrameDecoder,
    first_complaint: Option<String>,
}

impl Checker {
    /// A checker of the replies to `wire`'s requests.
    pub fn new(wire: Wire, verify: Verify) -> Self {
        let size = wire.values().filler().len();
        let (header, trailer): (Vec<u8>, &[u8]) = match wire.protocol() {
            Protocol::Binary => ((size as u32).to_le_bytes().to_vec(), b""),
            _ => (format!("${size}\r\n").into_bytes(), b"\r\n"),
        };
        let limits = Limits {
            max_bulk: (size + UNEXPECTED_BYTES_MAX) as u64,
            max_frame: (size + 2 * UNEXPECTED_BYTES_MAX) as u32,
            ..Limits::CLIENT
        };
        Self {
            verify,
            wire,
            header,
            trailer,
            limits,
            decoder: FrameDecoder::new(limits),
            first_complaint: None,
        }
    }

    /// The length in bytes of the longest expected reply.
    pub fn reply_len_max(&self) -> usize {
        let value = self.header.len() + self.wire.values().filler().len() + self.trailer.len();
        value.max(8)
    }

    /// The first reply that was an error or a mismatch, as text.
    pub fn first_complaint(&self) -> Option<&str> {
        self.first_complaint.as_deref()
    }

    /// Checks the reply to `expect` at the start of `buf`.
    ///
    /// # Errors
    /// When the bytes are not a reply. The bytes after them cannot be decoded either.
    #[inline]
    pub fn check(&mut self, buf: &[u8], expect: &Expect) -> Result<Checked, String> {
        let usual = match (self.wire.protocol(), expect.kind) {
            (Protocol::Binary, _) | (_, Kind::Get) => self.value(buf, expect),
            (_, Kind::Set) => line(buf, b"+OK\r\n", Outcome::Hit),
            (_, Kind::Delete) => {
                line(buf, b":1\r\n", Outcome::Hit).or_else(|| line(buf, b":0\r\n", Outcome::Miss))
            }
        };
        match usual {
            Some(checked) => Ok(checked),
            None if self.wire.protocol() == Protocol::Binary => self.unusual_untagged(buf, expect),
            None => self.unusual(buf, expect),
        }
    }

    /// Matches the reply with the expected value, whole or in part; `None` if it is another reply.
    #[inline]
    fn value(&self, buf: &[u8], expect: &Expect) -> Option<Checked> {
        let start = self.header.len();
        let end = start + self.wire.values().filler().len();
        let len = end + self.trailer.len();
        if !buf.starts_with(&self.header) {
            return None;
        }
        if buf.len() < len {
            return Some(Checked::Partial { need: len });
        }
        let right = self.verify == Verify::Replies
            || self.wire.values().matches(&buf[start..end], expect.key);
        let whole = right && buf[end..len] == *self.trailer;
        let outcome = Outcome::Hit;
        whole.then_some(Checked::Reply { len, outcome })
    }

    #[cold]
    fn unusual(&mut self, buf: &[u8], expect: &Expect) -> Result<Checked, String> {
        self.decoder.reset();
        let step = self.decoder.decode(buf);
        match step.map_err(|e| format!("not a reply: {e}"))? {
            Step::NeedMore { hint, .. } => Ok(Checked::Partial {
                need: buf.len() + hint,
            }),
            Step::Ready { item, consumed } => {
                let outcome = classify(&item, expect.kind, self.verify);
                if matches!(outcome, Outcome::Failed | Outcome::Mismatch) {
                    let complaint = describe(expect, item.wire());
                    self.first_complaint.get_or_insert(complaint);
                }
                Ok(Checked::Reply {
                    len: consumed,
                    outcome,
                })
            }
        }
    }

    /// Checks an untagged reply of the binary protocol other than the expected value.
    #[cold]
    fn unusual_untagged(&mut self, buf: &[u8], expect: &Expect) -> Result<Checked, String> {
        let step = binary::decode_plain(buf, &self.limits);
        match step.map_err(|e| format!("not a reply: {e}"))? {
            Step::NeedMore { hint, .. } => Ok(Checked::Partial {
                need: buf.len() + hint,
            }),
            Step::Ready { item, consumed } => {
                let outcome = match (item.is_empty(), expect.kind, self.verify) {
                    // The key had no value to replace.
                    (true, Kind::Set, _) => Outcome::Hit,
                    (true, _, _) => Outcome::Miss,
                    (false, _, Verify::Replies) => Outcome::Hit,
                    (false, _, Verify::Values) => {
                        let complaint = describe(expect, item);
                        self.first_complaint.get_or_insert(complaint);
                        Outcome::Mismatch
                    }
                };
                Ok(Checked::Reply {
                    len: consumed,
                    outcome,
                })
            }
        }
    }
}

/// Matches one fixed reply; `None` if it is another reply.
#[inline]
fn line(buf: &[u8], text: &[u8], outcome: Outcome) -> Option<Checked> {
    let len = text.len();
    buf.starts_with(text)
        .then_some(Checked::Reply { len, outcome })
}

/// Classifies an unusual reply.
fn classify(frame: &Frame<'_, '_>, kind: Kind, verify: Verify) -> Outcome {
    match kind {
        _ if frame.is_error() => Outcome::Failed,
        Kind::Get if frame.is_null() => Outcome::Miss,
        Kind::Get if verify == Verify::Replies && frame.bytes().is_some() => Outcome::Hit,
        Kind::Set | Kind::Get | Kind::Delete => Outcome::Mismatch,
    }
}

/// A request and its unexpected reply as text, cut to a readable length.
fn describe(expect: &Expect, reply: &[u8]) -> String {
    let shown = &reply[..reply.len().min(120)];
    format!(
        "{} of key {} was answered {:?}",
        expect.kind.name(),
        expect.key,
        String::from_utf8_lossy(shown)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Workload;

    fn checker(protocol: Protocol, verify: Verify) -> Checker {
        let load = Workload {
            protocol,
            ..Workload::mixed(1, 1)
        };
        Checker::new(Wire::new(&load), verify)
    }

    fn expect(kind: Kind) -> Expect {
        Expect {
            kind,
            key: 42,
            sent_ns: 0,
        }
    }

    fn value() -> String {
        let mut value = vec![0; 3];
        crate::workload::Values::new(3).write(&mut value, 42);
        String::from_utf8(value).unwrap()
    }

    #[track_caller]
    fn check_outcome(checker: &mut Checker, kind: Kind, wire: &[u8], outcome: Outcome) {
        let len = wire.len();
        let whole = Ok(Checked::Reply { len, outcome });
        for end in 0..len {
            let part = checker.check(&wire[..end], &expect(kind));
            assert!(
                matches!(part, Ok(Checked::Partial { need }) if need > end),
                "{end}: {part:?}"
            );
        }
        let mut more = wire.to_vec();
        more.extend(b"+next\r\n");
        assert_eq!(checker.check(&more, &expect(kind)), whole);
    }

    #[test]
    fn resp_replies_are_classified_at_every_split() {
        for protocol in [Protocol::Resp2, Protocol::Resp3] {
            let c = &mut checker(protocol, Verify::Values);
            check_outcome(c, Kind::Set, b"+OK\r\n", Outcome::Hit);
            let hit = format!("$3\r\n{}\r\n", value());
            check_outcome(c, Kind::Get, hit.as_bytes(), Outcome::Hit);
            check_outcome(c, Kind::Get, b"$-1\r\n", Outcome::Miss);
            check_outcome(c, Kind::Get, b"_\r\n", Outcome::Miss);
            check_outcome(c, Kind::Delete, b":1\r\n", Outcome::Hit);
            check_outcome(c, Kind::Delete, b":0\r\n", Outcome::Miss);
            check_outcome(c, Kind::Set, b"-OOM no room\r\n", Outcome::Failed);
            check_outcome(c, Kind::Get, b"$4\r\nabcd\r\n", Outcome::Mismatch);
            check_outcome(c, Kind::Set, b"$-1\r\n", Outcome::Mismatch);
        }
    }

    #[test]
    fn wrong_value_is_a_mismatch_unless_only_replies_are_checked() {
        let c = &mut checker(Protocol::Resp2, Verify::Values);
        check_outcome(c, Kind::Get, b"$3\r\nxyz\r\n", Outcome::Mismatch);
        let complaint = c.first_complaint().unwrap();
        assert!(complaint.starts_with("GET of key 42 was answered"));
        let c = &mut checker(Protocol::Resp2, Verify::Replies);
        check_outcome(c, Kind::Get, b"$3\r\nxyz\r\n", Outcome::Hit);
        check_outcome(c, Kind::Get, b"$1\r\nx\r\n", Outcome::Hit);
        assert_eq!(c.first_complaint(), None);
    }

    #[test]
    fn binary_replies_are_classified_at_every_split() {
        let c = &mut checker(Protocol::Binary, Verify::Values);
        let hit = format!("\x03\0\0\0{}", value());
        for kind in Kind::ALL {
            check_outcome(c, kind, hit.as_bytes(), Outcome::Hit);
        }
        check_outcome(c, Kind::Set, b"\0\0\0\0", Outcome::Hit);
        check_outcome(c, Kind::Get, b"\0\0\0\0", Outcome::Miss);
        check_outcome(c, Kind::Get, b"\x02\0\0\0xy", Outcome::Mismatch);
    }

    #[test]
    fn invalid_reply_ends_the_run() {
        let mut c = checker(Protocol::Resp2, Verify::Values);
        assert!(c.check(b"HTTP/1.1 400\r\n", &expect(Kind::Get)).is_err());
        let mut c = checker(Protocol::Binary, Verify::Values);
        assert!(c.check(b"\xff\xff\xff\xff", &expect(Kind::Get)).is_err());
    }
}
