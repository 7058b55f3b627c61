//! A disk in memory, for tests: page cache and medium are apart, operations fail, and power cuts
//! keep or lose each sector, length and name that was not synced. One seed is one history.

mod crash;
mod inode;

use crate::log::{Failure, FileId, Operation, Outcome};
use crate::recovery::{Change, Files, Place, RdbProblem};
use fastrand::Rng;
use inode::Inode;
use std::collections::{BTreeMap, HashMap};
use std::io;

/// What a disk does wrong.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Operations that fail, by their number from 0.
    pub at: BTreeMap<u64, Failure>,
    /// How many of a thousand operations fail with [`Failure::Io`].
    pub io_per_mille: u32,
    /// How many of a thousand operations are interrupted, or write less than they were asked to.
    pub short_per_mille: u32,
    /// The most bytes of all files together.
    pub capacity: Option<u64>,
}

/// The value of a name: a file, or none.
type Value = Option<u64>;

/// One folder on a simulated disk.
#[derive(Clone, Debug)]
pub struct Disk {
    inodes: BTreeMap<u64, Inode>,
    next_inode: u64,
    /// The names as programs see them.
    names: BTreeMap<String, u64>,
    /// The names on the medium.
    durable_names: BTreeMap<String, u64>,
    /// The values that names had since the last sync of the folder.
    dirty_names: BTreeMap<String, Vec<Value>>,
    /// The same, from before a sync that failed: a later one does not write them.
    lost_names: BTreeMap<String, Vec<Value>>,
    open: HashMap<FileId, u64>,
    operations: u64,
    rng: Rng,
    /// What goes wrong from now on.
    pub faults: Faults,
}

