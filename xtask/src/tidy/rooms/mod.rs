//! Checks the rooms of a crate: which of its modules use which, compared with the floors that its
//! root states, and without large knots.

mod floors;
mod graph;
mod source;
#[cfg(test)]
mod tests;
mod tree;

use super::sources::rust_files;
use crate::cargo::metadata;
use crate::machine::root;
use floors::Floors;
use graph::{Graph, Siblings, Use, knots};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tree::{Files, Module, Tree};

/// The most modules of one folder that may all lead to each other: as many as a reader can keep in
/// mind, since none of them can be understood without the others.
const KNOT_MODULES_MAX: usize = 6;

/// The most modules of a crate without floors.
const MODULES_WITHOUT_FLOORS_MAX: usize = 8;

pub(super) fn problems() -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for package in metadata()?.workspace_packages() {
        for target in &package.targets {
            if !target.is_lib() && !target.is_bin() && !target.is_proc_macro() {
                continue;
            }
            let path = target.src_path.as_std_path();
            let (Some(folder), Some(file)) = (path.parent(), path.file_name()) else {
                continue;
            };
            let found = crate_problems(&file.to_string_lossy(), &files(folder)?)?;
            let within = folder.strip_prefix(root()).unwrap_or(folder).display();
            problems.extend(found.iter().map(|problem| format!("{within}/{problem}")));
        }
    }
    Ok(problems)
}

fn files(folder: &Path) -> Result<Files, String> {
    let mut files = Files::new();
    for path in rust_files(folder)? {
        let text = fs::read_to_string(&path);
        let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.strip_prefix(folder).unwrap_or(&path);
        files.insert(name.to_string_lossy().into_owned(), text);
    }
    Ok(files)
}

/// The problems of the modules of the crate that begins in the file `root`, each with its file.
fn crate_problems(root: &str, files: &Files) -> Result<Vec<String>, String> {
    let tree = Tree::of(root, files)?;
    let graph = Graph::of(&tree);
    let mut problems: Vec<String> = graph.hidden.iter().map(hiding).collect();
    for (place, module) in &tree.modules {
        let file = &module.file;
        let siblings = graph.siblings.get(place);
        problems.extend(
            siblings
                .into_iter()
                .flat_map(large_knots)
                .map(|knot| format!("{file}: {knot}")),
        );
        match Floors::of(module, files) {
            Some(floors) => {
                problems.extend(floors.problems(siblings));
                if place.is_empty() {
                    problems.extend(graph.of_root.iter().map(from_root));
                }
            }
            None if place.is_empty() => problems.extend(without_floors(module)),
            None => {}
        }
    }
    Ok(problems)
}

/// A glob import hides its arrows: the imported names are used without a path.
fn hiding(found: &Use) -> String {
    let Use { file, line, path } = found;
    format!("{file}: line {line}: `{path}::*` hides what is used of the module around")
}

/// A crate's root is above all floors: it defines items for the crate's users.
fn from_root(found: &Use) -> String {
    let Use { file, line, path } = found;
    format!("{file}: line {line}: `{path}` goes up, to what the crate's root defines")
}

fn without_floors(root: &Module) -> Option<String> {
    let modules = root.source.modules.len();
    (modules > MODULES_WITHOUT_FLOORS_MAX).then(|| {
        format!("{}: {modules} modules and no floors; ARCHITECTURE.md, \"Style\", says how to state them", root.file)
    })
}

fn large_knots(siblings: &Siblings) -> Vec<String> {
    let large = knots(siblings).into_iter();
    large
        .filter(|knot| knot.len() > KNOT_MODULES_MAX)
        .map(|knot| shown(&knot, siblings))
        .collect()
}

/// The modules of a knot, and for each the first place where it uses another one of them.
fn shown(knot: &BTreeSet<String>, siblings: &Siblings) -> String {
    let names: Vec<&str> = knot.iter().map(String::as_str).collect();
    let mut shown = format!(
        "a knot of {} modules, at most {KNOT_MODULES_MAX} may all lead to each other: {}",
        names.len(),
        names.join(", ")
    );
    for ((user, used), uses) in siblings {
        if let (true, true, [first, others @ ..]) =
            (knot.contains(user), knot.contains(used), uses.as_slice())
        {
            let Use { file, line, path } = first;
            let more = match others.len() {
                0 => String::new(),
                others => format!(", and {others} more"),
            };
            shown += &format!("\n    {user} -> {used}: {file}, line {line}: `{path}`{more}");
        }
    }
    shown
}
