//! The command table: finds a command by its name without allocating.

use crate::observe::histogram::{Counts, Histogram};
use crate::spec::name_parts;
use crate::{App, ArgList, Command, Flags, KeyBegin, Spec};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One command of the table, or one subcommand of a container.
pub struct CommandEntry<A: App> {
    command: Box<dyn Command<A>>,
    spec: Spec,
    word: u64,
    subcommands: Vec<u32>,
    is_container: bool,
    /// The index of the argument that is its first key; 0 if it has none or its position varies.
    first_key: usize,
    /// Whether it came with the router rather than being added to it.
    is_builtin: bool,
    is_always_timed: bool,
    /// Calls of at most this many arguments are not always timed ([`Spec::constant_args`]).
    constant_args: usize,
    /// Whether it may use memory, so that the keyspace may have to make room.
    needs_room: bool,
    /// Whether the next call is timed in any case.
    pub(crate) is_timed: AtomicBool,
    pub(crate) stats: CommandStats,
}

/// The counters of one command: a line of `INFO commandstats` and one of `latencystats`.
#[derive(Debug, Default)]
pub(crate) struct CommandStats {
    pub(crate) calls: AtomicU64,
    pub(crate) nanos: AtomicU64,
    pub(crate) rejected: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) panics: AtomicU64,
    /// How many calls in a row were timed, for a command that is not always timed.
    timed: AtomicU64,
    /// Created at the first timed call.
    times: OnceLock<Histogram>,
}

/// This many calls of every command are timed. After that only samples are, for commands that take
/// less time than two reads of the clock.
const TIMED_CALLS: u64 = 10_000;

impl CommandStats {
    /// Adds a time, in nanoseconds, which stands for `calls` calls.
    pub(crate) fn add_time(&self, nanos: u64, calls: u64) {
        self.times.get_or_init(Histogram::new).add(nanos, calls);
    }

    /// The distribution of the times, if there are any.
    pub(crate) fn times(&self) -> Option<Counts> {
        let counts = self.times.get()?.counts();
        (counts.total() > 0).then_some(counts)
    }

    fn reset(&self) {
        for counter in [
            &self.calls,
            &self.nanos,
            &self.rejected,
            &self.failed,
            &self.panics,
            &self.timed,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
        if let Some(times) = self.times.get() {
            times.reset();
        }
    }
}

impl<A: App> CommandEntry<A> {
    fn new(command: Box<dyn Command<A>>, is_container: bool) -> Self {
        let spec = *command.spec();
        let is_always_timed = command.is_timed();
        Self {
            word: name_word(spec.name.as_bytes()),
            command,
            spec,
            subcommands: Vec::new(),
            is_container,
            first_key: first_key(&spec),
            is_builtin: false,
            is_always_timed,
            constant_args: spec.constant_args.into(),
            needs_room: spec.flags.has(Flags::DENYOOM),
            is_timed: AtomicBool::new(true),
            stats: CommandStats::default(),
        }
    }

    /// The description of the command.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The command itself.
    #[must_use]
    pub fn command(&self) -> &dyn Command<A> {
        &*self.command
    }

    /// Records that a call was timed. After many calls, only samples are timed, unless the command
    /// is always timed.
    pub(crate) fn was_timed(&self) {
        if self.is_always_timed && self.constant_args == 0 {
            return;
        }
        let timed = self.stats.timed.load(Ordering::Relaxed);
        if timed < TIMED_CALLS {
            self.stats.timed.fetch_add(1, Ordering::Relaxed);
        }
        if timed + 1 >= TIMED_CALLS && !self.is_always_timed {
            self.is_timed.store(false, Ordering::Relaxed);
        }
    }

    /// Whether only samples of the calls with so many arguments are timed, although it is
    /// [timed](Self::is_timed).
    #[inline]
    pub(crate) fn is_sampled(&self, args: usize) -> bool {
        args <= self.constant_args && self.stats.timed.load(Ordering::Relaxed) >= TIMED_CALLS
    }

    /// Sets the counters to zero.
    pub(crate) fn reset_stats(&self) {
        self.stats.reset();
        self.is_timed.store(true, Ordering::Relaxed);
    }

    /// The index of the argument that is its first key, or 0.
    #[inline]
    pub(crate) fn first_key(&self) -> usize {
        self.first_key
    }

    /// Whether it came with the router.
    pub(crate) fn is_builtin(&self) -> bool {
        self.is_builtin
    }

    /// Whether it may use memory ([`Flags::DENYOOM`]).
    #[inline]
    pub(crate) fn needs_room(&self) -> bool {
        self.needs_room
    }

    fn is_subcommand(&self) -> bool {
        self.spec.subcommand().is_some()
    }

