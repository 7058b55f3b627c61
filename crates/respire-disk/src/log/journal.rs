//! The journal: observes the store, and takes the units of all threads for the log.
//!
//! Each thread writes the commands of its units into a stage of its own, and hands it over at the end of its turn, or
//! after each unit if it has no turns. So the threads that serve share one lock per turn, and touch no file.

use super::marks::Marks;
use super::stage::Stage;
use crate::gates::Gates;
use core::cell::RefCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use respire_store::{Effect, Observer, Store, Ticket};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

/// Takes the units of all threads.
pub(crate) struct Journal {
    /// Distinguishes the stages of several journals that one thread works for, as in tests.
    id: u64,
    inbox: Mutex<Inbox>,
    arrived: Condvar,
    marks: Marks,
    notes_reads: AtomicBool,
    /// Whether there is a log.
    is_on: AtomicBool,
    /// The last ticket of a unit that has changed something.
    last: AtomicU64,
    /// Bytes of commands that were handed over, and not given back.
    waiting: AtomicU64,
    bound: RwLock<Bound>,
    /// More bytes have been waiting than the bound allows.
    is_over: AtomicBool,
}

/// How many bytes may wait for the log's thread, which may hang in a write to a slow disk.
struct Bound {
    bytes_max: u64,
    /// Called by the thread that hands over more.
    gates: Option<Arc<Gates>>,
}

/// What the log's thread takes.
#[derive(Default)]
struct Inbox {
    stages: Vec<Stage>,
    /// Empty stages, for threads that hand over theirs.
    spare: Vec<Stage>,
    /// Something else than a stage needs the log's thread.
    is_called: bool,
    /// The log's thread waits.
    is_waiting: bool,
}

/// Fewer bytes than this may wait in any case.
const BOUND_LEAST: u64 = 1 << 20;

/// The empty stages that are kept.
const SPARE_MAX: usize = 64;

/// What a thread does for a journal.
#[derive(Default)]
struct Turn {
    /// The turns that the thread is in. A turn may serve others.
    depth: u32,
    stage: Stage,
    /// The last ticket that the replies of the turn show.
    shown: u64,
    /// The ticket of the unit that began last.
    begun: u64,
}

thread_local! {
    static TURNS: RefCell<Vec<(u64, Turn)>> = const { RefCell::new(Vec::new()) };
}

impl Journal {
    pub(crate) fn new() -> Self {
        static IDS: AtomicU64 = AtomicU64::new(0);
        Self {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            inbox: Mutex::default(),
            arrived: Condvar::new(),
            marks: Marks::new(),
            notes_reads: AtomicBool::new(false),
            is_on: AtomicBool::new(false),
            last: AtomicU64::new(0),
            waiting: AtomicU64::new(0),
            bound: RwLock::new(Bound {
                bytes_max: u64::MAX,
                gates: None,
            }),
            is_over: AtomicBool::new(false),
        }
    }

    /// Lets readers wait for what they show, or no longer.
    pub(crate) fn set_notes_reads(&self, notes_reads: bool) {
        self.notes_reads.store(notes_reads, Ordering::Release);
    }

    /// Closes the gate of writers as soon as more bytes than this wait for the log's thread.
    pub(crate) fn bound(&self, bytes_max: u64, gates: Option<Arc<Gates>>) {
        let mut bound = self.bound.write().unwrap_or_else(PoisonError::into_inner);
        *bound = Bound { bytes_max, gates };
    }

    /// Bytes that wait for the log's thread, or for units before them.
    pub(crate) fn waiting_bytes(&self) -> u64 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Whether the gate was closed since the last call, for too many bytes.
    pub(crate) fn take_over(&self) -> bool {
        self.is_over.swap(false, Ordering::AcqRel)
    }

