//! The libraries that the server knows.

use super::{FunctionInfo, Library, payload};
use core::fmt;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// The libraries of a server. Each change makes a new table, so that it is seen as a whole or not at
/// all.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    table: RwLock<Arc<Table>>,
    observer: RwLock<Observing>,
    /// Counts the changes. Threads look at the table again when it has changed.
    epoch: AtomicU64,
}

/// Receives the libraries of a server whenever they change ([`Libraries::observe`](crate::Libraries::observe)).
pub trait LibraryObserver: Send + Sync {
    /// Receives all libraries after a change, as the payload of `FUNCTION DUMP`: `FUNCTION RESTORE` with `FLUSH`
    /// makes them those of another server. Changes come in their order. The libraries are locked meanwhile, so it
    /// must not use them.
    fn changed(&self, payload: &[u8]);
}

/// Who is told of changes.
#[derive(Default)]
struct Observing(Option<Arc<dyn LibraryObserver>>);

impl fmt::Debug for Observing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observing").field(&self.0.is_some()).finish()
    }
}

/// What `FUNCTION RESTORE` does with the libraries that are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// They are removed.
    Flush,
    /// They stay, and none of the new ones may have the name of one of them.
    Append,
    /// Those stay that have other names than the new ones.
    Replace,
}

/// Libraries and their functions, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    libraries: BTreeMap<String, Arc<Library>>,
    /// By names in lower case.
    functions: HashMap<String, Arc<Library>>,
    bytes: usize,
}

impl Registry {
    /// The libraries as they are now.
    pub(crate) fn table(&self) -> Arc<Table> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&table)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Changes the libraries, unless `change` fails.
    fn change<R>(&self, change: impl FnOnce(&mut Table) -> Result<R, String>) -> Result<R, String> {
        let mut kept = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let mut table = Table::clone(&kept);
        let changed = change(&mut table)?;
        let observer = self.observer.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(observer) = &observer.0 {
            observer.changed(payload::dump(&table).as_slice());
        }
        drop(observer);
        let before = std::mem::replace(&mut *kept, Arc::new(table));
        self.epoch.fetch_add(1, Ordering::Release);
        drop(kept);
        drop(before);
        Ok(changed)
    }

    /// Tells an observer of all changes from now on.
    pub(crate) fn observe(&self, observer: Arc<dyn LibraryObserver>) {
        let kept = self.observer.write();
        kept.unwrap_or_else(PoisonError::into_inner).0 = Some(observer);
    }

    /// Adds a library.
    ///
    /// # Errors
    /// The text for the client if there is one of its name and `replaces` is not set, or another
    /// library has a function of the same name.
    pub(crate) fn add(&self, library: Arc<Library>, replaces: bool) -> Result<(), String> {
        self.change(|table| table.add(library, replaces))
    }

    /// Adds the libraries of a payload.
    ///
    /// # Errors
    /// The text for the client if names clash.
    pub(crate) fn restore(&self, libraries: Table, policy: Policy) -> Result<(), String> {
        self.change(|table| {
            if policy == Policy::Flush {
                *table = libraries;
                return Ok(());
            }
            for name in libraries.libraries.keys() {
                if table.remove(name) && policy == Policy::Append {
                    return Err(format!("Library {name} already exists"));
                }
            }
            let mut new = libraries.libraries.into_values();
            new.try_for_each(|library| table.add(library, false))
        })
    }

    /// Removes a library. Returns `false` if there is none of this name.
    pub(crate) fn delete(&self, name: &str) -> bool {
        let deleted = self.change(|table| match table.remove(name) {
            true => Ok(()),
            false => Err(String::new()),
        });
        deleted.is_ok()
    }

    /// Removes all libraries.
    pub(crate) fn flush(&self) {
        // The change cannot fail.
        let _ = self.change(|table| {
            *table = Table::default();
            Ok(())
        });
    }
}

