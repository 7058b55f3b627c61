//! Goes through a cut and makes the bytes of a snapshot.

use core::ops::Deref;
use core::sync::atomic::{AtomicBool, Ordering};
use std::path::Path;

use respire_commands::payload;
use respire_rdb::file::{Head, KeyHead, Options, Replication, Usage, Writer};
use respire_store::{Cut, EntryRef, Policy, Store, Ticket};

use super::error::SaveError;
use super::file::{Sink, TempFile};
use super::progress::Progress;
use super::verify::verify;

/// What a snapshot is for, and how it is written.
#[derive(Clone, Copy)]
pub struct SaveOptions<'o> {
    /// Whether strings are packed, whether there are checksums, and how long chunks are.
    pub file: Options,
    /// Whether the file is the base of an append-only log. It then has expired keys as well, since the log says when
    /// they were removed.
    pub is_aof_base: bool,
    /// The version of Redis whose behaviour the server has.
    pub redis_version: &'o str,
    /// The time, in unix milliseconds.
    pub now_ms: u64,
    /// The place in the stream of changes, if the server is a primary.
    pub replication: Option<Replication<'o>>,
    /// The sources of the libraries of functions.
    pub libraries: &'o [&'o [u8]],
}

impl Default for SaveOptions<'_> {
    fn default() -> Self {
        SaveOptions {
            file: Options::default(),
            is_aof_base: false,
            redis_version: "7.0.15",
            now_ms: 0,
            replication: None,
            libraries: &[],
        }
    }
}

/// A snapshot that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saved {
    /// Number of keys.
    pub keys: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// Units with this ticket or an earlier one are part of the snapshot, and others are not.
    pub ticket: Ticket,
}

/// Writes snapshots.
///
/// ```
/// use respire_disk::snapshot::{Progress, SaveOptions, Saver};
/// use respire_store::{Config, Expiry, Store};
/// use std::sync::atomic::AtomicBool;
///
/// let store = Store::new(Config::default());
/// store.view(0, 0).update(b"greeting", |slot| slot.set(b"hello", Expiry::Clear));
///
/// let (stop, progress) = (AtomicBool::new(false), Progress::default());
/// let mut saver = Saver::new(SaveOptions::default(), &stop, &progress);
/// let mut file = Vec::new();
/// let saved = saver.write(store.cut()?, &mut file)?;
/// assert_eq!((saved.keys, saved.bytes), (1, file.len() as u64));
/// assert!(file.starts_with(b"REDIS0010"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Saver<'s> {
    options: SaveOptions<'s>,
    stop: &'s AtomicBool,
    progress: &'s Progress,
    pace: Box<dyn FnMut() + 's>,
}

/// A snapshot while it is written.
struct Writing<'w> {
    writer: Writer,
    sink: &'w mut dyn Sink,
    bytes: u64,
}

impl Writing<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), SaveError> {
        self.sink.write(bytes).map_err(SaveError::io("write"))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Passes on what is complete.
    fn pass_on(&mut self) -> Result<(), SaveError> {
        while let Some(chunk) = self.writer.take_chunk() {
            self.put(&chunk)?;
        }
        Ok(())
    }
}

