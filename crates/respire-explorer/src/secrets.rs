//! Finds the passwords in requests and replies, which no viewer may see.

use aho_corasick::AhoCorasick;
use memchr::memmem;
use resp_codec::annotate::{Mark, Mode, Role, annotate_frame};
use resp_codec::{Args, Limits};
use respire_engine::secret;
use std::collections::VecDeque;
use std::ops::Range;

/// Independent of the server's own limits: the server does not answer a request that it refuses,
/// and larger frames are not shown.
pub(crate) const LIMITS: Limits = Limits {
    max_bulk: i32::MAX as u64,
    max_inline: i32::MAX as u32,
    ..Limits::CLIENT
};

/// The most passwords remembered; the latest ones are kept.
const PASSWORDS_MAX: usize = 16;

/// The rules for what is secret.
pub(crate) struct Secrets {
    /// Passwords of this server, current and recent: they are hidden everywhere.
    passwords: VecDeque<Box<[u8]>>,
    /// Settings whose value is a password.
    settings: AhoCorasick,
    /// Words that may have a password near them.
    words: AhoCorasick,
}

impl Secrets {
    pub(crate) fn new() -> Self {
        let find = |words: &[&str]| {
            let mut builder = AhoCorasick::builder();
            let found = builder.ascii_case_insensitive(true).build(words);
            found.expect("a few short words make a small automaton")
        };
        Self {
            passwords: VecDeque::new(),
            settings: find(&secret::SETTINGS),
            words: find(&[&secret::COMMANDS[..], &secret::SETTINGS[..]].concat()),
        }
    }

    /// Remembers a password of this server.
    pub(crate) fn learn(&mut self, password: Box<[u8]>) {
        if password.is_empty() || self.passwords.contains(&password) {
            return;
        }
        self.passwords.push_back(password);
        if self.passwords.len() > PASSWORDS_MAX {
            self.passwords.pop_front();
        }
    }

    /// Whether these bytes hold a password of this server.
    pub(crate) fn contains_password(&self, bytes: &[u8]) -> bool {
        let mut passwords = self.passwords.iter();
        passwords.any(|password| memmem::find(bytes, password).is_some())
    }

    /// How many of these bytes come before the first password of this server.
    pub(crate) fn before_password(&self, bytes: &[u8]) -> usize {
        let passwords = self.passwords.iter();
        let found = passwords.filter_map(|password| memmem::find(bytes, password));
        found.min().unwrap_or(bytes.len())
    }

    /// Whether these bytes hold a password of this server, or end with the beginning of one.
    pub(crate) fn ends_in_password(&self, bytes: &[u8]) -> bool {
        let begins = |password: &[u8]| {
            let most = password.len().min(bytes.len());
            (1..=most).any(|len| bytes.ends_with(&password[..len]))
        };
        self.contains_password(bytes) || self.passwords.iter().any(|password| begins(password))
    }

    /// Whether these bytes, whose meaning is unknown, may hold a password.
    pub(crate) fn is_near(&self, bytes: &[u8]) -> bool {
        self.words.is_match(bytes) || self.ends_in_password(bytes)
    }

    /// Adds the ranges to hide of a whole request, as offsets into `wire`.
    pub(crate) fn in_request(
        &self,
        args: Args<'_>,
        (wire, is_inline): (&[u8], bool),
        hidden: &mut Vec<Range<usize>>,
    ) {
        let says = |args: Args<'_>| args.iter().any(|arg| self.contains_password(arg));
        // An inline request can quote a password in many ways.
        let contains_password = self.contains_password(wire) || (is_inline && says(args));
        if !contains_password && !secret::has_secret(args) {
            return;
        }
        let word = |index: usize| args.get(index);
        for (index, span) in args.spans().iter().enumerate() {
            let is_secret = secret::is_secret(&word, args.len(), index);
            if !is_secret && !self.contains_password(&args[index]) {
                continue;
            }
            if !span.is_scratch() {
                hidden.push(span.at()..span.at() + span.len());
            } else if is_inline {
                hidden.extend(inline_word(wire, index));
            }
        }
    }

    /// Adds the ranges to hide of a whole reply, as offsets into it.
    pub(crate) fn in_reply(&self, wire: &[u8], mode: Mode, hidden: &mut Vec<Range<usize>>) {
        if !self.contains_password(wire) && !self.settings.is_match(wire) {
            return;
        }
        for value in self.values(wire, mode) {
            if value.is_hidden {
                hidden.push(value.bytes);
            }
        }
    }

    /// The values of a reply that are not aggregates, in order, as far as they have arrived.
    pub(crate) fn values(&self, wire: &[u8], mode: Mode) -> Vec<Value> {
        let mut marks = Vec::new();
        annotate_frame(wire, 0, mode, &LIMITS, &mut marks);
        let mut follows_setting = false;
        let mut values = Vec::new();
        for value in marks.chunk_by(|one, next| one.node == next.node) {
            let tag = wire.get(value[0].at as usize).copied();
            if matches!(tag, Some(b'*' | b'~' | b'>' | b'%' | b'|')) {
                continue;
            }
            let bytes = span(value, &[Role::Payload, Role::Digits, Role::Field]);
            let is_hidden =
                follows_setting || (is_text(value) && self.contains_password(&wire[bytes.clone()]));
            let is_setting =
                |known: &&str| wire[bytes.clone()].eq_ignore_ascii_case(known.as_bytes());
            follows_setting = secret::SETTINGS.iter().any(is_setting);
            values.push(Value { bytes, is_hidden });
        }
        values
    }
}

