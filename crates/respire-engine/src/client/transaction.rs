//! The state of a connection between `MULTI` and `EXEC`.

use super::SharedBuffer;
use crate::{ArgList, Flags, Limits, Now};
use resp_codec::Span;
use std::collections::BTreeMap;

/// A command that was found: its entry, and the number of arguments that name it.
pub(crate) type Found = (u32, usize);

/// A watched key. Dropping it ends the watch.
pub trait WatchedKey: Send {
    /// Whether the key has changed since the watch began, or is expired at `now`.
    fn is_dirty(&self, now: Now) -> bool;
}

/// The queued requests of one connection and the keys it watches.
#[derive(Default)]
pub(crate) struct Transaction {
    queue: Option<Box<Queue>>,
    /// Indexed by database and key: a request may name a million keys, and each is watched once.
    watched: BTreeMap<Place, Box<dyn WatchedKey>>,
}

/// A database and one of its keys.
type Place = (u32, Box<[u8]>);

/// The requests queued since `MULTI`.
#[derive(Default)]
pub(crate) struct Queue {
    requests: Vec<QueuedRequest>,
    bytes: usize,
    /// At least one of the requests writes.
    has_writes: bool,
    /// At least one of the requests runs commands of its own.
    has_scripts: bool,
    /// A request was refused while queueing, so `EXEC` must not run the others.
    is_aborted: bool,
}

/// One queued request: its entry in the table and its arguments, name included.
pub(crate) struct QueuedRequest {
    pub(crate) entry: u32,
    /// How many leading arguments name the command: 1, or 2 with a subcommand.
    pub(crate) name_len: usize,
    /// The large argument, if it can be kept in its buffer.
    large: Option<SharedBuffer>,
    /// Copies of the other arguments.
    bytes: Box<[u8]>,
    spans: Box<[Span]>,
}

impl QueuedRequest {
    fn new(
        (entry, name_len): Found,
        request: ArgList<'_>,
        shared_buffer: Option<&SharedBuffer>,
    ) -> Self {
        // At most one argument is large enough, because it must fill nearly the whole buffer.
        let find = |shared_buffer: &SharedBuffer| {
            let mut args = request.iter().enumerate();
            args.find_map(|(at, arg)| Some((at, shared_buffer.only(arg)?)))
        };
        let (large_at, large) = shared_buffer.and_then(find).unzip();
        let copied = || {
            let args = request.iter().enumerate();
            args.filter(|(at, _)| Some(*at) != large_at)
        };
        let mut bytes = Vec::with_capacity(copied().map(|(_, arg)| arg.len()).sum());
        let mut spans: Vec<Span> = request
            .iter()
            .map(|arg| Span::new(0, arg.len() as u32))
            .collect();
        for (at, arg) in copied() {
            spans[at] = Span::in_scratch(bytes.len() as u32, arg.len() as u32);
            bytes.extend_from_slice(arg);
        }
        Self {
            entry,
            name_len,
            large,
            bytes: bytes.into(),
            spans: spans.into(),
        }
    }

    /// The whole request, name included.
    pub(crate) fn request(&self) -> ArgList<'_> {
        let large = self.large.as_ref().map_or(&[][..], SharedBuffer::bytes);
        ArgList::new(large, &self.bytes, &self.spans)
    }

    /// The buffer of its large argument, if the command may keep that.
    pub(crate) fn shared_buffer(&self) -> Option<SharedBuffer> {
        self.large.clone()
    }

    fn size(&self) -> usize {
        let large = self.large.as_ref().map_or(0, SharedBuffer::allocated);
        large + self.bytes.len() + self.spans.len() * size_of::<Span>() + size_of::<Self>()
    }
}

impl Queue {
    pub(crate) fn requests(&self) -> &[QueuedRequest] {
        &self.requests
    }

    pub(crate) fn is_aborted(&self) -> bool {
        self.is_aborted
    }

    /// Whether one of the requests may use keys that it does not name ([`Flags::SCRIPT`]).
    pub(crate) fn has_scripts(&self) -> bool {
        self.has_scripts
    }
}

impl Transaction {
    /// Whether `MULTI` was sent, and neither `EXEC` nor `DISCARD` after it.
    pub(crate) fn is_open(&self) -> bool {
        self.queue.is_some()
    }

    pub(crate) fn begin(&mut self) {
        self.queue = Some(Box::default());
    }

