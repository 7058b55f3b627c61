//! Cuts of the store, whose steps run between other operations.

use std::sync::Arc;

use respire_store::{Cut, Store};

use super::edit::contents;
use super::log::Databases;
use super::source::Source;
use super::world::World;

/// A cut in progress.
pub(super) struct CutHere {
    cut: Cut<Arc<Store>>,
    /// The contents of the store when it was taken, including expired keys.
    expected: Databases,
    given: Databases,
}

impl World {
    /// Takes a cut. If there is one, drops it or goes on with it.
    pub(super) fn take_or_drop_cut(&mut self, source: &mut Source<'_>) {
        match &self.cut {
            Some(_) if source.byte().is_multiple_of(4) => self.cut = None,
            Some(_) => self.step_cut(),
            None => {
                let Ok(cut) = Cut::new(Arc::clone(&self.store)) else {
                    panic!("no cut is running");
                };
                self.cut = Some(CutHere {
                    cut,
                    expected: self.raw(),
                    given: Databases::default(),
                });
            }
        }
    }

    /// Does a step of the cut, and checks what it gave if it was the last one.
    pub(super) fn step_cut(&mut self) {
        let Some(here) = &mut self.cut else {
            return;
        };
        assert!(self.store.is_cutting() && self.store.cut().is_err());
        let given = &mut here.given;
        let any_left = here.cut.step(|db, key, entry| {
            let before = given[db as usize].insert(key.to_vec(), contents(entry));
            assert_eq!(before, None, "a key is given once");
        });
        if !any_left {
            assert!(here.given == here.expected, "the contents of the cut");
            self.cut = None;
            assert!(!self.store.is_cutting());
        }
    }

    pub(super) fn finish_cut(&mut self) {
        while self.cut.is_some() {
            self.step_cut();
        }
    }
}