/// A value of a reply.
pub(crate) struct Value {
    pub(crate) bytes: Range<usize>,
    pub(crate) is_hidden: bool,
}

/// Numbers, and values with numbers in them, do not count as passwords.
fn is_text(marks: &[Mark]) -> bool {
    marks.iter().any(|mark| mark.role == Role::Payload)
}

/// The range from the first to the last mark with one of these roles.
fn span(marks: &[Mark], roles: &[Role]) -> Range<usize> {
    let mut found = marks.iter().filter(|mark| roles.contains(&mark.role));
    let Some(first) = found.next() else {
        let end = marks.last().map_or(0, end);
        return end..end;
    };
    first.at as usize..found.next_back().map_or(end(first), end)
}

fn end(mark: &Mark) -> usize {
    (mark.at + mark.len) as usize
}

/// The range of a word of an inline request, without its quotes.
fn inline_word(wire: &[u8], index: usize) -> Vec<Range<usize>> {
    let mut marks = Vec::new();
    annotate_frame(wire, 0, Mode::Requests, &LIMITS, &mut marks);
    let is_part = |mark: &&Mark| {
        mark.node as usize == index && matches!(mark.role, Role::InlineArg | Role::Escape)
    };
    let parts = marks.iter().filter(is_part);
    parts.map(|mark| mark.at as usize..end(mark)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use resp_codec::CommandDecoder;

    fn secrets() -> Secrets {
        let mut secrets = Secrets::new();
        secrets.learn(b"hunter2"[..].into());
        secrets
    }

    fn masked(wire: &[u8], hidden: Vec<Range<usize>>) -> String {
        let mut wire = wire.to_vec();
        hidden.into_iter().for_each(|range| wire[range].fill(b'*'));
        String::from_utf8(wire).unwrap()
    }

    fn request(wire: &str) -> String {
        let mut decoder = CommandDecoder::new(LIMITS);
        let request = decoder.decode(wire.as_bytes()).unwrap().ready().unwrap();
        let mut hidden = Vec::new();
        let form = (request.wire(), request.is_inline());
        secrets().in_request(request.args(), form, &mut hidden);
        masked(request.wire(), hidden)
    }

    fn reply(wire: &str) -> String {
        let mut hidden = Vec::new();
        secrets().in_reply(wire.as_bytes(), Mode::Replies, &mut hidden);
        masked(wire.as_bytes(), hidden)
    }

    #[test]
    fn passwords_in_requests_are_masked_at_equal_length() {
        for (wire, shown) in [
            ("AUTH user secret\r\n", "AUTH user ******\r\n"),
            (
                "AUTH 'user' \"s\\x65cret\"\r\n",
                "AUTH 'user' \"*********\"\r\n",
            ),
            (
                "*2\r\n$4\r\nauth\r\n$3\r\na\r\n\r\n",
                "*2\r\n$4\r\nauth\r\n$3\r\n***\r\n",
            ),
            ("SET k v\r\n", "SET k v\r\n"),
            ("SET k xhunter2x\r\n", "SET k *********\r\n"),
            ("SET k \"hunter\\x32\"\r\n", "SET k \"**********\"\r\n"),
            ("AUHT hunter2\r\n", "AUHT *******\r\n"),
            (
                "CONFIG SET requirepass a maxmemory 1\r\n",
                "CONFIG SET requirepass * maxmemory 1\r\n",
            ),
        ] {
            assert_eq!(request(wire), shown);
        }
    }

    #[test]
    fn passwords_and_secret_settings_in_replies_are_masked() {
        for (wire, shown) in [
            (
                "*4\r\n$11\r\nRequirePass\r\n$2\r\npw\r\n$4\r\nport\r\n$1\r\n1\r\n",
                "*4\r\n$11\r\nRequirePass\r\n$2\r\n**\r\n$4\r\nport\r\n$1\r\n1\r\n",
            ),
            (
                "%2\r\n+requirepass\r\n$0\r\n\r\n+masterauth\r\n:12\r\n",
                "%2\r\n+requirepass\r\n$0\r\n\r\n+masterauth\r\n:**\r\n",
            ),
            ("*2\r\n+requirepass\r\n_\r\n", "*2\r\n+requirepass\r\n_\r\n"),
            ("-ERR unknown 'hunter2'\r\n", "-*********************\r\n"),
            ("$7\r\nhunter3\r\n", "$7\r\nhunter3\r\n"),
        ] {
            assert_eq!(reply(wire), shown);
        }
    }

    #[test]
    fn latest_passwords_are_remembered() {
        let mut secrets = Secrets::new();
        secrets.learn(Box::default());
        assert!(!secrets.contains_password(b"anything"));
        for number in 10..40 {
            secrets.learn(format!("pw{number}").into_bytes().into());
        }
        assert!(secrets.contains_password(b"pw39") && secrets.contains_password(b"pw24"));
        assert!(!secrets.contains_password(b"pw23"));
        assert!(secrets.ends_in_password(b"so p") && !secrets.ends_in_password(b"so"));
        assert!(secrets.is_near(b"Auth") && secrets.is_near(b"MASTERAUTH"));
        assert!(!secrets.is_near(b"SET k v"));
    }
}