impl Table {
    /// Adds a library to a table, as [`Registry::add`] does. After an error the table is as it was,
    /// or lacks the library of the same name.
    pub(crate) fn add(&mut self, library: Arc<Library>, replaces: bool) -> Result<(), String> {
        if self.remove(&library.name) && !replaces {
            return Err(format!("Library '{}' already exists", library.name));
        }
        let is_taken = |function: &&Arc<FunctionInfo>| {
            let name = function.name.to_ascii_lowercase();
            self.functions.contains_key(&name)
        };
        if let Some(taken) = library.functions.iter().find(is_taken) {
            return Err(format!("Function {} already exists", taken.name));
        }
        for function in &library.functions {
            let name = function.name.to_ascii_lowercase();
            self.functions.insert(name, Arc::clone(&library));
        }
        self.bytes += library.bytes();
        self.libraries.insert(library.name.clone(), library);
        Ok(())
    }

    fn remove(&mut self, name: &str) -> bool {
        let Some(library) = self.libraries.remove(name) else {
            return false;
        };
        for function in &library.functions {
            self.functions.remove(&function.name.to_ascii_lowercase());
        }
        self.bytes -= library.bytes();
        true
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Arc<Library>> {
        self.libraries.get(name)
    }

    /// The library that has a function of this name, which is in lower case.
    pub(crate) fn with_function(&self, name: &str) -> Option<&Arc<Library>> {
        self.functions.get(name)
    }

    /// The libraries in the order of their names.
    pub(crate) fn libraries(&self) -> impl ExactSizeIterator<Item = &Arc<Library>> {
        self.libraries.values()
    }

    pub(crate) fn function_count(&self) -> usize {
        self.functions.len()
    }

    /// The bytes of all libraries.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::Flags;
    use std::sync::atomic::AtomicBool;

    fn library(name: &str, functions: &[&str]) -> Arc<Library> {
        let info = |name: &&str| FunctionInfo {
            name: (*name).to_owned(),
            description: None,
            flags: Flags::default(),
            is_pure: true,
            widens: AtomicBool::new(true),
        };
        let functions = functions.iter().map(info).map(Arc::new);
        Arc::new(Library {
            name: name.to_owned(),
            code: Box::default(),
            code_at: 0,
            functions: functions.collect(),
        })
    }

    fn names(registry: &Registry) -> String {
        let table = registry.table();
        let names: Vec<&str> = table.libraries().map(|library| &*library.name).collect();
        names.join(" ")
    }

    #[test]
    fn failed_change_leaves_everything_as_it_was() {
        let registry = Registry::default();
        registry.add(library("a", &["f", "g"]), false).unwrap();
        registry.add(library("b", &["h"]), false).unwrap();
        let epoch = registry.epoch();
        let clash = registry.add(library("b", &["i", "F"]), true).unwrap_err();
        assert_eq!(clash, "Function F already exists");
        let exists = registry.add(library("b", &["i"]), false).unwrap_err();
        assert_eq!(exists, "Library 'b' already exists");
        assert_eq!((registry.epoch(), names(&registry)), (epoch, "a b".into()));
        assert!(registry.table().with_function("h").is_some());
        registry.add(library("b", &["i"]), true).unwrap();
        assert!(registry.table().with_function("h").is_none());
        assert_eq!(registry.table().function_count(), 3);
        assert!(registry.delete("a") && !registry.delete("a"));
        registry.flush();
        assert_eq!(
            (names(&registry), registry.table().bytes()),
            (String::new(), 0)
        );
    }

    #[test]
    fn restore_follows_its_policy() {
        let registry = Registry::default();
        let payload = |libraries: &[Arc<Library>]| {
            let mut table = Table::default();
            for library in libraries {
                table.add(Arc::clone(library), false).unwrap();
            }
            table
        };
        registry.add(library("a", &["f"]), false).unwrap();
        let same = payload(&[library("a", &["f"]), library("b", &["g"])]);
        let refused = registry.restore(same.clone(), Policy::Append);
        assert_eq!(refused, Err("Library a already exists".to_owned()));
        assert_eq!(names(&registry), "a");
        registry.restore(same, Policy::Replace).unwrap();
        assert_eq!(names(&registry), "a b");
        let clash = payload(&[library("c", &["g"])]);
        let refused = registry.restore(clash.clone(), Policy::Replace);
        assert_eq!(refused, Err("Function g already exists".to_owned()));
        assert_eq!(names(&registry), "a b");
        registry.restore(clash, Policy::Flush).unwrap();
        assert_eq!(names(&registry), "c");
    }
}