    /// Adds a copy of a request to the queue. A large argument is not copied if it can be kept in
    /// `shared_buffer`. Returns `false` if the queue is full; the transaction is then aborted.
    pub(crate) fn queue(
        &mut self,
        found: Found,
        flags: Flags,
        (request, shared_buffer): (ArgList<'_>, Option<&SharedBuffer>),
        limits: &Limits,
    ) -> bool {
        let Some(queue) = &mut self.queue else {
            return false;
        };
        let queued = QueuedRequest::new(found, request, shared_buffer);
        let bytes = queue.bytes + queued.size();
        if queue.requests.len() >= limits.queued_commands_max || bytes > limits.queued_bytes_max {
            queue.is_aborted = true;
            return false;
        }
        queue.bytes = bytes;
        queue.has_writes |= flags.has(Flags::WRITE);
        queue.has_scripts |= flags.has(Flags::SCRIPT);
        queue.requests.push(queued);
        true
    }

    /// Records that a request was refused, so that `EXEC` refuses the transaction.
    pub(crate) fn mark_aborted(&mut self) {
        if let Some(queue) = &mut self.queue {
            queue.is_aborted = true;
        }
    }

    /// Ends the transaction and returns its queue. The keys stay watched until
    /// [`Transaction::unwatch`].
    pub(crate) fn take_queue(&mut self) -> Option<Box<Queue>> {
        self.queue.take()
    }

    /// Ends the transaction, if any, and all watches.
    pub(crate) fn end(&mut self) {
        self.queue = None;
        self.unwatch();
    }

    /// Whether one of the queued requests writes.
    pub(crate) fn has_writes(&self) -> bool {
        self.queue.as_ref().is_some_and(|queue| queue.has_writes)
    }

    /// The requests that are queued.
    pub(crate) fn queued(&self) -> &[QueuedRequest] {
        self.queue.as_ref().map_or(&[], |queue| &queue.requests)
    }

    pub(crate) fn queued_len(&self) -> usize {
        self.queue.as_ref().map_or(0, |queue| queue.requests.len())
    }

    /// Watches a key unless it is watched already. O(log n) in the watched keys.
    pub(crate) fn watch(
        &mut self,
        db: u32,
        key: &[u8],
        begin: impl FnOnce() -> Box<dyn WatchedKey>,
    ) {
        self.watched.entry((db, key.into())).or_insert_with(begin);
    }

    pub(crate) fn unwatch(&mut self) {
        self.watched.clear();
    }

    pub(crate) fn watched(&self) -> impl ExactSizeIterator<Item = (u32, &[u8])> {
        self.watched.keys().map(|(db, key)| (*db, &**key))
    }

    pub(crate) fn is_dirty(&self, now: Now) -> bool {
        self.watched.values().any(|watch| watch.is_dirty(now))
    }
}

impl std::fmt::Debug for Transaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transaction")
            .field(
                "queued",
                &self.queue.as_ref().map(|queue| queue.requests.len()),
            )
            .field("watched", &self.watched.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: (&[u8], [Span; 2]) = (b"getkey", [Span::new(0, 3), Span::new(3, 3)]);

    #[test]
    fn queued_requests_keep_their_arguments() {
        let mut tx = Transaction::default();
        tx.begin();
        let request = ArgList::new(REQUEST.0, &[], &REQUEST.1);
        assert!(tx.queue((7, 1), Flags::NONE, (request, None), &Limits::DEFAULT));
        assert!(!tx.has_writes());
        let queue = tx.take_queue().expect("begun above");
        let request = queue.requests()[0].request();
        assert_eq!(request.iter().collect::<Vec<_>>(), [&b"get"[..], b"key"]);
        assert!(!tx.is_open());
    }

    #[test]
    fn queue_over_its_limit_aborts_the_transaction() {
        let limits = Limits {
            queued_commands_max: 1,
            ..Limits::DEFAULT
        };
        let mut tx = Transaction::default();
        tx.begin();
        let request = ArgList::new(REQUEST.0, &[], &REQUEST.1);
        assert!(tx.queue((7, 1), Flags::WRITE, (request, None), &limits));
        assert!(!tx.queue((7, 1), Flags::WRITE, (request, None), &limits));
        assert!(tx.has_writes());
        assert!(tx.take_queue().is_some_and(|queue| queue.is_aborted()));
    }
}
