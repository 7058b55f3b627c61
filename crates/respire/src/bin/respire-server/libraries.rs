//! Keeps libraries of functions with the keys.

use respire::commands::Kv;
use respire::disk::{self, Disk};
use respire::engine::Router;
use respire::script::{Libraries, LibraryObserver};
use std::sync::{Arc, Weak};

/// Adds scripts and functions to a router, and lets the disk keep the libraries.
pub(crate) fn add_to(router: Router<Kv>, disk: &Arc<Disk>) -> Router<Kv> {
    let libraries = Libraries::default();
    libraries.observe(Arc::new(Told(Arc::downgrade(disk))));
    disk.set_libraries(Arc::new(Sources(libraries.clone())));
    libraries.add_to(router)
}

struct Sources(Libraries);

impl disk::Libraries for Sources {
    fn sources(&self) -> Vec<Vec<u8>> {
        self.0.sources()
    }
}

struct Told(Weak<Disk>);

impl LibraryObserver for Told {
    fn changed(&self, payload: &[u8]) {
        if let Some(disk) = self.0.upgrade() {
            disk.libraries_changed(payload);
        }
    }
}
