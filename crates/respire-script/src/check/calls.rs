//! Finds the calls of commands in a script, and what their arguments are.
//!
//! It reads words and does not parse Lua: the compiler has accepted the text already, and whatever is
//! not understood here is unknown, which is no mistake.

use super::names::{Names, Value};
use crate::words::{Word, Words};

/// A call of `redis.call` or `redis.pcall`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call<'s> {
    /// Where in the text it is.
    pub(super) at: usize,
    /// The name of the command, and its arguments.
    pub(super) args: Vec<Value<'s>>,
    /// Whether the last one may stand for any number of arguments: `unpack(ARGV)`.
    pub(super) is_open: bool,
}

/// The calls of a text that compiles.
pub(super) fn find(words: Words<'_>) -> Vec<Call<'_>> {
    let mut finder = Finder {
        argv: match words.is_library() {
            true => b"args",
            false => b"ARGV",
        },
        words,
        names: Names::new(),
        loop_names: Vec::new(),
        calls: Vec::new(),
    };
    finder.run();
    finder.calls
}

struct Finder<'s> {
    words: Words<'s>,
    /// The name of the list of arguments.
    argv: &'static [u8],
    names: Names<'s>,
    /// The variables of a `for`, which are declared by its `do`.
    loop_names: Vec<(&'s [u8], Value<'s>)>,
    calls: Vec<Call<'s>>,
}

/// A part of an expression: a word, or brackets with what they hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'s> {
    Word(Word<'s>),
    /// The sign that opened it.
    Brackets(u8),
}

/// An expression.
type Parts<'s> = Vec<Part<'s>>;

impl<'s> Finder<'s> {
    fn run(&mut self) {
        let mut before = None;
        // Names with commas between them, which may be assigned to together.
        let mut list: Vec<&[u8]> = Vec::new();
        while let Some(word) = self.words.next() {
            match word {
                Word::Name(name) => {
                    if before != Some(Word::Sign(b',')) {
                        list.clear();
                    }
                    list.push(name);
                    self.name(name, before);
                }
                Word::Sign(b'=') if matches!(before, Some(Word::Name(_))) => {
                    if self.words.clone().next() != Some(Word::Sign(b'=')) {
                        list.iter().for_each(|name| self.names.forget(name));
                    }
                }
                Word::Sign(b',') => {}
                Word::Sign(_) | Word::Text(_) | Word::Number(_) => list.clear(),
            }
            before = Some(word);
        }
    }

    fn name(&mut self, name: &'s [u8], before: Option<Word<'s>>) {
        match name {
            b"do" => {
                self.names.begin_block();
                for (name, value) in std::mem::take(&mut self.loop_names) {
                    self.names.declare(name, value);
                }
            }
            b"then" | b"repeat" => self.names.begin_block(),
            b"else" => {
                self.names.end_block();
                self.names.begin_block();
            }
            b"end" | b"until" | b"elseif" => self.names.end_block(),
            b"for" => self.loop_names = self.loop_variables(),
            b"function" => self.function(),
            b"local" => self.local(),
            b"redis" => {
                let mut ahead = self.words.clone();
                if is_caller(&mut ahead) {
                    self.words = ahead;
                    self.call();
                }
            }
            _ if before != Some(Word::Sign(b'.')) && self.names.get(name) == Value::Caller => {
                self.call();
            }
            _ => {}
        }
    }

    /// The variables of a `for`: those of `ipairs(KEYS)` are keys.
    fn loop_variables(&self) -> Vec<(&'s [u8], Value<'s>)> {
        let mut ahead = self.words.clone();
        let names = names(&mut ahead);
        let mut declared: Vec<_> = names.iter().map(|name| (*name, Value::Unknown)).collect();
        let rest: Vec<_> = ahead.take(5).collect();
        let over = match rest[..] {
            [
                Word::Name(b"in"),
                Word::Name(b"ipairs" | b"pairs"),
                Word::Sign(b'('),
                Word::Name(list),
                Word::Sign(b')'),
            ] => list,
            _ => b"",
        };
        if let Some((_, value)) = declared.get_mut(1) {
            *value = self.element_of(over);
        }
        declared
    }