impl<'s> Saver<'s> {
    /// Makes a saver that ends with [`SaveError::Stopped`] soon after `stop` is set.
    pub fn new(
        options: SaveOptions<'s>,
        stop: &'s AtomicBool,
        progress: &'s Progress,
    ) -> Saver<'s> {
        Saver {
            options,
            stop,
            progress,
            pace: Box::new(|| ()),
        }
    }

    /// Calls `pace` between the steps of the work, each of which takes some 100 microseconds or a write. It may wait,
    /// so that the snapshot takes less of a processor ([`Duty`](super::Duty)); without it nothing waits.
    #[must_use]
    pub fn with_pace(mut self, pace: impl FnMut() + 's) -> Saver<'s> {
        self.pace = Box::new(pace);
        self
    }

    /// Takes a cut of the store and writes it to a file of this name, in place of the one that is there. See
    /// [`Saver::write_to`].
    ///
    /// # Errors
    /// As [`Saver::write_to`], and [`SaveError::Running`] if the store has a cut.
    pub fn save_to(&mut self, store: &Store, path: &Path) -> Result<Saved, SaveError> {
        let file = TempFile::new(path)?;
        self.finish(store.cut()?, file, path)
    }

    /// Writes a cut to a file of this name, in place of the one that is there.
    ///
    /// The file has a temporary name (`temp-<pid>.rdb`) in the same directory until it is complete, is on the disk, and
    /// was read back from there. So there is always one whole file. The thread must hold no section of the store.
    ///
    /// # Errors
    /// If an operation on the file fails, if it does not read back, or if the saver was stopped. The former file stays
    /// as it is, unless only its directory could not be synchronized: then it has been replaced, but a loss of power
    /// may bring it back.
    pub fn write_to<S: Deref<Target = Store>>(
        &mut self,
        cut: Cut<S>,
        path: &Path,
    ) -> Result<Saved, SaveError> {
        let file = TempFile::new(path)?;
        self.finish(cut, file, path)
    }

    fn finish<S: Deref<Target = Store>>(
        &mut self,
        cut: Cut<S>,
        mut file: TempFile,
        path: &Path,
    ) -> Result<Saved, SaveError> {
        let saved = self.write(cut, &mut file)?;
        let whole = verify(file.synchronized()?, &mut || (self.pace)());
        whole
            .map_err(SaveError::io("read"))?
            .map_err(SaveError::Damaged)?;
        self.check_stop()?;
        file.rename(path)?;
        Ok(saved)
    }

    /// Writes a cut to a sink. The thread must hold no section of the store.
    ///
    /// # Errors
    /// If the sink takes no more, or the saver was stopped.
    pub fn write<S: Deref<Target = Store>>(
        &mut self,
        mut cut: Cut<S>,
        sink: &mut dyn Sink,
    ) -> Result<Saved, SaveError> {
        let options = self.options;
        self.progress.begin(cut.keys());
        let mut out = Writing {
            writer: Writer::new(options.file),
            sink,
            bytes: 0,
        };
        out.writer.begin(&Head {
            redis_version: options.redis_version,
            created_s: options.now_ms / 1000,
            used_memory: cut.store().memory().total() as u64,
            is_aof_base: options.is_aof_base,
            replication: options.replication,
            databases: &databases(&cut),
            libraries: options.libraries,
        });
        out.pass_on()?;
        let policy = cut.store().policy();
        let (mut keys, mut looked_at) = (0, 0);
        while cut.step(|db, key, entry| {
            looked_at += 1;
            let is_over = entry.expires_at().is_some_and(|at| at <= options.now_ms);
            if is_over && !options.is_aof_base {
                return;
            }
            keys += 1;
            let head = KeyHead {
                db,
                key,
                expires_at: entry.expires_at(),
                usage: usage(policy, entry, options.now_ms),
            };
            let value = entry.value();
            out.writer
                .entry(head, |bytes| payload::write(value, bytes, &mut || ()));
        }) {
            out.pass_on()?;
            self.progress
                .note(looked_at, out.bytes, cut.queued_bytes_most());
            self.check_stop()?;
            (self.pace)();
        }
        let Writing {
            writer,
            sink,
            bytes,
        } = out;
        let rest = writer.finish();
        sink.write(&rest).map_err(SaveError::io("write"))?;
        let bytes = bytes + rest.len() as u64;
        self.progress
            .note(looked_at, bytes, cut.queued_bytes_most());
        Ok(Saved {
            keys,
            bytes,
            ticket: cut.ticket(),
        })
    }

    fn check_stop(&self) -> Result<(), SaveError> {
        match self.stop.load(Ordering::Relaxed) {
            true => Err(SaveError::Stopped),
            false => Ok(()),
        }
    }
}

/// Returns how many keys each database has, and how many of them expire.
fn databases<S: Deref<Target = Store>>(cut: &Cut<S>) -> Vec<(u32, u64, u64)> {
    let all = cut.databases().iter().filter(|database| database.keys > 0);
    all.map(|it| (it.db, it.keys as u64, it.expires as u64))
        .collect()
}

/// Returns the earlier use of a key, if the policy looks at it.
fn usage(policy: Policy, entry: EntryRef<'_>, now_ms: u64) -> Option<Usage> {
    match policy {
        Policy::AllKeysLru | Policy::VolatileLru => {
            Some(Usage::IdleSeconds(entry.idle_ms(now_ms) / 1000))
        }
        Policy::AllKeysLfu | Policy::VolatileLfu => Some(Usage::Frequency(entry.freq(now_ms))),
        Policy::NoEviction
        | Policy::AllKeysRandom
        | Policy::VolatileRandom
        | Policy::VolatileTtl => None,
    }
}
