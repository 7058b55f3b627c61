//! A connection's end of the tap: decides which bytes to copy and sends the notes.

use super::{Copy, Gap, Note, Shared, Tap, Wanted, What, Why};
use crate::clock;
use respire_engine::driver::Session;
use respire_engine::{App, Now, Output};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tap state of one connection.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    shared: Option<Arc<Shared>>,
    connection: u64,
    /// The capture that the connection takes part in.
    joined: Option<Joined>,
    /// The last reply was written in part, so the next write does not begin a reply.
    is_within_reply: bool,
}

#[derive(Debug)]
struct Joined {
    capture: u32,
    wanted: Arc<Wanted>,
    received: Coverage,
    sent: Coverage,
    /// In the binary protocol: the request that the next reply answers was copied.
    may_reply: bool,
}

/// The state of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coverage {
    /// Every byte is copied.
    Complete,
    /// Bytes are left out until the next request or reply begins.
    Gap(Gap),
}

impl Coverage {
    const NOT_BEGUN: Self = Self::Gap(Gap {
        bytes: 0,
        why: Why::BeganInTheMiddle,
    });

    /// Leaves bytes out.
    fn skip(&mut self, bytes: usize, why: Why) {
        let bytes = bytes as u64;
        match self {
            Self::Complete => *self = Self::Gap(Gap { bytes, why }),
            Self::Gap(gap) => gap.bytes += bytes,
        }
    }

    fn gap(self) -> Option<Gap> {
        match self {
            Self::Complete => None,
            Self::Gap(gap) => Some(gap),
        }
    }
}

/// The direction of bytes.
#[derive(Clone, Copy)]
enum Direction {
    In,
    Out,
}

impl Probe {
    /// A probe for a connection that opens now.
    pub(crate) fn new<A: App>(tap: &Tap, session: &Session<A>, now: Now) -> Self {
        let mut probe = Self::default();
        probe.shared.clone_from(&tap.0);
        probe.connection = session.client().id();
        if probe.is_on() {
            probe.join(session, Coverage::Complete, now);
        }
        probe
    }

