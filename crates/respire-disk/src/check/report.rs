//! What a check says.

use std::path::PathBuf;

/// What a path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A log: a folder with a manifest and the files that it lists.
    Log,
    /// A single file with commands, which may begin with a snapshot.
    Commands,
    /// A snapshot: an RDB file.
    Snapshot,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The path that was asked for.
    pub path: PathBuf,
    /// What it names.
    pub kind: Kind,
    /// The folder with the files.
    pub folder: PathBuf,
    /// Whether a server uses the folder, so that the files may change while they are read.
    pub is_in_use: bool,
    /// The files in the order in which a server loads them.
    pub files: Vec<FileReport>,
    /// Files in the folder that the manifest does not list.
    pub unlisted: Vec<String>,
    /// The first places of commands that the server does not know, each name once in each file.
    pub unknown: Vec<Unknown>,
    /// The verdict on the whole.
    pub verdict: Verdict,
    /// What is wrong, if anything but unknown commands.
    pub wrong: Option<Wrong>,
    /// What to do next, in a sentence.
    pub advice: String,
    /// The command to type next, if there is one.
    pub command: Option<String>,
}

/// The verdict on all files together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All files are whole, and the server can load them.
    Whole,
    /// The end of the last file is torn. A server cuts it when it starts, if `aof-load-truncated` is `yes`.
    Torn,
    /// A server refuses to start.
    Damaged,
    /// The files are whole, but have commands that the server does not know.
    Unknown,
}

/// What is wrong with the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The file, which may be the manifest.
    pub file: String,
    /// Where it begins.
    pub offset: u64,
    /// What it is.
    pub what: String,
    /// The number of the last change before it that is known to be good.
    pub last_good: Option<u64>,
    /// The last time before it, in unix seconds.
    pub last_good_time_s: Option<u64>,
    /// What a repair cuts off; `None` if there is no repair.
    pub loss: Option<Loss>,
}

/// What is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// The last file of which something is kept.
    pub file: String,
    /// How much of it is kept, in bytes.
    pub offset: u64,
    /// Bytes behind that, with those of the files behind it.
    pub bytes: u64,
    /// Commands that can be read in these bytes.
    pub commands: u64,
    /// Whether the bytes have more commands, which were not counted.
    pub has_more: bool,
    /// The files behind it, of which nothing is kept.
    pub files: Vec<String>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileReport {
    /// Its name.
    pub name: String,
    /// What it is: `base`, `increment`, `snapshot` or `commands`.
    pub kind: &'static str,
    /// Its length.
    pub bytes: u64,
    /// The keys of the snapshot that it is or begins with; `None` if there is none, or it cannot be read.
    pub keys: Option<u64>,
    /// Whole commands in it, as far as it can be read.
    pub commands: u64,
    /// Valid checksum lines in it; for a snapshot 1 if it has a valid checksum.
    pub checksums: u64,
    /// The number of the last change in it, as far as the file says.
    pub last_seq: Option<u64>,
    /// The last time in it, in unix seconds.
    pub last_time_s: Option<u64>,
    /// The verdict on it.
    pub verdict: FileVerdict,
}

/// The verdict on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileVerdict {
    /// It is whole.
    Whole,
    /// Its end is torn.
    Torn {
        /// Where.
        offset: u64,
        /// The bytes behind that.
        bytes: u64,
    },
    /// It is damaged.
    Damaged {
        /// Where.
        offset: u64,
        /// What is wrong.
        what: String,
    },
    /// The manifest lists it, and it is not there.
    Missing,
    /// It was not read, since a file before it is damaged.
    Unread,
}

/// A command that the server does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The file.
    pub file: String,
    /// Where the command begins.
    pub offset: u64,
    /// Its name, as text; at most 64 characters.
    pub name: String,
    /// How often it is in the file.
    pub count: u64,
}
