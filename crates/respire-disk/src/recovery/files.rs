//! The files of a log, as the judge reads them and as a repair changes them.

use crate::load;
use crate::log::sync_dir;
use respire_durable::recovery::{Change, Files, Place, RdbProblem};
use respire_rdb::file::Sum;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The folder of a log and the one above it.
pub(crate) struct RealFiles {
    folder: PathBuf,
    above: PathBuf,
    /// Open files: a file is read in many windows.
    open: HashMap<PathBuf, File>,
}

impl RealFiles {
    pub(crate) fn new(folder: PathBuf, above: PathBuf) -> Self {
        Self {
            folder,
            above,
            open: HashMap::new(),
        }
    }

    /// The path of a file.
    pub(crate) fn path(&self, place: Place, name: &str) -> PathBuf {
        match place {
            Place::Folder => self.folder.join(name),
            Place::Above => self.above.join(name),
        }
    }

    /// Makes one change on disk, and syncs what it has changed.
    pub(crate) fn make(&mut self, change: &Change) -> io::Result<()> {
        self.open.clear();
        match change {
            Change::CreateFolder => create_folder(&self.folder),
            Change::WriteWhole { name, bytes } => {
                let mut file = File::create(self.folder.join(name))?;
                file.write_all(bytes)?;
                file.sync_all()
            }
            Change::Rename { from, to } => fs::rename(self.folder.join(from), self.folder.join(to)),
            Change::MoveIn { name } => {
                fs::rename(self.above.join(name), self.folder.join(name))?;
                sync_dir(&self.folder)?;
                sync_dir(&self.above)
            }
            Change::KeepAside { file, offset, to } => {
                let mut source = File::open(self.folder.join(file))?;
                source.seek(SeekFrom::Start(*offset))?;
                let mut copy = File::create(self.folder.join(to))?;
                io::copy(&mut source, &mut copy)?;
                copy.sync_all()
            }
            Change::Cut { file, len } => {
                let file = File::options().write(true).open(self.folder.join(file))?;
                file.set_len(*len)?;
                file.sync_all()
            }
            Change::SyncFolder => sync_dir(&self.folder),
        }
    }

    fn open(&mut self, path: PathBuf) -> io::Result<&File> {
        match self.open.entry(path) {
            std::collections::hash_map::Entry::Occupied(found) => Ok(found.into_mut()),
            std::collections::hash_map::Entry::Vacant(room) => {
                let file = File::open(room.key())?;
                Ok(room.insert(file))
            }
        }
    }
}

/// Creates a folder if there is none, and makes its name durable.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_dir() => {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    match path.parent() {
        Some(above) => sync_dir(above),
        None => Ok(()),
    }
}

impl Files for RealFiles {
    fn list(&mut self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not UTF-8 is none of ours.
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    fn len(&mut self, place: Place, name: &str) -> io::Result<Option<u64>> {
        match fs::metadata(self.path(place, name)) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
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
        let path = self.path(place, name);
        self.open(path)?.read_at(into, offset)
    }

    fn rdb(&mut self, place: Place, name: &str, _: u64) -> Result<u64, RdbProblem> {
        let path = self.path(place, name);
        let file = File::open(&path).map_err(|error| RdbProblem {
            offset: 0,
            what: error.to_string(),
        })?;
        if let Ok(Some(end)) = whole_snapshot(&file) {
            return Ok(end);
        }
        let options = load::Options {
            may_go_on: true,
            ..load::Options::default()
        };
        let examined = load::examine(&file, options, &mut ());
        examined
            .map(|report| report.end)
            .map_err(|fault| RdbProblem {
                offset: fault.offset,
                what: fault.to_string(),
            })
    }
}

/// The length of a snapshot that nothing follows, if its checksum is right. What is in it is looked at when it is
/// loaded, still before anything is changed on disk.
fn whole_snapshot(file: &File) -> io::Result<Option<u64>> {
    const EOF: u8 = 0xff;
    let len = file.metadata()?.len();
    let Some(checked) = len.checked_sub(CHECKSUM_BYTES as u64) else {
        return Ok(None);
    };
    let mut checksum = [0; CHECKSUM_BYTES];
    file.read_exact_at(&mut checksum, checked)?;
    let mut buffer = vec![0; WINDOW_BYTES];
    let (mut sum, mut at, mut last) = (Sum::default(), 0, 0);
    while at < checked {
        let window = buffer
            .len()
            .min(usize::try_from(checked - at).unwrap_or(usize::MAX));
        file.read_exact_at(&mut buffer[..window], at)?;
        sum = sum.then(Sum::of(&buffer[..window]));
        last = buffer[window - 1];
        at += window as u64;
    }
    let is_right = last == EOF && sum.crc() == u64::from_le_bytes(checksum);
    Ok(is_right.then_some(len))
}

const CHECKSUM_BYTES: usize = 8;

/// Bytes that are read at once.
const WINDOW_BYTES: usize = 1 << 20;

/// Whether a file begins as a snapshot does.
pub(crate) fn is_snapshot(path: &Path) -> io::Result<bool> {
    let mut magic = [0; 5];
    let mut file = File::open(path)?;
    let mut filled = 0;
    while filled < magic.len() {
        match file.read(&mut magic[filled..])? {
            0 => break,
            bytes => filled += bytes,
        }
    }
    Ok(magic == *b"REDIS" || magic == *b"VALKE")
}
