//! The state of one connection: the part of its session, and the part that other connections may
//! see.

use super::SharedBuffer;
use crate::client::guard::Failures;
use crate::client::later::{Answer, Call, KillReply, LocalTask, PendingKill};
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

/// The addresses of a connection, as `CLIENT LIST` shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// The peer's address, `ip:port`, or the socket's path with `:0`.
    pub address: Box<str>,
    /// The server's address, in the same form.
    pub local_address: Box<str>,
    /// The number of the file descriptor, or -1.
    pub descriptor: i32,
    /// Whether it uses a Unix socket.
    pub is_unix: bool,
}

/// Which replies a connection gets: `CLIENT REPLY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ReplyMode {
    /// All replies.
    #[default]
    On,
    /// None, until it is switched on again.
    Off,
    /// All but that of this command: the mode is now [`ReplyMode::SkipThis`].
    SkipNext,
    /// The reply to the current request is skipped.
    SkipThis,
}

/// The state of one connection that only its session uses.
#[derive(Debug)]
pub struct Client {
    pub(crate) shared: Arc<ClientShared>,
    pub(crate) proto: Proto,
    pub(crate) db: u32,
    pub(crate) is_authenticated: bool,
    pub(crate) reply_mode: ReplyMode,
    pub(crate) transaction: Transaction,
    pub(crate) subscriptions: Subscriptions,
    /// Set by `CLIENT NO-TOUCH`: reads do not update access times.
    pub(crate) no_touch: bool,
    /// Whether a script makes the running call.
    pub(crate) in_script: bool,
    /// The call of the running command, if it took a [`Later`](crate::Later).
    pub(crate) call: Option<Arc<Call>>,
    /// The future that answers the call, if the session has to poll it.
    pub(crate) task: Option<LocalTask>,
    /// The last command and its number of consecutive calls, not yet added to the statistics.
    pub(crate) tally: Tally,
    /// The tally of the commands that commands call.
    pub(crate) inner_tally: Tally,
    /// The buffer with the requests of this turn, if parts of it may be kept.
    pub(crate) shared_buffer: Option<SharedBuffer>,
    pub(crate) sampler: Sampler,
    /// The error with which the running command ends was counted when a call of it failed.
    pub(crate) has_counted_error: bool,
    /// The connections that the running command killed, if any.
    pub(crate) pending_kill: Option<Box<PendingKill>>,
}

/// Consecutive calls of the same command.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) entry: u32,
    pub(crate) calls: u32,
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
            in_script: false,
            call: None,
            task: None,
            tally: Tally::default(),
            inner_tally: Tally::default(),
            shared_buffer: None,
            has_counted_error: false,
            pending_kill: None,
        }
    }

    /// Called before and after a command that another one calls, so that it does not break the row of
    /// its caller's calls.
    pub(crate) fn swap_tallies(&mut self) {
        std::mem::swap(&mut self.tally, &mut self.inner_tally);
    }

    /// The id in `CLIENT KILL ID` and `CLIENT LIST`; never reused.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.shared.id
    }

    /// The selected database.
    #[must_use]
    pub fn db(&self) -> u32 {
        self.db
    }

    /// Selects a database; the caller has checked its range.
    pub fn select(&mut self, db: u32) {
        self.db = db;
        self.shared.db.store(db, Ordering::Relaxed);
    }

    /// The protocol of its replies.
    #[must_use]
    pub fn proto(&self) -> Proto {
        self.proto
    }

    /// A large argument of the running request as shared bytes, to keep without a copy. `None` if
    /// it must be copied, as most arguments must, because they share their buffer with others.
    /// O(1). The memory kept in addition to the argument is less than 1/64 of it.
    #[must_use]
    pub fn share(&self, arg: &[u8]) -> Option<Bytes> {
        self.shared_buffer.as_ref()?.share(arg)
    }

    /// Whether `CLIENT NO-TOUCH` is on.
    #[must_use]
    pub fn is_no_touch(&self) -> bool {
        self.no_touch
    }

    /// Whether a script or a function makes this call.
    #[must_use]
    pub fn is_in_script(&self) -> bool {
        self.in_script
    }

    /// Whether `EXEC` makes this call, or `MULTI` queues it.
    #[must_use]
    pub fn is_in_transaction(&self) -> bool {
        self.shared.is_in_multi.load(Ordering::Relaxed)
    }

    /// Whether the client has not authenticated but must.
    pub(crate) fn is_unauthenticated(&self, tunables: &Tunables) -> bool {
        !self.is_authenticated && tunables.has_password()
    }

    /// Whether some commands are refused on this connection.
    #[inline(always)]
    pub(crate) fn is_restricted(&self, tunables: &Tunables) -> bool {
        self.is_unauthenticated(tunables) || self.is_resp2_subscriber()
    }

    /// Whether it may only run subscription commands: RESP2 has no pushes, so its client could not
    /// tell a message from a reply.
    pub(crate) fn is_resp2_subscriber(&self) -> bool {
        !self.subscriptions.is_empty() && self.proto == Proto::Resp2
    }

    /// Updates the counts of subscriptions that `CLIENT LIST` shows.
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

    /// The state that other connections may see.
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

