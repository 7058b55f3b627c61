//! `cjson.decode`: from JSON to values.

use super::super::build::Builder;
use super::lexer::{Lexer, Token};
use crate::limits::SLOTS_MAX;

/// What decides how JSON is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeOptions {
    /// Whether to take numbers that JSON does not know: `inf`, `nan`, `0x10`, `+1`, `01`.
    pub(crate) invalid_numbers: bool,
    /// How deep arrays and objects may lie in each other.
    pub(crate) depth_max: usize,
}

/// Why there is no value.
#[derive(Debug)]
pub(crate) enum Problem<E> {
    /// The text is not what was expected.
    Text(String),
    /// The builder failed.
    Build(E),
}

impl<E> From<E> for Problem<E> {
    fn from(error: E) -> Self {
        Self::Build(error)
    }
}

/// An array or object that is not finished.
enum Open<B: Builder> {
    /// With the index of the next element.
    Array(B::Table, i64),
    /// With the key of the next value.
    Object(B::Table, B::Item),
}

struct Decoder<'a, 'b, B: Builder> {
    lexer: Lexer<'a>,
    builder: &'b mut B,
    open: Vec<Open<B>>,
    /// What `open` would take of Lua's stack in Redis.
    slots: usize,
    options: DecodeOptions,
}

/// Reads one value. The memory it takes beside the values is that of the longest string, and some
/// bytes for each level of depth. No recursion.
pub(crate) fn decode<B: Builder>(
    text: &[u8],
    options: DecodeOptions,
    builder: &mut B,
) -> Result<B::Item, Problem<B::Error>> {
    // A first character that is not ASCII, or is so in two bytes: no JSON in UTF-8 begins so.
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        let problem = "JSON parser does not support UTF-16 or UTF-32";
        return Err(Problem::Text(problem.to_owned()));
    }
    let mut decoder = Decoder {
        lexer: Lexer::new(text, options.invalid_numbers),
        builder,
        open: Vec::new(),
        slots: 1,
        options,
    };
    let item = decoder.document()?;
    match decoder.lexer.next() {
        Token::End => Ok(item),
        token => Err(decoder.unexpected("the end", token)),
    }
}

impl<B: Builder> Decoder<'_, '_, B> {
    fn unexpected(&self, expected: &str, token: Token) -> Problem<B::Error> {
        let at = self.lexer.token_at + 1;
        let found = token.name();
        Problem::Text(format!(
            "Expected {expected} but found {found} at character {at}"
        ))
    }

    /// Reads values until the outermost is finished.
    fn document(&mut self) -> Result<B::Item, Problem<B::Error>> {
        let mut token = self.lexer.next();
        loop {
            let Some(mut item) = self.value(&mut token)? else {
                continue;
            };
            // A finished value may finish what it lies in, and so on.
            loop {
                let Some(open) = self.open.pop() else {
                    return Ok(item);
                };
                match self.add(open, item)? {
                    Some(finished) => item = finished,
                    None => break,
                }
            }
            token = self.lexer.next();
            self.key(&mut token)?;
        }
    }

    /// The value that a token is or, if it opens an array or object with something in it, none: the
    /// token is then the first of what is in it.
    fn value(&mut self, token: &mut Token) -> Result<Option<B::Item>, Problem<B::Error>> {
        Ok(Some(match *token {
            Token::String => self.builder.string(self.lexer.string())?,
            Token::Number(number) => self.builder.number(number),
            Token::Boolean(value) => self.builder.boolean(value),
            Token::Null => self.builder.null(),
            Token::ArrayBegin => {
                self.descend(2)?;
                let table = self.builder.table()?;
                *token = self.lexer.next();
                if *token == Token::ArrayEnd {
                    return Ok(Some(self.builder.finish(table)));
                }
                self.push(Open::Array(table, 1));
                return Ok(None);
            }
            Token::ObjectBegin => {
                self.descend(3)?;
                let table = self.builder.table()?;
                *token = self.lexer.next();
                if *token == Token::ObjectEnd {
                    return Ok(Some(self.builder.finish(table)));
                }
                let none = self.builder.nil();
                self.push(Open::Object(table, none));
                self.key(token)?;
                return Ok(None);
            }
            other => return Err(self.unexpected("value", other)),
        }))
    }

    /// If an object is open, reads its next key, which `token` begins, and the colon behind it.
    fn key(&mut self, token: &mut Token) -> Result<(), Problem<B::Error>> {
        if !matches!(self.open.last(), Some(Open::Object(..))) {
            return Ok(());
        }
        if *token != Token::String {
            return Err(self.unexpected("object key string", *token));
        }
        let key = self.builder.string(self.lexer.string())?;
        if let Some(Open::Object(_, place)) = self.open.last_mut() {
            *place = key;
        }
        match self.lexer.next() {
            Token::Colon => *token = self.lexer.next(),
            other => return Err(self.unexpected("colon", other)),
        }
        Ok(())
    }

    fn push(&mut self, open: Open<B>) {
        self.slots += slots(&open);
        self.open.push(open);
    }

    /// Adds a value to what it lies in, and returns that if nothing more follows.
    fn add(&mut self, open: Open<B>, item: B::Item) -> Result<Option<B::Item>, Problem<B::Error>> {
        self.slots -= slots(&open);
        let (table, next, end, expected) = match open {
            Open::Array(table, index) => {
                self.builder.set_index(&table, index, item)?;
                let none = self.builder.nil();
                (
                    table,
                    (index + 1, none),
                    Token::ArrayEnd,
                    "comma or array end",
                )
            }
            Open::Object(table, key) => {
                self.builder.set(&table, key, item)?;
                let none = self.builder.nil();
                (table, (0, none), Token::ObjectEnd, "comma or object end")
            }
        };
        match self.lexer.next() {
            Token::Comma if end == Token::ArrayEnd => self.push(Open::Array(table, next.0)),
            Token::Comma => self.push(Open::Object(table, next.1)),
            token if token == end => return Ok(Some(self.builder.finish(table))),
            token => return Err(self.unexpected(expected, token)),
        }
        Ok(None)
    }

    fn descend(&mut self, slots: usize) -> Result<(), Problem<B::Error>> {
        let depth = self.open.len() + 1;
        if depth <= self.options.depth_max && self.slots + slots <= SLOTS_MAX {
            return Ok(());
        }
        let at = self.lexer.at;
        Err(Problem::Text(format!(
            "Found too many nested data structures ({depth}) at character {at}"
        )))
    }
}

fn slots<B: Builder>(open: &Open<B>) -> usize {
    match open {
        Open::Array(..) => 1,
        Open::Object(..) => 2,
    }
}
