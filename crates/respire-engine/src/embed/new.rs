//! Creates an engine from a router.

use crate::{App, Engine, Now, Options, Router, redis};
use std::sync::Arc;

impl<A: App> Engine<A> {
    /// Creates an engine for the commands of `router`, started at `now`.
    #[must_use]
    pub fn new(router: Router<A>, options: Options, now: Now) -> Arc<Self> {
        Self::assemble(router.into_parts(), redis::settings, options, now)
    }
}