/// The state of one connection that others see: `CLIENT LIST` reads it, and `CLIENT KILL` writes
/// it.
pub struct ClientShared {
    pub(crate) id: u64,
    pub(crate) peer: Peer,
    pub(crate) created_us: u64,
    pub(crate) last_active_us: AtomicU64,
    pub(crate) db: AtomicU32,
    pub(crate) resp: AtomicU32,
    /// The entry of the last command; `u32::MAX` before the first.
    pub(crate) last_entry: AtomicU32,
    /// When the latest call ended, in nanoseconds of the stopwatch, if it was timed and nothing came
    /// since; else 0. It is here and not in [`Client`] because of its size.
    ended_ns: AtomicU64,
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
    /// Replies to it wait until what they show is kept.
    pub(crate) is_held: AtomicBool,
    /// The running turn writes replies or messages that others have made. Only its session uses it.
    pub(crate) shows_others: AtomicBool,
    /// The pending call that the next request waits for.
    blocked: Mutex<Option<Arc<Call>>>,
    is_killed: AtomicBool,
    /// The kill replies that wait until this connection closes; `None` once it is closed.
    kill_replies: Mutex<Option<Vec<Arc<KillReply>>>>,
    /// Its consecutive wrong passwords. Only its session uses them. They are here to keep sessions
    /// small.
    wrong_passwords: Mutex<Failures>,
    names: Mutex<Names>,
    waker: Box<dyn Wake>,
}

/// The number of subscriptions of each kind.
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

    /// Whether there is any subscription.
    pub(crate) fn is_any(&self) -> bool {
        self.by_kind()
            .iter()
            .any(|(_, counter)| counter.load(Ordering::Relaxed) > 0)
    }
}

/// The names that a connection gave itself (`CLIENT SETNAME`, `CLIENT SETINFO`), and its user.
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
    /// The user that it authenticated as; `default` before that.
    #[must_use]
    pub fn user(&self) -> &[u8] {
        if self.user.is_empty() {
            USER.as_bytes()
        } else {
            &self.user
        }
    }
}

/// The user of every new connection.
pub(crate) const USER: &str = "default";

impl ClientShared {
    /// When the call before the next one ended, if it was timed and nothing came between: so one
    /// reading of the clock serves both.
    pub(crate) fn take_end(&self) -> Option<u64> {
        let ended_ns = self.ended_ns.load(Ordering::Relaxed);
        self.forget_end();
        (ended_ns > 0).then_some(ended_ns)
    }

    /// The running turn writes a reply or a message that others have made.
    pub(crate) fn note_others(&self) {
        self.shows_others.store(true, Ordering::Relaxed);
    }

    /// Whether the turn that ends now has written such a reply or message.
    pub(crate) fn take_others(&self) -> bool {
        let shows_others = self.shows_others.load(Ordering::Relaxed);
        if shows_others {
            self.shows_others.store(false, Ordering::Relaxed);
        }
        shows_others
    }

