//! Rewrites the log: a new base, and an increment that begins at its cut.

use super::Core;
use super::snapshot::save_options;
use crate::clock::unix_s;
use crate::log::Shared;
use crate::settings::Values;
use crate::snapshot::{Duty, SaveError, SaveOptions, Saved, Saver};
use respire_durable::log::{Base, Busy, RewriteId};
use respire_store::{Cut, Store};
use std::time::Duration;

/// How long a rewrite waits for the changes before its cut to be written.
const PATIENCE: Duration = Duration::from_secs(30);

/// The part of a processor that a rewrite takes, in percent. The log grows meanwhile.
const DUTY_PERCENT: u32 = 25;

impl Core {
    /// Rewrites the log. Others see in the status whether it was good.
    pub(super) fn rewrite(&self, log: &Shared, values: &Values) {
        self.status.rewrite.begin();
        let outcome = self.rewrite_all(log, values);
        let kept_bytes = self.status.progress.queued_bytes_most();
        self.status
            .rewrite
            .end(outcome.is_ok().then_some(kept_bytes));
        match outcome {
            Ok(saved) => tracing::info!(
                "the append-only file begins anew with {} keys, {} bytes",
                saved.keys,
                saved.bytes
            ),
            Err(error) => tracing::error!("the append-only file was not rewritten: {error}"),
        }
    }

    fn rewrite_all(&self, log: &Shared, values: &Values) -> Result<Saved, SaveError> {
        let store = self.served.store();
        let take = || {
            let cut = store.cut().ok()?;
            // Behind the cut: a library that changes in between is in the base, and in the increment once more.
            Some((cut.ticket().number(), (cut, self.served.libraries())))
        };
        let begun = log.begin_rewrite(PATIENCE, take);
        let (id, (cut, libraries)) = begun.map_err(|busy| match busy {
            Busy::InProgress => SaveError::Running,
            Busy::NotNow => SaveError::Stopped,
        })?;
        let name = format!("temp-rewriteaof-{}.rdb", std::process::id());
        let saved = self.write_base(log, values, &name, cut, &libraries);
        self.gates.set_cut_behind(false);
        match saved {
            Ok(saved) => self.hand_over(log, id, &name, saved),
            Err(error) => {
                log.base_aborted(id);
                Err(error)
            }
        }
    }

    fn write_base(
        &self,
        log: &Shared,
        values: &Values,
        name: &str,
        cut: Cut<&Store>,
        libraries: &[Vec<u8>],
    ) -> Result<Saved, SaveError> {
        let libraries: Vec<&[u8]> = libraries.iter().map(Vec::as_slice).collect();
        let options = SaveOptions {
            is_aof_base: true,
            now_ms: unix_s() * 1000,
            libraries: &libraries,
            ..save_options(values)
        };
        let mut duty = Duty::new(DUTY_PERCENT, self.began.elapsed());
        let saver = Saver::new(options, &self.stop, &self.status.progress);
        let mut saver = saver.with_pace(|| self.pace(&mut duty, true));
        saver.write_to(cut, &log.folder().path().join(name))
    }

    /// Gives the base to the log, and waits until it is listed.
    fn hand_over(
        &self,
        log: &Shared,
        id: RewriteId,
        name: &str,
        saved: Saved,
    ) -> Result<Saved, SaveError> {
        let base = Base {
            temporary_name: name.to_owned(),
            is_rdb: true,
            bytes: saved.bytes,
        };
        if log.base_finished(id, base).is_err() {
            let _ = std::fs::remove_file(log.folder().path().join(name));
            return Err(SaveError::Stopped);
        }
        let is_over = log.wait_until(PATIENCE, |state| state.log.rewrite() != Some(id));
        let is_good = is_over && log.lock().log.info().last_rewrite_ok;
        is_good.then_some(saved).ok_or(SaveError::Stopped)
    }
}
