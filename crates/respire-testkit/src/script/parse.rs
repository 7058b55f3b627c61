//! Parses the text of a transcript into its steps.

use super::{Case, Condition, Line, Script, Step};
use crate::quoting::{expand, split_args};
use std::fmt;
use std::time::Duration;

/// The error for a line that is not in the notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptError {
    /// The script.
    pub name: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.resp:{}: {}", self.name, self.line, self.problem)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Parses the text of a script.
    ///
    /// # Errors
    /// For the first line that is not in the notation.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let mut script = Self {
            name: name.to_owned(),
            cases: Vec::new(),
        };
        for (index, line) in text.lines().enumerate() {
            let line_number = index + 1;
            script
                .line(line_number, line)
                .map_err(|problem| ScriptError {
                    name: name.to_owned(),
                    line: line_number,
                    problem,
                })?;
        }
        Ok(script)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(title) = line.strip_prefix("== ") {
            self.cases.push(Case::new(number, title));
            return Ok(());
        }
        let case = self
            .cases
            .last_mut()
            .ok_or("a case must begin with `== title`")?;
        if case.heading(line)? {
            return Ok(());
        }
        match step(line)? {
            Step::Expect(mut lines) => match case.steps.last_mut() {
                Some((_, Step::Expect(before))) => before.append(&mut lines),
                _ => case.steps.push((number, Step::Expect(lines))),
            },
            other => case.steps.push((number, other)),
        }
        Ok(())
    }
}

impl Case {
    fn new(line: usize, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            line,
            protocols: vec![2, 3],
            only_on: Vec::new(),
            not_on: Vec::new(),
            differences: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Parses the lines that say where a case is played; returns `false` for any other line.
    fn heading(&mut self, line: &str) -> Result<bool, String> {
        if line == "only resp2" || line == "only resp3" {
            self.protocols = vec![if line.ends_with('2') { 2 } else { 3 }];
        } else if let Some(rest) = line.strip_prefix("only on ") {
            let (tag, _) = tag_and_reason(rest)?;
            self.only_on.push(tag);
        } else if let Some(rest) = line.strip_prefix("not on ") {
            let (tag, reason) = tag_and_reason(rest)?;
            if tag == "redis" {
                self.differences.push(reason);
            }
            self.not_on.push(tag);
        } else if let Some(id) = line.strip_prefix("differs: ") {
            self.differences.push(id.to_owned());
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

const TAGS: [&str; 7] = [
    "engine", "split", "socket", "tokio", "mio", "respire", "redis",
];

fn tag_and_reason(rest: &str) -> Result<(String, String), String> {
    let (tag, reason) = rest
        .split_once(": ")
        .ok_or("a reason must follow, after `: `")?;
    if !TAGS.contains(&tag) {
        return Err(format!("no target has the tag {tag:?}; there are {TAGS:?}"));
    }
    Ok((tag.to_owned(), reason.to_owned()))
}

fn step(line: &str) -> Result<Step, String> {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let expect = |when| {
        // A complete reply includes its own line end.
        let is_ended = word != "<<" && rest != "{reply}";
        Ok(Step::Expect(vec![Line {
            when,
            text: rest.to_owned(),
            is_ended,
        }]))
    };
    match word {
        ">" => {
            split_args(expand(rest, 0).as_bytes())?;
            Ok(Step::Command(rest.to_owned()))
        }
        ">>" => Ok(Step::Raw(rest.to_owned())),
        "<" | "<<" => expect(Condition::Always),
        "2<" => expect(Condition::Protocol(2)),
        "3<" => expect(Condition::Protocol(3)),
        "respire<" => expect(Condition::Respire),
        "redis<" => expect(Condition::Redis),
        "advance" => duration(rest).map(Step::Advance),
        "eof" => Ok(Step::HalfClose),
        "closed" => Ok(Step::Closed),
        _ => match line.strip_prefix('@') {
            Some(name) => Ok(Step::Connection(name.to_owned())),
            None => Err(format!("{word:?} begins no line of a script")),
        },
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    let parse = |digits: &str| {
        digits
            .parse()
            .map_err(|_| format!("{text:?} is no duration"))
    };
    if let Some(ms) = text.strip_suffix("ms") {
        Ok(Duration::from_millis(parse(ms)?))
    } else if let Some(seconds) = text.strip_suffix('s') {
        Ok(Duration::from_secs(parse(seconds)?))
    } else {
        Err(format!("{text:?}: a duration ends in `ms` or `s`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_headings_and_steps_are_parsed() {
        let text = "# comment\n== one\nonly resp3\nnot on redis: some-id\n> GET \"a b\"\n2< $-1\n3< _\nadvance 5ms\n@b\n== two\n>> x\n";
        let script = Script::parse("s", text).unwrap();
        assert_eq!(script.cases.len(), 2);
        let case = &script.cases[0];
        assert_eq!((case.title.as_str(), case.line), ("one", 2));
        assert_eq!(case.protocols, [3]);
        assert_eq!(case.differences, ["some-id"]);
        assert!(!case.runs_on(&["redis", "socket"]));
        assert!(case.runs_on(&["respire", "engine"]));
        let line = |version, text: &str| Line {
            when: Condition::Protocol(version),
            text: text.to_owned(),
            is_ended: true,
        };
        let expected = vec![line(2, "$-1"), line(3, "_")];
        let steps: Vec<&Step> = case.steps.iter().map(|(_, step)| step).collect();
        assert_eq!(
            steps,
            [
                &Step::Command("GET \"a b\"".to_owned()),
                &Step::Expect(expected),
                &Step::Advance(Duration::from_millis(5)),
                &Step::Connection("b".to_owned()),
            ]
        );
    }

    #[test]
    fn malformed_lines_are_refused_with_their_number() {
        for (text, line) in [
            ("> GET a", 1),
            ("== t\nGET a", 2),
            ("== t\n> GET \"a", 2),
            ("== t\nadvance 5", 2),
            ("== t\nnot on mars: no air", 2),
            ("== t\nnot on redis", 2),
        ] {
            assert_eq!(Script::parse("s", text).unwrap_err().line, line, "{text:?}");
        }
    }
}
