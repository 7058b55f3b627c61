//! What is known of one connection: its own part, and the part that other connections may see.

use super::SharedBuffer;
use crate::client::guard::Failures;
use crate::client::later::{Answer, Call, Farewell, LocalTask, Parting};
use crate::client::mailbox::{Mailbox, Message, Put, WhenFull};
use crate::client::pubsub::{Kind, Subscriptions};
use crate::client::sampler::Sampler;
use crate::client::transaction::Transaction;
use crate::client::tunables::Tunables;
use crate::{Error, Now, Wake};
use bytes::Bytes;
use resp_codec::Proto;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Where a connection comes from and where it was accepted, as `CLIENT LIST` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The peer's address, `ip:port`, or the socket's path with `:0`.
    pub address: Box<str>,
    /// Our address, in the same form.
    pub local_address: Box<str>,
    /// The descriptor's number, or -1.
    pub descriptor: i32,
    /// Whether it came over a Unix socket.
    pub is_unix: bool,
}

/// Which replies a connection wants to see: `CLIENT REPLY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReplyMode {
    /// All.
    #[default]
    On,
    /// None, until switched on again.
    Off,
    /// Not the reply to this very command: the mode is now [`ReplyMode::SkipThis`].
    SkipNext,
    /// Not the reply that is being made.
    SkipThis,
}

/// One connection, as its own session sees it.
#[derive(Debug)]
pub struct Client {
    pub(crate) shared: Arc<ClientShared>,
    pub(crate) proto: Proto,
    pub(crate) db: u32,
    pub(crate) is_authenticated: bool,
    pub(crate) reply_mode: ReplyMode,
    pub(crate) transaction: Transaction,
    pub(crate) subscriptions: Subscriptions,
    /// Set by `CLIENT NO-TOUCH`: reads leave the access clocks alone.
    pub(crate) no_touch: bool,
    /// The call of the command that runs, if it took a [`Later`](crate::Later),
    pub(crate) call: Option<Arc<Call>>,
    /// and the future that answers it, if nobody else runs it.
    pub(crate) task: Option<LocalTask>,
    /// The command that ran last and how often in a row, not yet added to the statistics.
    pub(crate) tally: Tally,
    /// What the requests of the turn lie in, if it may be kept.
    pub(crate) shared_buffer: Option<SharedBuffer>,
    pub(crate) sampler: Sampler,
    /// Whom the command that runs has killed, if anyone.
    pub(crate) parting: Option<Box<Parting>>,
}

/// A run of calls of the same command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) entry: u32,
    pub(crate) calls: u64,
}

impl Client {
    pub(crate) fn new(shared: Arc<ClientShared>, is_authenticated: bool) -> Self {
        Self {
            sampler: Sampler::new(shared.id),
            shared,
            proto: Proto::Resp2,
            db: 0,
            is_authenticated,
            reply_mode: ReplyMode::On,
            transaction: Transaction::default(),
            subscriptions: Subscriptions::default(),
            no_touch: false,
            call: None,
            task: None,
            tally: Tally::default(),
            shared_buffer: None,
            parting: None,
        }
    }

    /// The number by which `CLIENT KILL ID` and `CLIENT LIST` know it; never used twice.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The database it has selected.
    #[must_use]
    pub fn db(&self) -> u32 {
        self.db
    }

    /// Selects a database; the caller has checked its range.
    pub fn select(&mut self, db: u32) {
        self.db = db;
        self.shared.db.store(db, Ordering::Relaxed);
    }

    /// The protocol its replies are written in.
    #[must_use]
    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// A large argument of the request that runs as shared bytes, to be kept without a copy; `None`
    /// where it has to be copied: most arguments lie among others. Costs O(1); what is kept beside the
    /// argument is less than 1/64 of it.
    #[must_use]
    pub fn share(&self, arg: &[u8]) -> Option<Bytes> {
        self.shared_buffer.as_ref()?.share(arg)
    }

    /// Whether `CLIENT NO-TOUCH` is on.
    #[must_use]
    pub fn is_no_touch(&self) -> bool {
        self.no_touch
    }

