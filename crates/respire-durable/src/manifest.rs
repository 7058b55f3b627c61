//! The manifest: the list of the files that make up a log, as Redis 7 writes and reads it.
//!
//! ```text
//! file appendonly.aof.2.base.rdb seq 2 type b
//! file appendonly.aof.4.incr.aof seq 4 type i
//! ```
//!
//! Our manifests also have comment lines, which Redis skips. They seal the manifest: the first
//! names the form, the last has the checksum of all lines above it, and those between them say how
//! long the finished files are. So a changed or shortened manifest or file is noticed. A manifest
//! of Redis has no seals.

mod words;

use crate::checksum::digits;
use std::fmt;
use words::{needs_quotes, quote, split};

/// The most bytes of a line, with its line end.
pub const LINE_BYTES_MAX: usize = 1024;
/// The most bytes of a manifest that is read.
pub const BYTES_MAX: usize = 16 << 20;

const FIRST: &[u8] = b"#RS:manifest=1\n";
const END: &[u8] = b"#RS:end=";
const CRC: &[u8] = b"#RS:crc=";

/// What a file is to the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The state at the start of the first increment: an RDB file, or commands.
    Base,
    /// Commands behind the base and the increments before it.
    Increment,
    /// Belongs to the log no more, and is about to be deleted.
    History,
}

/// One line of a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file's name, without a path.
    pub name: String,
    /// The number of the base, or of the increment.
    pub seq: u64,
    /// What the file is to the log.
    pub kind: Kind,
    /// Where the file ends, if nothing is written to it any more and the manifest says so.
    pub end: Option<End>,
}

/// Where a finished file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Its length in bytes.
    pub len: u64,
    /// The ticket of the last unit before its end.
    pub ticket: u64,
}

/// The list of the files of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// The base, if there is one.
    pub base: Option<Entry>,
    /// Files to be deleted.
    pub history: Vec<Entry>,
    /// The increments, by rising number.
    pub increments: Vec<Entry>,
    /// Whether it has the comment lines that seal it.
    pub sealed: bool,
}

/// Why a manifest cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for Error {}

