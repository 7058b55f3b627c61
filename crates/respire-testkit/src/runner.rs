//! Plays scripts against targets.

use crate::pattern::{Matched, Pattern};
use crate::quoting::{encode_command, expand, show, split_args, unescape};
use crate::script::{Case, Line, Script, Step};
use crate::target::{Received, Target};
use std::collections::HashMap;
use std::fmt;

/// A case whose replies differ from the expected ones.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// The place of the failure: file, line, title, protocol.
    pub place: String,
    /// The last bytes sent.
    pub sent: String,
    /// What went wrong.
    pub problem: String,
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\n{}\n  sent {}\n  {}",
            self.place,
            self.sent,
            self.problem.replace('\n', "\n  ")
        )
    }
}

/// Plays the cases of a script that run on the target, in their protocols; returns the failures.
pub fn run(script: &Script, target: &mut dyn Target) -> Vec<Failure> {
    let mut failures = Vec::new();
    for case in &script.cases {
        failures.extend(run_case(&script.name, case, target));
    }
    failures
}

/// Plays one case in its protocols; returns the failures.
pub fn run_case(script: &str, case: &Case, target: &mut dyn Target) -> Vec<Failure> {
    if !case.runs_on(target.tags()) {
        return Vec::new();
    }
    let mut failures = Vec::new();
    for protocol in &case.protocols {
        target.reset();
        let mut play = Play {
            target,
            protocol: *protocol,
            connections: HashMap::new(),
            current: String::from("main"),
            sent: String::new(),
            sent_unix_ms: None,
        };
        let outcome = case
            .steps
            .iter()
            .try_for_each(|(line, step)| play.step(step).map_err(|problem| (*line, problem)))
            .and_then(|()| play.finish().map_err(|problem| (case.line, problem)));
        if let Err((line, problem)) = outcome {
            let tags = play.target.tags().join(",");
            let place = format!(
                "{script}.resp:{line} `{}` RESP{protocol} on {tags}",
                case.title
            );
            failures.push(Failure {
                place,
                sent: play.sent,
                problem,
            });
        }
    }
    failures
}

struct Play<'t> {
    target: &'t mut dyn Target,
    protocol: u8,
    connections: HashMap<String, Connection>,
    current: String,
    sent: String,
    /// The time that the last placeholder was sent with. Replies are expected to tell the same, although the
    /// target's clock goes on.
    sent_unix_ms: Option<u64>,
}

#[derive(Clone, Default)]
struct Connection {
    number: usize,
    /// Bytes that arrived and that no step has expected yet.
    buffer: Vec<u8>,
    is_closed: bool,
}