    /// The commands of a stage are the log's now.
    pub(crate) fn taken(&self, bytes: u64) {
        self.waiting.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn bytes_max(&self) -> u64 {
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        bound.bytes_max
    }

    #[cold]
    fn exceed(&self) {
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        bound
            .gates
            .iter()
            .for_each(|gates| gates.set_log_slow(true));
        // Behind it: whoever sees this opens the gate, and must not be overtaken.
        self.is_over.store(true, Ordering::Release);
    }

    /// A log takes the changes from now on, or no longer.
    pub(crate) fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Release);
    }

    /// Adds a command that changes no key, in its place among the changes.
    pub(crate) fn command(&self, store: &Store, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.is_on.load(Ordering::Acquire) {
            return;
        }
        let ticket = store.take_ticket();
        self.last.fetch_max(ticket, Ordering::Release);
        self.turn(|turn| {
            turn.stage.command(ticket, write);
            turn.shown = turn.shown.max(ticket);
        });
        self.released();
    }

    /// The last ticket of a unit that has changed something. Whoever was told of a change by another thread has been
    /// told after that.
    pub(crate) fn last(&self) -> u64 {
        self.last.load(Ordering::Acquire)
    }

    /// A turn of this thread begins.
    #[inline]
    pub(crate) fn enter(&self) {
        self.turn(|turn| turn.depth += 1);
    }

    /// A turn of this thread ends: hands its units over. Returns the last ticket that its replies show; 0 if they show
    /// none.
    #[inline]
    pub(crate) fn leave(&self) -> u64 {
        self.turn(|turn| {
            turn.depth = turn.depth.saturating_sub(1);
            if !turn.stage.is_empty() {
                self.hand_over(&mut turn.stage);
            }
            mem::take(&mut turn.shown)
        })
    }

    /// The turn reads a key.
    pub(crate) fn note_read(&self, db: u32, key: &[u8]) {
        let last = self.marks.last(db, key);
        self.turn(|turn| turn.shown = turn.shown.max(last));
    }

    /// The turn reads any keys.
    pub(crate) fn note_read_all(&self) {
        let last = self.last();
        self.turn(|turn| turn.shown = turn.shown.max(last));
    }

    /// Calls the log's thread for something else than a stage.
    pub(crate) fn call(&self) {
        let mut inbox = self.lock();
        inbox.is_called = true;
        self.wake(inbox);
    }

    /// Takes all stages, after waiting for one, for a call or for this time at most. Gives empty ones back.
    pub(crate) fn take(&self, wait: Duration, used: &mut Vec<Stage>) -> Vec<Stage> {
        let mut inbox = self.lock();
        while let Some(stage) = used.pop() {
            if inbox.spare.len() < SPARE_MAX {
                inbox.spare.push(stage);
            }
        }
        if inbox.stages.is_empty() && !inbox.is_called && !wait.is_zero() {
            inbox.is_waiting = true;
            let waited = self.arrived.wait_timeout(inbox, wait);
            inbox = waited.unwrap_or_else(PoisonError::into_inner).0;
            inbox.is_waiting = false;
        }
        inbox.is_called = false;
        mem::take(&mut inbox.stages)
    }

    fn hand_over(&self, stage: &mut Stage) {
        if stage.is_open() {
            // The turn that opened the unit hands it over.
            return;
        }
        let bytes = stage.bytes_len();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let mut inbox = self.lock();
        let mut next = inbox.spare.pop().unwrap_or_default();
        mem::swap(stage, &mut next);
        inbox.stages.push(next);
        self.wake(inbox);
        // The bound is not asked for before so much waits that a lock more does not matter.
        if waiting > BOUND_LEAST && waiting > self.bytes_max() {
            self.exceed();
        }
    }

    fn wake(&self, inbox: MutexGuard<'_, Inbox>) {
        if inbox.is_waiting {
            drop(inbox);
            self.arrived.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn turn<R>(&self, f: impl FnOnce(&mut Turn) -> R) -> R {
        TURNS.with_borrow_mut(|turns| {
            let at = match turns.iter().position(|(id, _)| *id == self.id) {
                Some(at) => at,
                None => {
                    turns.push((self.id, Turn::default()));
                    turns.len() - 1
                }
            };
            f(&mut turns[at].1)
        })
    }

    fn mark(&self, ticket: u64, effect: &Effect<'_>) {
        match effect {
            Effect::Written { db, key, .. }
            | Effect::Changed { db, key, .. }
            | Effect::ExpirySet { db, key, .. }
            | Effect::Removed { db, key, .. } => self.marks.changed(*db, key, ticket),
            Effect::Flushed { .. } | Effect::Swapped { .. } => self.marks.changed_all(ticket),
        }
    }
}

impl Observer for Journal {
    fn effect(&self, ticket: Ticket, effect: Effect<'_>) {
        let ticket = ticket.number();
        self.turn(|turn| {
            if turn.begun != ticket {
                turn.begun = ticket;
                self.last.fetch_max(ticket, Ordering::Release);
            }
            turn.stage.effect(ticket, &effect);
        });
        if self.notes_reads.load(Ordering::Acquire) {
            self.mark(ticket, &effect);
        }
    }

    fn ticket_renewed(&self, old: Ticket, new: Ticket) {
        self.turn(|turn| turn.stage.renew(old.number(), new.number()));
    }

    fn unit_ended(&self, ticket: Ticket) {
        let ticket = ticket.number();
        self.turn(|turn| {
            turn.stage.end(ticket);
            turn.shown = turn.shown.max(ticket);
        });
    }

    fn released(&self) {
        self.turn(|turn| {
            if turn.depth == 0 && !turn.stage.is_empty() {
                self.hand_over(&mut turn.stage);
                turn.shown = 0;
            }
        });
    }
}
