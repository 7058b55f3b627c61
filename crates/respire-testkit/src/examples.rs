//! Turns the examples in the commands' descriptions into a script.

use crate::script::{Case, Condition, Line, Script, Step};
use crate::target::{START_UNIX_MS, kv_engine};
use respire_engine::{Now, Spec};
use std::time::Duration;

/// The examples of every command: one case per command, each on an empty server.
#[must_use]
pub fn script() -> Script {
    let now = Now::new(Duration::ZERO, Duration::from_millis(START_UNIX_MS));
    let engine = kv_engine(now);
    let mut cases: Vec<Case> = engine
        .commands()
        .all()
        .map(|entry| entry.spec())
        .filter(|spec| !spec.examples.is_empty())
        .map(case)
        .collect();
    cases.sort_by(|a, b| a.title.cmp(&b.title));
    Script {
        name: "examples".to_owned(),
        cases,
    }
}

fn case(spec: &Spec) -> Case {
    let steps = spec
        .examples
        .iter()
        .enumerate()
        .flat_map(|(index, (send, expect))| {
            let line = Line {
                when: Condition::Always,
                text: escape(expect),
                is_ended: false,
            };
            [
                (index + 1, Step::Command((*send).to_owned())),
                (index + 1, Step::Expect(vec![line])),
            ]
        });
    Case {
        title: spec.name.to_owned(),
        line: 1,
        protocols: vec![2],
        only_on: Vec::new(),
        not_on: Vec::new(),
        differences: Vec::new(),
        steps: steps.collect(),
    }
}

/// Bytes in the notation of expected lines.
fn escape(bytes: &str) -> String {
    bytes
        .bytes()
        .flat_map(std::ascii::escape_default)
        .map(char::from)
        .collect()
}
