//! The commands on strings.

use crate::kv::Row;

pub(crate) static ROWS: &[Row] = &[];
