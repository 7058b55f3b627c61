//! An iterator over the arguments of a request.

use super::{FromArg, Words};
use crate::{ArgList, Error, text};

/// The arguments of a request, taken from the front.
///
/// ```
/// use respire_engine::{ArgIter, ArgList};
/// use resp_codec::Span;
///
/// // SET key value [EX seconds]
/// let spans = [Span::new(0, 1), Span::new(2, 1), Span::new(4, 2), Span::new(7, 2)];
/// let mut args = ArgIter::new(ArgList::new(b"k v ex 60", &[], &spans));
/// assert_eq!(args.next(), Some(&b"k"[..]));
/// assert_eq!(args.required("value"), Ok("v".to_owned()));
/// assert!(args.word("EX"));
/// assert_eq!(args.required("seconds"), Ok(60));
/// assert_eq!(args.finish(), Ok(()));
/// ```
#[derive(Clone, Debug)]
pub struct ArgIter<'a> {
    left: ArgList<'a>,
}

impl<'a> ArgIter<'a> {
    /// Creates an iterator over `args`, which are the arguments after the command's name.
    #[must_use]
    pub fn new(args: ArgList<'a>) -> Self {
        Self { left: args }
    }

    /// The next argument, without taking it.
    #[must_use]
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.left.get(0)
    }

    /// The remaining arguments.
    #[must_use]
    pub fn left(&self) -> ArgList<'a> {
        self.left
    }

    /// Takes a required argument.
    ///
    /// # Errors
    /// `ERR syntax error` if there is none; otherwise the error of its type, which names `field`.
    #[inline]
    pub fn required<T: FromArg>(&mut self, field: &str) -> Result<T, Error> {
        let Some(arg) = self.next() else {
            return Err(text::SYNTAX);
        };
        T::from_arg(arg).map_err(|error| error.of(field))
    }

    /// Takes an optional argument.
    ///
    /// # Errors
    /// The error of its type, which names `field`.
    #[inline]
    pub fn optional<T: FromArg>(&mut self, field: &str) -> Result<Option<T>, Error> {
        if self.left.is_empty() {
            Ok(None)
        } else {
            self.required(field).map(Some)
        }
    }

    /// Takes the next argument if it is `word`, in any case.
    #[inline]
    pub fn word(&mut self, word: &str) -> bool {
        let is_it = self
            .peek()
            .is_some_and(|arg| arg.eq_ignore_ascii_case(word.as_bytes()));
        if is_it {
            self.left = self.left.skip(1);
        }
        is_it
    }

    /// Takes one of the words of `T` and its arguments, if the next argument is such a word.
    ///
    /// # Errors
    /// If an argument of the word is missing or has another type.
    pub fn words<T: Words>(&mut self) -> Result<Option<T>, Error> {
        T::take(self)
    }

    /// Ends the parsing.
    ///
    /// # Errors
    /// `ERR syntax error` if arguments remain.
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

    #[inline]
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
