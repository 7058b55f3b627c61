//! Finds which module uses which, and the knots: sets of modules that all lead to each other.

use super::source::Brings;
use super::tree::{Found, Place, Tree};
use std::collections::{BTreeMap, BTreeSet};

/// A use by one module of an item that another one defines.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) file: String,
    pub(super) line: usize,
    /// The path as written.
    pub(super) path: String,
}

/// The modules of one folder that use each other, by name, the user first. A use by a module within
/// a module counts for the outer one.
pub(super) type Siblings = BTreeMap<(String, String), Vec<Use>>;

#[derive(Debug, Default)]
pub(super) struct Graph {
    /// The uses between sibling modules, by the module that declares them.
    pub(super) siblings: BTreeMap<Place, Siblings>,
    /// Uses of items that the crate's root defines itself.
    pub(super) of_root: Vec<Use>,
    /// Glob imports of an enclosing module: `use super::*`.
    pub(super) hidden: Vec<Use>,
}

impl Graph {
    pub(super) fn of(tree: &Tree) -> Self {
        let mut graph = Self::default();
        for (place, module) in &tree.modules {
            for mention in &module.source.mentions {
                let mut targets = tree.find(place, &mention.path);
                targets.sort();
                targets.dedup();
                for target in targets {
                    let uses = Use {
                        file: module.file.clone(),
                        line: mention.line,
                        path: mention.path.join("::"),
                    };
                    let is_around =
                        matches!(&target, Found::Module(module) if place.starts_with(module));
                    if is_around && mention.brings == Brings::All {
                        graph.hidden.push(uses);
                    } else {
                        graph.add(place, &target, uses);
                    }
                }
            }
        }
        graph
    }

    fn add(&mut self, from: &Place, target: &Found, uses: Use) {
        let to = target.place();
        let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        // A module and the modules within it are one room.
        if let (Some(user), Some(used)) = (from.get(shared), to.get(shared)) {
            let parent = from.iter().take(shared).cloned().collect();
            let siblings = self.siblings.entry(parent).or_default();
            let arrow = (user.clone(), used.clone());
            siblings.entry(arrow).or_default().push(uses);
        } else if *target == Found::Item(Place::new()) && !from.is_empty() {
            self.of_root.push(uses);
        }
    }
}

/// The sets of at least two modules that all lead to each other.
pub(super) fn knots(siblings: &Siblings) -> BTreeSet<BTreeSet<String>> {
    let names: BTreeSet<&String> = siblings.keys().map(|(user, _)| user).collect();
    let reached: BTreeMap<&String, BTreeSet<&String>> = names
        .into_iter()
        .map(|name| (name, reached_from(name, siblings)))
        .collect();
    let knot_of = |name: &String| -> BTreeSet<String> {
        let leads_back = |other: &&&String| reached.get(**other).is_some_and(|r| r.contains(name));
        let others = reached.get(name).into_iter().flatten();
        others
            .filter(leads_back)
            .map(|&other| other.clone())
            .collect()
    };
    let knots = reached.keys().map(|name| knot_of(name));
    knots.filter(|knot| knot.len() > 1).collect()
}

fn reached_from<'a>(name: &'a String, siblings: &'a Siblings) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut waiting = vec![name];
    while let Some(name) = waiting.pop() {
        let used = siblings.keys().filter(|(user, _)| user == name);
        for (_, used) in used {
            if reached.insert(used) {
                waiting.push(used);
            }
        }
    }
    reached
}