impl Manifest {
    /// Reads a manifest. O(length).
    ///
    /// ```
    /// use respire_durable::manifest::Manifest;
    /// let text = b"file a.1.base.rdb seq 1 type b\nfile a.1.incr.aof seq 1 type i future pair\n";
    /// let manifest = Manifest::parse(text).unwrap();
    /// assert_eq!(manifest.base.unwrap().name, "a.1.base.rdb");
    /// assert_eq!(manifest.increments[0].seq, 1);
    /// assert_eq!(Manifest::parse(b"file a/b seq 1 type i\n").unwrap_err().line, 1);
    /// ```
    ///
    /// # Errors
    /// The first line that Redis refuses, or the first that does not fit the seals. Redis accepts a
    /// base behind other files; this does not.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let mut manifest = Self::default();
        let mut seals = Seals::default();
        let mut count = 0;
        let mut offset = 0;
        for (index, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            count = index + 1;
            manifest
                .line(line, &text[..offset], &mut seals)
                .map_err(|what| Error { line: count, what })?;
            offset += line.len();
        }
        let at_end = |what| Error { line: count, what };
        if count == 0 {
            return Err(at_end("Found an empty AOF manifest"));
        }
        manifest.sealed = match (seals.opened, seals.closed) {
            (true, true) => true,
            (false, false) if seals.ends.is_empty() => false,
            _ => return Err(at_end("the seal of the manifest is not complete")),
        };
        for (name, end) in seals.ends {
            let entry = manifest.entries_mut().find(|entry| entry.name == name);
            let entry = entry.ok_or_else(|| at_end("seals a file that it does not list"))?;
            entry.end = Some(end);
        }
        Ok(manifest)
    }

    fn line(&mut self, line: &[u8], before: &[u8], seals: &mut Seals) -> Result<(), &'static str> {
        if line.len() > LINE_BYTES_MAX || !line.ends_with(b"\n") {
            return Err("The AOF manifest file contains too long line");
        }
        if seals.closed {
            return Err("stands behind the manifest's checksum");
        }
        if line.starts_with(b"#") {
            return seals.line(line, before);
        }
        let entry = Entry::parse(line.trim_ascii())?;
        match entry.kind {
            Kind::Base if self.base.is_some() => Err("Found duplicate base file information"),
            Kind::Base if !self.increments.is_empty() || !self.history.is_empty() => {
                Err("the base is not the first file")
            }
            Kind::Base => {
                self.base = Some(entry);
                Ok(())
            }
            Kind::History => {
                self.history.push(entry);
                Ok(())
            }
            Kind::Increment => {
                if entry.seq <= self.increments.last().map_or(0, |last| last.seq) {
                    return Err("Found a non-monotonic sequence number");
                }
                self.increments.push(entry);
                Ok(())
            }
        }
    }

    /// The text of the manifest, sealed whatever [`Manifest::sealed`] says. O(files).
    ///
    /// ```
    /// use respire_durable::manifest::Manifest;
    /// let mut manifest = Manifest::default();
    /// manifest.increments.push(respire_durable::manifest::increment("a", 1));
    /// let text = manifest.to_bytes();
    /// assert!(text.starts_with(b"#RS:manifest=1\nfile a.1.incr.aof seq 1 type i\n#RS:crc="));
    /// assert!(Manifest::parse(&text).unwrap().sealed);
    /// ```
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = FIRST.to_vec();
        let files = self
            .base
            .iter()
            .chain(&self.history)
            .chain(&self.increments);
        for entry in files.clone() {
            entry.write(&mut out);
        }
        for entry in files {
            if let Some(end) = &entry.end {
                out.extend_from_slice(END);
                push_name(&mut out, &entry.name);
                let text = format!(" len {} ticket {}\n", end.len, end.ticket);
                out.extend_from_slice(text.as_bytes());
            }
        }
        let crc = crc32fast::hash(&out);
        out.extend_from_slice(CRC);
        out.extend_from_slice(format!("{crc:08x}\n").as_bytes());
        out
    }

    /// The base and the increments, in the order in which they are loaded.
    pub fn files(&self) -> impl Iterator<Item = &Entry> {
        self.base.iter().chain(&self.increments)
    }

    fn entries_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.base
            .iter_mut()
            .chain(&mut self.history)
            .chain(&mut self.increments)
    }
}

/// The comment lines of ours while a manifest is read.
#[derive(Default)]
struct Seals {
    opened: bool,
    closed: bool,
    ends: Vec<(String, End)>,
}

impl Seals {
    fn line(&mut self, line: &[u8], before: &[u8]) -> Result<(), &'static str> {
        if line == FIRST && before.is_empty() {
            self.opened = true;
        } else if let Some(rest) = line.strip_prefix(END) {
            self.ends
                .push(parse_end(rest).ok_or("a seal is not well formed")?);
        } else if let Some(hex) = line.strip_prefix(CRC) {
            if hex != format!("{:08x}\n", crc32fast::hash(before)).as_bytes() {
                return Err("the checksum of the manifest is wrong");
            }
            self.closed = true;
        } else if self.opened || line.starts_with(b"#RS:") {
            return Err("is no line that this version writes");
        }
        Ok(())
    }
}

fn parse_end(text: &[u8]) -> Option<(String, End)> {
    let words = split(text.trim_ascii())?;
    let [name, len_word, len, ticket_word, ticket] = words.as_slice() else {
        return None;
    };
    if len_word != b"len" || ticket_word != b"ticket" {
        return None;
    }
    let whole = |text| digits(text).filter(|(_, rest)| rest.is_empty());
    let end = End {
        len: whole(len)?.0,
        ticket: whole(ticket)?.0,
    };
    Some((String::from_utf8(name.clone()).ok()?, end))
}

