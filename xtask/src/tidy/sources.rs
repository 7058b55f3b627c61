//! Checks the rules for every source file.

use crate::machine::root;
use std::fs;
use std::path::{Path, PathBuf};

/// The most lines of code of a file; tests at its end, comments and blank lines are not counted.
const CODE_LINES_MAX: usize = 500;
const DOCUMENT_LINES_MAX: usize = 350;

/// The sources that may read a clock: the drivers, the measuring tools, and the tests.
const CLOCK_READERS: [&str; 6] = [
    "crates/respire-disk/src/clock.rs",
    "crates/respire-net/",
    "crates/respire-bench/",
    "crates/respire-bench-docs/",
    "crates/respire-testkit/",
    "xtask/",
];

/// The files with an exception to the lint against unsafe code. ARCHITECTURE.md lists them with the
/// reasons.
const UNSAFE_FILES: [&str; 7] = [
    "crates/respire-alloc/src/lib.rs",
    "crates/respire-script/src/lua/lib/raw.rs",
    "crates/respire-script/src/lua/raw.rs",
    "crates/respire-store/src/raw.rs",
    "crates/resp-codec/tests/allocator/mod.rs",
    "crates/resp-codec-bench/src/hiredis.rs",
    "crates/resp-codec-bench/examples/rounds.rs",
];

pub(super) fn problems() -> Result<Vec<String>, String> {
    let root = root();
    let mut problems = Vec::new();
    for folder in ["crates", "xtask"] {
        for path in rust_files(&root.join(folder))? {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path
                .strip_prefix(&root)
                .unwrap_or(&path)
                .to_string_lossy()
                .into_owned();
            problems.extend(
                file_problems(&name, &text)
                    .into_iter()
                    .map(|problem| format!("{name}: {problem}")),
            );
        }
    }
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    if architecture.lines().count() > DOCUMENT_LINES_MAX {
        problems.push(format!(
            "ARCHITECTURE.md is longer than {DOCUMENT_LINES_MAX} lines"
        ));
    }
    Ok(problems)
}

/// Every Rust file in a folder.
pub(super) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn file_problems(name: &str, text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    // A crate's README may be its module documentation.
    if !text.starts_with("//!") && !text.starts_with("#![doc = include_str!") {
        problems.push("does not open with `//!`".to_owned());
    }
    let code = code_lines(text);
    if code > CODE_LINES_MAX {
        problems.push(format!(
            "has {code} lines of code; the most is {CODE_LINES_MAX}"
        ));
    }
    // Attributes name the lint; a crate that forbids it has no exception.
    let names_the_lint = text.contains(concat!("unsafe", "_code"));
    let forbids = text.contains(concat!("#![forbid(unsafe", "_code)]"));
    if names_the_lint && !forbids && !UNSAFE_FILES.contains(&name) {
        problems.push("has unsafe code, which ARCHITECTURE.md does not allow there".to_owned());
    }
    let may_read_clock =
        CLOCK_READERS.iter().any(|reader| name.starts_with(reader)) || is_beside_sources(name);
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        // Split so that this file does not break its own rules.
        if [concat!("TO", "DO"), concat!("FIX", "ME")]
            .iter()
            .any(|word| line.contains(word))
        {
            problems.push(format!("line {number}: leaves work undone"));
        }
        let reads_clock = [concat!("Instant::", "now"), concat!("SystemTime::", "now")];
        if !may_read_clock && reads_clock.iter().any(|call| line.contains(call)) {
            problems.push(format!("line {number}: reads a clock"));
        }
    }
    problems
}

/// Integration tests, benchmarks and examples.
fn is_beside_sources(name: &str) -> bool {
    ["/tests/", "/benches/", "/examples/"]
        .iter()
        .any(|folder| name.contains(folder))
}

fn code_lines(text: &str) -> usize {
    let above_tests = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    above_tests.lines().filter(is_code).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_rules_are_found() {
        let clock = concat!("//! A module.\nlet now = Instant::", "now();\n");
        assert_eq!(
            file_problems("crates/respire-engine/src/a.rs", clock).len(),
            1
        );
        assert!(file_problems("crates/respire-net/src/a.rs", clock).is_empty());
        assert!(file_problems("crates/respire-store/tests/a.rs", clock).is_empty());
        assert_eq!(file_problems("a.rs", "fn a() {}\n").len(), 1);
        assert_eq!(
            file_problems("a.rs", concat!("//! A.\n// TO", "DO\n")).len(),
            1
        );
        let allowed = concat!("//! A.\n#![expect(unsafe", "_code, reason = \"C\")]\n");
        assert_eq!(
            file_problems("crates/respire-store/src/a.rs", allowed).len(),
            1
        );
        assert!(file_problems("crates/respire-store/src/raw.rs", allowed).is_empty());
        let forbidden = concat!("//! A.\n#![forbid(unsafe", "_code)]\n");
        assert!(file_problems("crates/respire-store/src/lib.rs", forbidden).is_empty());
        let long = format!("//! Long.\n{}", "let a = 1;\n".repeat(CODE_LINES_MAX + 1));
        assert_eq!(file_problems("a.rs", &long).len(), 1);
    }

    #[test]
    fn comments_blanks_and_tests_at_the_end_are_not_counted() {
        let text = "//! A.\n\nfn a() {}\n// why\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n";
        assert_eq!(code_lines(text), 1);
    }
}
