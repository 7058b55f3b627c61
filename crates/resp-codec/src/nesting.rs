//! Which value may stand where, and when a frame is whole. Iterative: a stack of counts, never of
//! calls.

use alloc::vec::Vec;

use crate::error::{Error, ErrorKind};
use crate::kind::Kind;
use crate::limits::Limits;

/// Elements "left" of a streamed aggregate at its start. No frame has so many nodes.
const STREAMED: u32 = 1 << 30;

/// The next element names the push, so it must be a string.
const NAMES_PUSH: u8 = 1;
/// Only chunks may follow.
const CHUNKS: u8 = 2;
/// An attribute was read whose value has not begun.
const ATTRIBUTED: u8 = 4;

/// An aggregate that was begun and not finished.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// Elements still to come, or [`STREAMED`] minus those that came.
    left: u32,
    /// What the consumer remembers of it.
    pub(crate) mark: u32,
    pub(crate) kind: Kind,
    flags: u8,
}

impl Level {
    /// The level that holds one frame. Its kind is never asked for.
    const ROOT: Self = Self {
        left: 1,
        mark: 0,
        kind: Kind::Array,
        flags: 0,
    };

    /// Whether only chunks may follow.
    pub(crate) const fn is_string(&self) -> bool {
        self.flags & CHUNKS != 0
    }
}

/// The aggregates around the current position.
#[derive(Clone, Debug)]
pub(crate) struct Nesting {
    /// The levels around `top`, outermost first.
    outer: Vec<Level>,
    top: Level,
    /// Values begun in this frame.
    nodes: u32,
}

impl Nesting {
    pub(crate) const fn new() -> Self {
        Self {
            outer: Vec::new(),
            top: Level::ROOT,
            nodes: 0,
        }
    }

    /// Starts over at a frame's start, and keeps what is allocated.
    pub(crate) fn clear(&mut self) {
        self.outer.clear();
        self.top = Level::ROOT;
        self.nodes = 0;
    }

    /// Aggregates around the current position.
    pub(crate) fn depth(&self) -> usize {
        self.outer.len()
    }

    /// The aggregates around the current position, outermost first.
    pub(crate) fn levels(&mut self) -> impl Iterator<Item = &mut Level> {
        // The first level holds the frame itself.
        let all = self.outer.iter_mut().chain([&mut self.top]);
        all.skip(1)
    }

    /// Whether only chunks may follow.
    pub(crate) const fn in_string(&self) -> bool {
        self.top.is_string()
    }

    /// Elements the innermost aggregate still lacks; `None` if it is streamed.
    pub(crate) const fn left(&self) -> Option<u32> {
        if self.top.left > STREAMED / 2 {
            None
        } else {
            Some(self.top.left)
        }
    }

    /// A value of `kind` begins at `at`.
    #[inline(always)]
    pub(crate) fn begin(&mut self, kind: Kind, at: usize, limits: &Limits) -> Result<(), Error> {
        if self.nodes >= limits.max_nodes {
            return Err(Error::new(ErrorKind::TooManyNodes, at));
        }
        self.nodes += 1;
        if self.top.flags != 0 {
            self.begin_marked(kind, at)
        } else {
            Ok(())
        }
    }

    fn begin_marked(&mut self, kind: Kind, at: usize) -> Result<(), Error> {
        if self.in_string() {
            return Err(Error::new(ErrorKind::ExpectedChunk, at));
        }
        if kind != Kind::Attribute {
            if self.top.flags & NAMES_PUSH != 0 && !kind.is_string() {
                return Err(Error::new(ErrorKind::InvalidPush, at));
            }
            self.top.flags = 0;
        }
        Ok(())
    }

    /// How many scalars may follow one another here, whatever they are.
    #[inline(always)]
    pub(crate) fn plain_left(&self, limits: &Limits) -> u32 {
        if self.top.flags != 0 {
            return 0;
        }
        self.top.left.min(limits.max_nodes - self.nodes)
    }

