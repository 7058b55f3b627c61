//! The stage: the units that one thread has changed since it last handed them over, as commands.

use crate::record;
use respire_store::Effect;

/// The units of one thread that have ended, and those that have not.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    bytes: Vec<u8>,
    units: Vec<Unit>,
    /// The unit whose commands are written at the end of `bytes`.
    open: Option<Open>,
    /// Units that the thread began before the open one had ended, with bytes of their own. That is rare: a
    /// thread works on one unit, but for changes that it makes on behalf of others meanwhile.
    within: Vec<(Open, Vec<u8>)>,
    /// Those of them that have ended. They are added once the open unit has ended.
    ended_within: Vec<(Open, Vec<u8>)>,
}

/// The place of a unit and of its commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Its place among all units.
    pub(crate) ticket: u64,
    start: usize,
    end: usize,
    /// The database that must be selected before its first command, if any.
    pub(crate) db: Option<u32>,
    /// The database that is selected after its last command, if it selects or needs one.
    pub(crate) db_after: Option<u32>,
}

/// A unit that has not ended.
#[derive(Debug)]
struct Open {
    ticket: u64,
    commands: usize,
    start: usize,
    db: Option<u32>,
    db_after: Option<u32>,
}

const MULTI: &[u8] = b"*1\r\n$5\r\nMULTI\r\n";
const EXEC: &[u8] = b"*1\r\n$4\r\nEXEC\r\n";

impl Stage {
    /// The bytes of its commands.
    pub(crate) fn bytes_len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether no unit has ended.
    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// Whether a unit has not ended. Such a stage cannot be handed over.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some() || !self.within.is_empty()
    }

    /// The units that have ended.
    pub(crate) fn units(&self) -> &[Unit] {
        &self.units
    }

    /// Sorts the units by ticket. They nearly always are.
    pub(crate) fn sort(&mut self) {
        if !self.units.is_sorted_by_key(|unit| unit.ticket) {
            self.units.sort_unstable_by_key(|unit| unit.ticket);
        }
    }

    /// The commands of a unit.
    pub(crate) fn commands(&self, unit: &Unit) -> &[u8] {
        &self.bytes[unit.start..unit.end]
    }

    /// Empties the stage, and keeps memory for the next units unless it is a lot.
    pub(crate) fn clear(&mut self) {
        debug_assert!(
            !self.is_open(),
            "the commands of an open unit would be lost"
        );
        if self.bytes.capacity() > BYTES_KEPT_MAX {
            self.bytes = Vec::new();
        }
        self.bytes.clear();
        self.units.clear();
    }

    /// Adds an effect to the unit of this ticket.
    #[inline]
    pub(crate) fn effect(&mut self, ticket: u64, effect: &Effect<'_>) {
        match &mut self.open {
            Some(open) if open.ticket == ticket => open.add(effect, &mut self.bytes),
            Some(_) => self.effect_within(ticket, effect),
            None if self.within.is_empty() => {
                let mut open = Open::new(ticket, self.bytes.len());
                open.add(effect, &mut self.bytes);
                self.open = Some(open);
            }
            None => self.effect_within(ticket, effect),
        }
    }

    #[cold]
    fn effect_within(&mut self, ticket: u64, effect: &Effect<'_>) {
        let known = self
            .within
            .iter()
            .position(|(open, _)| open.ticket == ticket);
        let at = known.unwrap_or_else(|| {
            self.within.push((Open::new(ticket, 0), Vec::new()));
            self.within.len() - 1
        });
        let (open, bytes) = &mut self.within[at];
        open.add(effect, bytes);
    }

    /// Adds a unit of one command that needs no database.
    pub(crate) fn command(&mut self, ticket: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let mut open = Open::new(ticket, 0);
        let mut bytes = Vec::new();
        write(&mut bytes);
        open.commands = 1;
        self.ended_within.push((open, bytes));
        if self.open.is_none() {
            self.add_ended();
        }
    }

    /// Gives an open unit another ticket. The old one becomes the place of an empty unit.
    pub(crate) fn renew(&mut self, old: u64, new: u64) {
        let within = self.within.iter_mut().map(|(open, _)| open);
        let mut all = self.open.iter_mut().chain(within);
        if let Some(open) = all.find(|open| open.ticket == old) {
            open.ticket = new;
        }
        self.units.push(Open::new(old, 0).placed(0));
    }

    /// Ends the unit of this ticket. Several commands become a transaction.
    #[inline]
    pub(crate) fn end(&mut self, ticket: u64) {
        match self.open.take() {
            Some(open) if open.ticket == ticket => {
                open.close(&mut self.bytes);
                self.units.push(open.placed(self.bytes.len()));
                if !self.ended_within.is_empty() {
                    self.add_ended();
                }
            }
            other => {
                self.open = other;
                self.end_within(ticket);
            }
        }
    }

    #[cold]
    fn end_within(&mut self, ticket: u64) {
        let Some(at) = self
            .within
            .iter()
            .position(|(open, _)| open.ticket == ticket)
        else {
            // It has changed nothing.
            return self.units.push(Open::new(ticket, 0).placed(0));
        };
        let (open, mut bytes) = self.within.remove(at);
        open.close(&mut bytes);
        self.ended_within.push((open, bytes));
        if self.open.is_none() {
            self.add_ended();
        }
    }

    #[cold]
    fn add_ended(&mut self) {
        for (mut open, bytes) in self.ended_within.drain(..) {
            open.start = self.bytes.len();
            self.bytes.extend_from_slice(&bytes);
            self.units.push(open.placed(self.bytes.len()));
        }
    }
}

/// Memory for commands that a stage keeps while it is empty.
const BYTES_KEPT_MAX: usize = 1 << 20;

impl Open {
    fn new(ticket: u64, start: usize) -> Self {
        Self {
            ticket,
            commands: 0,
            start,
            db: None,
            db_after: None,
        }
    }

    #[inline]
    fn add(&mut self, effect: &Effect<'_>, bytes: &mut Vec<u8>) {
        if let Some(db) = record::database(effect) {
            match self.db_after {
                None => self.db = Some(db),
                Some(selected) if selected != db => {
                    record::select(db, bytes);
                    self.commands += 1;
                }
                Some(_) => {}
            }
            self.db_after = Some(db);
        }
        self.commands += record::encode(effect, bytes);
    }

    #[inline]
    fn close(&self, bytes: &mut Vec<u8>) {
        if self.commands > 1 {
            bytes.splice(self.start..self.start, MULTI.iter().copied());
            bytes.extend_from_slice(EXEC);
        }
    }

    #[inline]
    fn placed(&self, end: usize) -> Unit {
        Unit {
            ticket: self.ticket,
            start: self.start,
            end,
            db: self.db,
            db_after: self.db_after,
        }
    }
}