    /// Whether the call is made on behalf of `EXEC`, or queued for it.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        self.shared.is_in_multi.load(Ordering::Relaxed)
    }

    /// Whether it has yet to authenticate.
    pub(crate) fn is_unauthenticated(&self, tunables: &Tunables) -> bool {
        !self.is_authenticated && tunables.has_password()
    }

    /// Whether there is anything that it may not do.
    #[inline(always)]
    pub(crate) fn is_restricted(&self, tunables: &Tunables) -> bool {
        self.is_unauthenticated(tunables) || self.is_resp2_subscriber()
    }

    /// Whether it may only subscribe and the like: without pushes, RESP2 has no way to tell a
    /// message from a reply.
    pub(crate) fn is_resp2_subscriber(&self) -> bool {
        !self.subscriptions.is_empty() && self.proto == Proto::Resp2
    }

    /// Shows its subscriptions to those who list connections.
    pub(crate) fn note_subscriptions(&self) {
        for (kind, counter) in self.shared.subscribed.by_kind() {
            let names = self.subscriptions.names(kind).len();
            counter.store(names as u32, Ordering::Relaxed);
        }
    }

    pub(crate) fn set_no_touch(&mut self, on: bool) {
        self.no_touch = on;
        self.shared.no_touch.store(on, Ordering::Relaxed);
    }

    /// The part that other connections may see.
    #[must_use]
    pub fn shared(&self) -> &Arc<ClientShared> {
        &self.shared
    }

    pub(crate) fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
        let number = if proto == Proto::Resp3 { 3 } else { 2 };
        self.shared.resp.store(number, Ordering::Relaxed);
    }
}

/// One connection, as others see it: `CLIENT LIST` reads it, `CLIENT KILL` writes it.
pub struct ClientShared {
    pub(crate) id: u64,
    pub(crate) peer: Peer,
    pub(crate) created_us: u64,
    pub(crate) last_active_us: AtomicU64,
    pub(crate) db: AtomicU32,
    pub(crate) resp: AtomicU32,
    /// The entry of the command that ran last; `u32::MAX` before the first.
    pub(crate) last_entry: AtomicU32,
    pub(crate) queued_commands: AtomicU32,
    pub(crate) is_in_multi: AtomicBool,
    pub(crate) watched_keys: AtomicU32,
    pub(crate) subscribed: Subscribed,
    pub(crate) mailbox: Mailbox,
    pub(crate) input_bytes: AtomicU64,
    pub(crate) output_bytes: AtomicU64,
    pub(crate) no_evict: AtomicBool,
    pub(crate) no_touch: AtomicBool,
    pub(crate) is_paused: AtomicBool,
    /// The call that the next request waits for.
    blocked: Mutex<Option<Arc<Call>>>,
    is_killed: AtomicBool,
    /// Those who wait for its end; `None` once it has ended.
    mourners: Mutex<Option<Vec<Arc<Farewell>>>>,
    /// The wrong passwords it gave. Only its own session asks: they stand here because sessions are to stay
    /// small.
    wrong_passwords: Mutex<Failures>,
    names: Mutex<Names>,
    waker: Box<dyn Wake>,
}

/// How many names of each kind a connection subscribes to.
#[derive(Debug, Default)]
pub(crate) struct Subscribed {
    pub(crate) channels: AtomicU32,
    pub(crate) patterns: AtomicU32,
    pub(crate) shard_channels: AtomicU32,
}

impl Subscribed {
    fn by_kind(&self) -> [(Kind, &AtomicU32); 3] {
        [
            (Kind::Channel, &self.channels),
            (Kind::Pattern, &self.patterns),
            (Kind::Shard, &self.shard_channels),
        ]
    }

    /// Whether there is any.
    pub(crate) fn is_any(&self) -> bool {
        self.by_kind()
            .iter()
            .any(|(_, counter)| counter.load(Ordering::Relaxed) > 0)
    }
}

/// What a connection calls itself (`CLIENT SETNAME`, `CLIENT SETINFO`), and who it proved to be.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The connection's name.
    pub name: Box<str>,
    /// The client library's name.
    pub library: Box<str>,
    /// The client library's version.
    pub library_version: Box<str>,
    pub(crate) user: Box<[u8]>,
}