    /// Whether a capture runs.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.capture.load(Ordering::Relaxed) != 0)
    }

    /// Call this after each write: `is_all` says whether the whole output was written.
    #[inline]
    pub(crate) fn wrote(&mut self, is_all: bool) {
        self.is_within_reply = !is_all;
    }

    /// Call this after a read, before the session serves the bytes.
    pub(crate) fn received<A: App>(
        &mut self,
        bytes: &[u8],
        session: &Session<A>,
        out: &Output,
        now: Now,
    ) {
        let is_binary = session.is_binary_with(bytes);
        // Both directions of the binary protocol must begin together: only the request tells which
        // kind of reply follows.
        let may_begin = if is_binary {
            session.is_quiet() && out.is_empty()
        } else {
            session.is_between_requests()
        };
        if self.capture(session, now).is_some() {
            let copy = || bytes.into();
            self.put(
                Direction::In,
                bytes.len(),
                copy,
                (is_binary, may_begin),
                now,
            );
        }
    }

    /// Call this after a write of the first `written` bytes of `slices`.
    pub(crate) fn sent<A: App>(
        &mut self,
        (slices, written): (&[IoSlice<'_>], usize),
        session: &Session<A>,
        now: Now,
    ) {
        let (is_binary, is_border) = (session.is_binary(), !self.is_within_reply);
        let Some(joined) = self.capture(session, now) else {
            return;
        };
        let may_begin = is_border && (!is_binary || joined.may_reply);
        let copy = || {
            let mut bytes = Vec::with_capacity(written);
            for slice in slices {
                let left = written - bytes.len();
                bytes.extend_from_slice(&slice[..slice.len().min(left)]);
            }
            bytes.into()
        };
        self.put(Direction::Out, written, copy, (is_binary, may_begin), now);
    }

    /// Call this when the connection ends.
    pub(crate) fn ended(&mut self, why: impl std::fmt::Display) {
        // Sent once, even if the connection sent no note during the capture: the listener knows
        // that it is open.
        let Some(shared) = self.shared.take() else {
            return;
        };
        let capture = shared.capture.load(Ordering::Acquire);
        if capture == 0 {
            return;
        }
        let note = Note {
            connection: self.connection,
            at_us: clock::now().unix_us(),
            what: What::Ended(why.to_string().into()),
            capture,
            bytes: 0,
        };
        if !shared.put(note) {
            shared.has_lost_end.store(true, Ordering::Relaxed);
        }
    }

    /// The running capture; joins it if it is a new one.
    fn capture<A: App>(&mut self, session: &Session<A>, now: Now) -> Option<&mut Joined> {
        let capture = self.shared.as_ref()?.capture.load(Ordering::Acquire);
        if self
            .joined
            .as_ref()
            .is_none_or(|joined| joined.capture != capture)
        {
            self.joined = None;
            if capture != 0 {
                self.join(session, Coverage::NOT_BEGUN, now);
            }
        }
        self.joined.as_mut()
    }

    fn join<A: App>(&mut self, session: &Session<A>, coverage: Coverage, now: Now) {
        let Some(shared) = &self.shared else { return };
        let client = session.client();
        let wanted = Arc::new(Wanted::default());
        let peer = client.shared().peer().address.clone();
        let joined = Joined {
            capture: shared.capture.load(Ordering::Acquire),
            wanted: Arc::clone(&wanted),
            received: coverage,
            sent: coverage,
            may_reply: false,
        };
        let note = Note {
            connection: self.connection,
            at_us: now.unix_us(),
            what: What::Joined { peer, wanted },
            capture: joined.capture,
            bytes: 0,
        };
        // If there is no room, retry with the next bytes, as if the capture began then.
        if shared.put(note) {
            self.joined = Some(joined);
        }
    }

    /// Sends a note of bytes, or counts them as left out.
    fn put(
        &mut self,
        direction: Direction,
        len: usize,
        copy: impl FnOnce() -> Box<[u8]>,
        (is_binary, may_begin): (bool, bool),
        now: Now,
    ) {
        let (Some(shared), Some(joined)) = (&self.shared, &mut self.joined) else {
            return;
        };
        joined.apply_wanted();
        let gap = joined.coverage(direction).gap();
        if gap.is_some() && !may_begin {
            joined.coverage(direction).skip(len, Why::TooFast);
            return;
        }
        // Reserve before copying, so that no copy is made in vain.
        if !shared.reserve(len) {
            joined.coverage(direction).skip(len, Why::TooFast);
            if is_binary {
                joined.skip_both(Why::TooFast);
            }
            return;
        }
        *joined.coverage(direction) = Coverage::Complete;
        joined.may_reply |= gap.is_some();
        let copy = Copy {
            bytes: copy(),
            is_binary,
            gap,
        };
        let note = Note {
            connection: self.connection,
            at_us: now.unix_us(),
            what: match direction {
                Direction::In => What::Received(copy),
                Direction::Out => What::Sent(copy),
            },
            capture: joined.capture,
            bytes: 0,
        };
        // If the listener is gone, the note is not needed.
        shared.send(note, len);
    }
}

impl Joined {
    fn coverage(&mut self, direction: Direction) -> &mut Coverage {
        match direction {
            Direction::In => &mut self.received,
            Direction::Out => &mut self.sent,
        }
    }

    fn skip_both(&mut self, why: Why) {
        self.received.skip(0, why);
        self.sent.skip(0, why);
        self.may_reply = false;
    }

    /// Applies the listener's requests to skip bytes.
    fn apply_wanted(&mut self) {
        let take_flag =
            |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        let skips_received = take_flag(&self.wanted.skips_received);
        let skips_sent = take_flag(&self.wanted.skips_sent);
        if skips_received && skips_sent {
            self.skip_both(Why::Unwanted);
        } else if skips_received {
            self.received.skip(0, Why::Unwanted);
        } else if skips_sent {
            self.sent.skip(0, Why::Unwanted);
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // Does nothing if the connection has already reported its end.
        self.ended("cut");
    }
}
