//! Sends random commands to two servers and compares their replies.
//!
//! A seed determines all requests, so a difference can be reproduced. The requests come from the
//! descriptions of the commands ([`grammar`]). [`rules`] says which replies may differ, and why.

mod events;
pub mod grammar;
mod handwritten;
mod hints;
mod lua;
mod requests;
pub mod rules;
mod values;

pub use requests::Requests;

use crate::quoting::encode_command;
use crate::reply::{self, Value};
use crate::target::{Received, Target};
use events::Listener;
use rules::Rule;
use std::fmt;

/// A request that two servers answered differently.
#[derive(Clone, PartialEq)]
pub struct Difference {
    /// The step at which it happened.
    pub step: usize,
    /// The requests up to the difference, with their connections, the last one last.
    pub history: Vec<String>,
    /// Respire's reply.
    pub ours: Value,
    /// The reference's reply.
    pub theirs: Value,
}

impl fmt::Debug for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\nat step {}:", self.step)?;
        for line in &self.history {
            write!(f, "\n  {line}")?;
        }
        write!(
            f,
            "\n    ours   {}\n    theirs {}",
            shown(&self.ours),
            shown(&self.theirs)
        )
    }
}

/// A run stops after this many differences, since more teach nothing.
const DIFFERENCES_MAX: usize = 40;
/// The most requests shown before a difference.
const HISTORY_MAX: usize = 12;
/// The whole keyspace is compared after each run of so many steps.
const AUDIT_STEPS: usize = 100;
const CONNECTIONS: usize = 3;

/// Sends `steps` requests of this seed to both servers, and returns the differences of their
/// replies.
///
/// After a difference both servers are reset, so that one difference does not cause others.
///
/// # Panics
/// If a server stops replying.
pub fn compare(
    seed: u64,
    steps: usize,
    ours: &mut dyn Target,
    theirs: &mut dyn Target,
) -> Vec<Difference> {
    let mut run = Run::new(ours, theirs);
    let mut requests = Requests::new(seed);
    let mut differences = Vec::new();
    for step in 0..steps {
        let connection = requests.pick(CONNECTIONS);
        let args = requests.next();
        let mut found = run.step(connection, &args);
        if found.is_none() && step % AUDIT_STEPS == AUDIT_STEPS - 1 {
            found = run.audit();
        }
        if let Some((ours, theirs)) = found {
            differences.push(Difference {
                step,
                history: run.history.clone(),
                ours,
                theirs,
            });
            if differences.len() == DIFFERENCES_MAX {
                break;
            }
            run.restart();
        }
        requests.learn(&run.last_reply);
    }
    differences
}

struct Run<'t> {
    ours: ServerUnderTest<'t>,
    theirs: ServerUnderTest<'t>,
    /// The rules for the requests that each connection has queued.
    queued: Vec<Vec<Rule>>,
    /// Whether a transaction since the last `EXEC` may sort.
    has_queued_sort: bool,
    /// Whether a transaction since the last `EXEC` may scan.
    has_queued_scan: bool,
    history: Vec<String>,
    /// The reference's last reply.
    last_reply: Value,
}

struct ServerUnderTest<'t> {
    target: &'t mut dyn Target,
    connections: Vec<usize>,
    listener: Listener,
}

impl<'t> Run<'t> {
    fn new(ours: &'t mut dyn Target, theirs: &'t mut dyn Target) -> Self {
        let mut run = Self {
            ours: ServerUnderTest::new(ours),
            theirs: ServerUnderTest::new(theirs),
            queued: Vec::new(),
            has_queued_sort: false,
            has_queued_scan: false,
            history: Vec::new(),
            last_reply: Value::Null(b'$'),
        };
        run.restart();
        run
    }

    fn restart(&mut self) {
        self.ours.restart();
        self.theirs.restart();
        self.queued = vec![Vec::new(); CONNECTIONS];
        self.history.clear();
    }

    /// Sends one request to both servers, and returns the replies if they differ.
    fn step(&mut self, connection: usize, args: &[Vec<u8>]) -> Option<(Value, Value)> {
        if self.history.len() == HISTORY_MAX {
            self.history.remove(0);
        }
        self.history
            .push(format!("{connection}> {}", shown_args(args)));
        let theirs = self.theirs.call(connection, args);
        let ours = self.ours.call(connection, args);
        self.last_reply = theirs.clone();
        let is = |name: &[u8]| args[0].eq_ignore_ascii_case(name);
        let mut sorts = is(b"SORT") || is(b"SORT_RO");
        let mut scans = is(b"SCAN");
        let same = if theirs == Value::Simple(b"QUEUED".to_vec()) {
            self.has_queued_sort |= sorts;
            self.has_queued_scan |= scans;
            self.queued[connection].push(Rule::of(args));
            ours == theirs
        } else {
            self.same(connection, args, ours.clone(), theirs.clone())
        };
        if !same {
            return Some((ours, theirs));
        }
        // Notifications are compared like another reply after the first one.
        let (ours, mut theirs) = (self.ours.events(), self.theirs.events());
        if is(b"EXEC") {
            sorts = std::mem::take(&mut self.has_queued_sort);
            scans = std::mem::take(&mut self.has_queued_scan);
        }
        // docs/COMPATIBILITY.md, `scan-look-ups`.
        if scans && ours != theirs {
            theirs.retain(|event| !events::is_miss(event));
        }
        // `SORT` looks up keys in the order in which each server keeps the members of a set.
        let differ = !sorts && ours != theirs;
        differ.then_some((Value::Array(ours), Value::Array(theirs)))
    }

