//! A field type that takes all remaining arguments.

use std::ops::{Deref, DerefMut};

/// The remaining arguments, as the last field of an [`Args`](crate::Args): a `Vec` whose name
/// states its position. `Vec<T>` does the same for any `T` except `u8`; `Vec<u8>` is one argument.
///
/// ```
/// use respire_engine::Rest;
///
/// let keys = Rest(vec!["a", "b"]);
/// assert_eq!(keys.len(), 2);
/// assert_eq!(keys.into_iter().collect::<String>(), "ab");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rest<T>(pub Vec<T>);

impl<T> Deref for Rest<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T> DerefMut for Rest<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T> From<Vec<T>> for Rest<T> {
    fn from(items: Vec<T>) -> Self {
        Self(items)
    }
}

impl<T> IntoIterator for Rest<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'r, T> IntoIterator for &'r Rest<T> {
    type Item = &'r T;
    type IntoIter = std::slice::Iter<'r, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
