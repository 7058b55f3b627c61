//! Copies of what connections read and write, for whoever looks on: the explorer's live view, or an
//! audit of one's own.
//!
//! Nobody waits for whoever looks on. Copies are handed over in notes, of which only so many bytes are
//! under way; what does not fit is left out, and its connection says so. While nobody looks, a
//! connection asks one atomic, with each read and each write, and does nothing else.
//!
//! ```
//! use respire_net::{Config, tap::Tap};
//! use std::time::Duration;
//!
//! let (tap, listener) = Tap::new();
//! let config = Config { tap, ..Config::default() }; // for `Server::serve`
//! listener.begin();
//! assert!(listener.next(Duration::ZERO).is_none(), "nobody has said anything yet");
//! listener.end();
//! # let _ = config;
//! ```

mod probe;

pub(crate) use probe::Probe;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// The most bytes of notes under way, what each takes for itself included.
pub const UNDER_WAY_BYTES_MAX: usize = 8 << 20;

/// What a note takes besides the bytes it carries.
const NOTE_BYTES: usize = 256;

/// Where connections put their notes; clones lead to the same listener. By default there is none.
#[derive(Clone, Debug, Default)]
pub struct Tap(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    /// The number of the look that is on; 0 while nobody looks.
    look: AtomicU32,
    /// Bytes of notes under way.
    bytes: AtomicUsize,
    /// A connection could not say that it was closed.
    has_lost_end: AtomicBool,
    notes: mpsc::Sender<Note>,
}

/// Gets the notes of a [`Tap`].
#[derive(Debug)]
pub struct Listener {
    shared: Arc<Shared>,
    last_look: AtomicU32,
    notes: Mutex<mpsc::Receiver<Note>>,
}

/// Wakes a [`Listener`] that waits for notes.
#[derive(Clone, Debug)]
pub struct Bell(Arc<Shared>);

/// What one connection has to say.
#[derive(Debug)]
pub struct Note {
    /// The connection's id.
    pub connection: u64,
    /// When: microseconds since 1970-01-01 UTC.
    pub at_us: u64,
    /// What.
    pub what: What,
    look: u32,
    bytes: usize,
}

/// What a connection says.
#[derive(Debug)]
pub enum What {
    /// It takes part in this look: always its first note.
    Joined {
        /// The peer's address.
        peer: Box<str>,
        /// How to tell the connection that copies are not wanted.
        wanted: Arc<Wanted>,
    },
    /// It read this.
    Received(Copy),
    /// It wrote this.
    Sent(Copy),
    /// It ended, and why: always its last note.
    Ended(Box<str>),
}

/// A copy of what one read or one write moved.
#[derive(Debug)]
pub struct Copy {
    /// The bytes.
    pub bytes: Box<[u8]>,
    /// Whether they are of the binary protocol.
    pub is_binary: bool,
    /// What was left out before them. Then these bytes begin a request, or a reply.
    pub gap: Option<Gap>,
}

/// Bytes that were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// How many.
    pub bytes: u64,
    /// Why.
    pub why: Why,
}

/// Why bytes were left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// When the look began the connection was in the middle of a request or a reply.
    BeganInTheMiddle,
    /// Too many notes were under way.
    TooFast,
    /// They were not wanted: see [`Wanted`].
    Unwanted,
}

/// Tells a connection that no copies are wanted up to where the next request, or the next reply,
/// certainly begins. The copy there says so with a [`Gap`].
#[derive(Debug, Default)]
pub struct Wanted {
    skips_received: AtomicBool,
    skips_sent: AtomicBool,
}

impl Wanted {
    /// No more of what is read.
    pub fn skip_received(&self) {
        self.skips_received.store(true, Ordering::Relaxed);
    }

    /// No more of what is written.
    pub fn skip_sent(&self) {
        self.skips_sent.store(true, Ordering::Relaxed);
    }
}

impl Tap {
    /// A tap, and whoever listens to it.
    #[must_use]
    pub fn new() -> (Self, Listener) {
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::new(Shared {
            look: AtomicU32::new(0),
            bytes: AtomicUsize::new(0),
            has_lost_end: AtomicBool::new(false),
            notes: sender,
        });
        let listener = Listener {
            shared: Arc::clone(&shared),
            last_look: AtomicU32::new(0),
            notes: Mutex::new(receiver),
        };
        (Self(Some(shared)), listener)
    }

    /// Whether there is somebody who may listen.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }
}

impl Shared {
    /// Makes room for a note that carries so many bytes, unless too many are under way.
    fn reserve(&self, bytes: usize) -> bool {
        let bytes = bytes + NOTE_BYTES;
        let under_way = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if under_way > UNDER_WAY_BYTES_MAX {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        under_way <= UNDER_WAY_BYTES_MAX
    }

    /// Hands a note over for which there is room; `false` when nobody is there.
    fn send(&self, note: Note, bytes: usize) -> bool {
        let bytes = bytes + NOTE_BYTES;
        self.notes.send(Note { bytes, ..note }).is_ok()
    }

    /// Hands a note without bytes over, if there is room.
    fn put(&self, note: Note) -> bool {
        self.reserve(0) && self.send(note, 0)
    }
}

impl Listener {
    /// Begins a look: from here connections take notes. Those of earlier looks are forgotten.
    pub fn begin(&self) {
        // Wraps after four billion looks, past the 0 that means none.
        let look = self
            .last_look
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_add(1)
            .max(1);
        self.last_look.store(look, Ordering::Relaxed);
        self.shared.has_lost_end.store(false, Ordering::Relaxed);
        self.shared.look.store(look, Ordering::Release);
    }

    /// Ends the look: connections take no more notes.
    pub fn end(&self) {
        self.shared.look.store(0, Ordering::Release);
    }

    /// The next note of this look; `None` when the time is over or the bell rang.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<Note> {
        let notes = self
            .notes
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        let look = self.shared.look.load(Ordering::Relaxed);
        loop {
            let note = notes.recv_timeout(patience).ok()?;
            self.shared.bytes.fetch_sub(note.bytes, Ordering::Relaxed);
            if note.look == look && look != 0 {
                return Some(note);
            }
            if note.look == RING {
                return None;
            }
        }
    }

    /// Bytes of notes under way; never more than [`UNDER_WAY_BYTES_MAX`] for long: each connection
    /// adds its own before it looks whether that was too much.
    #[must_use]
    pub fn under_way_bytes(&self) -> usize {
        self.shared.bytes.load(Ordering::Relaxed)
    }

    /// Whether, since this was asked last, a connection could not say that it ended.
    #[must_use]
    pub fn has_lost_end(&self) -> bool {
        self.shared.has_lost_end.swap(false, Ordering::Relaxed)
    }

    /// What wakes a thread that waits in [`Listener::next`].
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell(Arc::clone(&self.shared))
    }
}

/// The look of the note that wakes.
const RING: u32 = 0;

impl Bell {
    /// Rings it.
    pub fn ring(&self) {
        // Whoever listens no longer need not be woken.
        let _ = self.0.notes.send(Note {
            connection: 0,
            at_us: 0,
            what: What::Ended(Box::default()),
            look: RING,
            bytes: 0,
        });
    }
}