    fn same(&mut self, connection: usize, args: &[Vec<u8>], ours: Value, theirs: Value) -> bool {
        let is = |name: &[u8]| args[0].eq_ignore_ascii_case(name);
        if !is(b"EXEC") {
            let is_done = !theirs.is_error();
            if is_done && (is(b"DISCARD") || is(b"RESET") || is(b"MULTI")) {
                self.queued[connection].clear();
            }
            return Rule::of(args).same(ours, theirs);
        }
        let rules = std::mem::take(&mut self.queued[connection]);
        match (ours, theirs) {
            (Value::Array(ours), Value::Array(theirs)) => {
                ours.len() == theirs.len()
                    && rules.len() == theirs.len()
                    && ours
                        .into_iter()
                        .zip(theirs)
                        .zip(rules)
                        .all(|((ours, theirs), rule)| rule.same(ours, theirs))
            }
            (ours, theirs) => ours == theirs,
        }
    }

    /// Compares every key of every database in use.
    fn audit(&mut self) -> Option<(Value, Value)> {
        let (fresh_ours, fresh_theirs) = (self.ours.target.connect(), self.theirs.target.connect());
        self.ours.connections.push(fresh_ours);
        self.theirs.connections.push(fresh_theirs);
        self.queued.push(Vec::new());
        let found = self.audit_on(CONNECTIONS);
        self.ours.connections.pop();
        self.theirs.connections.pop();
        self.queued.pop();
        found
    }

    fn audit_on(&mut self, connection: usize) -> Option<(Value, Value)> {
        let mut ask = |words: &[&str]| {
            let args: Vec<Vec<u8>> = words.iter().map(|word| word.as_bytes().to_vec()).collect();
            self.step(connection, &args)
        };
        for db in values::DATABASES {
            let asked = ask(&["SELECT", db])
                .or_else(|| ask(&["DBSIZE"]))
                .or_else(|| ask(&["KEYS", "*"]));
            if asked.is_some() {
                return asked;
            }
            for key in values::KEYS {
                let differs = [
                    &["DUMP", key][..],
                    // Regardless of the order of fields and members.
                    &["DEBUG", "DIGEST-VALUE", key],
                    &["PTTL", key],
                    &["OBJECT", "ENCODING", key],
                ];
                if let Some(found) = differs.into_iter().find_map(&mut ask) {
                    return Some(found);
                }
            }
        }
        None
    }
}

impl<'t> ServerUnderTest<'t> {
    fn new(target: &'t mut dyn Target) -> Self {
        let listener = Listener::new(target);
        Self {
            target,
            connections: Vec::new(),
            listener,
        }
    }

    fn restart(&mut self) {
        self.target.reset();
        self.listener = Listener::new(self.target);
        self.connections = (0..CONNECTIONS).map(|_| self.target.connect()).collect();
    }

    fn call(&mut self, connection: usize, args: &[Vec<u8>]) -> Value {
        self.target.follow_wall_clock();
        let number = self.connections[connection];
        self.target.send(number, &encode_command(args));
        let mut bytes = Vec::new();
        loop {
            if let Ok(Some((value, len))) = reply::parse(&bytes) {
                if len == bytes.len() {
                    return value;
                }
                return Value::Error(
                    format!("more than a reply: {}", bytes.escape_ascii()).into_bytes(),
                );
            }
            let received = self.target.receive(number, &mut bytes);
            if received != Received::Bytes {
                let problem = format!("no reply but {received:?} after {}", bytes.escape_ascii());
                return Value::Error(problem.into_bytes());
            }
        }
    }
}

fn shown_args(args: &[Vec<u8>]) -> String {
    args.iter()
        .map(|arg| shown_bytes(arg))
        .collect::<Vec<_>>()
        .join(" ")
}

fn shown_bytes(bytes: &[u8]) -> String {
    let text = bytes.escape_ascii().to_string();
    let is_plain = !text.is_empty() && !text.contains([' ', '\\', '"', '\'']);
    let shown = if is_plain {
        text
    } else {
        format!("\"{text}\"")
    };
    if shown.len() > 300 {
        format!("{:.300}... ({} bytes)", shown, bytes.len())
    } else {
        shown
    }
}

/// A reply in one line, for messages.
#[must_use]
pub fn shown(value: &Value) -> String {
    match value {
        Value::Simple(bytes) => format!("+{}", shown_bytes(bytes)),
        Value::Error(bytes) => format!("-{}", bytes.escape_ascii()),
        Value::Int(number) => format!(":{number}"),
        Value::Bulk(bytes) => shown_bytes(bytes),
        Value::Null(kind) => format!("null({})", char::from(*kind)),
        Value::Double(text) => format!(",{}", text.escape_ascii()),
        Value::Bool(truth) => format!("#{truth}"),
        Value::BigNumber(text) => format!("({}", text.escape_ascii()),
        Value::Verbatim(text) => format!("={}", shown_bytes(text)),
        Value::Array(items) => format!("[{}]", shown_all(items)),
        Value::Set(items) => format!("~[{}]", shown_all(items)),
        Value::Push(items) => format!(">[{}]", shown_all(items)),
        Value::Map(pairs) => {
            let pairs: Vec<String> = pairs
                .iter()
                .map(|(key, value)| format!("{}: {}", shown(key), shown(value)))
                .collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

fn shown_all(items: &[Value]) -> String {
    items.iter().map(shown).collect::<Vec<_>>().join(", ")
}