    /// Whether its first argument names a subcommand.
    #[must_use]
    pub fn is_container(&self) -> bool {
        self.is_container
    }
}

fn first_key(spec: &Spec) -> usize {
    let first = spec.keys.first().filter(|keys| keys.are_keys());
    match first.map(|keys| keys.begin) {
        Some(KeyBegin::Index(at)) => usize::try_from(at).unwrap_or(0),
        _ => 0,
    }
}

/// The name upper-cased, in one word: its first 8 bytes, little-endian, zero-padded.
pub(crate) fn name_word(name: &[u8]) -> u64 {
    let mut word = [0; 8];
    for (slot, byte) in word.iter_mut().zip(name) {
        *slot = byte.to_ascii_uppercase();
    }
    u64::from_le_bytes(word)
}

/// All commands, found by name in one or a few probes.
pub struct CommandTable<A: App> {
    entries: Vec<CommandEntry<A>>,
    /// Open addressing: entry number + 1, or 0 for an empty slot; at most half full.
    slots: Vec<u32>,
}

impl<A: App> CommandTable<A> {
    pub(crate) fn new() -> Self {
        Self {
            entries: Vec::new(),
            slots: vec![0; 64],
        }
    }

    /// Times every command, for the layers.
    pub(crate) fn time_all(&mut self) {
        for entry in &mut self.entries {
            entry.is_always_timed = true;
            entry.constant_args = 0;
        }
    }

    /// Adds a command. It replaces one of the same name.
    pub(crate) fn add(&mut self, command: Box<dyn Command<A>>) {
        self.put(CommandEntry::new(command, false));
    }

    /// Adds a command whose first argument names one of `subcommands`.
    pub(crate) fn add_container(
        &mut self,
        container: Box<dyn Command<A>>,
        subcommands: Vec<Box<dyn Command<A>>>,
    ) {
        let mut entry = CommandEntry::new(container, true);
        for subcommand in subcommands {
            entry.subcommands.push(self.entries.len() as u32);
            self.entries.push(CommandEntry::new(subcommand, false));
        }
        self.put(entry);
    }

    /// Marks all entries as coming with the router.
    pub(crate) fn mark_builtin(&mut self) {
        for entry in &mut self.entries {
            entry.is_builtin = true;
        }
    }

    /// Adds the commands that were added to `other`, with their subcommands, but not those that
    /// came with that router.
    pub(crate) fn merge(&mut self, other: Self) {
        let mut entries: Vec<_> = other.entries.into_iter().map(Some).collect();
        for at in 0..entries.len() {
            let is_added =
                |entry: &mut CommandEntry<A>| !entry.is_builtin && !entry.is_subcommand();
            let Some(mut entry) = entries[at].take_if(is_added) else {
                continue;
            };
            for subcommand in &mut entry.subcommands {
                if let Some(moved) = entries[*subcommand as usize].take() {
                    *subcommand = self.entries.len() as u32;
                    self.entries.push(moved);
                }
            }
            self.put(entry);
        }
    }

    fn put(&mut self, entry: CommandEntry<A>) {
        if let Some(at) = self.find(entry.word, entry.spec.name.as_bytes()) {
            self.entries[at as usize] = entry;
            return;
        }
        self.entries.push(entry);
        if self.entries.len() * 2 > self.slots.len() {
            let grown = self.slots.len() * 2;
            self.slots.clear();
            self.slots.resize(grown, 0);
            for at in 0..self.entries.len() {
                self.index(at as u32);
            }
        } else {
            self.index(self.entries.len() as u32 - 1);
        }
    }

