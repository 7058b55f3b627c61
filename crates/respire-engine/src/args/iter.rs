//! The arguments of a request that are not taken yet.

use super::FromArg;
use crate::{ArgList, Error, text};

/// The arguments of a request, taken from the front.
#[derive(Clone, Debug)]
pub struct ArgIter<'a> {
    left: ArgList<'a>,
}

impl<'a> ArgIter<'a> {
    /// All of `args`, which are those after the command's name.
    #[must_use]
    pub fn new(args: ArgList<'a>) -> Self {
        Self { left: args }
    }

    /// The next argument, without taking it.
    #[must_use]
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.left.get(0)
    }

    /// Takes an argument that must be there.
    ///
    /// # Errors
    /// When there is none, or it is not a `T`; `field` is what the reply calls it.
    pub fn required<T: FromArg>(&mut self, field: &str) -> Result<T, Error> {
        let arg = self.next().ok_or(text::SYNTAX)?;
        T::from_arg(arg).map_err(|error| error.of(field))
    }

    /// Takes an argument if there is one.
    ///
    /// # Errors
    /// When it is not a `T`; `field` is what the reply calls it.
    pub fn optional<T: FromArg>(&mut self, field: &str) -> Result<Option<T>, Error> {
        let parse = |arg| T::from_arg(arg).map_err(|error| error.of(field));
        self.next().map(parse).transpose()
    }

    /// Takes the next argument if it is `word`, in any case.
    pub fn word(&mut self, word: &str) -> bool {
        let is_it = self
            .peek()
            .is_some_and(|arg| arg.eq_ignore_ascii_case(word.as_bytes()));
        if is_it {
            self.left = self.left.skip(1);
        }
        is_it
    }

    /// Ends the parsing.
    ///
    /// # Errors
    /// `ERR syntax error` when arguments are left.
    pub fn finish(self) -> Result<(), Error> {
        if self.left.is_empty() {
            Ok(())
        } else {
            Err(text::SYNTAX)
        }
    }
}

impl<'a> Iterator for ArgIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let next = self.left.get(0)?;
        self.left = self.left.skip(1);
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left.len(), Some(self.left.len()))
    }
}

impl ExactSizeIterator for ArgIter<'_> {}