impl Entry {
    fn parse(line: &[u8]) -> Result<Self, &'static str> {
        const FORMAT: &str = "Invalid AOF manifest file format";
        let words = split(line).ok_or(FORMAT)?;
        let (pairs, []) = words.as_chunks::<2>() else {
            return Err(FORMAT);
        };
        if pairs.len() < 3 {
            return Err(FORMAT);
        }
        let (mut name, mut seq, mut kind) = (None, 0, None);
        for [key, value] in pairs {
            if key.eq_ignore_ascii_case(b"file") {
                name = Some(file_name(value)?);
            } else if key.eq_ignore_ascii_case(b"seq") {
                seq = leading_number(value);
            } else if key.eq_ignore_ascii_case(b"type") {
                kind = value.first();
            }
        }
        let (Some(name), Some(kind), 1..) = (name, kind, seq) else {
            return Err(FORMAT);
        };
        let kind = match kind {
            b'b' => Kind::Base,
            b'i' => Kind::Increment,
            b'h' => Kind::History,
            _ => return Err("Unknown AOF file type"),
        };
        Ok(Self {
            name,
            seq,
            kind,
            end: None,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"file ");
        push_name(out, &self.name);
        let kind = match self.kind {
            Kind::Base => 'b',
            Kind::Increment => 'i',
            Kind::History => 'h',
        };
        out.extend_from_slice(format!(" seq {} type {kind}\n", self.seq).as_bytes());
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    if needs_quotes(name) {
        quote(out, name);
    } else {
        out.extend_from_slice(name.as_bytes());
    }
}

/// The name of a file in the log's folder.
fn file_name(bytes: &[u8]) -> Result<String, &'static str> {
    let name = str::from_utf8(bytes).map_err(|_| "the name of a file is not UTF-8")?;
    if name.contains(['/', '\\']) {
        return Err("File can't be a path, just a filename");
    }
    if name.is_empty() || name == "." || name == ".." || name.contains('\0') {
        return Err("is not the name of a file");
    }
    Ok(name.to_owned())
}

/// The digits at the start of a text, as C's `atoll` reads them; 0 if there are none or too many.
fn leading_number(text: &[u8]) -> u64 {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(&text[..len])
        .ok()
        .and_then(|digits| digits.parse::<i64>().ok());
    number
        .and_then(|number| u64::try_from(number).ok())
        .unwrap_or(0)
}

/// The name of the manifest of the log `log_name` (`appendfilename`).
#[must_use]
pub fn name(log_name: &str) -> String {
    format!("{log_name}.manifest")
}

/// The name of the file that becomes the manifest.
#[must_use]
pub fn temporary_name(log_name: &str) -> String {
    format!("temp-{log_name}.manifest")
}

/// An increment of the log `log_name`, with the name that Redis gives it.
#[must_use]
pub fn increment(log_name: &str, seq: u64) -> Entry {
    Entry {
        name: format!("{log_name}.{seq}.incr.aof"),
        seq,
        kind: Kind::Increment,
        end: None,
    }
}

/// A base of the log `log_name`, with the name that Redis gives it: an RDB file or commands.
#[must_use]
pub fn base(log_name: &str, seq: u64, is_rdb: bool) -> Entry {
    let suffix = if is_rdb { "rdb" } else { "aof" };
    Entry {
        name: format!("{log_name}.{seq}.base.{suffix}"),
        seq,
        kind: Kind::Base,
        end: None,
    }
}

