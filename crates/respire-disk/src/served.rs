//! What the keeper and recovery need of the server, whatever its application is.

use crate::clock::unix;
use respire_commands::HasKv;
use respire_engine::driver::{Replay as EngineReplay, ReplayError};
use respire_engine::{Engine, Gate, Now};
use respire_store::Store;
use std::sync::Arc;
use std::time::Duration;

/// A server with keys.
pub(crate) trait Served: Send + Sync {
    /// Its keys.
    fn store(&self) -> &Store;

    /// Says that the keys have been saved.
    fn note_saved(&self, at_s: u64, changes: u64);

    /// The number of changes since they were saved or loaded.
    fn unsaved_changes(&self) -> u64;

    /// The sources of its libraries of functions.
    fn libraries(&self) -> Vec<Vec<u8>>;

    /// Runs the commands of a log, before its clients come.
    fn replay(&self) -> Box<dyn Replay + '_>;

    /// Lets replies wait until what they show of others is kept, or no longer.
    fn set_notes_reads(&self, notes_reads: bool);

    /// Closes a gate, or opens it.
    fn set_gate(&self, gate: Gate, is_closed: bool);
}

/// Runs the commands of a log.
pub(crate) trait Replay {
    /// Runs the commands at the front of the bytes, which lie at this offset of the log. Returns the length of those
    /// that ran. It ends before an incomplete command and before a line that is none.
    fn feed(&mut self, bytes: &[u8], offset: u64) -> Result<usize, ReplayError>;

    /// Where the transaction begins that has not ended, if one has not.
    fn open_transaction(&self) -> Option<u64>;
}

/// An engine as the disk sees it. The engine does not own itself, so it comes with its handle.
pub(crate) struct ServedEngine<A: HasKv> {
    pub(crate) engine: Arc<Engine<A>>,
    pub(crate) libraries: Option<Arc<dyn Libraries>>,
}

/// The libraries of functions of a server, which are kept with its keys ([`Disk::set_libraries`]).
///
/// [`Disk::set_libraries`]: crate::Disk::set_libraries
pub trait Libraries: Send + Sync {
    /// The source of each library.
    fn sources(&self) -> Vec<Vec<u8>>;
}

impl<A: HasKv> Served for ServedEngine<A> {
    fn store(&self) -> &Store {
        self.engine.app().kv().store()
    }

    fn note_saved(&self, at_s: u64, changes: u64) {
        self.engine.app().kv().note_saved(at_s, changes);
    }

    fn unsaved_changes(&self) -> u64 {
        self.engine.app().kv().unsaved_changes()
    }

    fn libraries(&self) -> Vec<Vec<u8>> {
        let libraries = self.libraries.as_ref();
        libraries.map_or_else(Vec::new, |libraries| libraries.sources())
    }

    fn replay(&self) -> Box<dyn Replay + '_> {
        Box::new(Replaying {
            replay: self.engine.connect_to_replay(now()),
        })
    }

    fn set_notes_reads(&self, notes_reads: bool) {
        self.engine.set_notes_reads(notes_reads);
    }

    fn set_gate(&self, gate: Gate, is_closed: bool) {
        if is_closed {
            self.engine.close_gate(gate);
        } else {
            self.engine.open_gate(gate.kind());
        }
    }
}

struct Replaying<A: HasKv> {
    replay: EngineReplay<A>,
}

impl<A: HasKv> Replay for Replaying<A> {
    fn feed(&mut self, bytes: &[u8], offset: u64) -> Result<usize, ReplayError> {
        self.replay.feed(bytes, offset, now())
    }

    fn open_transaction(&self) -> Option<u64> {
        self.replay.open_transaction()
    }
}

fn now() -> Now {
    Now::new(Duration::ZERO, unix())
}
