//! Times as people write them.

use std::time::{Duration, UNIX_EPOCH};

/// A time in unix seconds as text: `2026-11-23T22:15:00Z`. Times behind the year 9999 stay numbers.
///
/// ```
/// assert_eq!(respire_disk::check::utc(0), "1970-01-01T00:00:00Z");
/// ```
#[must_use]
pub fn utc(unix_s: u64) -> String {
    const YEAR_10000_S: u64 = 253_402_300_800;
    if unix_s >= YEAR_10000_S {
        return unix_s.to_string();
    }
    humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(unix_s)).to_string()
}

/// A time in unix seconds as a part of a file's name: `20261123T221500Z`.
#[must_use]
pub fn stamp(unix_s: u64) -> String {
    utc(unix_s).replace(['-', ':'], "")
}

/// Reads unix seconds, or a text such as `2026-11-23T22:15:00Z`; a fraction of a second is dropped. `None` if it is
/// neither.
///
/// ```
/// use respire_disk::check::parse_time;
/// assert_eq!(parse_time("1970-01-01T00:01:00Z"), Some(60));
/// assert_eq!(parse_time("60"), Some(60));
/// assert_eq!(parse_time("yesterday"), None);
/// ```
#[must_use]
pub fn parse_time(text: &str) -> Option<u64> {
    if let Ok(unix_s) = text.parse() {
        return Some(unix_s);
    }
    let time = humantime::parse_rfc3339(text).ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}
