//! Checks what a published crate must have: licences, keywords, categories, a README with enough
//! content, and its examples.

use crate::cargo::metadata;
use crate::machine::root;
use cargo_metadata::Package;
use std::fs;
use std::path::Path;

const LICENCES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

/// The limits of crates.io for one crate.
const KEYWORDS_MAX: usize = 5;
const CATEGORIES_MAX: usize = 5;

/// The categories of crates.io that suit this project. crates.io drops unknown slugs, with a
/// warning that is easily missed.
const CATEGORIES: [&str; 14] = [
    "asynchronous",
    "caching",
    "command-line-utilities",
    "concurrency",
    "data-structures",
    "database-implementations",
    "development-tools::procedural-macro-helpers",
    "development-tools::profiling",
    "encoding",
    "memory-management",
    "network-programming",
    "no-std",
    "parser-implementations",
    "web-programming::http-server",
];

/// The fewest lines of a README that are not blank.
const README_LINES_MIN: usize = 20;

/// The section in which a README says what the crate is not.
const README_LIMITS: &str = "\n## What it deliberately is not\n";

pub(super) fn problems() -> Result<Vec<String>, String> {
    let mut licences = Vec::new();
    for name in LICENCES {
        licences.push((name, text(&root().join(name))?));
    }
    let mut problems = Vec::new();
    for package in metadata()?.workspace_packages() {
        // `publish = false` is an empty list.
        if package.publish.is_none() {
            let found = package_problems(package, &licences);
            problems.extend(
                found
                    .into_iter()
                    .map(|text| format!("{}: {text}", package.name)),
            );
        }
    }
    Ok(problems)
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn package_problems(package: &Package, licences: &[(&str, String)]) -> Vec<String> {
    let mut problems = word_problems(&package.keywords, &package.categories);
    let Some(folder) = package.manifest_path.parent() else {
        return problems;
    };
    let folder = folder.as_std_path();
    for (name, licence) in licences {
        if text(&folder.join(name)).ok().as_ref() != Some(licence) {
            problems.push(format!(
                "has no {name} that is the project's: `ln -s ../../{name}` in its folder"
            ));
        }
    }
    for target in &package.targets {
        if !target.src_path.starts_with(folder) {
            let path = &target.src_path;
            problems.push(format!("{path} lies outside, and would not be packaged"));
        }
    }
    let readme = text(&folder.join("README.md")).unwrap_or_default();
    let library = text(&folder.join("src/lib.rs")).unwrap_or_default();
    problems.extend(readme_problems(&readme, &library));
    problems
}

fn word_problems(keywords: &[String], categories: &[String]) -> Vec<String> {
    let mut problems = Vec::new();
    if keywords.is_empty() || keywords.len() > KEYWORDS_MAX {
        problems.push(format!(
            "Cargo.toml: from 1 to {KEYWORDS_MAX} keywords, not {keywords:?}"
        ));
    }
    if categories.is_empty() || categories.len() > CATEGORIES_MAX {
        problems.push(format!(
            "Cargo.toml: from 1 to {CATEGORIES_MAX} categories, not {categories:?}"
        ));
    }
    let unknown = categories
        .iter()
        .filter(|slug| !CATEGORIES.contains(&slug.as_str()));
    problems.extend(unknown.map(|slug| {
        format!(
            "Cargo.toml: the category `{slug}` is not among those of {}",
            file!()
        )
    }));
    problems
}

/// `library` is the text of the crate's `src/lib.rs`.
fn readme_problems(readme: &str, library: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let lines = readme
        .lines()
        .filter(|line| !line.trim().is_empty())
        .count();
    if lines < README_LINES_MIN {
        problems.push(format!(
            "README.md: {lines} lines; at least {README_LINES_MIN} say what the crate is and show it"
        ));
    }
    if !readme.contains(README_LIMITS) {
        problems.push(format!(
            "README.md: has no section `{}`",
            README_LIMITS.trim()
        ));
    }
    let shows_code = readme.contains("```rust");
    if !shows_code && !readme.contains("```console") {
        problems.push("README.md: shows neither ```rust nor ```console".to_owned());
    }
    if shows_code && !library.contains("doc = include_str!(\"../README.md\")") {
        problems.push("src/lib.rs: does not hold the README's example to what compiles".to_owned());
    }
    let outside = super::readme::links(readme).filter(|link| link.starts_with(".."));
    problems.extend(outside.map(|link| {
        format!("README.md: {link} is not in the package; link to the repository's address")
    }));
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_keywords_and_unknown_categories_are_refused() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>()
        };
        let good = words(&["redis"]);
        assert!(word_problems(&good, &words(&["caching"])).is_empty());
        assert_eq!(word_problems(&[], &[]).len(), 2);
        let six = words(&["a", "b", "c", "d", "e", "f"]);
        assert_eq!(word_problems(&six, &words(&["caching"])).len(), 1);
        assert_eq!(word_problems(&good, &words(&["cachign"])).len(), 1);
    }

    #[test]
    fn readme_of_three_lines_is_refused() {
        let three = "# a\n\nWhat it is.\n";
        assert_eq!(readme_problems(three, "").len(), 3);
        let long = format!(
            "# a\n{}{README_LIMITS}\n```rust\na();\n```\n",
            "Text.\n".repeat(README_LINES_MIN)
        );
        assert_eq!(
            readme_problems(&long, "").len(),
            1,
            "its code is not compiled"
        );
        let library = "#[doc = include_str!(\"../README.md\")]";
        assert!(readme_problems(&long, library).is_empty());
        let outside = format!("{long}\n[guide](../../docs/embedding.md)\n");
        assert_eq!(readme_problems(&outside, library).len(), 1);
    }
}
