//! Functions that derived code calls. They are not part of the public interface.

use crate::Error;
use crate::args::out_of_range;
use std::fmt::Display;

pub use std::vec::Vec;

/// Returns the value if it is within its inclusive bounds.
///
/// # Errors
/// An error reply that names the field and the bounds.
pub fn within<T: PartialOrd + Display>(
    value: T,
    min: Option<T>,
    max: Option<T>,
    field: &str,
) -> Result<T, Error> {
    let is_below = min.as_ref().is_some_and(|min| value < *min);
    if is_below || max.as_ref().is_some_and(|max| value > *max) {
        let shown = |bound: &Option<T>| bound.as_ref().map(ToString::to_string);
        let (min, max) = (shown(&min), shown(&max));
        return Err(out_of_range(field, min.as_deref(), max.as_deref()));
    }
    Ok(value)
}
