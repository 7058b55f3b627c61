//! The stack of open aggregates: checks which value may stand where, and when a frame is complete.
//! Iterative: it is a stack of counts, never of calls.

use alloc::vec::Vec;

use crate::error::{Error, ErrorKind};
use crate::kind::Kind;
use crate::limits::Limits;

/// The initial number of elements "left" in a streamed aggregate. No frame has so many nodes.
const STREAMED: u32 = 1 << 30;

/// The next element names the push, so it must be a string.
const NAMES_PUSH: u8 = 1;
/// Only chunks may follow.
const CHUNKS: u8 = 2;
/// An attribute was read, and its value has not begun.
const ATTRIBUTED: u8 = 4;

/// An open aggregate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// The number of elements still to come, or [`STREAMED`] minus the number of elements so far.
    left: u32,
    /// A number that the decoder stores with the aggregate.
    pub(crate) mark: u32,
    pub(crate) kind: Kind,
    flags: u8,
}

impl Level {
    /// The level that holds one frame. Its kind is never read.
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
    /// The number of values begun in this frame.
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

    /// Resets to the start of a frame, and keeps the allocated memory.
    pub(crate) fn clear(&mut self) {
        self.outer.clear();
        self.top = Level::ROOT;
        self.nodes = 0;
    }

    /// The number of aggregates around the current position.
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

    /// The number of elements that the innermost aggregate still needs; `None` if it is streamed.
    pub(crate) const fn left(&self) -> Option<u32> {
        if self.top.left > STREAMED / 2 {
            None
        } else {
            Some(self.top.left)
        }
    }

    /// Begins a value of `kind` at `at`.
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

    /// The number of scalars of any type that may follow one another here.
    #[inline(always)]
    pub(crate) fn plain_left(&self, limits: &Limits) -> u32 {
        if self.top.flags != 0 {
            return 0;
        }
        self.top.left.min(limits.max_nodes - self.nodes)
    }

    /// Counts `count` complete scalars, at most [`Nesting::plain_left`].
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

    /// Opens the aggregate that began at `at`; `elements` is not 0.
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

    /// Opens the streamed string that began at `at`.
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

    /// Counts a chunk at `at` as a value, so that the number of empty chunks is bounded, too.
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

    /// Checks whether the `.` at `at` may end the innermost aggregate.
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

    /// Whether `byte` may begin a token here, as far as the position decides.
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

    /// Leaves the innermost aggregate, which is complete. The caller then finishes it as a value.
    pub(crate) fn pop(&mut self) -> Level {
        let done = self.top;
        self.top = self.outer.pop().unwrap_or(Level::ROOT);
        done
    }

    /// Completes a value that is not an attribute. True if this also completes the aggregate around
    /// it (or the frame).
    #[inline(always)]
    pub(crate) const fn finish(&mut self) -> bool {
        self.top.left -= 1;
        self.top.left == 0
    }

    /// Completes an attribute: its value must follow.
    pub(crate) const fn attributed(&mut self) {
        self.top.flags |= ATTRIBUTED;
    }
}
