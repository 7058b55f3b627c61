//! Compares the README with what it names: crates, chores and files.

use crate::cargo::metadata;
use crate::machine::root;
use std::fs;

pub(super) fn problems() -> Result<Vec<String>, String> {
    let root = root();
    let mut problems = Vec::new();
    let read = |name: &str| {
        let path = root.join(name);
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let readme = read("README.md")?;
    for package in metadata()?.workspace_packages() {
        let folder = package
            .manifest_path
            .parent()
            .map(ToString::to_string)
            .unwrap_or_default();
        let folder = folder
            .strip_prefix(&*root.to_string_lossy())
            .unwrap_or(&folder);
        let link = format!("[`{}`]({})", package.name, folder.trim_start_matches('/'));
        if !readme.contains(&link) {
            problems.push(format!("README.md: does not list {link}"));
        }
        let own =
            read(&format!("{}/README.md", folder.trim_start_matches('/'))).unwrap_or_default();
        if package.publish.is_none() && !own.starts_with(&format!("# {}\n", package.name)) {
            problems.push(format!(
                "{folder}/README.md: does not open with `# {}`",
                package.name
            ));
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = read(name)?;
        let dead = links(&text).filter(|link| !root.join(link).exists());
        problems.extend(dead.map(|link| format!("{name}: {link} is not there")));
    }
    Ok(problems)
}

/// The targets of links to files of the repository.
pub(super) fn links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    targets
        .map(|target| target.split('#').next().unwrap_or(target))
        .filter(|target| !target.is_empty() && !target.contains("://"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_to_files_are_found() {
        let text = "[a](docs/a.md) [b](https://b.example) [c](#part) [d](d.md#part)";
        assert_eq!(links(text).collect::<Vec<_>>(), ["docs/a.md", "d.md"]);
    }
}
