//! The judgement of a log's files when a server starts.
//!
//! [`judge`] reads all files before anything is changed on disk, and says whether they are whole,
//! torn at their end, or damaged. [`Judgement::mend`] lists the changes that repair a torn end;
//! damaged files are never repaired without being asked. A [`Walker`] reads the commands of a file,
//! for loaders.
//!
//! # What counts as torn
//! Only the end of the last file, behind the last whole unit. A power cut keeps or loses each sector
//! that was not synced, so there may be zeros, or blocks behind a hole. In a file of ours, damage
//! is torn unless a checksum line behind it is valid and says that the damaged bytes were durable
//! when it was written. It is cut at the last valid checksum line. Only what a killed process leaves
//! is kept without such a line: whole units, and then the end of the file. In a file of Redis, a command or transaction that ends too early is torn, if
//! `aof-load-truncated` says so, and so are zeros up to the end.

mod files;
mod judge;
mod mend;
mod report;
mod tail;
mod walk;

pub use files::{Files, Place, RdbProblem};
pub use judge::{Options, judge};
pub use mend::{Change, Until, cut_for};
pub use report::{FileReport, Judgement, Outcome, Refusal, Upgrade, Verdict};
pub use walk::{Found, Walker};