    /// What the elements of a list are.
    fn element_of(&self, list: &[u8]) -> Value<'s> {
        match list {
            b"KEYS" => Value::Key,
            _ if list == self.argv => Value::Argument,
            _ => Value::Unknown,
        }
    }

    /// The parameters of a function, which begin its block.
    fn function(&mut self) {
        self.names.begin_block();
        let mut ahead = self.words.clone();
        if !ahead.any(|word| word == Word::Sign(b'(')) {
            return;
        }
        for name in names(&mut ahead) {
            self.names.declare(name, Value::Unknown);
        }
        self.words = ahead;
    }

    /// The variables of `local a, b = 1, 2`. Their values are read again as the words they are, as they
    /// may hold calls.
    fn local(&mut self) {
        let mut ahead = self.words.clone();
        if ahead.clone().next() == Some(Word::Name(b"function")) {
            return;
        }
        let names = names(&mut ahead);
        self.words = ahead.clone();
        let values = match ahead.next() {
            Some(Word::Sign(b'=')) => {
                self.words = ahead.clone();
                expressions(&mut ahead, false)
            }
            _ => Vec::new(),
        };
        let values: Vec<_> = values.iter().map(|parts| self.value(parts)).collect();
        for (at, name) in names.into_iter().enumerate() {
            let value = values.get(at).copied().unwrap_or(Value::Unknown);
            self.names.declare(name, value);
        }
    }

    /// A call, whose arguments follow.
    fn call(&mut self) {
        let at = self.words.at();
        let mut ahead = self.words.clone();
        let (parts, is_open) = match ahead.next() {
            Some(Word::Sign(b'(')) => {
                let parts = expressions(&mut ahead, true);
                let is_open = parts.last().is_some_and(|last| is_open(last));
                (parts, is_open)
            }
            Some(word @ Word::Text(_)) => (vec![vec![Part::Word(word)]], false),
            _ => return,
        };
        let args = parts.iter().map(|parts| self.value(parts)).collect();
        self.calls.push(Call { at, args, is_open });
    }

    /// What an expression is.
    fn value(&mut self, parts: &[Part<'s>]) -> Value<'s> {
        match *parts {
            [Part::Word(Word::Text(text))] if text.contains(&b'\\') => Value::Unknown,
            [Part::Word(Word::Text(literal) | Word::Number(literal))] => Value::Literal(literal),
            [Part::Word(Word::Name(name))] => self.names.get(name),
            [Part::Word(Word::Name(list)), Part::Brackets(b'[')] => self.element_of(list),
            [
                Part::Word(Word::Name(b"redis")),
                Part::Word(Word::Sign(b'.')),
                Part::Word(Word::Name(b"call" | b"pcall")),
            ] => Value::Caller,
            _ if is_joined(parts) => Value::Computed,
            _ => Value::Unknown,
        }
    }
}

/// Skips `.call` or `.pcall`, if it follows.
fn is_caller(words: &mut Words<'_>) -> bool {
    words.next() == Some(Word::Sign(b'.'))
        && matches!(words.next(), Some(Word::Name(b"call" | b"pcall")))
}

/// Takes names with commas between them.
fn names<'s>(words: &mut Words<'s>) -> Vec<&'s [u8]> {
    let mut names = Vec::new();
    loop {
        let mut ahead = words.clone();
        let Some(Word::Name(name)) = ahead.next() else {
            return names;
        };
        names.push(name);
        *words = ahead.clone();
        if ahead.next() != Some(Word::Sign(b',')) {
            return names;
        }
        *words = ahead;
    }
}

/// Takes expressions with commas between them: to the closing bracket, or to the end of a statement.
/// Nothing is known of what follows a function inside them.
fn expressions<'s>(words: &mut Words<'s>, in_brackets: bool) -> Vec<Parts<'s>> {
    let mut all = vec![Parts::new()];
    loop {
        let mut ahead = words.clone();
        let Some(word) = ahead.next() else { break };
        let parts = all.last_mut().expect("there is always one");
        match word {
            Word::Sign(b')' | b';') => break,
            Word::Sign(b',') => {
                all.push(Parts::new());
                *words = ahead;
                continue;
            }
            _ if !in_brackets && !continues(parts.last(), word) => break,
            Word::Name(b"function") => {
                *parts = vec![Part::Word(word); 2];
                break;
            }
            Word::Sign(open @ (b'(' | b'[' | b'{')) => {
                parts.push(Part::Brackets(open));
                skip_brackets(&mut ahead);
            }
            _ => parts.push(Part::Word(word)),
        }
        *words = ahead;
    }
    all.retain(|parts| !parts.is_empty());
    all
}

/// Whether a word goes on with an expression that ends in a part, and begins no new statement.
fn continues(last: Option<&Part<'_>>, next: Word<'_>) -> bool {
    let is_operand = match last {
        None => false,
        Some(Part::Brackets(_)) => true,
        Some(Part::Word(word)) => match word {
            Word::Name(name) => !OPERATORS.contains(name),
            Word::Text(_) | Word::Number(_) => true,
            Word::Sign(_) => false,
        },
    };
    !is_operand
        || match next {
            Word::Name(name) => OPERATORS.contains(&name),
            Word::Sign(_) | Word::Text(_) => true,
            Word::Number(_) => false,
        }
}

const OPERATORS: [&[u8]; 3] = [b"and", b"or", b"not"];

/// Skips what is in brackets, behind the opening one.
fn skip_brackets(words: &mut Words<'_>) {
    let mut depth = 1;
    while depth > 0 {
        match words.next() {
            Some(Word::Sign(b'(' | b'[' | b'{')) => depth += 1,
            Some(Word::Sign(b')' | b']' | b'}')) => depth -= 1,
            Some(_) => {}
            None => return,
        }
    }
}

