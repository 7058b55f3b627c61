//! Shows the parts of incomplete frames that certainly hold no password.

use crate::secrets::{LIMITS, Secrets};
use resp_codec::annotate::{Ending, Mark, Mode, Role, annotate_frame};
use resp_codec::binary::CALL;
use respire_engine::secret;
use std::ops::Range;

/// Hides the passwords of an incomplete or invalid request, and returns how much of it may be
/// shown.
pub(crate) fn request(secrets: &Secrets, bytes: &mut [u8], mode: Mode) -> usize {
    let mut marks = Vec::new();
    let (_, ending) = annotate_frame(bytes, 0, mode, &LIMITS, &mut marks);
    let words = match mode {
        Mode::BinaryRequests => Words::of_binary(&marks, bytes),
        _ => Words::of_resp(&marks, bytes),
    };
    let Some(words) = words else {
        return inline(secrets, bytes);
    };
    // The bytes after an error have no known meaning.
    let most = match ending {
        Ending::Bad(error) if secrets.is_near(bytes) => error.offset,
        _ => bytes.len(),
    };
    words.show(secrets, bytes).min(most)
}

/// The same for an incomplete reply.
pub(crate) fn reply(secrets: &Secrets, bytes: &mut [u8], mode: Mode) -> usize {
    let mut values = secrets.values(bytes, mode);
    let last = values.pop();
    for value in values {
        if value.is_hidden {
            bytes[value.bytes].fill(b'*');
        }
    }
    match last {
        Some(last) if last.is_hidden || secrets.ends_in_password(&bytes[last.bytes.clone()]) => {
            last.bytes.start
        }
        _ => bytes.len(),
    }
}

/// The same for a line that has no end or an open quote: only its first word is certain.
fn inline(secrets: &Secrets, bytes: &[u8]) -> usize {
    let start = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let is_name = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'');
    let name = bytes[start..].iter().take_while(is_name).count();
    let is_quoted = matches!(bytes.get(start + name), Some(b'"' | b'\''));
    if is_quoted || secrets.is_near(bytes) {
        let name = &bytes[start..start + name];
        return if secrets.ends_in_password(name) {
            start
        } else {
            start + name.len()
        };
    }
    bytes.len()
}

/// The words of a request, as far as they have arrived.
struct Words {
    /// How many words the request announces. Without a name, no command's rule applies.
    announced: usize,
    /// The range of each word; the end of the last may be missing.
    spans: Vec<Range<usize>>,
}

impl Words {
    /// `None` if the frame is not an array.
    fn of_resp(marks: &[Mark], bytes: &[u8]) -> Option<Self> {
        let is_head = |mark: &&Mark| {
            mark.role == Role::Type && mark.depth == 0 && bytes[mark.at as usize] == b'*'
        };
        let head = marks.iter().rev().find(is_head)?.node;
        let is_count = |mark: &&Mark| mark.node == head && mark.role == Role::Length;
        let count = marks.iter().find(is_count).map(|mark| &bytes[range(mark)]);
        let digits = count.and_then(|digits| std::str::from_utf8(digits).ok());
        let announced = digits.and_then(|digits| digits.parse().ok()).unwrap_or(0);
        Some(Self::behind(head, announced, marks))
    }

    fn of_binary(marks: &[Mark], bytes: &[u8]) -> Option<Self> {
        let count = marks.iter().find(|mark| mark.role == Role::Length);
        let count = count.filter(|mark| mark.node == 0 && bytes.first() == Some(&CALL));
        let number = count.and_then(|mark| bytes[range(mark)].try_into().ok());
        let announced = number.map_or(0, |number| u32::from_le_bytes(number) as usize);
        Some(Self::behind(0, announced, marks))
    }

    /// The words after the head.
    fn behind(head: u32, announced: usize, marks: &[Mark]) -> Self {
        let mut spans: Vec<Range<usize>> = Vec::new();
        let words = marks.iter().filter(|mark| mark.node > head);
        for mark in words.filter(|mark| matches!(mark.role, Role::Length | Role::Payload)) {
            let index = (mark.node - head - 1) as usize;
            let range = range(mark);
            // Before the bytes of a word arrive, its range is empty and lies at the end of its
            // length.
            spans.resize(spans.len().max(index + 1), range.end..range.end);
            spans[index] = match mark.role {
                Role::Payload => range,
                _ => range.end..range.end,
            };
        }
        Self { announced, spans }
    }

