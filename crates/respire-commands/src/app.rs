//! The key-value service as an application of its own.

use crate::kv::{HasKv, Kv};
use crate::stats::ConnStats;
use respire_engine::{App, Error, Flags, InfoWriter, Now, Scope, Setting, Spec, Watch};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

impl HasKv for Kv {
    fn kv(&self) -> &Kv {
        self
    }

    fn conn_stats(conn: &mut ConnStats) -> &mut ConnStats {
        conn
    }
}

struct WatchedKey(respire_store::Watch);

impl Watch for WatchedKey {
    fn is_dirty(&self, now: Now) -> bool {
        self.0.is_dirty(now.unix_ms())
    }
}