/// Whether an expression may have any number of values: `...`, a call, or a function that was not read to
/// its end.
fn is_open(parts: &[Part<'_>]) -> bool {
    match parts {
        [Part::Word(Word::Name(b"function")), ..] | [.., Part::Word(Word::Sign(b'.'))] => true,
        [
            ..,
            before,
            Part::Brackets(b'(' | b'{') | Part::Word(Word::Text(_)),
        ] => {
            !matches!(before, Part::Word(Word::Sign(_)))
                && !matches!(before, Part::Word(Word::Name(name)) if OPERATORS.contains(name))
        }
        _ => false,
    }
}

/// Whether an expression is made by `..` and nothing that chooses between values.
fn is_joined(parts: &[Part<'_>]) -> bool {
    let dot = Part::Word(Word::Sign(b'.'));
    let chooses =
        |part: &Part<'_>| matches!(part, Part::Word(Word::Name(name)) if OPERATORS.contains(name));
    parts.windows(2).any(|two| two == [dot, dot])
        && parts.last() != Some(&dot)
        && !parts.iter().any(chooses)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scripts of one call, its arguments, and whether it is open.
    const ARGUMENTS: &[(&str, &str, bool)] = &[
        ("redis.call('PING')", "PING", false),
        ("redis.pcall 'PING'", "PING", false),
        ("redis.call([[GET]], KEYS[1])", "GET Key", false),
        (
            "redis.call('SET', KEYS[i + 1], ARGV[#ARGV], 'PX', 10)",
            "SET Key Argument PX 10",
            false,
        ),
        ("redis.call('GET', 'a' .. KEYS[1])", "GET Computed", false),
        ("redis.call('GET', 'a\\n')", "GET Unknown", false),
        (
            "redis.call('GET', x and 'a' .. 'b' or 'c')",
            "GET Unknown",
            false,
        ),
        ("redis.call('DEL', unpack(KEYS))", "DEL Unknown", true),
        ("redis.call('DEL', (unpack(KEYS)))", "DEL Unknown", false),
        ("redis.call('DEL', ...)", "DEL Unknown", true),
        ("redis.call('SET', 'k', t.f{1, 2})", "SET k Unknown", true),
        (
            "redis.call('SET', 'k', #t, -1, {1})",
            "SET k Unknown Unknown Unknown",
            false,
        ),
        ("redis.call(ARGV[1], KEYS[1])", "Argument Key", false),
        ("local call = redis.call call('GET', 'k')", "GET k", false),
        (
            "local a, key = 1, KEYS[1] .. ':x' redis.call('GET', key)",
            "GET Computed",
            false,
        ),
        (
            "local key = KEYS[1]\nkey = key .. 'x' redis.call('GET', key)",
            "GET Unknown",
            false,
        ),
        (
            "local key = 'x' a, key, b = 1, 2 redis.call('GET', key)",
            "GET Unknown",
            false,
        ),
        (
            "local key = 'x' if key == 1 then redis.call('GET', key) end",
            "GET x",
            false,
        ),
        (
            "local key = KEYS[1] do local key = 'x' end redis.call('GET', key)",
            "GET Key",
            false,
        ),
        (
            "for i, key in ipairs(KEYS) do redis.call('GET', key) end",
            "GET Key",
            false,
        ),
        (
            "for _, v in pairs(ARGV) do redis.call('GET', v) end",
            "GET Argument",
            false,
        ),
        (
            "for i = 1, 2 do redis.call('GET', i) end",
            "GET Unknown",
            false,
        ),
        (
            "local k = 'x' local function f(k) redis.call('GET', k) end",
            "GET Unknown",
            false,
        ),
        (
            "local f = function(k) redis.call('GET', k) end",
            "GET Unknown",
            false,
        ),
        (
            "local key = 'a' local n = tonumber(key) redis.call('GET', n)",
            "GET Unknown",
            false,
        ),
    ];

    #[test]
    fn arguments_are_told_apart() {
        let one = |script: &str| -> (Vec<String>, bool) {
            let calls = find(Words::of_script(script.as_bytes()));
            let [call] = &calls[..] else {
                panic!("{script}: {calls:?}");
            };
            let show = |value: &Value<'_>| match value {
                Value::Literal(text) => String::from_utf8_lossy(text).into_owned(),
                other => format!("{other:?}"),
            };
            (call.args.iter().map(show).collect(), call.is_open)
        };
        for (script, args, is_open) in ARGUMENTS {
            let args = args.split(' ').map(str::to_owned).collect();
            assert_eq!(one(script), (args, *is_open), "{script}");
        }
    }

    #[test]
    fn calls_inside_of_others_are_found() {
        let script = b"local a = redis.call('GET', redis.call('GET', KEYS[1]))
            local t = {redis.call('PING'), f = function() redis.pcall('TIME') end}
            my.redis.call('X') return call('Y')";
        let calls = find(Words::of_script(script));
        let names: Vec<_> = calls.iter().map(|call| call.args[0]).collect();
        let expected = [b"GET" as &[u8], b"GET", b"PING", b"TIME", b"X"];
        assert_eq!(names, expected.map(Value::Literal));
    }
}
