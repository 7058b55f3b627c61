//! Durability as the engine sees it: what keeps the changes of commands, and tells when it has.

use crate::Wake;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Keeps changes, for example in a file, and says which changes are kept. Replies that show changes
/// wait until these are kept ([`Session::take_ticket`](crate::driver::Session::take_ticket)).
///
/// Tickets number the changes. A ticket is kept when its change and all changes with lower tickets
/// are kept. Ticket 0 is always kept.
///
/// The engine brackets every turn of a session, and its housekeeping, with [`Commits::enter`] and
/// [`Commits::leave`] on the thread that runs it. During a long call, turns of other connections
/// may run inside the turn of the caller, on the same thread. Changes that a service makes outside
/// of turns belong to no turn; the implementation must take them over at once.
///
/// All methods may be called from any thread at the same time, and must not block for long.
pub trait Commits: Send + Sync + 'static {
    /// A turn begins on this thread.
    fn enter(&self);

    /// The turn that began last on this thread ends. Takes over what was changed in it, and returns
    /// the ticket up to which changes must be kept before the replies of this turn may leave; 0 if
    /// they may leave at once. It covers the turn's own changes, and what its reads have shown.
    fn leave(&self) -> u64;

    /// A command of this turn has read, or may have read, this key. Called after the command has
    /// run, only while [`Engine::notes_reads`](crate::Engine::notes_reads) is on.
    fn note_read(&self, db: u32, key: &[u8]);

    /// A command of this turn has read, or may have read, any keys. Called as
    /// [`Commits::note_read`].
    fn note_read_all(&self);

    /// The last ticket that was taken. A reply that another thread has made is held until this
    /// ticket is kept.
    fn last(&self) -> u64;

    /// Whether all changes up to this ticket are kept. Does not change from yes to no.
    fn is_kept(&self, ticket: u64) -> bool;

    /// Calls `wake` once this ticket is kept, or at once if it is kept already.
    fn wake_when_kept(&self, ticket: u64, wake: Arc<dyn Wake>);
}

/// What keeps the changes of an engine's commands, if anything does.
#[derive(Default)]
pub(crate) struct Keeping {
    pub(crate) commits: OnceLock<Arc<dyn Commits>>,
    pub(crate) notes_reads: AtomicBool,
}

/// A turn on this thread. It also ends if the turn panics.
pub(crate) struct CommitTurn<'c> {
    commits: &'c dyn Commits,
    has_left: bool,
}

impl<'c> CommitTurn<'c> {
    pub(crate) fn enter(commits: &'c dyn Commits) -> Self {
        commits.enter();
        Self {
            commits,
            has_left: false,
        }
    }

    /// Ends the turn, and returns the ticket for which its replies wait.
    pub(crate) fn leave(mut self) -> u64 {
        self.has_left = true;
        self.commits.leave()
    }
}

impl Drop for CommitTurn<'_> {
    fn drop(&mut self) {
        if !self.has_left {
            self.commits.leave();
        }
    }
}
