//! What is left when the process or the machine stops.

use super::{Disk, Value};
use std::collections::BTreeSet;

impl Disk {
    /// The process is killed: the system keeps what it was given.
    pub fn kill(&mut self) {
        self.open.clear();
    }

    /// The power is cut: of what was not synced, each sector, length and name is kept or lost on its
    /// own.
    pub fn lose_power(&mut self) {
        self.open.clear();
        for inode in self.inodes.values_mut() {
            inode.lose_power(&mut self.rng);
        }
        let dirty = std::mem::take(&mut self.dirty_names);
        let lost = std::mem::take(&mut self.lost_names);
        let uncertain: BTreeSet<_> = dirty.keys().chain(lost.keys()).cloned().collect();
        for name in uncertain {
            let mut values: Vec<Value> = vec![self.durable_names.get(&name).copied()];
            values.extend(lost.get(&name).into_iter().flatten());
            values.extend(dirty.get(&name).into_iter().flatten());
            let value = values[self.rng.usize(0..values.len())];
            match value {
                Some(inode) => self.durable_names.insert(name, inode),
                None => self.durable_names.remove(&name),
            };
        }
        self.names = self.durable_names.clone();
    }
}