    /// So many scalars were begun and finished, at most [`Nesting::plain_left`].
    #[inline(always)]
    pub(crate) const fn take_plain(&mut self, count: u32) {
        self.nodes += count;
        self.top.left -= count;
    }

    /// Whether the innermost aggregate (or the frame) has all its elements.
    #[inline(always)]
    pub(crate) const fn is_complete(&self) -> bool {
        self.top.left == 0
    }

    /// The value that began at `at` is an aggregate of `elements`, not none.
    #[inline]
    pub(crate) fn open(
        &mut self,
        kind: Kind,
        elements: Option<u32>,
        mark: u32,
        at: usize,
        limits: &Limits,
    ) -> Result<(), Error> {
        if kind == Kind::Push && !self.outer.is_empty() {
            return Err(Error::new(ErrorKind::NestedPush, at));
        }
        if self.outer.len() >= usize::from(limits.max_depth) {
            return Err(Error::new(ErrorKind::TooDeep, at));
        }
        if elements.is_some_and(|elements| elements > limits.max_nodes - self.nodes) {
            return Err(Error::new(ErrorKind::TooManyNodes, at + 1));
        }
        let flags = if kind == Kind::Push { NAMES_PUSH } else { 0 };
        self.outer.push(self.top);
        self.top = Level {
            left: elements.unwrap_or(STREAMED),
            mark,
            kind,
            flags,
        };
        Ok(())
    }

    /// The value that began at `at` is a streamed string.
    pub(crate) fn open_string(
        &mut self,
        mark: u32,
        at: usize,
        limits: &Limits,
    ) -> Result<(), Error> {
        self.open(Kind::Bulk, None, mark, at, limits)?;
        self.top.flags = CHUNKS;
        Ok(())
    }

    /// A chunk stands at `at`; it counts as a value, so that empty progress is bounded too.
    pub(crate) fn chunk(&mut self, at: usize, limits: &Limits) -> Result<(), Error> {
        if !self.in_string() {
            return Err(Error::new(ErrorKind::StrayChunk, at));
        }
        if self.nodes >= limits.max_nodes {
            return Err(Error::new(ErrorKind::TooManyNodes, at));
        }
        self.nodes += 1;
        Ok(())
    }

    /// `.` stands at `at`: it ends the innermost aggregate, unless that is wrong.
    pub(crate) fn check_end(&self, at: usize) -> Result<(), Error> {
        if self.in_string() {
            return Err(Error::new(ErrorKind::ExpectedChunk, at));
        }
        if self.left().is_some() || self.top.flags & ATTRIBUTED != 0 {
            return Err(Error::new(ErrorKind::StrayEnd, at));
        }
        if self.top.kind == Kind::Map && self.top.left % 2 == 1 {
            return Err(Error::new(ErrorKind::OddMap, at));
        }
        Ok(())
    }

    /// Whether a token may begin with `byte`, as far as the place decides.
    pub(crate) fn may_begin(&self, byte: u8) -> bool {
        match byte {
            _ if self.in_string() => byte == b';',
            b';' => false,
            b'.' => self.check_end(0).is_ok(),
            b'>' => self.outer.is_empty(),
            _ if self.top.flags & NAMES_PUSH != 0 => matches!(byte, b'+' | b'$' | b'=' | b'|'),
            _ => true,
        }
    }

    /// The innermost aggregate is complete: leaves it. The value it was has then to be finished.
    pub(crate) fn pop(&mut self) -> Level {
        let done = self.top;
        self.top = self.outer.pop().unwrap_or(Level::ROOT);
        done
    }

    /// A value is complete that is no attribute. True if the aggregate around it is now complete
    /// too (or the frame).
    #[inline(always)]
    pub(crate) const fn finish(&mut self) -> bool {
        self.top.left -= 1;
        self.top.left == 0
    }

    /// An attribute is complete: the value it belongs to has to follow.
    pub(crate) const fn attributed(&mut self) {
        self.top.flags |= ATTRIBUTED;
    }
}
