//! The table as a whole: sorted, complete, and each example answered as it says.

use super::*;
use crate::key::testing::Client;
use respire_engine::Spec;
use std::collections::BTreeSet;
use std::path::Path;

/// Every description: commands, containers and subcommands.
fn specs() -> impl Iterator<Item = &'static Spec> {
    let contained = containers()
        .flat_map(|(container, subcommands)| std::iter::once(container).chain(*subcommands));
    rows().chain(contained).map(|row| row.spec)
}

#[test]
fn rows_of_a_family_are_sorted_and_names_are_unique() {
    for family in [string::ROWS, bit::ROWS, key::ROWS, server::ROWS] {
        let names: Vec<_> = family.iter().map(|row| row.spec.name).collect();
        let misplaced = names.windows(2).find(|pair| pair[0] > pair[1]);
        assert_eq!(
            misplaced, None,
            "the rows of a family's `ROWS` are in the order of their names"
        );
    }
    for (container, subcommands) in containers() {
        assert!(subcommands.is_sorted_by_key(|row| row.spec.name));
        let prefix = format!("{}|", container.spec.name);
        assert!(
            subcommands
                .iter()
                .all(|row| row.spec.name.starts_with(&prefix)),
            "{prefix}"
        );
    }
    let names: Vec<_> = specs().map(|spec| spec.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(names.len(), unique.len());
}

#[test]
fn every_row_is_described_and_has_an_example() {
    let bare: BTreeSet<_> = containers()
        .map(|(container, _)| container.spec.name)
        .collect();
    for spec in specs() {
        assert_eq!(spec.name, spec.name.to_ascii_lowercase());
        assert!(!spec.summary.is_empty(), "{} has no summary", spec.name);
        assert!(
            !spec.complexity.is_empty(),
            "{} has no complexity",
            spec.name
        );
        let needs_example = !bare.contains(spec.name);
        assert!(
            !needs_example || !spec.examples.is_empty(),
            "{} has no example",
            spec.name
        );
    }
}

#[test]
fn every_spec_in_a_file_has_a_row() {
    let names: BTreeSet<_> = specs().map(|spec| spec.name).collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for family in ["string", "bit", "key", "server"] {
        for file in std::fs::read_dir(source.join(family)).expect("the family's folder") {
            let path = file.expect("a file of the family").path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source file is text");
            for (before, rest) in text
                .match_indices(": Spec = Spec {")
                .map(|(at, _)| text.split_at(at))
            {
                let name = rest.split('"').nth(1).expect("the name stands first");
                assert!(
                    names.contains(name),
                    "{name} of {} has no row: add it to `ROWS` in mod.rs beside, and its `mod`",
                    path.display()
                );
                assert!(!before.is_empty());
            }
        }
    }
}

#[test]
fn every_example_is_answered_as_written() {
    for spec in specs() {
        let mut client = Client::new();
        for (request, expected) in spec.examples {
            let mut answer = client.send(request);
            if answer.is_empty() {
                // A reply that is due after a wait of nothing is sent by the next turn.
                answer = client.poll();
            }
            assert_eq!(answer, *expected, "{request}");
        }
    }
}
