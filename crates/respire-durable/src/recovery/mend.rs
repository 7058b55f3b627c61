//! The changes that repair a torn end or move an old log, and where to cut at a person's wish.

use super::files::{Files, Place};
use super::report::{Judgement, Outcome};
use super::walk::{Found, Walker};
use crate::checksum;
use crate::manifest;
use std::io;

/// One change on disk. Changes are made in their order; each may be made again after a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Create the log's folder if there is none, and sync the folder above.
    CreateFolder,
    /// Write the bytes to a file in the folder, and sync it.
    WriteWhole {
        /// Its name.
        name: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// Rename a file within the folder.
    Rename {
        /// The present name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Move a file from the folder above into the folder, and sync both.
    MoveIn {
        /// Its name.
        name: String,
    },
    /// Copy the end of a file, from `offset` on, to a new file, and sync that.
    KeepAside {
        /// The file.
        file: String,
        /// Where its torn end begins.
        offset: u64,
        /// The name of the copy.
        to: String,
    },
    /// Cut the file, and sync it.
    Cut {
        /// The file.
        file: String,
        /// Its new length.
        len: u64,
    },
    /// Sync the folder.
    SyncFolder,
}

impl Judgement {
    /// The changes to be made before the log is used. None if it is clean, empty or refused. The log
    /// is judged again once they are made.
    #[must_use]
    pub fn mend(&self, log_name: &str) -> Vec<Change> {
        let mut changes = Vec::new();
        if matches!(self.outcome, Outcome::Refused(_)) {
            return changes;
        }
        if let Some(upgrade) = &self.upgrade {
            changes.push(Change::CreateFolder);
            if let Some(manifest) = &upgrade.manifest {
                let temporary = manifest::temporary_name(log_name);
                changes.push(Change::WriteWhole {
                    name: temporary.clone(),
                    bytes: manifest.to_bytes(),
                });
                changes.push(Change::Rename {
                    from: temporary,
                    to: manifest::name(log_name),
                });
                changes.push(Change::SyncFolder);
            }
            changes.push(Change::MoveIn {
                name: upgrade.file.clone(),
            });
        }
        if let Outcome::TornEnd { file, offset, .. } = &self.outcome {
            changes.push(Change::KeepAside {
                file: file.clone(),
                offset: *offset,
                to: format!("{file}.torn-{offset}"),
            });
            changes.push(Change::SyncFolder);
            changes.push(Change::Cut {
                file: file.clone(),
                len: *offset,
            });
        }
        changes
    }
}

/// Where a person wants a file to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// At most this offset.
    Offset(u64),
    /// Before the first unit later than this time, in unix seconds. Needs times in the file.
    Time(u64),
}

/// The end of the last whole unit of a file up to a limit. O(bytes before it). `None` if the file
/// is whole up to its end and does not reach the limit.
///
/// # Errors
/// Those of reading.
pub fn cut_for(
    files: &mut impl Files,
    name: &str,
    begin: u64,
    until: Until,
) -> io::Result<Option<u64>> {
    let Some(len) = files.len(Place::Folder, name)? else {
        return Ok(None);
    };
    let mut walker = Walker::new(Place::Folder, name, begin.min(len)..len, 1 << 20);
    let (mut in_multi, mut whole_to) = (false, begin.min(len));
    loop {
        match walker.next(files)? {
            Found::Command => {
                let command = walker.arg(0).unwrap_or_default();
                let is_exec = command.eq_ignore_ascii_case(b"EXEC");
                in_multi = command.eq_ignore_ascii_case(b"MULTI") || (in_multi && !is_exec);
            }
            Found::Annotation => {
                let time = checksum::parse_time(walker.item());
                if let (Some(time), Until::Time(limit)) = (time, until)
                    && time > limit
                {
                    return Ok(Some(whole_to));
                }
            }
            Found::End if !in_multi => return Ok(None),
            Found::End | Found::Short | Found::Bad(_) => return Ok(Some(whole_to)),
        }
        if let Until::Offset(limit) = until
            && walker.end() > limit
        {
            return Ok(Some(whole_to));
        }
        if !in_multi {
            whole_to = walker.end();
        }
    }
}
