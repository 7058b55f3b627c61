//! Reads and rewrites the configuration file: lines of `key value`, as in `redis.conf`.
//!
//! Blank lines and lines that begin with `#` are skipped. Quote values that hold blanks or special
//! bytes: `"…"` understands `\n \r \t \a \b \\ \"` and `\xHH`, `'…'` only `\'`.

use respire_engine::parse_memory;
use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A configuration file that can be read and rewritten.
///
/// ```
/// use respire_net::ConfigFile;
///
/// let parsed = ConfigFile::parse(b"# a comment\nport 7000\nrequirepass \"two words\"\ntimeout\n");
/// let line = &parsed.lines[1];
/// assert_eq!((line.number, &*line.key, &*line.value), (3, "requirepass", "two words"));
/// assert_eq!(parsed.mistakes[0].to_string(), "4: 'timeout' has no value");
/// ```
#[derive(Clone, Debug)]
pub struct ConfigFile {
    path: PathBuf,
    /// The value of each setting when neither the file nor a flag sets it. A rewrite adds a line
    /// for a value that differs from this.
    defaults: Vec<(String, String)>,
    /// Other names of settings, each with the setting's own name.
    aliases: Vec<(String, &'static str)>,
}

/// One line that sets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line number; the first line is 1.
    pub number: usize,
    /// The first word, lower case.
    pub key: String,
    /// The other words, joined by single blanks.
    pub value: String,
}

/// A line that cannot be used, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The line number; the first line is 1.
    pub number: usize,
    /// The reason, for people to read.
    pub why: String,
}

impl Mistake {
    /// A mistake in the line of this number, with the reason.
    #[must_use]
    pub fn new(number: usize, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { number, why }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.number, self.why)
    }
}

/// The parsed text of a configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The lines that set a value, in order.
    pub lines: Vec<Line>,
    /// All lines that cannot be parsed, in order.
    pub mistakes: Vec<Mistake>,
}

impl ConfigFile {
    /// The file at `path`. The path must be absolute, or stay valid while the process runs.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self {
            path,
            defaults: Vec::new(),
            aliases: Vec::new(),
        }
    }

    /// Sets the default values, which a rewrite need not write.
    pub fn set_defaults(&mut self, defaults: Vec<(String, String)>) {
        self.defaults = defaults;
    }

    /// Adds other names for settings.
    #[must_use]
    pub fn with_aliases(mut self, aliases: Vec<(String, &'static str)>) -> Self {
        self.aliases = aliases;
        self
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads and parses the file.
    ///
    /// # Errors
    /// When the file cannot be read; the text names it.
    pub fn read(&self) -> io::Result<Parsed> {
        let shown = self.path.display();
        let text = fs::read(&self.path).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot read {shown}: {error}"))
        })?;
        Ok(Self::parse(&text))
    }

    /// Parses the text of such a file. A broken line does not stop the parsing, so one call finds
    /// all mistakes.
    #[must_use]
    pub fn parse(text: &[u8]) -> Parsed {
        let mut parsed = Parsed::default();
        for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
            match parse_line(at + 1, line) {
                Ok(line) => parsed.lines.extend(line),
                Err(mistake) => parsed.mistakes.push(mistake),
            }
        }
        parsed
    }

    /// Writes the present values into the file. A line whose value changed gets the new value;
    /// comments and order stay. A value that differs from its default and has no line is added at
    /// the end. The file is replaced in one step or not at all.
    ///
    /// # Errors
    /// When the file cannot be read, or its directory cannot be written.
    pub fn rewrite(&self, settings: &[(&'static str, String)]) -> io::Result<()> {
        let old = fs::read_to_string(&self.path)?;
        replace(&self.path, &self.rewritten(&old, settings))
    }

    fn rewritten(&self, old: &str, settings: &[(&'static str, String)]) -> String {
        let mut written: Vec<&str> = Vec::new();
        let mut text = String::with_capacity(old.len());
        for line in old.lines() {
            let words = split(line).unwrap_or_default();
            let setting = words.first().and_then(|key| self.find(key, settings));
            let (Some((name, value)), Some(key)) = (setting, words.first()) else {
                push_line(&mut text, line);
                continue;
            };
            // The value is known, so one line is enough.
            if written.contains(&name) {
                continue;
            }
            written.push(name);
            if means_the_same(name, &words[1..].join(" "), value) {
                push_line(&mut text, line);
            } else {
                push_setting(&mut text, key, value);
            }
        }
        let missing = settings.iter().filter(|(name, _)| !written.contains(name));
        let changed: Vec<_> = missing
            .filter(|setting| self.is_worth_a_line(setting))
            .collect();
        if !changed.is_empty() && !old.lines().any(|line| line == GENERATED) {
            push_line(&mut text, GENERATED);
        }
        for (name, value) in changed {
            push_setting(&mut text, name, value);
        }
        text
    }

    fn find<'s>(
        &self,
        key: &str,
        settings: &'s [(&'static str, String)],
    ) -> Option<(&'static str, &'s String)> {
        let key = key.to_ascii_lowercase();
        let alias = self
            .aliases
            .iter()
            .find(|(alias, _)| *alias == key)
            .map(|(_, name)| *name);
        let name = alias.unwrap_or(&key);
        settings
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(own, value)| (*own, value))
    }

    fn is_worth_a_line(&self, (name, value): &(&'static str, String)) -> bool {
        self.defaults
            .iter()
            .any(|(own, default)| own == name && default != value)
    }
}