/// The number in the name of an increment or base of the log `log_name`. `None` for other names.
///
/// ```
/// use respire_durable::manifest::{seq_of, Kind};
/// assert_eq!(seq_of("a", "a.12.incr.aof"), Some((Kind::Increment, 12)));
/// assert_eq!(seq_of("a", "b.12.incr.aof"), None);
/// ```
#[must_use]
pub fn seq_of(log_name: &str, name: &str) -> Option<(Kind, u64)> {
    let rest = name.strip_prefix(log_name)?.strip_prefix('.')?;
    let (seq, suffix) = rest.split_once('.')?;
    let kind = match suffix {
        "incr.aof" => Kind::Increment,
        "base.rdb" | "base.aof" => Kind::Base,
        _ => return None,
    };
    let (seq, rest) = digits(seq.as_bytes())?;
    rest.is_empty().then_some((kind, seq))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Manifest, Error> {
        Manifest::parse(text.as_bytes())
    }

    fn what(text: &str) -> &'static str {
        parse(text).unwrap_err().what
    }

    #[test]
    fn manifest_of_redis_is_read() {
        let text = "file appendonly.aof.2.base.rdb seq 2 type b\n\
                    # a comment\n\
                    file appendonly.aof.1.incr.aof seq 1 type h\n\
                    FILE \"with \\x20 \\\"quotes\\\"\" SEQ 4 startoffset 0 TYPE incr\r\n\
                    file 'single \\' quotes' seq 5 type i endoffset 7\n";
        let manifest = parse(text).unwrap();
        assert_eq!(manifest.base.unwrap().seq, 2);
        assert_eq!(manifest.history.len(), 1);
        let names: Vec<_> = manifest
            .increments
            .iter()
            .map(|entry| &entry.name)
            .collect();
        assert_eq!(names, ["with   \"quotes\"", "single ' quotes"]);
        assert!(!manifest.sealed);
    }

    #[test]
    fn lines_that_redis_refuses_are_refused() {
        let format = "Invalid AOF manifest file format";
        assert_eq!(what(""), "Found an empty AOF manifest");
        assert_eq!(what("\n"), format);
        assert_eq!(what("file a seq 1\n"), format);
        assert_eq!(what("file a seq 1 type\n"), format);
        assert_eq!(what("file a seq 0 type i\n"), format);
        assert_eq!(what("file \"a seq 1 type i\n"), format);
        assert_eq!(what("file a seq 1 type x\n"), "Unknown AOF file type");
        assert_eq!(
            what("file a seq 1 type i"),
            "The AOF manifest file contains too long line"
        );
        let long = format!("file {} seq 1 type i\n", "a".repeat(1020));
        assert_eq!(what(&long), "The AOF manifest file contains too long line");
        let two = "file a seq 1 type b\nfile b seq 2 type b\n";
        assert_eq!(
            parse(two).unwrap_err(),
            Error {
                line: 2,
                what: "Found duplicate base file information"
            }
        );
        let falling = "file a seq 2 type i\nfile b seq 2 type i\n";
        assert_eq!(what(falling), "Found a non-monotonic sequence number");
        for path in ["a/b", "..", "\"\"", "\"a\\x00\""] {
            assert!(
                parse(&format!("file {path} seq 1 type i\n")).is_err(),
                "{path}"
            );
        }
        assert!(parse("file a seq 1 type i\nfile b seq 1 type b\n").is_err());
    }

    fn sealed() -> Manifest {
        let mut manifest = Manifest {
            base: Some(base("my log", 3, true)),
            history: vec![Entry {
                kind: Kind::History,
                ..increment("my log", 6)
            }],
            increments: vec![increment("my log", 7), increment("my log", 9)],
            sealed: true,
        };
        manifest.increments[0].end = Some(End {
            len: 1234,
            ticket: 99,
        });
        manifest
    }

    #[test]
    fn manifest_is_read_as_written() {
        let manifest = sealed();
        assert_eq!(Manifest::parse(&manifest.to_bytes()).unwrap(), manifest);
    }

    #[test]
    fn changed_dropped_and_doubled_bytes_of_a_sealed_manifest_are_noticed() {
        let manifest = sealed();
        let text = manifest.to_bytes();
        let check = |changed: &[u8], what: &str, at: usize| {
            let read = Manifest::parse(changed);
            // White space at the end of the last line means nothing.
            assert!(
                read.is_err() || read.unwrap() == manifest,
                "byte {at} {what}"
            );
        };
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut changed = text.clone();
                changed[at] ^= 1 << bit;
                check(&changed, "flipped", at);
            }
            let mut zeroed = text.clone();
            zeroed[at] = 0;
            check(&zeroed, "zeroed", at);
            check(&[&text[..at], &text[at + 1..]].concat(), "dropped", at);
            check(&[&text[..=at], &text[at..]].concat(), "doubled", at);
            if at > 0 {
                assert!(Manifest::parse(&text[..at]).is_err(), "cut at {at}");
            }
        }
    }
}
