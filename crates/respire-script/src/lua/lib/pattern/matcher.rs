//! The matcher of Lua 5.1's patterns, on bytes. It backtracks, so its time has no useful bound: it
//! counts its steps and asks every 10,000 whether to go on.

use super::class;
use crate::limits::PATTERN_DEPTH_MAX;

/// The most captures of a pattern (`LUA_MAXCAPTURES`).
const CAPTURES_MAX: usize = 32;

/// How many steps are made before the matcher asks whether to go on: a fraction of a millisecond.
const STEPS: usize = 10_000;

/// What the escape character of patterns is.
pub(super) const ESCAPE: u8 = b'%';

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Problem<E> {
    /// The pattern is wrong.
    Text(&'static str),
    /// The matcher was told to stop.
    Stopped(E),
}

/// What a capture has caught.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Capture {
    /// `()`: a place, from 1.
    Position(usize),
    /// From where to where.
    Part(usize, usize),
}

#[derive(Clone, Copy, Debug)]
enum Len {
    Unfinished,
    Position,
    Known(usize),
}

/// Whether to go on, asked every 10,000 steps.
pub(crate) type Spend<'a, E> = &'a dyn Fn() -> Result<(), E>;

type Matched<E> = Result<Option<usize>, Problem<E>>;

pub(crate) struct Matcher<'a, E> {
    subject: &'a [u8],
    pattern: &'a [u8],
    level: usize,
    captures: [(usize, Len); CAPTURES_MAX],
    depth: usize,
    steps: usize,
    spend: Spend<'a, E>,
}

impl<'a, E> Matcher<'a, E> {
    /// `pattern` is without the `^` in front. It ends at a zero byte, as for C.
    pub(crate) fn new(subject: &'a [u8], pattern: &'a [u8], spend: Spend<'a, E>) -> Self {
        let end = memchr::memchr(0, pattern).unwrap_or(pattern.len());
        Self {
            subject,
            pattern: &pattern[..end],
            level: 0,
            captures: [(0, Len::Unfinished); CAPTURES_MAX],
            depth: 0,
            steps: STEPS,
            spend,
        }
    }

    /// Where a match that begins at `at` ends.
    pub(crate) fn match_at(&mut self, at: usize) -> Matched<E> {
        self.level = 0;
        self.depth = 0;
        self.run(at, 0)
    }

    /// How many captures the last match has.
    pub(crate) fn level(&self) -> usize {
        self.level
    }

    /// A capture of the last match, which was from `start` to `end`. Without captures, the whole
    /// match is the first.
    pub(crate) fn capture(
        &self,
        index: usize,
        start: usize,
        end: usize,
    ) -> Result<Capture, Problem<E>> {
        if index >= self.level {
            return match index {
                0 => Ok(Capture::Part(start, end)),
                _ => Err(Problem::Text("invalid capture index")),
            };
        }
        let (start, len) = self.captures[index];
        match len {
            Len::Unfinished => Err(Problem::Text("unfinished capture")),
            Len::Position => Ok(Capture::Position(start + 1)),
            Len::Known(len) => Ok(Capture::Part(start, start + len)),
        }
    }

    #[inline]
    fn spend(&mut self, steps: usize) -> Result<(), Problem<E>> {
        if self.steps > steps {
            self.steps -= steps;
            return Ok(());
        }
        self.ask()
    }

    #[cold]
    fn ask(&mut self) -> Result<(), Problem<E>> {
        self.steps = STEPS;
        (self.spend)().map_err(Problem::Stopped)
    }

    /// A byte of the pattern, 0 behind it.
    #[inline]
    fn at(&self, place: usize) -> u8 {
        self.pattern.get(place).copied().unwrap_or_default()
    }