impl Play<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Connection(name) => {
                self.current.clone_from(name);
                self.connection().map(|_| ())
            }
            Step::Command(line) => {
                let line = self.expand(line);
                let args = split_args(line.as_bytes())?;
                self.send(&encode_command(&args), line)
            }
            Step::Raw(line) => {
                let line = self.expand(line);
                self.send(&unescape(line.as_bytes()), line)
            }
            Step::Expect(lines) => self.expect(lines),
            Step::Advance(by) => {
                self.target.advance(*by);
                Ok(())
            }
            Step::HalfClose => {
                let number = self.connection()?.number;
                self.target.half_close(number);
                Ok(())
            }
            Step::Closed => self.closed(),
        }
    }

    /// Fills in the placeholders of a line that is sent.
    fn expand(&mut self, line: &str) -> String {
        let unix_ms = self.target.unix_ms();
        let expanded = expand(line, unix_ms);
        if expanded != line {
            self.sent_unix_ms = Some(unix_ms);
        }
        expanded
    }

    /// The current connection. A new one is opened and switched to the case's protocol.
    fn connection(&mut self) -> Result<&mut Connection, String> {
        if !self.connections.contains_key(&self.current) {
            let number = self.target.connect();
            let connection = Connection {
                number,
                ..Connection::default()
            };
            self.connections.insert(self.current.clone(), connection);
            if self.protocol == 3 {
                self.send(&encode_command(&["HELLO", "3"]), "HELLO 3".to_owned())?;
                self.expect_pattern(&Pattern::parse(b"{reply}"))?;
            }
        }
        self.connections
            .get_mut(&self.current)
            .ok_or_else(|| "no connection".to_owned())
    }

    fn send(&mut self, bytes: &[u8], shown: String) -> Result<(), String> {
        let number = self.connection()?.number;
        self.sent = if shown.len() > 200 {
            format!("{:.200}...", shown)
        } else {
            shown
        };
        self.target.send(number, bytes);
        Ok(())
    }

    fn expect(&mut self, lines: &[Line]) -> Result<(), String> {
        let unix_ms = self.sent_unix_ms.unwrap_or_else(|| self.target.unix_ms());
        let tags = self.target.tags();
        let mut expected = Vec::new();
        for line in lines
            .iter()
            .filter(|line| line.when.holds(self.protocol, tags))
        {
            expected.extend_from_slice(&unescape(expand(&line.text, unix_ms).as_bytes()));
            if line.is_ended {
                expected.extend_from_slice(b"\r\n");
            }
        }
        self.expect_pattern(&Pattern::parse(&expected))
            .map_err(|got| format!("expected\n{}\ngot {got}", indent(&show(&expected))))
    }

    /// Waits until the expected bytes have arrived; the error tells which bytes arrived instead.
    fn expect_pattern(&mut self, pattern: &Pattern) -> Result<(), String> {
        self.connection()?;
        let Self {
            target,
            connections,
            current,
            ..
        } = self;
        let connection = connections.get_mut(current).ok_or("no connection")?;
        loop {
            match pattern.matches(&connection.buffer) {
                Matched::Whole(len) => {
                    connection.buffer.drain(..len);
                    return Ok(());
                }
                Matched::Not => return Err(format!("\n{}", indent(&show(&connection.buffer)))),
                Matched::SoFar => {}
            }
            match target.receive(connection.number, &mut connection.buffer) {
                Received::Bytes => {}
                end => {
                    let end = if end == Received::Closed {
                        "the connection closed"
                    } else {
                        "nothing more came"
                    };
                    return Err(format!(
                        "\n{}\nand then {end}",
                        indent(&show(&connection.buffer))
                    ));
                }
            }
        }
    }

    fn closed(&mut self) -> Result<(), String> {
        self.connection()?;
        let Self {
            target,
            connections,
            current,
            ..
        } = self;
        let connection = connections.get_mut(current).ok_or("no connection")?;
        loop {
            match target.receive(connection.number, &mut connection.buffer) {
                Received::Bytes => {}
                Received::Nothing => {
                    return Err("the server should have closed the connection".to_owned());
                }
                Received::Closed => break,
            }
        }
        connection.is_closed = true;
        connection.nothing_left()
    }

    /// Checks that no bytes arrived beyond the expected ones.
    fn finish(&mut self) -> Result<(), String> {
        let names: Vec<String> = self.connections.keys().cloned().collect();
        for name in names {
            self.current = name;
            let connection = self.connection()?.clone();
            connection.nothing_left()?;
            if !connection.is_closed {
                self.target.half_close(connection.number);
                self.closed()
                    .map_err(|problem| format!("at the end: {problem}"))?;
            }
        }
        Ok(())
    }
}

impl Connection {
    fn nothing_left(&self) -> Result<(), String> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        Err(format!(
            "got more than was expected:\n{}",
            indent(&show(&self.buffer))
        ))
    }
}

fn indent(text: &str) -> String {
    let mut shown = text.replace('\n', "\n    ");
    if shown.len() > 4000 {
        let cut = (0..=4000)
            .rev()
            .find(|at| shown.is_char_boundary(*at))
            .unwrap_or(0);
        shown.truncate(cut);
        shown.push_str("...");
    }
    format!("    {shown}")
}
