//! The commands on the bits of strings.

use crate::kv::Row;

pub(crate) static ROWS: &[Row] = &[];