impl Disk {
    /// An empty disk.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            inodes: BTreeMap::new(),
            next_inode: 0,
            names: BTreeMap::new(),
            durable_names: BTreeMap::new(),
            dirty_names: BTreeMap::new(),
            lost_names: BTreeMap::new(),
            open: HashMap::new(),
            operations: 0,
            rng: Rng::with_seed(seed),
            faults: Faults::default(),
        }
    }

    /// How many operations were performed.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operations
    }

    /// Performs an operation.
    ///
    /// # Errors
    /// The fault, or what really is wrong.
    pub fn perform(&mut self, operation: &Operation) -> Outcome {
        let number = self.operations;
        self.operations += 1;
        let planned = self.faults.at.remove(&number);
        let by_chance = self.rng.u32(0..1000) < self.faults.io_per_mille;
        let fault = planned.or(by_chance.then_some(Failure::Io));
        let is_short = self.rng.u32(0..1000) < self.faults.short_per_mille;
        if is_short && !matches!(operation, Operation::Write { .. }) {
            return Err(Failure::Interrupted);
        }
        self.apply(operation, fault, is_short)
    }

    /// What is left of an operation that was in flight when the process was killed: nothing, all,
    /// or a part of it.
    pub fn interrupt(&mut self, operation: &Operation) {
        if self.rng.bool() {
            // A system reports a failed sync that nobody heard of to the next who opens the file.
            let is_sync = matches!(operation, Operation::Sync { .. } | Operation::SyncDir);
            let fault = (!is_sync && self.rng.bool()).then_some(Failure::Io);
            let is_short = self.rng.bool();
            // Nobody is left to hear of it.
            let _ = self.apply(operation, fault, is_short);
        }
    }

    fn apply(&mut self, operation: &Operation, fault: Option<Failure>, is_short: bool) -> Outcome {
        let fail = fault.map_or(Ok(0), Err);
        match operation {
            Operation::Create { file, name } => {
                if fault.is_none() || self.rng.bool() {
                    let inode = self.create(name);
                    self.open.insert(*file, inode);
                }
            }
            Operation::Open { file, name } => {
                let Some(inode) = self.names.get(&**name).filter(|_| fault.is_none()) else {
                    return Err(Failure::Io);
                };
                self.open.insert(*file, *inode);
            }
            Operation::Write {
                file,
                offset,
                pieces,
                ..
            } => {
                let bytes = pieces.concat();
                return self.write(*file, *offset, &bytes, fault, is_short);
            }
            Operation::Redo { file, offset, end } => {
                let inode = self.opened(*file)?;
                let bytes = inode.bytes()[*offset as usize..*end as usize].to_vec();
                if fault.is_none() {
                    inode.write(*offset, &bytes);
                }
            }
            Operation::Truncate { file, len } => {
                if fault.is_none() || self.rng.bool() {
                    self.opened(*file)?.truncate(*len);
                }
            }
            Operation::Sync { file } => {
                let mut rng = self.rng.fork();
                let inode = self.opened(*file)?;
                match fault {
                    Some(_) => inode.fail_to_sync(&mut rng),
                    None => inode.sync(),
                }
            }
            Operation::Close { file } => {
                self.open.remove(file);
            }
            Operation::WriteWhole { name, bytes } => return self.write_whole(name, bytes, fault),
            Operation::Rename { from, to } => {
                if fault.is_none() || self.rng.bool() {
                    self.rename(from, to)?;
                }
            }
            Operation::SyncDir => self.sync_names(fault.is_some()),
            Operation::Unlink { name } => {
                if fault.is_none() || self.rng.bool() {
                    self.set_name(name, None);
                }
            }
        }
        fail
    }

    /// Writes a file as a base is written: through to the medium, unless it fails.
    ///
    /// # Errors
    /// The fault.
    pub fn write_whole(&mut self, name: &str, bytes: &[u8], fault: Option<Failure>) -> Outcome {
        let room = self.room();
        let inode = self.create(name);
        let taken = match fault {
            Some(_) => self.rng.usize(0..=bytes.len()),
            None => bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX)),
        };
        let Some(inode) = self.inodes.get_mut(&inode) else {
            return Err(Failure::Io);
        };
        inode.write(0, &bytes[..taken]);
        match fault {
            Some(failure) => Err(failure),
            None if taken < bytes.len() => Err(Failure::NoSpace),
            None => {
                inode.sync();
                Ok(0)
            }
        }
    }

    fn write(
        &mut self,
        file: FileId,
        offset: u64,
        bytes: &[u8],
        fault: Option<Failure>,
        is_short: bool,
    ) -> Outcome {
        let room = usize::try_from(self.room()).unwrap_or(usize::MAX);
        let mut taken = bytes.len().min(room);
        if is_short || fault.is_some() {
            taken = self.rng.usize(0..=taken);
        }
        let inode = self.opened(file)?;
        assert!(offset <= inode.len(), "a write behind the end of the file");
        inode.write(offset, &bytes[..taken]);
        match fault {
            Some(failure) => Err(failure),
            None if taken == 0 && is_short => Err(Failure::Interrupted),
            None if taken == 0 && !bytes.is_empty() => Err(Failure::NoSpace),
            None => Ok(taken),
        }
    }

    fn opened(&mut self, file: FileId) -> Result<&mut Inode, Failure> {
        let inode = self.open.get(&file).ok_or(Failure::Io)?;
        self.inodes.get_mut(inode).ok_or(Failure::Io)
    }

    /// The bytes that still fit.
    fn room(&self) -> u64 {
        let Some(capacity) = self.faults.capacity else {
            return u64::MAX;
        };
        let used = self
            .names
            .values()
            .filter_map(|inode| self.inodes.get(inode));
        capacity.saturating_sub(used.map(Inode::len).sum())
    }

    fn create(&mut self, name: &str) -> u64 {
        let inode = self.next_inode;
        self.next_inode += 1;
        self.inodes.insert(inode, Inode::default());
        self.set_name(name, Some(inode));
        inode
    }

    fn rename(&mut self, from: &str, to: &str) -> Result<(), Failure> {
        let inode = *self.names.get(from).ok_or(Failure::Io)?;
        self.set_name(from, None);
        self.set_name(to, Some(inode));
        Ok(())
    }

    fn set_name(&mut self, name: &str, value: Value) {
        match value {
            Some(inode) => self.names.insert(name.to_owned(), inode),
            None => self.names.remove(name),
        };
        self.dirty_names
            .entry(name.to_owned())
            .or_default()
            .push(value);
    }

    fn sync_names(&mut self, fails: bool) {
        for (name, values) in std::mem::take(&mut self.dirty_names) {
            if fails {
                self.lost_names.entry(name).or_default().extend(values);
                continue;
            }
            self.lost_names.remove(&name);
            match self.names.get(&name) {
                Some(inode) => self.durable_names.insert(name, *inode),
                None => self.durable_names.remove(&name),
            };
        }
    }

    /// The content of a file, as programs see it.
    #[must_use]
    pub fn read(&self, name: &str) -> Option<&[u8]> {
        let inode = self.names.get(name)?;
        self.inodes.get(inode).map(Inode::bytes)
    }

    /// The names of all files, as programs see them.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Puts a file on the disk, durably.
    pub fn put(&mut self, name: &str, bytes: &[u8]) {
        let inode = self.create(name);
        if let Some(inode) = self.inodes.get_mut(&inode) {
            inode.write(0, bytes);
            inode.sync();
        }
        self.sync_names(false);
    }

    /// Makes a change that a judgement asks for, durably.
    pub fn mend(&mut self, change: &Change) {
        match change {
            Change::CreateFolder | Change::MoveIn { .. } => {}
            Change::WriteWhole { name, bytes } => self.put(name, bytes),
            Change::Rename { from, to } => {
                // A second try finds the file renamed.
                let _ = self.rename(from, to);
            }
            Change::KeepAside { file, offset, to } => {
                let bytes = self.read(file).unwrap_or_default();
                let end = bytes.get(*offset as usize..).unwrap_or_default().to_vec();
                self.put(to, &end);
            }
            Change::Cut { file, len } => {
                let inode = self
                    .names
                    .get(file)
                    .and_then(|inode| self.inodes.get_mut(inode));
                if let Some(inode) = inode {
                    inode.truncate(*len);
                    inode.sync();
                }
            }
            Change::SyncFolder => self.sync_names(false),
        }
    }
}

impl Files for Disk {
    fn list(&mut self) -> io::Result<Vec<String>> {
        Ok(self.names.keys().cloned().collect())
    }

    fn len(&mut self, place: Place, name: &str) -> io::Result<Option<u64>> {
        if place == Place::Above {
            return Ok(None);
        }
        Ok(self.read(name).map(|bytes| bytes.len() as u64))
    }

    fn read_at(&mut self, _: Place, name: &str, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.read(name).ok_or(io::ErrorKind::NotFound)?;
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|offset| bytes.get(offset..));
        let rest = rest.unwrap_or_default();
        let len = rest.len().min(into.len());
        into[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn rdb(&mut self, _: Place, _: &str, len: u64) -> Result<u64, RdbProblem> {
        Ok(len)
    }
}
