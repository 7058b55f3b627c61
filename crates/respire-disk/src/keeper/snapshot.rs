//! Writes `dump.rdb`.

use super::{Answer, Core};
use crate::clock::unix_s;
use crate::settings::Values;
use crate::snapshot::{Duty, SaveError, SaveOptions, Saved, Saver};
use core::sync::atomic::Ordering;
use respire_engine::Error;
use respire_rdb::file::Options;
use std::path::Path;

/// The part of a processor that work in the background takes, in percent.
const DUTY_PERCENT: u32 = 25;

impl Core {
    /// Writes a snapshot, as fast as it can unless it is to be paced, and answers those who wait for it. Returns whether
    /// it was written.
    pub(super) fn save(&self, values: &Values, answers: Vec<Answer>, is_paced: bool) -> bool {
        self.status.save.begin();
        let path = values.snapshot();
        let changes = self.served.store().changes();
        let outcome = self.write(values, &path, is_paced);
        let kept_bytes = self.status.progress.queued_bytes_most();
        self.status.save.end(outcome.is_ok().then_some(kept_bytes));
        match &outcome {
            Ok(saved) => {
                self.served.note_saved(unix_s(), changes);
                tracing::info!(
                    "{} keys saved in {}, {} bytes",
                    saved.keys,
                    path.display(),
                    saved.bytes
                );
            }
            Err(error) => tracing::error!("{} was not written: {error}", path.display()),
        }
        for answer in answers {
            let error = |error: &SaveError| Error::new("ERR", error);
            answer(outcome.as_ref().map(|_| ()).map_err(error));
        }
        outcome.is_ok()
    }

    fn write(&self, values: &Values, path: &Path, is_paced: bool) -> Result<Saved, SaveError> {
        let libraries = self.served.libraries();
        let libraries: Vec<&[u8]> = libraries.iter().map(Vec::as_slice).collect();
        let options = SaveOptions {
            now_ms: unix_s() * 1000,
            libraries: &libraries,
            ..save_options(values)
        };
        let saver = Saver::new(options, &self.stop, &self.status.progress);
        let mut duty = Duty::new(DUTY_PERCENT, self.began.elapsed());
        let saved = saver
            .with_pace(|| self.pace(&mut duty, is_paced))
            .save_to(self.served.store(), path);
        self.gates.set_cut_behind(false);
        saved
    }

    /// Rests between two steps of work in the background, unless there is a hurry.
    pub(super) fn pace(&self, duty: &mut Duty, is_paced: bool) {
        let is_behind = self.served.store().is_cut_behind();
        self.gates.set_cut_behind(is_behind);
        let is_hurried = is_behind || !is_paced || self.stop.load(Ordering::Relaxed);
        if let Some(rest) = duty.rest(self.began.elapsed())
            && !is_hurried
        {
            self.wanted.rest(rest);
        }
    }
}

/// How the settings want files to be written.
pub(super) fn save_options(values: &Values) -> SaveOptions<'static> {
    SaveOptions {
        file: Options {
            compression: values.compression,
            checksum: values.checksum,
            ..Options::default()
        },
        ..SaveOptions::default()
    }
}
