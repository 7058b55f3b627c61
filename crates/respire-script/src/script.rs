//! One script: its text, its name and its flags.

use crate::flags::{Flags, Header};
use sha1::{Digest, Sha1};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The name of a script: the SHA-1 of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Sha([u8; 20]);

impl Sha {
    pub(crate) fn of(text: &[u8]) -> Self {
        Self(Sha1::digest(text).into())
    }

    /// The hexadecimal digits of a name.
    pub(crate) const DIGITS: usize = 40;

    /// Reads [`Sha::DIGITS`] hexadecimal digits in either case.
    pub(crate) fn parse(hex: &[u8]) -> Option<Self> {
        let digit = |byte: u8| (byte as char).to_digit(16);
        let mut bytes = [0; 20];
        if hex.len() != Self::DIGITS {
            return None;
        }
        for (slot, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            *slot = (digit(pair[0])? << 4 | digit(pair[1])?) as u8;
        }
        Some(Self(bytes))
    }
}

impl std::fmt::Display for Sha {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether code cannot write into the tables of the libraries, as it does not name `table` and compiles
/// nothing.
pub(crate) fn is_pure(code: &[u8]) -> bool {
    let names = [&b"table"[..], b"_G", b"load"];
    names.iter().all(|name| !has(code, name))
}

/// A script that the server knows.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) sha: Sha,
    pub(crate) body: Box<[u8]>,
    /// Of its first line; `None` if it has no such line.
    pub(crate) flags: Option<Flags>,
    /// Whether it was loaded with `SCRIPT LOAD`, and so stays.
    is_loaded: AtomicBool,
    /// Whether it may use keys that it does not declare.
    widens: AtomicBool,
    /// Whether it cannot write into the tables of the libraries, as it does not name `table` and compiles
    /// nothing.
    is_pure: bool,
    /// When it ran last, in monotonic microseconds.
    used_us: AtomicU64,
}

impl Script {
    /// A script with this text.
    ///
    /// # Errors
    /// If its first line has flags that are unknown.
    pub(crate) fn new(sha: Sha, body: &[u8]) -> Result<Self, String> {
        let header = Header::read(body)?;
        Ok(Self {
            sha,
            body: body.into(),
            flags: header.map(|header| header.flags),
            is_loaded: AtomicBool::new(false),
            widens: AtomicBool::new(!crate::reach::is_declared(body)),
            is_pure: is_pure(body),
            used_us: AtomicU64::new(0),
        })
    }

    /// The text that Lua compiles. The first line stays in it as an empty one, so that errors name
    /// the right lines.
    pub(crate) fn code(&self) -> &[u8] {
        match self.flags {
            Some(_) => {
                let end = self.body.iter().position(|byte| *byte == b'\n');
                &self.body[end.unwrap_or(self.body.len())..]
            }
            None => &self.body,
        }
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.body.len() + size_of::<Self>()
    }

    pub(crate) fn is_pure(&self) -> bool {
        self.is_pure
    }

    pub(crate) fn is_loaded(&self) -> bool {
        self.is_loaded.load(Ordering::Relaxed)
    }

    pub(crate) fn mark_loaded(&self) {
        self.is_loaded.store(true, Ordering::Relaxed);
    }

    pub(crate) fn widens(&self) -> bool {
        self.widens.load(Ordering::Relaxed)
    }

    /// From now on it runs in sections that can be widened.
    pub(crate) fn mark_widening(&self) {
        self.widens.store(true, Ordering::Relaxed);
    }

    pub(crate) fn used_us(&self) -> u64 {
        self.used_us.load(Ordering::Relaxed)
    }

    pub(crate) fn use_at(&self, now_us: u64) {
        self.used_us.store(now_us, Ordering::Relaxed);
    }
}

fn has(body: &[u8], name: &[u8]) -> bool {
    memchr::memmem::find(body, name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_read_in_either_case() {
        let sha = Sha::of(b"return 1");
        assert_eq!(sha.to_string(), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
        let upper = sha.to_string().to_uppercase();
        assert_eq!(Sha::parse(upper.as_bytes()), Some(sha));
        assert_eq!(Sha::parse(b"e0e1"), None);
        assert_eq!(Sha::parse(&[b'g'; 40]), None);
    }

    #[test]
    fn code_keeps_the_lines_of_a_script_with_a_header() {
        let script = |body: &[u8]| Script::new(Sha::of(body), body).unwrap();
        assert_eq!(
            script(b"#!lua flags=no-writes\nreturn 1").code(),
            b"\nreturn 1"
        );
        assert_eq!(script(b"return 1").code(), b"return 1");
    }
}
