//! Loads a snapshot: the base of a log, or a `dump.rdb`.

use super::{Failed, Refused};
use crate::clock::unix_s;
use crate::load::{self, Follow, Options, Progress};
use crate::served::Served;
use crate::status::Loading;
use core::sync::atomic::Ordering;
use std::fs::File;
use std::path::Path;

/// Loads a snapshot into an empty server. Returns where it ends. The base of a log keeps keys that have expired, and
/// commands may follow it.
pub(crate) fn load(
    path: &Path,
    is_base: bool,
    served: &dyn Served,
    loading: &Loading,
    command: &str,
) -> Result<u64, Failed> {
    let file = File::open(path).map_err(|error| Failed::io(path, error))?;
    let options = Options {
        now_ms: unix_s() * 1000,
        drops_expired: !is_base,
        may_go_on: is_base,
        ..Options::default()
    };
    let before = loading.bytes_done.load(Ordering::Relaxed);
    let mut follower = Follower {
        served,
        loading,
        before,
    };
    let report = load::load(&file, served.store(), options, &mut follower).map_err(|fault| {
        Failed::Refused(Refused::new(
            path,
            fault.offset,
            fault.to_string(),
            command.to_owned(),
        ))
    })?;
    loading
        .bytes_done
        .store(before + report.end, Ordering::Relaxed);
    loading
        .keys_loaded
        .fetch_add(report.keys - report.expired_keys, Ordering::Relaxed);
    loading
        .keys_expired
        .fetch_add(report.expired_keys, Ordering::Relaxed);
    Ok(report.end)
}

struct Follower<'f> {
    served: &'f dyn Served,
    loading: &'f Loading,
    before: u64,
}

impl Follow for Follower<'_> {
    fn library(&mut self, code: &[u8]) -> Result<(), String> {
        let mut command = Vec::new();
        resp_codec::command(&mut command, &[&b"FUNCTION"[..], b"LOAD", code]);
        let fed = self.served.replay().feed(&command, 0);
        fed.map(|_| ()).map_err(|error| error.message)
    }

    fn progress(&mut self, progress: Progress) {
        self.loading
            .bytes_done
            .store(self.before + progress.bytes, Ordering::Relaxed);
        self.loading
            .keys_loaded
            .store(progress.keys, Ordering::Relaxed);
        self.loading.tell();
    }
}