impl Names {
    /// The user it authenticated as; `default` until then.
    #[must_use]
    pub fn user(&self) -> &[u8] {
        if self.user.is_empty() {
            USER.as_bytes()
        } else {
            &self.user
        }
    }
}

/// The user that every connection is at first.
pub(crate) const USER: &str = "default";

impl ClientShared {
    pub(crate) fn new(id: u64, peer: Peer, now: Now, waker: Box<dyn Wake>) -> Self {
        Self {
            id,
            peer,
            created_us: now.monotonic_us(),
            last_active_us: AtomicU64::new(now.monotonic_us()),
            db: AtomicU32::new(0),
            resp: AtomicU32::new(2),
            last_entry: AtomicU32::new(u32::MAX),
            queued_commands: AtomicU32::new(0),
            is_in_multi: AtomicBool::new(false),
            watched_keys: AtomicU32::new(0),
            subscribed: Subscribed::default(),
            mailbox: Mailbox::default(),
            input_bytes: AtomicU64::new(0),
            output_bytes: AtomicU64::new(0),
            no_evict: AtomicBool::new(false),
            no_touch: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            blocked: Mutex::new(None),
            is_killed: AtomicBool::new(false),
            mourners: Mutex::new(Some(Vec::new())),
            wrong_passwords: Mutex::default(),
            names: Mutex::new(Names::default()),
            waker,
        }
    }

    /// The number of the connection.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its addresses.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// What it calls itself; the guard must not be held across another call of the engine.
    pub fn names(&self) -> MutexGuard<'_, Names> {
        self.names
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn lock_wrong_passwords(&self) -> MutexGuard<'_, Failures> {
        self.wrong_passwords
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Asks the session to end: it answers nothing more, and what it owes is dropped.
    pub fn kill(&self) {
        self.is_killed.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether [`ClientShared::kill`] was called.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Acquire)
    }

    /// Whether its driver soon drops a session that was killed.
    pub(crate) fn is_dropped_when_killed(&self) -> bool {
        self.waker.drops_killed()
    }

    /// Keeps `farewell` until the session has ended; drops it at once if it has.
    pub(crate) fn keep_until_end(&self, farewell: Arc<Farewell>) {
        if let Some(mourners) = &mut *self.lock_mourners() {
            mourners.push(farewell);
        }
    }

    /// The session has ended.
    pub(crate) fn ended(&self) {
        let mourners = self.lock_mourners().take();
        // Dropped without the lock: it wakes others.
        drop(mourners);
    }

    fn lock_mourners(&self) -> MutexGuard<'_, Option<Vec<Arc<Farewell>>>> {
        self.mourners
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Puts a message into its mailbox and wakes it if need be.
    pub(crate) fn send(&self, message: &Message, bytes_max: usize, when_full: WhenFull) -> Put {
        let put = self.mailbox.put(message, bytes_max, when_full);
        if matches!(put, Put::Queued { wake: true } | Put::Full { wake: true }) {
            self.wake();
        }
        put
    }

    /// Whether its next request waits for a reply that comes later.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.lock_blocked().is_some()
    }

    pub(crate) fn set_blocked(&self, call: Option<Arc<Call>>) {
        let before = std::mem::replace(&mut *self.lock_blocked(), call);
        drop(before);
    }

    /// Ends what it waits for; `false` when it waits for nothing. With an error, or as if the time
    /// were over: with the reply of the deadline, or null where there is none.
    pub(crate) fn unblock(&self, error: Option<Error>) -> bool {
        let Some(call) = self.lock_blocked().clone() else {
            return false;
        };
        match error {
            Some(error) => call.settle(Answer::new(call.proto(), error)),
            None => {
                call.expire(u64::MAX)
                    || call.settle(Answer::new(call.proto(), Option::<Error>::None))
            }
        }
    }

    fn lock_blocked(&self) -> MutexGuard<'_, Option<Arc<Call>>> {
        self.blocked
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Asks the driver to poll the session again.
    pub fn wake(&self) {
        self.waker.wake();
    }
}

impl std::fmt::Debug for ClientShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientShared")
            .field("id", &self.id)
            .field("peer", &self.peer)
            .finish_non_exhaustive()
    }
}