    /// Matches what follows in the pattern at a place of the subject.
    fn run(&mut self, mut s: usize, mut p: usize) -> Matched<E> {
        if self.depth == PATTERN_DEPTH_MAX {
            return Err(Problem::Text("pattern too complex"));
        }
        self.depth += 1;
        let result = loop {
            self.spend(1)?;
            let next = self.at(p + 1);
            let step = match self.at(p) {
                0 => break Some(s),
                b'(' if next == b')' => break self.open(s, p + 2, Len::Position)?,
                b'(' => break self.open(s, p + 1, Len::Unfinished)?,
                b')' => break self.close(s, p + 1)?,
                b'$' if next == 0 => break (s == self.subject.len()).then_some(s),
                ESCAPE if next == b'b' => self.balance(s, p + 2)?.map(|s| (s, p + 4)),
                ESCAPE if next == b'f' => self.frontier(s, p + 2)?.map(|end| (s, end)),
                ESCAPE if next.is_ascii_digit() => self.back(s, next)?.map(|s| (s, p + 2)),
                _ => match self.item(s, p)? {
                    Item::Went(s, p) => Some((s, p)),
                    Item::Ended(result) => break result,
                },
            };
            match step {
                Some((to, rest)) => (s, p) = (to, rest),
                None => break None,
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    /// A single character, and how often.
    #[inline]
    fn item(&mut self, s: usize, p: usize) -> Result<Item, Problem<E>> {
        let end = self.class_end(p)?;
        let matches = self.single(s, p, end)?;
        Ok(match self.at(end) {
            b'?' => {
                if matches && let Some(result) = self.run(s + 1, end + 1)? {
                    return Ok(Item::Ended(Some(result)));
                }
                Item::Went(s, end + 1)
            }
            b'*' => Item::Ended(self.most(s, p, end)?),
            b'+' if matches => Item::Ended(self.most(s + 1, p, end)?),
            b'+' => Item::Ended(None),
            b'-' => Item::Ended(self.least(s, p, end)?),
            _ if matches => Item::Went(s + 1, end),
            _ => Item::Ended(None),
        })
    }

    /// Where the class that begins at `p` ends.
    #[inline]
    fn class_end(&mut self, p: usize) -> Result<usize, Problem<E>> {
        match self.at(p) {
            ESCAPE if self.at(p + 1) == 0 => {
                Err(Problem::Text("malformed pattern (ends with '%')"))
            }
            ESCAPE => Ok(p + 2),
            b'[' => self.set_end(p + 1),
            _ => Ok(p + 1),
        }
    }

    /// The first character of a set is part of it, even if it is a `]`.
    fn set_end(&mut self, mut p: usize) -> Result<usize, Problem<E>> {
        let start = p;
        if self.at(p) == b'^' {
            p += 1;
        }
        loop {
            let byte = self.at(p);
            if byte == 0 {
                return Err(Problem::Text("malformed pattern (missing ']')"));
            }
            p += 1;
            if byte == ESCAPE && self.at(p) != 0 {
                p += 1;
            }
            if self.at(p) == b']' {
                // Long sets cost time at each character.
                self.spend((p - start) / 8)?;
                return Ok(p + 1);
            }
        }
    }

    /// Whether the character at `s` is of the class from `p` to `end`.
    #[inline]
    fn single(&mut self, s: usize, p: usize, end: usize) -> Result<bool, Problem<E>> {
        let Some(&byte) = self.subject.get(s) else {
            return Ok(false);
        };
        match self.at(p) {
            b'.' => Ok(true),
            ESCAPE => Ok(class::matches(byte, self.at(p + 1))),
            b'[' => self.set(byte, p, end),
            literal => Ok(literal == byte),
        }
    }

    fn set(&mut self, byte: u8, p: usize, end: usize) -> Result<bool, Problem<E>> {
        self.spend((end - p) / 8)?;
        Ok(class::set_matches(byte, &self.pattern[p + 1..end - 1]))
    }

    fn balance(&mut self, s: usize, p: usize) -> Matched<E> {
        let (open, close) = (self.at(p), self.at(p + 1));
        if open == 0 || close == 0 {
            return Err(Problem::Text("unbalanced pattern"));
        }
        // At the end, C sees the zero byte behind the subject, which is no `open`.
        if self.subject.get(s) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1usize;
        for at in s + 1..self.subject.len() {
            self.spend(1)?;
            let byte = self.subject[at];
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(at + 1));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    /// `%f[set]`: the character before is not in the set, and the one here is. Both ends of the
    /// subject count as zero bytes.
    fn frontier(&mut self, s: usize, p: usize) -> Matched<E> {
        if self.at(p) != b'[' {
            return Err(Problem::Text("missing '[' after '%f' in pattern"));
        }
        let end = self.class_end(p)?;
        let before = s.checked_sub(1).and_then(|at| self.subject.get(at));
        let before = before.copied().unwrap_or_default();
        let here = self.subject.get(s).copied().unwrap_or_default();
        let crossed = !self.set(before, p, end)? && self.set(here, p, end)?;
        Ok(crossed.then_some(end))
    }

    /// As many as possible, then fewer.
    fn most(&mut self, s: usize, p: usize, end: usize) -> Matched<E> {
        let mut count = 0;
        while self.single(s + count, p, end)? {
            count += 1;
            self.spend(1)?;
        }
        loop {
            if let Some(result) = self.run(s + count, end + 1)? {
                return Ok(Some(result));
            }
            if count == 0 {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// As few as possible, then more.
    fn least(&mut self, mut s: usize, p: usize, end: usize) -> Matched<E> {
        loop {
            if let Some(result) = self.run(s, end + 1)? {
                return Ok(Some(result));
            }
            if !self.single(s, p, end)? {
                return Ok(None);
            }
            s += 1;
        }
    }

    fn open(&mut self, s: usize, p: usize, len: Len) -> Matched<E> {
        let Some(place) = self.captures.get_mut(self.level) else {
            return Err(Problem::Text("too many captures"));
        };
        *place = (s, len);
        self.level += 1;
        let result = self.run(s, p)?;
        if result.is_none() {
            self.level -= 1;
        }
        Ok(result)
    }

    fn close(&mut self, s: usize, p: usize) -> Matched<E> {
        let open = |(_, len): &(usize, Len)| matches!(len, Len::Unfinished);
        let Some(index) = self.captures[..self.level].iter().rposition(open) else {
            return Err(Problem::Text("invalid pattern capture"));
        };
        let start = self.captures[index].0;
        self.captures[index].1 = Len::Known(s - start);
        let result = self.run(s, p)?;
        if result.is_none() {
            self.captures[index].1 = Len::Unfinished;
        }
        Ok(result)
    }

    /// `%1`: what a capture has caught, once more.
    fn back(&mut self, s: usize, digit: u8) -> Matched<E> {
        let index = usize::from(digit).wrapping_sub(usize::from(b'1'));
        let capture = self.captures[..self.level].get(index);
        let (start, len) = match capture {
            Some((start, Len::Known(len))) => (*start, *len),
            // A place is of no length that anything could have.
            Some((_, Len::Position)) => return Ok(None),
            Some((_, Len::Unfinished)) | None => {
                return Err(Problem::Text("invalid capture index"));
            }
        };
        self.spend(len / 64)?;
        let caught = &self.subject[start..start + len];
        Ok(self.subject[s..].starts_with(caught).then_some(s + len))
    }
}

/// What became of one item of a pattern.
enum Item {
    /// It matched: go on there in the subject, and there in the pattern.
    Went(usize, usize),
    /// The rest has been matched, or cannot be.
    Ended(Option<usize>),
}
