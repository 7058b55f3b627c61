//! The slow log: the latest requests that took longer than a threshold.

use crate::secret::{self, Kind};
use crate::{ArgList, ClientShared, Now};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// The maximum number of arguments in an entry. If there are more, the last one states how many
/// were left out.
const ARGUMENTS_MAX: usize = 32;
/// The maximum number of bytes per argument in an entry. If there are more, the end states how many
/// were left out.
const ARGUMENT_BYTES_MAX: usize = 128;

/// The log of all connections. Locked only for slow requests and by `SLOWLOG`.
#[derive(Debug, Default)]
pub(crate) struct SlowLog {
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    /// Newest first.
    entries: VecDeque<SlowEntry>,
    next_id: u64,
}

/// One slow request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlowEntry {
    pub(crate) id: u64,
    pub(crate) unix_s: u64,
    pub(crate) took_us: u64,
    /// The request with its name, shortened to the limits.
    pub(crate) request: Vec<Box<[u8]>>,
    pub(crate) peer: Box<str>,
    pub(crate) client_name: Box<str>,
}

impl SlowLog {
    /// Adds a request, and drops the oldest entries beyond `len_max`.
    pub(crate) fn add(
        &self,
        now: Now,
        took_us: u64,
        request: ArgList<'_>,
        client: &Arc<ClientShared>,
        len_max: usize,
    ) {
        let entry = SlowEntry {
            id: 0,
            unix_s: now.unix_ms() / 1000,
            took_us,
            request: excerpt(request),
            peer: client.peer().address.clone(),
            client_name: client.names().name.clone(),
        };
        let mut log = self.lock();
        let id = log.next_id;
        log.next_id += 1;
        log.entries.push_front(SlowEntry { id, ..entry });
        log.entries.truncate(len_max);
    }

    /// The newest `count` entries, newest first.
    pub(crate) fn newest(&self, count: usize) -> Vec<SlowEntry> {
        self.lock().entries.iter().take(count).cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    pub(crate) fn clear(&self) {
        self.lock().entries.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A copy of a request for people to read: shortened, and without passwords.
fn excerpt(request: ArgList<'_>) -> Vec<Box<[u8]>> {
    let is_cut = request.len() > ARGUMENTS_MAX;
    let kept = if is_cut {
        ARGUMENTS_MAX - 1
    } else {
        request.len()
    };
    let mut copy: Vec<Box<[u8]>> = Vec::with_capacity(kept + 1);
    let word = |at: usize| request.get(at);
    for (at, arg) in request.iter().take(kept).enumerate() {
        copy.push(match secret::kind(&word, request.len(), at) {
            Kind::Plain => cut(arg),
            Kind::User | Kind::Password => b"(redacted)"[..].into(),
        });
    }
    if is_cut {
        let left_out = request.len() - kept;
        copy.push(
            format!("... ({left_out} more arguments)")
                .into_bytes()
                .into(),
        );
    }
    copy
}

fn cut(arg: &[u8]) -> Box<[u8]> {
    if arg.len() <= ARGUMENT_BYTES_MAX {
        return arg.into();
    }
    let left_out = arg.len() - ARGUMENT_BYTES_MAX;
    let mut short = arg[..ARGUMENT_BYTES_MAX].to_vec();
    short.extend_from_slice(format!("... ({left_out} more bytes)").as_bytes());
    short.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoWake, Peer};
    use resp_codec::Span;

    fn client() -> Arc<ClientShared> {
        Arc::new(ClientShared::new(
            1,
            Peer::default(),
            now(),
            Box::new(NoWake),
        ))
    }

    fn now() -> Now {
        Now::new(
            std::time::Duration::ZERO,
            std::time::Duration::from_millis(5_500),
        )
    }

    fn add(log: &SlowLog, words: &[&str], len_max: usize) {
        let bytes = words.concat();
        let mut at = 0;
        let spans: Vec<Span> = words
            .iter()
            .map(|word| {
                at += word.len() as u32;
                Span::new(at - word.len() as u32, word.len() as u32)
            })
            .collect();
        log.add(
            now(),
            7,
            ArgList::new(bytes.as_bytes(), &[], &spans),
            &client(),
            len_max,
        );
    }

    fn newest(log: &SlowLog) -> Vec<String> {
        let entry = log.newest(1).remove(0);
        entry
            .request
            .iter()
            .map(|arg| String::from_utf8_lossy(arg).into_owned())
            .collect()
    }

    #[test]
    fn oldest_entries_beyond_the_limit_are_dropped() {
        let log = SlowLog::default();
        for key in ["a", "b", "c"] {
            add(&log, &["get", key], 2);
        }
        let ids: Vec<u64> = log.newest(10).iter().map(|entry| entry.id).collect();
        assert_eq!(ids, [2, 1]);
        assert_eq!(log.newest(10)[0].unix_s, 5);
        log.clear();
        assert_eq!(log.len(), 0);
        add(&log, &["get", "d"], 2);
        assert_eq!(log.newest(1)[0].id, 3);
    }

    #[test]
    fn long_requests_are_shortened_as_in_redis() {
        let log = SlowLog::default();
        let long = "x".repeat(200);
        let mut words = vec!["mset", &long];
        words.extend(["k"; 38]);
        add(&log, &words, 10);
        let request = newest(&log);
        assert_eq!(request.len(), 32);
        assert_eq!(
            request[1],
            format!("{}... (72 more bytes)", "x".repeat(128))
        );
        assert_eq!(request[31], "... (9 more arguments)");
    }

    #[test]
    fn passwords_are_not_logged() {
        let log = SlowLog::default();
        let hidden = "(redacted)";
        for (words, kept) in [
            (&["auth", "pw"][..], &["auth", hidden][..]),
            (
                &["hello", "3", "AUTH", "u", "pw"],
                &["hello", "3", "AUTH", hidden, hidden],
            ),
            (
                &["config", "set", "timeout", "1", "requirepass", "pw"],
                &["config", "set", "timeout", "1", "requirepass", hidden],
            ),
        ] {
            add(&log, words, 10);
            assert_eq!(newest(&log), kept);
        }
    }
}