    /// A timed call has ended.
    pub(crate) fn note_end(&self, now_ns: u64) {
        self.ended_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Something that is not timed comes next.
    #[inline]
    pub(crate) fn forget_end(&self) {
        self.ended_ns.store(0, Ordering::Relaxed);
    }

    pub(crate) fn new(id: u64, peer: Peer, now: Now, waker: Box<dyn Wake>) -> Self {
        Self {
            id,
            peer,
            created_us: now.monotonic_us(),
            last_active_us: AtomicU64::new(now.monotonic_us()),
            db: AtomicU32::new(0),
            resp: AtomicU32::new(2),
            last_entry: AtomicU32::new(u32::MAX),
            ended_ns: AtomicU64::new(0),
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
            is_held: AtomicBool::new(false),
            shows_others: AtomicBool::new(false),
            blocked: Mutex::new(None),
            is_killed: AtomicBool::new(false),
            kill_replies: Mutex::new(Some(Vec::new())),
            wrong_passwords: Mutex::default(),
            names: Mutex::new(Names::default()),
            waker,
        }
    }

    /// The id of the connection.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The addresses of the connection.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The names of the connection. Do not hold the guard across another call of the engine.
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

    /// Asks the session to close: it answers no more requests, and its unsent replies are dropped.
    pub fn kill(&self) {
        self.is_killed.store(true, Ordering::Release);
        self.waker.wake();
    }

    /// Whether [`ClientShared::kill`] was called.
    #[must_use]
    pub fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::Acquire)
    }

    /// Whether the driver drops a killed session soon.
    pub(crate) fn is_dropped_when_killed(&self) -> bool {
        self.waker.drops_killed()
    }

    /// Holds `reply` until the session is closed; drops it at once if it is closed already.
    pub(crate) fn hold_until_closed(&self, kill_reply: Arc<KillReply>) {
        if let Some(kill_replies) = &mut *self.lock_kill_replies() {
            kill_replies.push(kill_reply);
        }
    }

    /// Called when the session is closed.
    pub(crate) fn ended(&self) {
        let kill_replies = self.lock_kill_replies().take();
        // Dropped without the lock, because dropping wakes other connections.
        drop(kill_replies);
    }

    fn lock_kill_replies(&self) -> MutexGuard<'_, Option<Vec<Arc<KillReply>>>> {
        self.kill_replies
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Puts a message into the mailbox, and wakes the session if needed.
    pub(crate) fn send(&self, message: &Message, bytes_max: usize, when_full: WhenFull) -> Put {
        let put = self.mailbox.put(message, bytes_max, when_full);
        if matches!(put, Put::Queued { wake: true } | Put::Full { wake: true }) {
            self.wake();
        }
        put
    }

    /// Whether the next request waits for a deferred reply.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.lock_blocked().is_some()
    }

    pub(crate) fn set_blocked(&self, call: Option<Arc<Call>>) {
        let before = std::mem::replace(&mut *self.lock_blocked(), call);
        drop(before);
    }

    /// Answers the pending call that the connection waits for; `false` if there is none. The reply
    /// is `error` or, with `None`, that of the deadline, or null without a deadline.
    pub(crate) fn unblock(&self, error: Option<Error>) -> bool {
        let Some(call) = self.lock_blocked().clone() else {
            return false;
        };
        match error {
            Some(error) => call.answer_for_holder(Answer::new(call.proto(), error)),
            None => {
                call.expire(u64::MAX)
                    || call.answer_for_holder(Answer::new(call.proto(), Option::<Error>::None))
            }
        }
    }

    fn lock_blocked(&self) -> MutexGuard<'_, Option<Arc<Call>>> {
        self.blocked
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Asks the driver to poll the session.
    pub fn wake(&self) {
        self.waker.wake();
    }
}

impl Wake for ClientShared {
    fn wake(&self) {
        self.waker.wake();
    }

    fn drops_killed(&self) -> bool {
        self.waker.drops_killed()
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
