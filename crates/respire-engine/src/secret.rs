//! Finds passwords in requests: one rule for the slow log, the protocol explorer and all other code
//! that shows requests to people.
//!
//! ```
//! use respire_engine::{ArgList, secret};
//! use resp_codec::{CommandDecoder, Limits};
//!
//! let mut decoder = CommandDecoder::new(Limits::SERVER);
//! let request = decoder.decode(b"AUTH alice secret\r\n").unwrap().ready().unwrap();
//! assert!(secret::has_secret(request.args()));
//! let word = |index: usize| request.get(index);
//! assert!(!secret::is_secret(&word, 3, 1), "the user");
//! assert!(secret::is_secret(&word, 3, 2), "the password");
//! ```

use crate::ArgList;

/// The settings of `CONFIG` that are passwords, in lower case.
pub const SETTINGS: [&str; 2] = ["requirepass", "masterauth"];

/// The commands whose requests may carry a password, in lower case.
pub const COMMANDS: [&str; 5] = ["auth", "hello", "acl", "config", "migrate"];

/// The kinds of credential that a word of a request can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Plain,
    User,
    Password,
}

/// Whether a request may carry a password, judged by its name alone.
#[must_use]
pub fn may_have_secret(name: &[u8]) -> bool {
    is_one_of(name, &COMMANDS)
}

/// Whether a request carries a password. O(n) in the number of words for the few commands that may
/// carry one; for all others only the name is checked.
#[must_use]
pub fn has_secret(args: ArgList<'_>) -> bool {
    let word = |index: usize| args.get(index);
    may_have_secret(word(0).unwrap_or_default())
        && (1..args.len()).any(|index| is_secret(&word, args.len(), index))
}

/// Whether the word at `index` of a request of `len` words is a password or contains one.
///
/// Only the words up to `index` are read, so it also works for a request that has not arrived
/// completely, as long as `len` is known.
pub fn is_secret<'a>(word: &impl Fn(usize) -> Option<&'a [u8]>, len: usize, index: usize) -> bool {
    kind(word, len, index) == Kind::Password
}

pub(crate) fn kind<'a>(
    word: &impl Fn(usize) -> Option<&'a [u8]>,
    len: usize,
    index: usize,
) -> Kind {
    let is = |at: usize, known: &[u8]| word(at).is_some_and(|it| it.eq_ignore_ascii_case(known));
    let is_password = if is(0, b"auth") {
        // If there are several words, the first is the user.
        if index == 1 && len > 2 {
            return Kind::User;
        }
        index > 0
    } else if is(0, b"hello") {
        if index >= 3 && is(index - 1, b"auth") {
            return Kind::User;
        }
        index >= 3 && is(index - 2, b"auth")
    } else if is(0, b"acl") {
        let rule = word(index).unwrap_or_default();
        let is_password = matches!(rule.first(), Some(b'>' | b'<' | b'#' | b'!'));
        is(1, b"setuser") && index >= 3 && is_password
    } else if is(0, b"config") {
        let is_value = is(1, b"set") && index >= 3 && index % 2 == 1;
        is_value && is_one_of(word(index - 1).unwrap_or_default(), &SETTINGS)
    } else {
        is(0, b"migrate")
            && ((index >= 6 && is(index - 1, b"auth")) || (index >= 7 && is(index - 2, b"auth2")))
    };
    if is_password {
        Kind::Password
    } else {
        Kind::Plain
    }
}

fn is_one_of(word: &[u8], known: &[&str]) -> bool {
    known
        .iter()
        .any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Compares in a time that depends only on the lengths.
pub(crate) fn is_same(secret: &[u8], attempt: &[u8]) -> bool {
    let differing = secret
        .iter()
        .zip(attempt.iter().chain(std::iter::repeat(&0)))
        .fold(secret.len() ^ attempt.len(), |acc, (a, b)| {
            acc | usize::from(a ^ b)
        });
    std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use resp_codec::{CommandDecoder, Limits};

    fn words(line: &str, wanted: Kind) -> Vec<usize> {
        let mut decoder = CommandDecoder::new(Limits::SERVER);
        let line = format!("{line}\r\n");
        let step = decoder.decode(line.as_bytes()).expect("a request");
        let args = step.ready().expect("a whole one").args();
        let word = |at: usize| args.get(at);
        let is_wanted = |&index: &usize| kind(&word, args.len(), index) == wanted;
        let found: Vec<_> = (0..args.len()).filter(is_wanted).collect();
        if wanted == Kind::Password {
            assert_eq!(has_secret(args), !found.is_empty());
        }
        found
    }

    #[test]
    fn only_passwords_are_found() {
        let secrets = |line| words(line, Kind::Password);
        assert_eq!(secrets("auth pass"), [1]);
        assert_eq!(secrets("AUTH user pass"), [2]);
        assert_eq!(secrets("AUTH a b c"), [2, 3], "one word too many");
        assert_eq!(secrets("HELLO 3 AUTH user pass SETNAME n"), [4]);
        assert_eq!(secrets("ACL SETUSER bob on >pass ~* +@all"), [4]);
        assert_eq!(secrets("ACL SETUSER bob #c0ffee !c0ffee"), [3, 4]);
        assert_eq!(secrets("CONFIG SET maxclients 1 requirepass pass"), [5]);
        assert_eq!(secrets("MIGRATE h 1 k 0 1 AUTH pass"), [7]);
        assert_eq!(secrets("MIGRATE h 1 k 0 1 AUTH2 user pass"), [8]);
        assert_eq!(secrets("SET auth pass"), [0; 0]);
        assert_eq!(secrets("CONFIG GET requirepass"), [0; 0]);
        assert_eq!(secrets("AUTH"), [0; 0]);
    }

    #[test]
    fn users_and_passwords_are_distinguished() {
        assert_eq!(words("AUTH user pass", Kind::User), [1]);
        assert_eq!(words("AUTH pass", Kind::User), [0; 0]);
        assert_eq!(words("HELLO 3 AUTH user pass", Kind::User), [3]);
    }

    #[test]
    fn secret_equals_only_itself() {
        assert!(is_same(b"secret", b"secret"));
        for wrong in [&b"secreT"[..], b"secre", b"secrets", b"", b"secret\0"] {
            assert!(!is_same(b"secret", wrong), "{wrong:?}");
        }
    }
}
