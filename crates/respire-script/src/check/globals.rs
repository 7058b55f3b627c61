//! Finds globals that scripts do not have, and those that are assigned.

use super::Finding;
use super::bytecode::{Prototype, Use, What};
use super::compiled::Compiled;
use std::collections::HashSet;

/// What is wrong with the globals of a script or a library.
pub(super) fn check(compiled: &Compiled<'_>) -> Vec<Finding> {
    let mut uses = Vec::new();
    collect(&compiled.main, &mut uses);
    // A script that tests a member knows that it may be missing.
    let mut tested = HashSet::new();
    for one in &uses {
        if let What::Test(member) = &one.what {
            tested.insert((&one.name, member));
        }
    }
    let judge = |one: &&Use| finding(compiled, one, &tested);
    uses.iter().filter_map(judge).collect()
}

fn collect<'p>(prototype: &'p Prototype, uses: &mut Vec<&'p Use>) {
    uses.extend(&prototype.uses);
    for inner in &prototype.inner {
        collect(inner, uses);
    }
}

fn finding(
    compiled: &Compiled<'_>,
    one: &Use,
    tested: &HashSet<(&Vec<u8>, &Vec<u8>)>,
) -> Option<Finding> {
    let (state, name) = (&compiled.state, String::from_utf8_lossy(&one.name));
    if one.what == What::Write {
        let text = format!("global '{name}' is assigned, but scripts cannot change globals");
        return Some(Finding::error(one.line, text));
    }
    let is_input = !compiled.is_library && matches!(&one.name[..], b"KEYS" | b"ARGV");
    if is_input {
        return None;
    }
    if !state.has_global(&one.name, compiled.is_library) {
        let text = format!("global '{name}' does not exist");
        return Some(Finding::error(one.line, text));
    }
    let What::Member(member) = &one.what else {
        return None;
    };
    if tested.contains(&(&one.name, member))
        || state.has_member(&one.name, member, compiled.is_library)
    {
        return None;
    }
    let member = String::from_utf8_lossy(member);
    let text = format!("'{name}' has no '{member}'");
    Some(Finding::warning(one.line, text))
}