    /// Subcommands are found through their container, so they have no slot.
    fn index(&mut self, at: u32) {
        let entry = &self.entries[at as usize];
        if entry.is_subcommand() {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut slot = spread(entry.word, entry.spec.name.len()) & mask;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = at + 1;
    }

    /// The number of the command called `name`, in any case. `word` is its first 8 bytes in upper
    /// case, as the decoder provides them.
    #[must_use]
    #[inline]
    pub fn find(&self, word: u64, name: &[u8]) -> Option<u32> {
        let mask = self.slots.len() - 1;
        let mut slot = spread(word, name.len()) & mask;
        loop {
            let at = self.slots[slot].checked_sub(1)?;
            let entry = &self.entries[at as usize];
            if entry.word == word && is_name(entry.spec.name.as_bytes(), name) {
                return Some(at);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The number of the command that a request names, if it is not a container and accepts this
    /// number of arguments.
    #[inline(always)]
    pub(crate) fn find_plain(&self, word: u64, request: ArgList<'_>) -> Option<u32> {
        let at = self.find(word, request.get(0)?)?;
        let entry = self.entry(at);
        let is_plain = !entry.is_container && entry.spec.arity.accepts(request.len());
        is_plain.then_some(at)
    }

    /// As [`CommandTable::find`], with the name alone.
    #[must_use]
    pub fn find_name(&self, name: &[u8]) -> Option<u32> {
        self.find(name_word(name), name)
    }

    /// The number of a container's subcommand; its name may be in any case.
    #[must_use]
    pub fn find_subcommand(&self, container: u32, name: &[u8]) -> Option<u32> {
        let container = &self.entries[container as usize];
        let prefix = container.spec.name.len() + 1;
        let is_it = |at: &&u32| {
            let full = self.entries[**at as usize].spec.name.as_bytes();
            full[prefix..].eq_ignore_ascii_case(name)
        };
        container.subcommands.iter().find(is_it).copied()
    }

    /// The entry with this number, which must come from this table.
    #[must_use]
    pub fn entry(&self, at: u32) -> &CommandEntry<A> {
        &self.entries[at as usize]
    }

    /// The subcommands of a container.
    pub fn subcommands<'t>(
        &'t self,
        entry: &'t CommandEntry<A>,
    ) -> impl Iterator<Item = &'t CommandEntry<A>> {
        entry.subcommands.iter().map(|at| self.entry(*at))
    }

    /// The command or subcommand of a written name: `get`, `config|get`.
    pub(crate) fn find_path(&self, name: &[u8]) -> Option<u32> {
        let (name, subcommand) = name_parts(name);
        let at = self.find_name(name)?;
        match subcommand {
            Some(subcommand) => self.find_subcommand(at, subcommand),
            None => Some(at),
        }
    }

    /// All commands without subcommands, in the order they were added.
    pub fn commands(&self) -> impl Iterator<Item = &CommandEntry<A>> {
        self.entries.iter().filter(|entry| !entry.is_subcommand())
    }

    /// All commands and subcommands.
    pub fn all(&self) -> impl Iterator<Item = &CommandEntry<A>> {
        self.entries.iter()
    }
}

/// The word and the length identify names of up to 8 bytes.
fn is_name(entry: &[u8], name: &[u8]) -> bool {
    entry.len() == name.len() && (name.len() <= 8 || entry[8..].eq_ignore_ascii_case(&name[8..]))
}

fn spread(word: u64, len: usize) -> usize {
    // Multiplying by the golden ratio mixes every byte into the upper half, which is used.
    ((word ^ len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl<A: App> std::fmt::Debug for CommandTable<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.commands().map(|entry| entry.spec.name))
            .finish()
    }
}

impl<A: App> std::fmt::Debug for CommandEntry<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Entry")
            .field("spec", &self.spec)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ArgList, Cx, Error, Reply, Row};

    fn run(_: &mut Cx<'_, ()>, _: ArgList<'_>, _: &mut Reply<'_>) -> Result<(), Error> {
        Ok(())
    }

    fn row(name: &'static str) -> Box<dyn Command<()>> {
        let spec: &'static Spec = Box::leak(Box::new(Spec {
            name,
            ..Spec::EMPTY
        }));
        Box::new(Row { spec, run })
    }

    #[test]
    fn names_are_found_in_any_case_and_at_any_length() {
        let mut table = CommandTable::new();
        let names = [
            "get",
            "set",
            "incrbyfloat",
            "incrbyfloats",
            "expiretime",
            "expirexxxx",
        ];
        for name in names {
            table.add(row(name));
        }
        for name in names {
            let at = table
                .find_name(name.to_uppercase().as_bytes())
                .map(|at| table.entry(at).spec().name);
            assert_eq!(at, Some(name));
        }
        for absent in ["", "ge", "gett", "incrbyfloax", "expireyyyy"] {
            assert_eq!(table.find_name(absent.as_bytes()), None, "{absent}");
        }
    }

    #[test]
    fn second_row_of_the_same_name_replaces_the_first() {
        let mut table = CommandTable::new();
        table.add(row("get"));
        table.add(row("get"));
        assert_eq!(table.commands().count(), 1);
    }

    #[test]
    fn growing_table_keeps_all_commands() {
        let mut table = CommandTable::new();
        let names: Vec<&'static str> = (0..500)
            .map(|n| &*Box::leak(format!("name{n}").into_boxed_str()))
            .collect();
        for name in &names {
            table.add(row(name));
        }
        assert!(
            names
                .iter()
                .all(|name| table.find_name(name.as_bytes()).is_some())
        );
    }

    #[test]
    fn subcommands_belong_to_their_container() {
        let mut table = CommandTable::new();
        table.add_container(row("config"), vec![row("config|get"), row("config|set")]);
        let config = table.find_name(b"CONFIG").expect("added above");
        assert!(table.entry(config).is_container());
        assert!(table.find_subcommand(config, b"SET").is_some());
        assert_eq!(table.find_subcommand(config, b"nope"), None);
        assert_eq!(table.find_name(b"config|get"), None);
    }
}
