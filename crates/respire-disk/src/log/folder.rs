//! The log's folder: performs the operations that the log asks for, on real files.

use respire_durable::log::{Failure, FileId, Operation, Outcome};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The folder, with the increments that are open. Both lanes use it.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    open: Mutex<HashMap<FileId, Arc<File>>>,
}

impl Folder {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            open: Mutex::default(),
        }
    }

    /// The path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Performs an operation. Returns what the log is to be told, and the system's error for people.
    pub(crate) fn perform(&self, operation: &Operation) -> (Outcome, Option<io::Error>) {
        match self.try_to(operation) {
            Ok(taken) => (Ok(taken), None),
            Err(error) => (Err(failure(&error)), Some(error)),
        }
    }

    fn try_to(&self, operation: &Operation) -> io::Result<usize> {
        match operation {
            Operation::Create { file, name } => {
                let path = self.at(name);
                remove(&path)?;
                let mut options = OpenOptions::new();
                options.read(true).write(true).create_new(true);
                self.keep_open(*file, options.open(path)?);
            }
            Operation::Open { file, name } => {
                let opened = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(self.at(name))?;
                self.keep_open(*file, opened);
            }
            Operation::Write {
                file,
                offset,
                pieces,
                ..
            } => {
                let slices: Vec<IoSlice<'_>> =
                    pieces.iter().map(|piece| IoSlice::new(piece)).collect();
                return Ok(rustix::io::pwritev(&*self.file(*file)?, &slices, *offset)?);
            }
            Operation::Redo { file, offset, end } => redo(&*self.file(*file)?, *offset, *end)?,
            Operation::Truncate { file, len } => self.file(*file)?.set_len(*len)?,
            Operation::Sync { file } => self.file(*file)?.sync_data()?,
            Operation::Close { file } => {
                self.lock().remove(file);
            }
            Operation::WriteWhole { name, bytes } => {
                let path = self.at(name);
                remove(&path)?;
                let mut file = File::create_new(path)?;
                file.write_all(bytes)?;
                file.sync_all()?;
            }
            Operation::Rename { from, to } => fs::rename(self.at(from), self.at(to))?,
            Operation::SyncDir => sync_dir(&self.path)?,
            Operation::Unlink { name } => remove(&self.at(name))?,
        }
        Ok(0)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn keep_open(&self, file: FileId, opened: File) {
        self.lock().insert(file, Arc::new(opened));
    }

    fn file(&self, file: FileId) -> io::Result<Arc<File>> {
        let open = self.lock();
        let found = open.get(&file).map(Arc::clone);
        found.ok_or_else(|| io::Error::other("the log writes to a file that is not open"))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FileId, Arc<File>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a file if it is there. A file is never emptied in place: after a power cut within a renaming it may have
/// another name as well.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes bytes of a file again at their place.
fn redo(file: &File, mut offset: u64, end: u64) -> io::Result<()> {
    let mut buffer = vec![0; REDO_BYTES];
    while offset < end {
        let len = buffer
            .len()
            .min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        file.read_exact_at(&mut buffer[..len], offset)?;
        file.write_all_at(&buffer[..len], offset)?;
        offset += len as u64;
    }
    Ok(())
}

/// Bytes that are read and written again at once.
const REDO_BYTES: usize = 1 << 20;

/// Makes the names in a folder durable.
pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// What an error means to the log.
fn failure(error: &io::Error) -> Failure {
    let Some(code) = error.raw_os_error() else {
        return match error.kind() {
            io::ErrorKind::Interrupted => Failure::Interrupted,
            _ => Failure::Io,
        };
    };
    match Errno::from_raw_os_error(code) {
        Errno::INTR | Errno::AGAIN => Failure::Interrupted,
        Errno::NOSPC | Errno::DQUOT => Failure::NoSpace,
        _ => Failure::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_change_the_files_that_they_name() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path().to_owned());
        let does = |operation| {
            let (outcome, error) = folder.perform(&operation);
            assert_eq!(outcome.is_ok(), error.is_none());
            outcome
        };
        let file = FileId(1);
        let name = Arc::from("a");
        assert_eq!(does(Operation::Create { file, name }), Ok(0));
        let pieces = vec!["one ".into(), "two".into()];
        let write = Operation::Write {
            file,
            offset: 0,
            pieces,
            len: 7,
        };
        assert_eq!(does(write), Ok(7));
        assert_eq!(does(Operation::Truncate { file, len: 3 }), Ok(0));
        let (offset, end) = (1, 3);
        assert_eq!(does(Operation::Redo { file, offset, end }), Ok(0));
        assert_eq!(does(Operation::Sync { file }), Ok(0));
        assert_eq!(does(Operation::Close { file }), Ok(0));
        assert_eq!(does(Operation::Sync { file }), Err(Failure::Io));
        let (from, to) = (Arc::from("a"), Arc::from("b"));
        assert_eq!(does(Operation::Rename { from, to }), Ok(0));
        assert_eq!(does(Operation::SyncDir), Ok(0));
        assert_eq!(fs::read(dir.path().join("b")).expect("a file"), b"one");
        let bytes = "all".into();
        let name = Arc::from("c");
        assert_eq!(does(Operation::WriteWhole { name, bytes }), Ok(0));
        for name in ["b", "b", "c"] {
            let name = Arc::from(name);
            assert_eq!(does(Operation::Unlink { name }), Ok(0));
        }
        assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 0);
        let name = Arc::from("nothing");
        assert_eq!(does(Operation::Open { file, name }), Err(Failure::Io));
    }

    #[test]
    fn errors_of_the_system_are_told_apart() {
        for (errno, expected) in [
            (Errno::INTR, Failure::Interrupted),
            (Errno::NOSPC, Failure::NoSpace),
            (Errno::DQUOT, Failure::NoSpace),
            (Errno::IO, Failure::Io),
        ] {
            assert_eq!(failure(&errno.into()), expected);
        }
    }
}
