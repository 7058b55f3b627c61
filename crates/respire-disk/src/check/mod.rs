//! Checks files of a log and snapshots for a person, and cuts off what is damaged when asked to.
//!
//! [`check`] changes nothing. [`fix`] never changes a file in place: the part that is kept is written to a new file,
//! and the original stays as `NAME.corrupt-TIME`.
//!
//! ```
//! use respire_disk::check::{Options, Verdict, check};
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("appendonly.aof");
//! std::fs::write(&path, "*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$")?;
//! let report = check(&path, &Options::default())?;
//! assert_eq!(report.files[0].commands, 1);
//! assert_eq!(report.verdict, Verdict::Torn);
//! # Ok::<(), std::io::Error>(())
//! ```

// Floor: repair
mod apply;
mod fix;

// Floor: judgement
mod study;

// Floor: what is in files
mod count;
mod view;

// Floor: which files
mod path;
mod report;
mod time;

pub use fix::{Cut, Done, Fixed, fix};
pub use report::{FileReport, FileVerdict, Kind, Loss, Report, Unknown, Verdict, Wrong};
pub use study::check;
pub use time::{parse_time, stamp, utc};

/// Whether the server knows a command of this name.
pub type Knows<'o> = &'o dyn Fn(&[u8]) -> bool;

/// What a check may use beside the files.
#[derive(Clone, Copy, Default)]
pub struct Options<'o> {
    /// Whether the server knows a command of this name. Without it, all names are taken as known.
    pub knows: Option<Knows<'o>>,
}

impl core::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let has_names = self.knows.is_some();
        f.debug_struct("Options")
            .field("knows", &has_names)
            .finish()
    }
}

#[cfg(test)]
mod tests;