    fn show(&self, secrets: &Secrets, bytes: &mut [u8]) -> usize {
        let word = |index: usize| self.spans.get(index).map(|span| &bytes[span.clone()]);
        let is_hidden = |index: usize| {
            let is_command = self.announced > 0;
            is_command && secret::is_secret(&word, self.announced, index)
                || word(index).is_some_and(|word| secrets.contains_password(word))
        };
        let hidden: Vec<bool> = (0..self.spans.len()).map(is_hidden).collect();
        let Some((last, whole)) = self.spans.split_last() else {
            return bytes.len();
        };
        let is_last_hidden =
            hidden.last() == Some(&true) || secrets.ends_in_password(&bytes[last.clone()]);
        for (span, _) in whole.iter().zip(hidden).filter(|(_, is_hidden)| *is_hidden) {
            bytes[span.clone()].fill(b'*');
        }
        if is_last_hidden {
            last.start
        } else {
            bytes.len()
        }
    }
}

fn range(mark: &Mark) -> Range<usize> {
    mark.at as usize..(mark.at + mark.len) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::new();
        secrets.learn(b"hunter2"[..].into());
        secrets
    }

    fn shown(wire: &str, mode: Mode) -> String {
        let mut bytes = wire.as_bytes().to_vec();
        let most = match mode {
            Mode::Replies | Mode::BinaryReplies => reply(&secrets(), &mut bytes, mode),
            _ => request(&secrets(), &mut bytes, mode),
        };
        String::from_utf8(bytes[..most].to_vec()).unwrap()
    }

    #[test]
    fn incomplete_frames_are_shown_up_to_a_possible_password() {
        for (wire, seen) in [
            (
                "*2\r\n$4\r\nAUTH\r\n$6\r\nsec",
                "*2\r\n$4\r\nAUTH\r\n$6\r\n",
            ),
            (
                "*3\r\n$4\r\nAUTH\r\n$6\r\nthe us",
                "*3\r\n$4\r\nAUTH\r\n$6\r\nthe us",
            ),
            (
                "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\nval",
                "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\nval",
            ),
            (
                "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\nahunt",
                "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$9\r\n",
            ),
            (
                "*6\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$1\r\np\r\n$4\r\nport\r\n$",
                "*6\r\n$6\r\nCONFIG\r\n$3\r\nSET\r\n$11\r\nrequirepass\r\n$1\r\n*\r\n$4\r\nport\r\n$",
            ),
            ("*2\r\n$", "*2\r\n$"),
            ("AUTH sec", "AUTH"),
            ("SET k v", "SET k v"),
            ("SET k hunt", "SET"),
            ("AUT", "AUT"),
            ("\"AUTH\" sec", ""),
            ("hunt", ""),
        ] {
            assert_eq!(shown(wire, Mode::Requests), seen, "{wire}");
        }
    }

    #[test]
    fn invalid_frames_are_shown_if_no_password_is_near() {
        for (wire, seen) in [
            ("*1\r\n:4\r\nrest", "*1\r\n:4\r\nrest"),
            ("SET k \"v\r\nSET a b\r\n", "SET k \"v\r\nSET a b\r\n"),
            ("*1\r\n:4\r\nAUTH pw\r\n", "*1\r\n"),
            ("*2\r\n$3\r\nAUTH\r\n$2\r\npw\r\n", "*2\r\n$3\r\nAUT"),
            ("*2\n$4\nAUTH\n$2\npw\n", "*2"),
            ("AUTH \"pw\r\nGET a\r\n", "AUTH"),
            ("SET k \"v\r\nAUTH pw\r\n", "SET"),
            (
                "*2\r\n$4\r\nAUTH\r\n$2\r\npassword\r\n",
                "*2\r\n$4\r\nAUTH\r\n$2\r\n",
            ),
        ] {
            assert_eq!(shown(wire, Mode::Requests), seen, "{wire}");
        }
    }

    #[test]
    fn incomplete_binary_frames_follow_the_same_rules() {
        let call = "\x10\x02\0\0\0\x04\0\0\0AUTH\x06\0\0\0sec";
        assert_eq!(shown(call, Mode::BinaryRequests), &call[..call.len() - 3]);
        let set = "\x03\x04\0\0\0auth\x06\0\0\0sec";
        assert_eq!(shown(set, Mode::BinaryRequests), set);
        let reply = "*4\r\n$11\r\nrequirepass\r\n$2\r\npw\r\n$10\r\nmasterauth\r\n$2\r\np";
        let seen = "*4\r\n$11\r\nrequirepass\r\n$2\r\n**\r\n$10\r\nmasterauth\r\n$2\r\n";
        assert_eq!(shown(reply, Mode::Replies), seen);
        assert_eq!(shown("$9\r\nabc", Mode::Replies), "$9\r\nabc");
        assert_eq!(shown("$9\r\nhun", Mode::Replies), "$9\r\n");
    }
}
