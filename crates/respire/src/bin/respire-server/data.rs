//! Loads the data beside the server, which answers `-LOADING` meanwhile, and writes the rest at the end.

use crate::failed::Failed;
use respire::commands::Kv;
use respire::disk::{self, Disk};
use respire::engine::Engine;
use respire::serve::Shutdown;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// How long clients wait for the data before they are answered `-LOADING`. Little data is there by then, and its clients
/// never see that error.
const QUIET: Duration = Duration::from_secs(1);

/// The thread that loads the data.
pub(crate) struct Data(JoinHandle<Result<(), disk::Failed>>);

impl Data {
    /// Begins to load, and returns when that is done or takes long. If it fails, the server stops.
    pub(crate) fn open(
        disk: &Arc<Disk>,
        engine: &Arc<Engine<Kv>>,
        file: Option<PathBuf>,
        shutdown: &Shutdown,
    ) -> io::Result<Self> {
        let (disk, engine, shutdown) = (Arc::clone(disk), Arc::clone(engine), shutdown.clone());
        let thread = thread::Builder::new().name("respire-load".to_owned());
        let (done, is_done) = mpsc::channel::<()>();
        let thread = thread.spawn(move || {
            let opened = disk.open(&engine, file.as_deref());
            if opened.is_err() {
                shutdown.request();
            }
            drop(done);
            opened
        })?;
        // It ends when the thread drops its end, also by a panic.
        let _ = is_done.recv_timeout(QUIET);
        Ok(Self(thread))
    }

    /// Writes what is not on disk yet.
    pub(crate) fn close(self, disk: &Disk) -> Result<(), Failed> {
        let Ok(opened) = self.0.join() else {
            return Err(Failed::Start(io::Error::other(
                "the thread that loads data panicked",
            )));
        };
        opened?;
        if disk.close() {
            return Ok(());
        }
        Err(Failed::Start(io::Error::other(
            "not all data could be written to disk",
        )))
    }
}
