//! Checks that every public item of the crates meant for other projects has an example.

use super::sources::rust_files;
use crate::machine::root;
use std::fs;

/// The crates in which every public item has an example.
const CRATES: [&str; 1] = ["crates/resp-codec/src"];

pub(super) fn problems() -> Result<Vec<String>, String> {
    let root = root();
    let mut problems = Vec::new();
    for folder in CRATES {
        for path in rust_files(&root.join(folder))? {
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.strip_prefix(&root).unwrap_or(&path).display();
            problems.extend(
                without_example(&text)
                    .map(|(line, item)| format!("{name}: line {line}: no example for `{item}`")),
            );
        }
    }
    Ok(problems)
}

/// The public items of a file whose documentation has no example, with their lines. The type's
/// example covers fields and variants; the items' examples cover modules.
fn without_example(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut shown = false;
    let mut within_trait = false;
    let above_tests = text.split("\nmod tests {").next().unwrap_or(text);
    let lines = above_tests.lines().enumerate();
    lines.filter_map(move |(index, line)| {
        let code = line.trim_start();
        if code.starts_with("///") {
            shown |= code.contains("```");
            return None;
        }
        // Attributes and comments may separate an item from its documentation.
        if code.starts_with("#[") || code.starts_with("//") {
            return None;
        }
        let has_example = std::mem::take(&mut shown);
        let item = is_public(code) || (within_trait && is_item(code));
        within_trait = code.starts_with("pub trait ") || (within_trait && line != "}");
        (item && !has_example).then_some((index + 1, code))
    })
}

fn is_public(code: &str) -> bool {
    code.strip_prefix("pub ").is_some_and(is_item)
}

fn is_item(code: &str) -> bool {
    const ITEMS: [&str; 7] = ["fn", "struct", "enum", "trait", "const", "static", "type"];
    let word = code.split(' ').next().unwrap_or_default();
    ITEMS.contains(&word) || (word == "async" && code.starts_with("async fn "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        without_example(text).map(|(line, _)| line).collect()
    }

    #[test]
    fn items_without_example_are_found() {
        let text = "/// A.\npub struct A;\n\n/// B.\n///\n/// ```\n/// b();\n/// ```\n#[inline]\npub const fn b() {}\n";
        assert_eq!(lines(text), [2]);
        assert_eq!(lines("impl A {\n    /// C.\n    pub fn c() {}\n}\n"), [3]);
        assert!(lines("pub(crate) fn d() {}\nfn e() {}\npub mod f;\n").is_empty());
    }

    #[test]
    fn methods_of_public_traits_are_public() {
        let shown = "/// ```\n/// a();\n/// ```\n";
        let text = format!("{shown}pub trait T {{\n    /// M.\n    fn m();\n}}\n\nfn n() {{}}\n");
        assert_eq!(lines(&text), [6]);
    }
}
