//! Checks the floors of a file's modules. They are stated where the modules are declared, top floor
//! first:
//!
//! ```text
//! // Floor: what clients see
//! mod commands;
//!
//! // Floor: what commands are made of
//! mod keys;
//! mod values;
//! ```
//!
//! A module may use modules of its own floor and of floors below.

use super::graph::Siblings;
use super::tree::{Files, Module};

/// The start of a line that begins a floor. The rest of the line names the floor.
const HEADING: &str = "// Floor: ";

#[derive(Debug)]
pub(super) struct Floors<'a> {
    file: &'a str,
    /// The lines and titles of the floors, top floor first.
    headings: Vec<(usize, &'a str)>,
    modules: Vec<(&'a str, usize)>,
}

impl<'a> Floors<'a> {
    /// The floors that a module's file states, if any.
    pub(super) fn of(module: &'a Module, files: &'a Files) -> Option<Self> {
        let file = module.file.as_str();
        let lines = files.get(file)?.lines();
        let headings: Vec<_> = lines
            .enumerate()
            .filter_map(|(index, line)| Some((index + 1, line.strip_prefix(HEADING)?)))
            .collect();
        let declared = module.source.modules.iter();
        let modules = declared.map(|module| (module.name.as_str(), module.line));
        (!headings.is_empty()).then(|| Self {
            file,
            modules: modules.collect(),
            headings,
        })
    }

    /// Reports modules above the first heading, and arrows that go up.
    pub(super) fn problems(&self, siblings: Option<&Siblings>) -> Vec<String> {
        let mut problems = Vec::new();
        for (name, _) in &self.modules {
            if self.floor(name).is_none() {
                problems.push(format!("{}: `mod {name}` stands on no floor", self.file));
            }
        }
        for ((user, used), uses) in siblings.into_iter().flatten() {
            let (Some(from), Some(to)) = (self.floor(user), self.floor(used)) else {
                continue;
            };
            if from.0 <= to.0 {
                continue;
            }
            problems.extend(uses.iter().map(|found| {
                format!(
                    "{}: line {}: `{}` goes up, from `{user}` on the floor \"{}\" to `{used}` on \"{}\"",
                    found.file, found.line, found.path, from.1, to.1
                )
            }));
        }
        problems
    }

    /// The floor of a module: its line and its title.
    fn floor(&self, name: &str) -> Option<(usize, &str)> {
        let (_, line) = self.modules.iter().find(|(module, _)| *module == name)?;
        let above = self.headings.iter().rev();
        above.copied().find(|(heading, _)| heading < line)
    }
}
