//! A connection's end of the tap.

use super::{Copy, Gap, Note, Shared, Tap, Wanted, What, Why};
use crate::clock;
use respire_engine::{App, Now, Output, Session};
use std::io::IoSlice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a connection keeps to take notes.
#[derive(Debug, Default)]
pub(crate) struct Probe {
    shared: Option<Arc<Shared>>,
    connection: u64,
    /// The look that the connection takes part in.
    joined: Option<Joined>,
    /// A reply was written in part: what is written next does not begin one.
    is_within_reply: bool,
}

#[derive(Debug)]
struct Joined {
    look: u32,
    wanted: Arc<Wanted>,
    received: Side,
    sent: Side,
    /// In the binary protocol: the request that the next reply answers was copied.
    may_reply: bool,
}

/// Where one direction stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    /// Every byte is copied.
    InStep,
    /// Bytes are left out up to the next border.
    Gap(Gap),
}

impl Side {
    const BEFORE: Self = Self::Gap(Gap {
        bytes: 0,
        why: Why::BeganInTheMiddle,
    });

    /// Leaves bytes out.
    fn skip(&mut self, bytes: usize, why: Why) {
        let bytes = bytes as u64;
        match self {
            Self::InStep => *self = Self::Gap(Gap { bytes, why }),
            Self::Gap(gap) => gap.bytes += bytes,
        }
    }

    fn gap(self) -> Option<Gap> {
        match self {
            Self::InStep => None,
            Self::Gap(gap) => Some(gap),
        }
    }
}

/// Which way bytes went.
#[derive(Clone, Copy)]
enum Way {
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
            probe.join(session, Side::InStep, now);
        }
        probe
    }

    /// Whether somebody looks on.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.look.load(Ordering::Relaxed) != 0)
    }

    /// Whether all that was begun to be written is written; to be told after each write.
    #[inline]
    pub(crate) fn wrote(&mut self, is_all: bool) {
        self.is_within_reply = !is_all;
    }

    /// Bytes were read and have yet to be served.
    pub(crate) fn received<A: App>(
        &mut self,
        bytes: &[u8],
        session: &Session<A>,
        out: &Output,
        now: Now,
    ) {
        let is_binary = session.is_binary_with(bytes);
        // The two directions of the binary protocol begin together: its replies do not tell of what
        // kind they are, their requests do.
        let may_begin = if is_binary {
            session.is_quiet() && out.is_empty()
        } else {
            session.is_between_requests()
        };
        if self.look(session, now).is_some() {
            let copy = || bytes.into();
            self.put(Way::In, bytes.len(), copy, (is_binary, may_begin), now);
        }
    }

    /// The first `written` bytes of these were written.
    pub(crate) fn sent<A: App>(
        &mut self,
        (slices, written): (&[IoSlice<'_>], usize),
        session: &Session<A>,
        now: Now,
    ) {
        let (is_binary, is_border) = (session.is_binary(), !self.is_within_reply);
        let Some(joined) = self.look(session, now) else {
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
        self.put(Way::Out, written, copy, (is_binary, may_begin), now);
    }

    /// The connection ends.
    pub(crate) fn ended(&mut self, why: impl std::fmt::Display) {
        // Once, and also by those who said nothing during the look: they are known to be open.
        let Some(shared) = self.shared.take() else {
            return;
        };
        let look = shared.look.load(Ordering::Acquire);
        if look == 0 {
            return;
        }
        let note = Note {
            connection: self.connection,
            at_us: clock::now().unix_us(),
            what: What::Ended(why.to_string().into()),
            look,
            bytes: 0,
        };
        if !shared.put(note) {
            shared.has_lost_end.store(true, Ordering::Relaxed);
        }
    }

    /// The look that is on, joined if it is a new one.
    fn look<A: App>(&mut self, session: &Session<A>, now: Now) -> Option<&mut Joined> {
        let look = self.shared.as_ref()?.look.load(Ordering::Acquire);
        if self
            .joined
            .as_ref()
            .is_none_or(|joined| joined.look != look)
        {
            self.joined = None;
            if look != 0 {
                self.join(session, Side::BEFORE, now);
            }
        }
        self.joined.as_mut()
    }

    fn join<A: App>(&mut self, session: &Session<A>, side: Side, now: Now) {
        let Some(shared) = &self.shared else { return };
        let client = session.client();
        let wanted = Arc::new(Wanted::default());
        let peer = client.shared().peer().address.clone();
        let joined = Joined {
            look: shared.look.load(Ordering::Acquire),
            wanted: Arc::clone(&wanted),
            received: side,
            sent: side,
            may_reply: false,
        };
        let note = Note {
            connection: self.connection,
            at_us: now.unix_us(),
            what: What::Joined { peer, wanted },
            look: joined.look,
            bytes: 0,
        };
        // When there is no room it is tried again with the next bytes, as if the look began then.
        if shared.put(note) {
            self.joined = Some(joined);
        }
    }

    /// Takes a note of bytes, or of having left them out.
    fn put(
        &mut self,
        way: Way,
        len: usize,
        copy: impl FnOnce() -> Box<[u8]>,
        (is_binary, may_begin): (bool, bool),
        now: Now,
    ) {
        let (Some(shared), Some(joined)) = (&self.shared, &mut self.joined) else {
            return;
        };
        joined.heed();
        let gap = joined.side(way).gap();
        if gap.is_some() && !may_begin {
            joined.side(way).skip(len, Why::TooFast);
            return;
        }
        // Nothing is copied that would be thrown away.
        if !shared.reserve(len) {
            joined.side(way).skip(len, Why::TooFast);
            if is_binary {
                joined.skip_both(Why::TooFast);
            }
            return;
        }
        *joined.side(way) = Side::InStep;
        joined.may_reply |= gap.is_some();
        let copy = Copy {
            bytes: copy(),
            is_binary,
            gap,
        };
        let note = Note {
            connection: self.connection,
            at_us: now.unix_us(),
            what: match way {
                Way::In => What::Received(copy),
                Way::Out => What::Sent(copy),
            },
            look: joined.look,
            bytes: 0,
        };
        // Where nobody is there any more, nothing is missed.
        shared.send(note, len);
    }
}

impl Joined {
    fn side(&mut self, way: Way) -> &mut Side {
        match way {
            Way::In => &mut self.received,
            Way::Out => &mut self.sent,
        }
    }

    fn skip_both(&mut self, why: Why) {
        self.received.skip(0, why);
        self.sent.skip(0, why);
        self.may_reply = false;
    }

    /// Does as it was told by whoever looks on.
    fn heed(&mut self) {
        let is_told =
            |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        let skips_received = is_told(&self.wanted.skips_received);
        let skips_sent = is_told(&self.wanted.skips_sent);
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
        // Of a connection that ended by itself this is known already.
        self.ended("cut");
    }
}
