//! Begins a log, when the server starts or when the log is turned on.

use crate::gates::Gates;
use crate::keeper::OpenLog;
use crate::log::{Begin, Folder, Journal, Kept, Lanes};
use crate::recovery::Failed;
use crate::served::Served;
use crate::settings::{Policy, Values};
use respire_durable::log::{Log, Settings as LogSettings, Start};
use respire_store::{Interest, Scope};
use std::fs;
use std::sync::Arc;

/// What a log is begun with.
pub(crate) struct LogBegin<'b> {
    pub(crate) journal: &'b Arc<Journal>,
    pub(crate) kept: &'b Arc<Kept>,
    pub(crate) served: &'b Arc<dyn Served>,
    pub(crate) gates: &'b Arc<Gates>,
    pub(crate) values: &'b Values,
}

impl LogBegin<'_> {
    /// Begins to take the store's changes, from one moment on.
    pub(crate) fn begin(self, mut start: Start, lock: fs::File) -> Result<OpenLog, Failed> {
        let notes_reads = self.values.appendfsync == Policy::Always;
        self.journal.set_notes_reads(notes_reads);
        self.served.set_notes_reads(notes_reads);
        let store = self.served.store();
        let all = store.lock(&Scope::Everything);
        start.last_ticket = store.raise_tickets(start.last_ticket);
        self.journal.set_on(true);
        let observer = store.observe(Arc::clone(self.journal) as _, Interest::CHANGES);
        drop(all);
        let policy = self.values.appendfsync;
        let settings = LogSettings {
            name: self.values.appendfilename.clone(),
            policy,
            timestamps: self.values.timestamps,
            ..LogSettings::default()
        };
        let gates = Arc::clone(self.gates);
        let begin = Begin {
            journal: Arc::clone(self.journal),
            kept: Arc::clone(self.kept),
            folder: Folder::new(self.values.log_dir()),
            log: Log::new(settings, start),
            policy,
            buffer_bytes: self.values.buffer_bytes,
            gates: Some(gates),
        };
        let lanes = Lanes::start(begin);
        let lanes = lanes.inspect_err(|_| {
            self.journal.set_on(false);
            store.unobserve(observer);
        })?;
        Ok(OpenLog {
            lanes,
            observer,
            lock,
        })
    }
}
