//! The files of a log as the judge sees them: as they are, or as a repair would leave them.

use super::path::{names, parent};
use crate::load::{self, Report, examine};
use respire_durable::manifest::Manifest;
use respire_durable::recovery::{Files, Place, RdbProblem};
use respire_rdb::file::Fault;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Files of a log.
pub(super) struct View {
    folder: PathBuf,
    above: PathBuf,
    /// The only file that is in the folder.
    only: Option<String>,
    /// Contents that stand for those of files.
    texts: HashMap<String, Vec<u8>>,
    /// Lengths to which files are cut.
    limits: HashMap<String, u64>,
    open: HashMap<PathBuf, File>,
    /// Snapshots that were read already.
    snapshots: HashMap<PathBuf, Result<Report, Fault>>,
}

impl View {
    pub(super) fn new(folder: &Path, above: PathBuf) -> Self {
        Self {
            folder: folder.to_owned(),
            above,
            only: None,
            texts: HashMap::new(),
            limits: HashMap::new(),
            open: HashMap::new(),
            snapshots: HashMap::new(),
        }
    }

    /// A view of a folder that has a single file.
    pub(super) fn of_file(path: &Path, name: &str) -> Self {
        let folder = parent(path);
        let mut view = Self::new(&folder, folder.clone());
        view.only = Some(name.to_owned());
        view
    }

    pub(super) fn set_manifest(&mut self, name: &str, text: Vec<u8>) {
        self.texts.insert(name.to_owned(), text);
    }

    pub(super) fn set_limit(&mut self, name: &str, bytes: u64) {
        self.limits.insert(name.to_owned(), bytes);
    }

    /// Forgets the contents and lengths that were set.
    pub(super) fn reset(&mut self) {
        self.texts.clear();
        self.limits.clear();
    }

    /// The path of a listed file.
    pub(super) fn path(&self, place: Place, name: &str) -> PathBuf {
        match place {
            Place::Folder => self.folder.join(name),
            Place::Above => self.above.join(name),
        }
    }

    /// The snapshot with which a file begins that the judge has read.
    pub(super) fn snapshot(&self, place: Place, name: &str) -> Option<&Result<Report, Fault>> {
        self.snapshots.get(&self.path(place, name))
    }

    /// Where the commands begin in a file that the judge has read: behind its snapshot.
    pub(super) fn begin(&self, place: Place, name: &str) -> u64 {
        match self.snapshot(place, name) {
            Some(Ok(report)) => report.end,
            _ => 0,
        }
    }
}

/// The text of a manifest in the form that it has: sealed, or as Redis writes it.
pub(super) fn text(manifest: &Manifest) -> Vec<u8> {
    let bytes = manifest.to_bytes();
    if manifest.sealed {
        return bytes;
    }
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.starts_with(b"#"))
        .collect::<Vec<_>>()
        .concat()
}

impl Files for View {
    fn list(&mut self) -> io::Result<Vec<String>> {
        match &self.only {
            Some(name) => Ok(vec![name.clone()]),
            None => names(&self.folder),
        }
    }

    fn len(&mut self, place: Place, name: &str) -> io::Result<Option<u64>> {
        if let Some(text) = self.texts.get(name) {
            return Ok(Some(text.len() as u64));
        }
        let limit = self.limits.get(name).copied().unwrap_or(u64::MAX);
        match fs::metadata(self.path(place, name)) {
            Ok(metadata) if !metadata.is_file() => Ok(None),
            Ok(metadata) => Ok(Some(metadata.len().min(limit))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_at(
        &mut self,
        place: Place,
        name: &str,
        offset: u64,
        into: &mut [u8],
    ) -> io::Result<usize> {
        if let Some(text) = self.texts.get(name) {
            let rest = usize::try_from(offset).ok().and_then(|at| text.get(at..));
            let rest = rest.unwrap_or_default();
            let bytes = rest.len().min(into.len());
            into[..bytes].copy_from_slice(&rest[..bytes]);
            return Ok(bytes);
        }
        let path = self.path(place, name);
        if !self.open.contains_key(&path) {
            self.open.insert(path.clone(), File::open(&path)?);
        }
        let limit = self.limits.get(name).copied().unwrap_or(u64::MAX);
        let room = usize::try_from(limit.saturating_sub(offset)).unwrap_or(usize::MAX);
        let room = room.min(into.len());
        match self.open.get(&path) {
            Some(file) => file.read_at(&mut into[..room], offset),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn rdb(&mut self, place: Place, name: &str, _: u64) -> Result<u64, RdbProblem> {
        let path = self.path(place, name);
        if !self.snapshots.contains_key(&path) {
            let result = snapshot(&path, true).map_err(|error| RdbProblem {
                offset: 0,
                what: error.to_string(),
            })?;
            self.snapshots.insert(path.clone(), result);
        }
        match self.snapshots.get(&path) {
            Some(Err(fault)) => Err(RdbProblem {
                offset: fault.offset,
                what: what(fault),
            }),
            Some(Ok(report)) => Ok(report.end),
            None => Ok(0),
        }
    }
}

/// Reads a snapshot.
pub(super) fn snapshot(path: &Path, may_go_on: bool) -> io::Result<Result<Report, Fault>> {
    let file = File::open(path)?;
    let options = load::Options {
        may_go_on,
        ..load::Options::default()
    };
    Ok(examine(&file, options, &mut ()))
}

/// What is wrong with a snapshot, without the place.
pub(super) fn what(fault: &Fault) -> String {
    let text = fault.to_string();
    let place = format!("at byte {}: ", fault.offset);
    text.strip_prefix(&place).unwrap_or(&text).to_owned()
}