/// The comment above the lines that `CONFIG REWRITE` added. It has Redis's wording, so that Redis
/// and Respire read each other's files.
const GENERATED: &str = "# Generated by CONFIG REWRITE";

/// Whether two texts mean the same value; a size such as `64kb` can be written in two ways.
fn means_the_same(name: &str, one: &str, other: &str) -> bool {
    let size = parse_memory(one);
    one == other || (name != "requirepass" && size.is_some() && size == parse_memory(other))
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_setting(text: &mut String, key: &str, value: &str) {
    text.push_str(key);
    text.push(' ');
    // A list such as that of `bind` is written as separate words, unless one of them needs quotes.
    if !value.is_empty()
        && value
            .split(' ')
            .all(|word| !word.is_empty() && is_plain(word))
    {
        text.push_str(value);
    } else {
        quote(text, value);
    }
    text.push('\n');
}

fn is_plain(word: &str) -> bool {
    let has_quotes = word.contains(['"', '\'', '\\', '#']);
    !has_quotes && word.bytes().all(|byte| byte.is_ascii_graphic())
}

fn quote(text: &mut String, value: &str) {
    text.push('"');
    for character in value.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            control if control.is_ascii_control() => {
                write!(text, "\\x{:02x}", u32::from(control))
                    .expect("writing to a String cannot fail");
            }
            other => text.push(other),
        }
    }
    text.push('"');
}

/// Parses one line; `None` for a blank line or a comment.
fn parse_line(number: usize, line: &[u8]) -> Result<Option<Line>, Mistake> {
    if line.trim_ascii_start().starts_with(b"#") {
        return Ok(None);
    }
    let text = str::from_utf8(line).map_err(|_| Mistake::new(number, "a value is not UTF-8"))?;
    let words = split(text).map_err(|why| Mistake::new(number, why))?;
    match words.split_first() {
        None => Ok(None),
        Some((key, [])) => Err(Mistake::new(number, format!("'{key}' has no value"))),
        Some((key, values)) => Ok(Some(Line {
            number,
            key: key.to_ascii_lowercase(),
            value: values.join(" "),
        })),
    }
}

/// Splits a line into words as Redis does; a comment has no words.
fn split(line: &str) -> Result<Vec<String>, &'static str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    if rest.starts_with('#') {
        return Ok(words);
    }
    while !rest.is_empty() {
        let (word, after) = word(rest)?;
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// Takes the first word of a text that does not begin with a blank.
fn word(text: &str) -> Result<(String, &str), &'static str> {
    let (quote, body) = match text.as_bytes().first() {
        Some(b'"') => ('"', &text[1..]),
        Some(b'\'') => ('\'', &text[1..]),
        _ => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            return Ok((word.to_owned(), rest));
        }
    };
    let mut word = Vec::new();
    let mut rest = body.as_bytes();
    loop {
        let (first, after) = rest.split_first().ok_or("a quote is not closed")?;
        rest = after;
        match *first {
            b'\\' => rest = unescape(quote, rest, &mut word),
            byte if char::from(byte) == quote => break,
            byte => word.push(byte),
        }
    }
    if rest.first().is_some_and(|next| !next.is_ascii_whitespace()) {
        return Err("a closing quote must be followed by a blank");
    }
    let word = String::from_utf8(word).map_err(|_| "a value is not UTF-8")?;
    // Quotes and escapes are ASCII, so the text after the closing quote begins with a whole
    // character.
    Ok((word, &body[body.len() - rest.len()..]))
}

/// Adds the character that a backslash escape stands for; returns the text after it.
fn unescape<'t>(quote: char, rest: &'t [u8], word: &mut Vec<u8>) -> &'t [u8] {
    let Some((&first, after)) = rest.split_first() else {
        return rest;
    };
    if quote == '\'' {
        if first == b'\'' {
            word.push(first);
            return after;
        }
        word.push(b'\\');
        return rest;
    }
    if let [b'x', high, low, after @ ..] = rest {
        let digit = |byte: &u8| char::from(*byte).to_digit(16);
        if let (Some(high), Some(low)) = (digit(high), digit(low)) {
            word.push((high * 16 + low) as u8);
            return after;
        }
    }
    word.push(match first {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x07,
        b'b' => 0x08,
        other => other,
    });
    after
}

/// Replaces the file with `text` in one step and keeps its permissions.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays a link: the file it points to is replaced.
    let path = fs::canonicalize(path)?;
    let mode = fs::metadata(&path)?.permissions().mode();
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    let written = write_synced(&draft, text, mode).and_then(|()| fs::rename(&draft, &path));
    if written.is_err() {
        // Report the first error. A draft that cannot be removed does no harm.
        let _ = fs::remove_file(&draft);
    }
    written
}

fn write_synced(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    let mut file = fs::File::create(path)?;
    // The file may hold a password, so nobody else may gain access to it.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
