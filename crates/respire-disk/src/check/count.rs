//! Counts commands behind damage, and finds those that the server does not know.

use super::report::Unknown;
use respire_durable::checksum;
use respire_durable::recovery::{Files, Found, Place, Walker};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

/// How often a count goes on behind something that is not a command.
const GAPS_MAX: u32 = 1000;

/// Names that are collected in a file.
const NAMES_MAX: usize = 100;

/// The most characters of a name.
const NAME_CHARS_MAX: usize = 64;

const WINDOW_BYTES: usize = 1 << 16;

/// Counts the commands that can be read in a range of a file, though there may be other bytes between them. Returns
/// also whether it stopped early. O(bytes).
pub(super) fn commands(
    files: &mut impl Files,
    (place, name): (Place, &str),
    range: Range<u64>,
) -> io::Result<(u64, bool)> {
    let (mut count, mut gaps) = (0, 0);
    let mut from = range.start.min(range.end);
    loop {
        let mut walker = Walker::new(place, name, from..range.end, WINDOW_BYTES);
        loop {
            match walker.next(files)? {
                Found::Command => count += 1,
                Found::Annotation => {}
                Found::End => return Ok((count, false)),
                Found::Short | Found::Bad(_) => break,
            }
        }
        if gaps == GAPS_MAX {
            return Ok((count, true));
        }
        gaps += 1;
        match next_start(files, (place, name), walker.end() + 1..range.end)? {
            Some(start) => from = start,
            None => return Ok((count, false)),
        }
    }
}

/// The next place where a command may begin: a `*` behind a line end, and a digit behind it.
fn next_start(
    files: &mut impl Files,
    (place, name): (Place, &str),
    range: Range<u64>,
) -> io::Result<Option<u64>> {
    const OVERLAP_BYTES: u64 = 2;
    let mut buffer = vec![0; WINDOW_BYTES];
    let mut at = range.start.saturating_sub(1);
    while at + OVERLAP_BYTES < range.end {
        let wanted = buffer.len().min((range.end - at) as usize);
        let bytes = files.read_at(place, name, at, &mut buffer[..wanted])?;
        let begins = |window: &[u8]| matches!(window, [b'\n', b'*', b'0'..=b'9']);
        if let Some(found) = buffer[..bytes].windows(3).position(begins) {
            return Ok(Some(at + found as u64 + 1));
        }
        if bytes as u64 <= OVERLAP_BYTES {
            return Ok(None);
        }
        at += bytes as u64 - OVERLAP_BYTES;
    }
    Ok(None)
}

/// The last time in a range of a file, in unix seconds. O(bytes).
pub(super) fn last_time(
    files: &mut impl Files,
    (place, name): (Place, &str),
    range: Range<u64>,
) -> io::Result<Option<u64>> {
    let mut walker = Walker::new(place, name, range, 1 << 20);
    let mut last = None;
    loop {
        match walker.next(files)? {
            Found::Command => {}
            Found::Annotation => last = checksum::parse_time(walker.item()).or(last),
            Found::End | Found::Short | Found::Bad(_) => return Ok(last),
        }
    }
}

/// Finds the commands of a file that the server does not know. O(bytes).
pub(super) fn unknown(
    files: &mut impl Files,
    (place, name): (Place, &str),
    range: Range<u64>,
    knows: &dyn Fn(&[u8]) -> bool,
) -> io::Result<Vec<Unknown>> {
    let mut found = BTreeMap::<String, Unknown>::new();
    let mut walker = Walker::new(place, name, range, 1 << 20);
    loop {
        match walker.next(files)? {
            Found::Command => {}
            Found::Annotation => continue,
            Found::End | Found::Short | Found::Bad(_) => break,
        }
        let command = walker.arg(0).unwrap_or_default();
        if knows(command) {
            continue;
        }
        let text = command.escape_ascii().take(NAME_CHARS_MAX);
        let text: String = text.map(char::from).collect();
        let is_full = found.len() >= NAMES_MAX;
        match found.get_mut(&text.to_ascii_lowercase()) {
            Some(unknown) => unknown.count += 1,
            None if is_full => {}
            None => {
                let unknown = Unknown {
                    file: name.to_owned(),
                    offset: walker.at(),
                    name: text.clone(),
                    count: 1,
                };
                found.insert(text.to_ascii_lowercase(), unknown);
            }
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(|unknown| unknown.offset);
    Ok(found)
}
