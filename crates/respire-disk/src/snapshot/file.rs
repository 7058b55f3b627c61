//! The file of a snapshot: written under another name, synchronized, read back, and renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::SaveError;

/// Bytes after which what was written is synchronized, so that the disk does not get all of it at once at the end.
const SYNC_BYTES: u64 = 32 << 20;

/// Bytes of one write.
const WRITE_BYTES: usize = 1 << 20;

/// Takes the bytes of a snapshot.
pub trait Sink {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// If they cannot be taken; the snapshot then ends.
    fn write(&mut self, chunk: &[u8]) -> io::Result<()>;
}

impl Sink for Vec<u8> {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.extend_from_slice(chunk);
        Ok(())
    }
}

/// The file of a snapshot until it has its name. Dropping it removes the file.
pub(super) struct TempFile {
    file: File,
    temp: PathBuf,
    unsynced: u64,
    has_name: bool,
}

impl TempFile {
    /// Makes an empty file in the directory of `path`.
    pub(super) fn new(path: &Path) -> Result<TempFile, SaveError> {
        let temp = path.with_file_name(format!("temp-{}.rdb", std::process::id()));
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true);
        let file = options.open(&temp).map_err(SaveError::io("create"))?;
        Ok(TempFile {
            file,
            temp,
            unsynced: 0,
            has_name: false,
        })
    }

    /// Puts all of the file on the disk, and returns it for reading it back from there.
    pub(super) fn synchronized(&mut self) -> Result<&mut File, SaveError> {
        self.file.sync_all().map_err(SaveError::io("synchronize"))?;
        // What is read back should come from the disk. If the cache cannot be emptied, it comes from there.
        #[cfg(target_os = "linux")]
        let _is_emptied = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
        Ok(&mut self.file)
    }

    /// Gives the file its name, instead of the file that has it.
    pub(super) fn rename(mut self, path: &Path) -> Result<(), SaveError> {
        fs::rename(&self.temp, path).map_err(SaveError::io("rename"))?;
        self.has_name = true;
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let folder = File::open(folder).and_then(|folder| folder.sync_all());
        folder.map_err(SaveError::io("synchronize the directory of"))
    }
}

impl Sink for TempFile {
    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        for piece in chunk.chunks(WRITE_BYTES) {
            self.file.write_all(piece)?;
            self.unsynced += piece.len() as u64;
            if self.unsynced >= SYNC_BYTES {
                self.file.sync_data()?;
                self.unsynced = 0;
            }
        }
        Ok(())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        if !self.has_name {
            // Nothing can be done if that fails; the next snapshot of this process uses the same name.
            let _is_removed = fs::remove_file(&self.temp);
        }
    }
}
