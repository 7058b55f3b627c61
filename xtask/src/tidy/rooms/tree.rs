//! The module tree of one crate: follows the `mod` lines from file to file.

use super::source::{Body, Brings, Source, read};
use std::collections::BTreeMap;

/// A module's place: the names on the way from the crate's root, whose own place is empty.
pub(super) type Place = Vec<String>;

/// The texts of a crate's files by their paths, with `/` between folders.
pub(super) type Files = BTreeMap<String, String>;

#[derive(Debug)]
pub(super) struct Module {
    pub(super) file: String,
    pub(super) source: Source,
}

#[derive(Debug)]
pub(super) struct Tree {
    pub(super) modules: BTreeMap<Place, Module>,
}

/// The place where a name is defined.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    Module(Place),
    /// An item of this module.
    Item(Place),
}

impl Found {
    pub(super) fn place(&self) -> &Place {
        let (Self::Module(place) | Self::Item(place)) = self;
        place
    }
}

/// The most re-exports in a row, so that circular imports end.
const REEXPORTS_MAX: usize = 16;

impl Tree {
    /// # Errors
    /// If a file cannot be read as tokens.
    pub(super) fn of(root: &str, files: &Files) -> Result<Self, String> {
        let mut modules = BTreeMap::new();
        let mut waiting = vec![(Place::new(), root.to_owned())];
        while let Some((place, file)) = waiting.pop() {
            let Some(text) = files.get(&file) else {
                continue;
            };
            let source = read(text).map_err(|error| format!("{file}: {error}"))?;
            add(place, file, source, &mut modules, &mut waiting);
        }
        Ok(Self { modules })
    }

    /// Everything that `path` may name in the module `from`: a module, an item, or one of each. A
    /// re-exported name is found where it is defined. Names of other crates are not found.
    pub(super) fn find(&self, from: &Place, path: &[String]) -> Vec<Found> {
        self.find_within(from, path, REEXPORTS_MAX)
    }

    fn find_within(&self, from: &Place, path: &[String], left: usize) -> Vec<Found> {
        let Some(left) = left.checked_sub(1) else {
            return Vec::new();
        };
        let mut base = from.clone();
        let mut rest = path;
        let mut is_local = false;
        while let [first, behind @ ..] = rest {
            match first.as_str() {
                "crate" => base.clear(),
                "super" => {
                    base.pop();
                }
                "self" => {}
                _ => break,
            }
            is_local = true;
            rest = behind;
        }
        if !is_local
            && !rest
                .first()
                .is_some_and(|name| self.knows(from, name, left))
        {
            return Vec::new();
        }
        self.below(&base, rest, left)
    }

    /// The targets of the rest of a path, starting from the module that it has reached.
    fn below(&self, base: &Place, rest: &[String], left: usize) -> Vec<Found> {
        let ([name, behind @ ..], Some(module)) = (rest, self.modules.get(base)) else {
            return vec![Found::Module(base.clone())];
        };
        let child = child_of(base, name);
        let mut found = Vec::new();
        if self.modules.contains_key(&child) {
            found.extend(self.below(&child, behind, left));
            if !behind.is_empty() {
                return found;
            }
        }
        if module.source.defines.contains(name) {
            found.push(Found::Item(base.clone()));
            return found;
        }
        let mut is_brought = false;
        for import in &module.source.mentions {
            if import.brings == Brings::Name(name.clone()) {
                is_brought = true;
                for target in self.find_within(base, &import.path, left) {
                    match target {
                        Found::Module(place) => found.extend(self.below(&place, behind, left)),
                        Found::Item(_) => found.push(target),
                    }
                }
            }
        }
        if found.is_empty() {
            for place in self.opened_into(base, left) {
                if self.knows(&place, name, left) {
                    found.extend(self.below(&place, rest, left));
                }
            }
        }
        // An imported name that is not found is another crate's; one that is neither is an item
        // that a macro defines.
        if found.is_empty() && !is_brought {
            found.push(Found::Item(base.clone()));
        }
        found
    }

    /// The modules from which `use module::*` imports into this one.
    fn opened_into(&self, base: &Place, left: usize) -> Vec<Place> {
        let imports = self.modules.get(base).map(|module| &module.source.mentions);
        let all = imports
            .into_iter()
            .flatten()
            .filter(|import| import.brings == Brings::All);
        all.flat_map(|import| self.find_within(base, &import.path, left))
            .filter_map(|found| match found {
                Found::Module(place) if place != *base => Some(place),
                Found::Module(_) | Found::Item(_) => None,
            })
            .collect()
    }

    fn knows(&self, place: &Place, name: &str, left: usize) -> bool {
        let Some(left) = left.checked_sub(1) else {
            return false;
        };
        let Some(Module { source, .. }) = self.modules.get(place) else {
            return false;
        };
        self.modules.contains_key(&child_of(place, name))
            || source.defines.contains(name)
            || source
                .mentions
                .iter()
                .any(|import| import.brings == Brings::Name(name.to_owned()))
            || self
                .opened_into(place, left)
                .iter()
                .any(|opened| self.knows(opened, name, left))
    }
}

pub(super) fn child_of(place: &Place, name: &str) -> Place {
    let mut child = place.clone();
    child.push(name.to_owned());
    child
}

/// Adds a module and the modules within its file; the files of other modules are still to be read.
fn add(
    place: Place,
    file: String,
    mut source: Source,
    modules: &mut BTreeMap<Place, Module>,
    waiting: &mut Vec<(Place, String)>,
) {
    for declared in &mut source.modules {
        let child = child_of(&place, &declared.name);
        match &mut declared.body {
            Body::Here(inside) => {
                let inside = std::mem::take(inside);
                add(child, file.clone(), inside, modules, waiting);
            }
            Body::File(named) => {
                let folder = folder_of_children(&file, place.is_empty());
                let beside = file.rsplit_once('/').map_or("", |(folder, _)| folder);
                let paths = match named {
                    Some(named) => vec![join(beside, named)],
                    None => vec![
                        join(&folder, &format!("{}.rs", declared.name)),
                        join(&folder, &format!("{}/mod.rs", declared.name)),
                    ],
                };
                waiting.extend(paths.into_iter().map(|path| (child.clone(), path)));
            }
        }
    }
    modules.insert(place, Module { file, source });
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    format!("{folder}/{name}")
}

/// The folder with the files of a file's modules.
fn folder_of_children(file: &str, is_root: bool) -> String {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    let stem = name.trim_end_matches(".rs");
    if is_root || stem == "mod" {
        return folder.to_owned();
    }
    join(folder, stem)
}
