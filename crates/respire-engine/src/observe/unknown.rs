//! Counts requests for unknown commands, by name.

use crate::spec::SEPARATOR;
use crate::{ArgList, Limits};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An unknown command that a client sent, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unknown<'u> {
    /// The name in lower case, `client|nope` for a subcommand. It is shortened, and bytes other
    /// than visible ASCII are escaped.
    pub name: &'u str,
    /// The address of the client.
    pub peer: &'u str,
    /// Whether no further names are reported, because there were too many.
    pub is_last: bool,
}

/// The number of requests for each unknown name. Locked only for a refused request and by `INFO`.
#[derive(Debug, Default)]
pub(crate) struct Unknowns {
    total: AtomicU64,
    /// At most `unknown_names_max` names.
    names: Mutex<BTreeMap<Box<str>, u64>>,
}

impl Unknowns {
    /// Counts a request, and passes its name to `report` if the name is new and there is room for
    /// it.
    pub(crate) fn note(&self, name: &str, limits: &Limits, report: impl FnOnce(bool)) {
        self.count();
        let mut names = self.lock();
        if let Some(count) = names.get_mut(name) {
            *count += 1;
            return;
        }
        if names.len() < limits.unknown_names_max {
            names.insert(name.into(), 1);
            let is_last = names.len() == limits.unknown_names_max;
            drop(names);
            report(is_last);
        }
    }

    /// Counts a request without storing its name.
    pub(crate) fn count(&self) {
        self.total.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of all such requests.
    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// The names and their counts.
    pub(crate) fn names(&self) -> Vec<(Box<str>, u64)> {
        let names = self.lock();
        names
            .iter()
            .map(|(name, count)| (name.clone(), *count))
            .collect()
    }

    pub(crate) fn reset(&self) {
        self.lock().clear();
        self.total.store(0, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Box<str>, u64>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The maximum number of bytes of a name, or of a subcommand's name.
const NAME_BYTES_MAX: usize = 64;

/// The name of a request for people to read. `is_inside`: its subcommand is unknown.
pub(crate) fn shown(request: ArgList<'_>, is_inside: bool) -> String {
    let mut shown = String::new();
    escape(&request[0], &mut shown);
    if let Some(subcommand) = request.get(1).filter(|_| is_inside) {
        shown.push(SEPARATOR);
        escape(subcommand, &mut shown);
    }
    shown
}

/// Escapes a name so that it cannot break a line of the log or of `INFO`.
fn escape(name: &[u8], shown: &mut String) {
    for byte in &name[..name.len().min(NAME_BYTES_MAX)] {
        if byte.is_ascii_graphic() && !b"\\:#|".contains(byte) {
            shown.push(char::from(byte.to_ascii_lowercase()));
        } else {
            let hex = |digit: u8| char::from(b"0123456789abcdef"[usize::from(digit)]);
            shown.extend(['\\', 'x', hex(byte >> 4), hex(byte & 15)]);
        }
    }
    if name.len() > NAME_BYTES_MAX {
        shown.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stored_up_to_the_limit_and_counted_beyond() {
        let limits = Limits {
            unknown_names_max: 2,
            ..Limits::DEFAULT
        };
        let unknowns = Unknowns::default();
        let mut told = Vec::new();
        for name in ["a", "b", "a", "c"] {
            unknowns.note(name, &limits, |is_last| told.push((name, is_last)));
        }
        assert_eq!(told, [("a", false), ("b", true)]);
        assert_eq!(unknowns.names(), [("a".into(), 2), ("b".into(), 1)]);
        assert_eq!(unknowns.total(), 4);
        unknowns.reset();
        assert_eq!((unknowns.total(), unknowns.names()), (0, Vec::new()));
    }

    #[test]
    fn names_cannot_break_a_line() {
        let shown = |name: &[u8]| {
            let mut text = String::new();
            escape(name, &mut text);
            text
        };
        assert_eq!(shown(b"LPush"), "lpush");
        assert_eq!(
            shown(b"a\r\n# b:c\x1b[2J\xff|\\"),
            r"a\x0d\x0a\x23\x20b\x3ac\x1b[2j\xff\x7c\x5c"
        );
        assert_eq!(shown(&[b'x'; 1000]), "x".repeat(NAME_BYTES_MAX) + "...");
    }
}
