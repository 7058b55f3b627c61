//! What the log asks its caller to do with files, and what the caller answers.

use bytes::Bytes;
use std::sync::Arc;

/// The two sequences of operations. In each, one operation is in flight at most; operations of the
/// two may run at the same time. Any operation may come on either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Writes to the current increment. Nothing slow is on it while the log is healthy.
    Write,
    /// Syncs, and the operations on manifests, folders and old files.
    Sync,
}

/// An increment that the caller keeps open: its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u64);

/// One operation on the log's folder. Names have no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Create a new file, and keep it open for writing as `file`. If there is one of that name,
    /// delete it first, as for [`Operation::WriteWhole`].
    Create {
        /// What later operations call it.
        file: FileId,
        /// Its name.
        name: Arc<str>,
    },
    /// Open an existing file for writing, and keep it open as `file`.
    Open {
        /// What later operations call it.
        file: FileId,
        /// Its name.
        name: Arc<str>,
    },
    /// Write `pieces`, at most [`PIECES_MAX`](super::PIECES_MAX), one behind the other at `offset`.
    /// Answer with the number of bytes that were taken, which may be smaller than `len`.
    Write {
        /// The file.
        file: FileId,
        /// Where in the file.
        offset: u64,
        /// The bytes.
        pieces: Vec<Bytes>,
        /// The sum of their lengths.
        len: usize,
    },
    /// Read the bytes from `offset` to `end` and write them again at their place. A sync of an
    /// earlier process may have failed, and then the system believes that they are on the disk.
    Redo {
        /// The file.
        file: FileId,
        /// Where the bytes begin.
        offset: u64,
        /// Where they end.
        end: u64,
    },
    /// Cut the file at `len` bytes.
    Truncate {
        /// The file.
        file: FileId,
        /// Its new length.
        len: u64,
    },
    /// `fdatasync` the file.
    Sync {
        /// The file.
        file: FileId,
    },
    /// Close the file. A failure is of no interest: the file was synced, or is not trusted.
    Close {
        /// The file.
        file: FileId,
    },
    /// Create a new file, write `bytes`, `fsync` it and close it. If there is one of that name,
    /// delete it first instead of emptying it: a power cut within a rename may have left a file
    /// with both names.
    WriteWhole {
        /// Its name.
        name: Arc<str>,
        /// Its content.
        bytes: Bytes,
    },
    /// Rename a file; one with the new name is replaced.
    Rename {
        /// The present name.
        from: Arc<str>,
        /// The new name.
        to: Arc<str>,
    },
    /// `fsync` the folder.
    SyncDir,
    /// Delete a file. It is no failure if there is none.
    Unlink {
        /// Its name.
        name: Arc<str>,
    },
}

/// Why an operation failed. The caller reports the system's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A signal came in between (`EINTR`, `EAGAIN`): the same again.
    Interrupted,
    /// The disk or a quota is full (`ENOSPC`, `EDQUOT`).
    NoSpace,
    /// Anything else. Of a write or a sync it means that the file's content is not certain any more.
    Io,
}

/// What became of an operation: the bytes taken by a [`Operation::Write`], otherwise 0.
pub type Outcome = Result<usize, Failure>;
