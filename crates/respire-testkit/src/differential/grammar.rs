//! The grammar of random requests: made from the descriptions of the commands, and from lines of a
//! small notation.
//!
//! In the notation, a word is sent as it is, and a `<hole>` becomes a random value. `[a|b c]` is
//! nothing or one of the alternatives, `(a|b)` is one of them, and `{a b}` is its content once or a
//! few times.

use crate::exemptions::is_newer_than_redis;
use respire_engine::{Arg, ArgKind, Spec};

/// The grammar of a command's requests, from its description. `hint` returns the values of an
/// argument if its kind is not specific enough. Arguments that the reference does not have are left
/// out.
#[must_use]
pub fn of_spec(spec: &Spec, hint: &dyn Fn(&Arg) -> Option<&'static str>) -> Vec<Node> {
    let words = spec.name.split('|').map(Node::Word);
    words
        .chain(known(spec.args).flat_map(|arg| of_arg(arg, hint)))
        .collect()
}

/// The arguments that the reference has.
fn known(args: &[Arg]) -> impl Iterator<Item = &Arg> {
    args.iter()
        .filter(|arg| !arg.since.is_some_and(is_newer_than_redis))
}

fn of_arg(arg: &Arg, hint: &dyn Fn(&Arg) -> Option<&'static str>) -> Vec<Node> {
    let token = arg.token.map(Node::Word);
    let value = match (hint(arg), arg.kind) {
        (_, ArgKind::PureToken) => Vec::new(),
        (Some(line), _) => parse(line),
        (None, ArgKind::OneOf) => vec![Node::Choice {
            options: known(arg.parts).map(|part| of_arg(part, hint)).collect(),
            is_optional: false,
        }],
        (None, ArgKind::Block) => known(arg.parts)
            .flat_map(|part| of_arg(part, hint))
            .collect(),
        (None, ArgKind::String) => vec![Node::Hole("value")],
        (None, ArgKind::Integer) => vec![Node::Hole("int")],
        (None, ArgKind::Double) => vec![Node::Hole("float")],
        (None, ArgKind::Key) => vec![Node::Hole("key")],
        (None, ArgKind::Pattern) => vec![Node::Hole("pattern")],
        (None, ArgKind::UnixTime) => vec![Node::Hole("at")],
    };
    let repeated = |nodes: Vec<Node>| match arg.multiple {
        true => vec![Node::Repeat(nodes)],
        false => nodes,
    };
    let whole = if arg.multiple_token {
        repeated(token.into_iter().chain(value).collect())
    } else {
        token.into_iter().chain(repeated(value)).collect()
    };
    match (arg.optional, arg.multiple) {
        (false, _) => whole,
        (true, false) => vec![Node::Choice {
            options: vec![whole],
            is_optional: true,
        }],
        // Usually present: without them, a command has little to do.
        (true, true) => vec![Node::Choice {
            options: vec![whole.clone(), whole.clone(), whole, Vec::new()],
            is_optional: false,
        }],
    }
}

/// A part of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A literal word.
    Word(&'static str),
    /// A random value of this kind.
    Hole(&'static str),
    /// One of these, or nothing if the choice is optional.
    Choice {
        /// The alternatives.
        options: Vec<Vec<Self>>,
        /// Whether nothing is one of the alternatives.
        is_optional: bool,
    },
    /// These nodes, once or a few times.
    Repeat(Vec<Self>),
}

impl Node {
    /// Whether the node contains one of these holes.
    #[must_use]
    pub fn has_hole(&self, kinds: &[&str]) -> bool {
        match self {
            Self::Word(_) => false,
            Self::Hole(kind) => kinds.contains(kind),
            Self::Choice { options, .. } => options.iter().flatten().any(|it| it.has_hole(kinds)),
            Self::Repeat(nodes) => nodes.iter().any(|it| it.has_hole(kinds)),
        }
    }
}

/// Parses a line of the notation.
///
/// # Panics
/// If a bracket is not closed; the lines are part of the source.
#[must_use]
pub fn parse(line: &'static str) -> Vec<Node> {
    let mut rest = line;
    let mut options = alternatives(&mut rest);
    assert!(
        rest.is_empty() && options.len() == 1,
        "{line:?} is no line of the grammar"
    );
    options.remove(0)
}

fn alternatives(rest: &mut &'static str) -> Vec<Vec<Node>> {
    let mut options = vec![Vec::new()];
    while let Some(first) = rest.chars().next() {
        match first {
            ' ' => *rest = &rest[1..],
            '|' => {
                *rest = &rest[1..];
                options.push(Vec::new());
            }
            ']' | ')' | '}' => return options,
            _ => {
                let node = node(rest, first);
                options.last_mut().expect("never empty").push(node);
            }
        }
    }
    options
}

fn node(rest: &mut &'static str, first: char) -> Node {
    match first {
        '[' | '(' | '{' => {
            *rest = &rest[1..];
            let mut options = alternatives(rest);
            assert!(!rest.is_empty(), "a bracket is not closed");
            *rest = &rest[1..];
            match first {
                '{' => Node::Repeat(options.remove(0)),
                _ => Node::Choice {
                    options,
                    is_optional: first == '[',
                },
            }
        }
        _ => {
            let len = rest
                .find([' ', '|', ']', ')', '}', '[', '(', '{'])
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(len);
            *rest = after;
            match word
                .strip_prefix('<')
                .and_then(|word| word.strip_suffix('>'))
            {
                Some(kind) => Node::Hole(kind),
                None => Node::Word(word),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_parsed_into_its_parts() {
        let parsed = parse("SET <key> [NX|EX <secs>] {a <b>}");
        let expected = vec![
            Node::Word("SET"),
            Node::Hole("key"),
            Node::Choice {
                options: vec![
                    vec![Node::Word("NX")],
                    vec![Node::Word("EX"), Node::Hole("secs")],
                ],
                is_optional: true,
            },
            Node::Repeat(vec![Node::Word("a"), Node::Hole("b")]),
        ];
        assert_eq!(parsed, expected);
    }

    #[test]
    fn description_gives_the_grammar_of_requests() {
        const ARGS: &[Arg] = &[
            Arg::key("key", 0),
            Arg::one_of(
                "condition",
                &[
                    Arg::word("nx", "NX"),
                    Arg::new("seconds", ArgKind::Integer).token("EX"),
                ],
            )
            .optional(),
            Arg::new("pattern", ArgKind::Pattern)
                .token("GET")
                .multiple_token(),
            Arg::block(
                "id",
                &[
                    Arg::new("id", ArgKind::Integer),
                    Arg::new("name", ArgKind::String),
                ],
            )
            .token("ID")
            .multiple(),
        ];
        let spec = Spec {
            name: "thing|do",
            args: ARGS,
            ..Spec::EMPTY
        };
        let hint = |arg: &Arg| (arg.name == "seconds").then_some("(0|<secs>)");
        let line = "thing do <key> [(NX|EX (0|<secs>))] {GET <pattern>} ID {<int> <value>}";
        assert_eq!(of_spec(&spec, &hint), parse(line));
        assert!(of_spec(&spec, &hint)[3].has_hole(&["secs"]));
        assert!(!of_spec(&spec, &hint)[4].has_hole(&["secs"]));
    }
}
