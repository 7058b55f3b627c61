//! Copies of the bytes that connections read and write, for the explorer's live view or an
//! embedder's own audit.
//!
//! Connections never wait for the listener. They send copies in notes, up to a limit of bytes in
//! the queue; a connection drops copies beyond the limit and reports the gap. While no capture
//! runs, a connection loads one atomic per read and per write, and does nothing else.
//!
//! ```
//! use respire_net::{Config, tap::Tap};
//! use std::time::Duration;
//!
//! let (tap, listener) = Tap::new();
//! let config = Config { tap, ..Config::default() }; // for `Server::serve`
//! listener.begin();
//! assert!(listener.next(Duration::ZERO).is_none(), "no connection has sent a note yet");
//! listener.end();
//! # let _ = config;
//! ```

mod probe;

pub(crate) use probe::Probe;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// The most bytes of notes in the queue, including the memory of each note.
pub const UNDER_WAY_BYTES_MAX: usize = 8 << 20;

/// The memory of a note besides the bytes it carries.
const NOTE_BYTES: usize = 256;

/// Where connections send their notes; clones lead to the same listener. By default there is no
/// listener.
#[derive(Clone, Debug, Default)]
pub struct Tap(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    /// The number of the running capture; 0 while none runs.
    capture: AtomicU32,
    /// Bytes of notes in the queue.
    bytes: AtomicUsize,
    /// A connection ended and could not send a note of it.
    has_lost_end: AtomicBool,
    notes: mpsc::Sender<Note>,
}

/// Receives the notes of a [`Tap`].
#[derive(Debug)]
pub struct Listener {
    shared: Arc<Shared>,
    last_capture: AtomicU32,
    notes: Mutex<mpsc::Receiver<Note>>,
}

/// Wakes a [`Listener`] that waits for notes.
#[derive(Clone, Debug)]
pub struct Bell(Arc<Shared>);

/// A note from one connection.
#[derive(Debug)]
pub struct Note {
    /// The connection's id.
    pub connection: u64,
    /// When, in microseconds since 1970-01-01 UTC.
    pub at_us: u64,
    /// What happened.
    pub what: What,
    capture: u32,
    bytes: usize,
}

/// What happened on a connection.
#[derive(Debug)]
pub enum What {
    /// The connection takes part in this capture: always its first note.
    Joined {
        /// The peer's address.
        peer: Box<str>,
        /// A way to tell the connection that copies are not wanted.
        wanted: Arc<Wanted>,
    },
    /// The connection read these bytes.
    Received(Copy),
    /// The connection wrote these bytes.
    Sent(Copy),
    /// The connection ended, with the reason: always its last note.
    Ended(Box<str>),
}

/// A copy of the bytes of one read or one write.
#[derive(Debug)]
pub struct Copy {
    /// The bytes.
    pub bytes: Box<[u8]>,
    /// Whether the connection speaks the binary protocol.
    pub is_binary: bool,
    /// The bytes left out before these. After a gap, the bytes begin a request or a reply.
    pub gap: Option<Gap>,
}

/// Bytes that were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// How many bytes.
    pub bytes: u64,
    /// The reason.
    pub why: Why,
}

/// Why bytes were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The connection was in the middle of a request or a reply when the capture began.
    BeganInTheMiddle,
    /// Too many notes were in the queue.
    TooFast,
    /// The listener did not want them: see [`Wanted`].
    Unwanted,
}

/// Tells a connection that no copies are wanted until the next request, or the next reply,
/// certainly begins. The copy from there on carries a [`Gap`].
#[derive(Debug, Default)]
pub struct Wanted {
    skips_received: AtomicBool,
    skips_sent: AtomicBool,
}

impl Wanted {
    /// Skip the rest of the current input.
    pub fn skip_received(&self) {
        self.skips_received.store(true, Ordering::Relaxed);
    }

    /// Skip the rest of the current output.
    pub fn skip_sent(&self) {
        self.skips_sent.store(true, Ordering::Relaxed);
    }
}

impl Tap {
    /// A tap and its listener.
    #[must_use]
    pub fn new() -> (Self, Listener) {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Shared {
            capture: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            has_lost_end: AtomicBool::new(false),
            notes: sender,
        });
        let listener = Listener {
            shared: Arc::clone(&shared),
            last_capture: AtomicU32::new(0),
            notes: Mutex::new(receiver),
        };
        (Self(Some(shared)), listener)
    }

    /// Whether the tap has a listener.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

impl Shared {
    /// Reserves room for a note that carries `bytes` bytes; `false` if the queue is full.
    fn reserve(&self, bytes: usize) -> bool {
        let bytes = bytes + NOTE_BYTES;
        let under_way = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if under_way > UNDER_WAY_BYTES_MAX {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        under_way <= UNDER_WAY_BYTES_MAX
    }

    /// Sends a note whose room is reserved; `false` if the listener is gone.
    fn send(&self, note: Note, bytes: usize) -> bool {
        let bytes = bytes + NOTE_BYTES;
        self.notes.send(Note { bytes, ..note }).is_ok()
    }

    /// Sends a note without bytes, if there is room.
    fn put(&self, note: Note) -> bool {
        self.reserve(0) && self.send(note, 0)
    }
}

impl Listener {
    /// Begins a capture: from now on connections send notes. Notes of earlier captures are dropped.
    pub fn begin(&self) {
        // Wraps after four billion captures, and skips 0, which means none.
        let capture = self
            .last_capture
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
            .max(1);
        self.last_capture.store(capture, Ordering::Relaxed);
        self.shared.has_lost_end.store(false, Ordering::Relaxed);
        self.shared.capture.store(capture, Ordering::Release);
    }

    /// Ends the capture: connections send no more notes.
    pub fn end(&self) {
        self.shared.capture.store(0, Ordering::Release);
    }

    /// The next note of this capture; `None` after `patience`, or when the [`Bell`] was rung.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<Note> {
        let notes = self
            .notes
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let capture = self.shared.capture.load(Ordering::Relaxed);
        loop {
            let note = notes.recv_timeout(patience).ok()?;
            self.shared.bytes.fetch_sub(note.bytes, Ordering::Relaxed);
            if note.capture == capture && capture != 0 {
                return Some(note);
            }
            if note.capture == WAKE_NOTE {
                return None;
            }
        }
    }

    /// Bytes of notes in the queue. It exceeds [`UNDER_WAY_BYTES_MAX`] only for moments: a
    /// connection adds its own bytes before it checks the limit.
    #[must_use]
    pub fn under_way_bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Whether a connection ended without a note since the last call.
    #[must_use]
    pub fn has_lost_end(&self) -> bool {
        self.shared.has_lost_end.swap(false, Ordering::Relaxed)
    }

    /// A handle that wakes a thread in [`Listener::next`].
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell(Arc::clone(&self.shared))
    }
}

/// The capture number of the note that wakes the listener.
const WAKE_NOTE: u32 = 0;

impl Bell {
    /// Wakes the listener.
    pub fn ring(&self) {
        // Fails if the listener is gone; then nothing must be woken.
        let _ = self.0.notes.send(Note {
            connection: 0,
            at_us: 0,
            what: What::Ended(Box::default()),
            capture: WAKE_NOTE,
            bytes: 0,
        });
    }
}
