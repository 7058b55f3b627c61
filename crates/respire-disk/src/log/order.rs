//! Puts the units of all threads in the order of their tickets.

use super::stage::Stage;
use crate::record;
use std::collections::BTreeMap;

/// Units as commands, in the order of their tickets and without a gap.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Ordered {
    /// The ticket of the last unit; 0 if there is none.
    pub(crate) last: u64,
    /// The database that must be selected before the first command, if any.
    pub(crate) db: Option<u32>,
    /// The database that is selected after the last command, if any command needs one.
    pub(crate) db_after: Option<u32>,
    pub(crate) bytes: Vec<u8>,
}

/// Collects stages, and gives out their units in order.
#[derive(Debug)]
pub(crate) struct Order {
    /// The ticket that comes next.
    next: u64,
    /// Stages with the number of units that have been given out, by the ticket of their next unit.
    stages: BTreeMap<u64, (Stage, usize)>,
}

impl Order {
    /// An order that begins with this ticket. Units before it are left out.
    pub(crate) fn new(next: u64) -> Self {
        Self {
            next,
            stages: BTreeMap::new(),
        }
    }

    /// Adds the units of a stage. Gives it back if it has none that come next or later.
    pub(crate) fn add(&mut self, mut stage: Stage) -> Option<Stage> {
        stage.sort();
        let at = stage
            .units()
            .partition_point(|unit| unit.ticket < self.next);
        let Some(unit) = stage.units().get(at) else {
            return Some(stage);
        };
        self.stages.insert(unit.ticket, (stage, at));
        None
    }

    /// Appends the units that come next, at most up to this ticket, and stops after `bytes_max` bytes or more.
    /// Passes each stage that is used up to `done`.
    pub(crate) fn take(
        &mut self,
        up_to: u64,
        bytes_max: usize,
        ordered: &mut Ordered,
        mut done: impl FnMut(Stage),
    ) {
        while ordered.bytes.len() < bytes_max && self.next <= up_to {
            let Some((stage, at)) = self.stages.remove(&self.next) else {
                return;
            };
            let mut taken = at;
            for unit in &stage.units()[at..] {
                if unit.ticket != self.next
                    || unit.ticket > up_to
                    || ordered.bytes.len() >= bytes_max
                {
                    break;
                }
                ordered.add(unit.ticket, unit.db, unit.db_after, stage.commands(unit));
                self.next += 1;
                taken += 1;
            }
            match stage.units().get(taken) {
                Some(unit) => {
                    self.stages.insert(unit.ticket, (stage, taken));
                }
                None => done(stage),
            }
        }
    }
}

impl Ordered {
    fn add(&mut self, ticket: u64, db: Option<u32>, db_after: Option<u32>, commands: &[u8]) {
        self.last = ticket;
        if let Some(db) = db {
            match self.db_after {
                None => self.db = Some(db),
                Some(selected) if selected != db => record::select(db, &mut self.bytes),
                Some(_) => {}
            }
        }
        self.db_after = db_after.or(self.db_after);
        self.bytes.extend_from_slice(commands);
    }
}
