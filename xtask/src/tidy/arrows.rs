//! Compares the arrows between crates in ARCHITECTURE.md with `cargo metadata`.

use crate::cargo::metadata;
use crate::machine::root;
use cargo_metadata::{DependencyKind, Metadata, Package};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

type Arrows = BTreeMap<String, BTreeSet<String>>;

pub(super) fn problems() -> Result<Vec<String>, String> {
    let path = root().join("ARCHITECTURE.md");
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let metadata = metadata()?;
    let mut problems = differences(&table(&text, "| crate |"), &between_members(&metadata));
    problems.extend(restricted_uses(
        &table(&text, "| outside crate |"),
        &metadata,
    ));
    Ok(problems)
}

/// Parses the table that begins with this heading: the name in the first column, and the names in
/// the last one, all in backticks.
fn table(text: &str, heading: &str) -> Arrows {
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with(heading))
        .skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .filter_map(|row| {
            let mut cells = row.trim_matches('|').split('|');
            let name = quoted(cells.next()?).into_iter().next()?;
            Some((name, quoted(cells.next_back()?)))
        })
        .collect()
}

fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The actual arrows: each member's dependencies, without those of its tests.
fn between_members(metadata: &Metadata) -> Arrows {
    let packages = metadata.workspace_packages();
    let members: BTreeSet<&str> = packages
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let arrows = |package: &Package| {
        let normal = normal_dependencies(package);
        normal
            .filter(|name| members.contains(name.as_str()))
            .collect::<BTreeSet<_>>()
    };
    packages
        .iter()
        .map(|package| (package.name.to_string(), arrows(package)))
        .collect()
}

fn normal_dependencies(package: &Package) -> impl Iterator<Item = String> {
    let all = package.dependencies.iter();
    all.filter(|dependency| dependency.kind == DependencyKind::Normal)
        .map(|dependency| dependency.name.clone())
}

fn differences(drawn: &Arrows, real: &Arrows) -> Vec<String> {
    let mut problems = Vec::new();
    let none = BTreeSet::new();
    let names: BTreeSet<&String> = drawn.keys().chain(real.keys()).collect();
    for name in names {
        if !drawn.contains_key(name) {
            problems.push(format!(
                "ARCHITECTURE.md: `{name}` has no row in the table of arrows"
            ));
        }
        if !real.contains_key(name) {
            problems.push(format!("ARCHITECTURE.md: there is no crate `{name}`"));
        }
        let (drawn, real) = (
            drawn.get(name).unwrap_or(&none),
            real.get(name).unwrap_or(&none),
        );
        for to in real.difference(drawn) {
            problems.push(format!(
                "`{name}` depends on `{to}`, which ARCHITECTURE.md does not allow"
            ));
        }
        for to in drawn.difference(real) {
            problems.push(format!(
                "ARCHITECTURE.md draws an arrow from `{name}` to `{to}` that is not there"
            ));
        }
    }
    problems
}

/// Finds members that use an external crate reserved for others. Dev-dependencies do not count.
fn restricted_uses(allowed: &Arrows, metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for (reserved, users) in allowed {
        for package in metadata.workspace_packages() {
            let uses = normal_dependencies(package).any(|name| name == *reserved);
            if uses && !users.contains(package.name.as_str()) {
                problems.push(format!("`{}` may not depend on `{reserved}`", package.name));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
text
| crate | owns | may depend on |
|---|---|---|
| `a` | this `x` | `b`, `c` |
| `b` | that | nothing |

| outside crate | used by |
|---|---|
| `tokio` | `a` |
";

    #[test]
    fn table_is_parsed_by_its_first_and_last_column() {
        let arrows = table(TEXT, "| crate |");
        assert_eq!(arrows.len(), 2);
        assert_eq!(
            arrows["a"],
            BTreeSet::from(["b".to_owned(), "c".to_owned()])
        );
        assert!(arrows["b"].is_empty());
        assert_eq!(
            table(TEXT, "| outside crate |")["tokio"],
            BTreeSet::from(["a".to_owned()])
        );
    }

    #[test]
    fn every_difference_is_reported() {
        let drawn = table(TEXT, "| crate |");
        assert!(differences(&drawn, &drawn).is_empty());
        let mut real = drawn.clone();
        real.insert("c".to_owned(), BTreeSet::from(["a".to_owned()]));
        real.insert("a".to_owned(), BTreeSet::from(["b".to_owned()]));
        assert_eq!(differences(&drawn, &real).len(), 3);
    }
}
