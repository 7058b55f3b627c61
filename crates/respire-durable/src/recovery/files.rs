//! Read access to the files of a log.

use std::io;

/// The two folders in which files of a log may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The log's folder: `appenddirname`.
    Folder,
    /// The folder above it, `dir`, where Redis before version 7 had the log as a single file.
    Above,
}

/// Why an RDB file cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RdbProblem {
    /// Where.
    pub offset: u64,
    /// What is wrong.
    pub what: String,
}

/// Read access to the files of a log. Names have no path.
pub trait Files {
    /// The names of all files in the log's folder; empty if there is no such folder.
    ///
    /// # Errors
    /// Those of the system.
    fn list(&mut self) -> io::Result<Vec<String>>;

    /// The length of a file; `None` if there is none.
    ///
    /// # Errors
    /// Those of the system.
    fn len(&mut self, place: Place, name: &str) -> io::Result<Option<u64>>;

    /// Reads bytes at an offset. Returns how many; 0 only at the end of the file.
    ///
    /// # Errors
    /// Those of the system.
    fn read_at(
        &mut self,
        place: Place,
        name: &str,
        offset: u64,
        into: &mut [u8],
    ) -> io::Result<usize>;

    /// Judges a file that begins with `REDIS`. Returns where the RDB part ends: commands may follow.
    ///
    /// # Errors
    /// What is wrong with the file.
    fn rdb(&mut self, place: Place, name: &str, len: u64) -> Result<u64, RdbProblem>;
}
