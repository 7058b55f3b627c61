//! The engine's own rows of `CONFIG`.

use crate::client::tunables::Tunables;
use crate::{Setting, parse_memory};
use resp_codec::number::parse_i64;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// The rows, each with Redis's name, range and texts.
pub(crate) fn settings(tunables: &Arc<Tunables>) -> Vec<Setting> {
    let mut settings = vec![
        Setting::mutable("appendonly", || "no".to_owned(), keep_off).checked(),
        row(
            tunables,
            "maxclients",
            |t| t.clients_max().to_string(),
            |t, text| {
                t.clients_max
                    .store(number(text, 1..=i64::from(u32::MAX))? as u32, Relaxed);
                Ok(())
            },
        ),
        row(
            tunables,
            "proto-max-bulk-len",
            |t| t.bulk_bytes_max.load(Relaxed).to_string(),
            |t, text| {
                t.bulk_bytes_max.store(memory(text, BULK_BYTES)?, Relaxed);
                t.limits_generation.fetch_add(1, AcqRel);
                Ok(())
            },
        ),
        row(tunables, "requirepass", password, |t, text| {
            if t.has_authenticator() && !text.is_empty() {
                return Err("this service has an authenticator of its own".to_owned());
            }
            t.set_password(text.as_bytes());
            Ok(())
        }),
        Setting::mutable("save", String::new, keep_empty).checked(),
        row(
            tunables,
            "timeout",
            |t| t.idle_timeout_s.load(Relaxed).to_string(),
            |t, text| {
                t.idle_timeout_s
                    .store(number(text, 0..=i64::from(i32::MAX))? as u64, Relaxed);
                Ok(())
            },
        ),
    ];
    settings.extend(of_times(tunables));
    settings
}

/// The rows about command times.
fn of_times(tunables: &Arc<Tunables>) -> Vec<Setting> {
    vec![
        row(
            tunables,
            "latency-monitor-threshold",
            latency_threshold,
            |t, text| {
                t.latency_threshold_ms
                    .store(number(text, 0..=i64::MAX)? as u64, Relaxed);
                Ok(())
            },
        ),
        busy_reply(tunables, "busy-reply-threshold"),
        // The name until Redis 7.0, which still knows it.
        busy_reply(tunables, "lua-time-limit"),
        row(
            tunables,
            "latency-tracking",
            |t| yes_no(t.latency_tracking.load(Relaxed)),
            |t, text| {
                t.latency_tracking.store(parse_yes_no(text)?, Relaxed);
                Ok(())
            },
        ),
        row(
            tunables,
            PERCENTILES,
            |t| {
                t.percentiles()
                    .into_iter()
                    .map(shown_percent)
                    .collect::<Vec<_>>()
                    .join(" ")
            },
            |t, text| {
                t.set_percentiles(parse_percentiles(text)?);
                Ok(())
            },
        ),
        row(
            tunables,
            "slowlog-log-slower-than",
            |t| t.slowlog_us.load(Relaxed).to_string(),
            |t, text| {
                t.slowlog_us.store(number(text, -1..=i64::MAX)?, Relaxed);
                Ok(())
            },
        ),
        row(
            tunables,
            "slowlog-max-len",
            |t| t.slowlog_len_max.load(Relaxed).to_string(),
            |t, text| {
                t.slowlog_len_max
                    .store(number(text, 0..=i64::MAX)? as u64, Relaxed);
                Ok(())
            },
        ),
    ]
}

fn busy_reply(tunables: &Arc<Tunables>, name: &'static str) -> Setting {
    row(
        tunables,
        name,
        |t| t.busy_reply_ms.load(Relaxed).to_string(),
        |t, text| {
            t.busy_reply_ms
                .store(number(text, 0..=i64::MAX)? as u64, Relaxed);
            Ok(())
        },
    )
}

/// The range of the bulk limit. The codec bounds a whole request, so a bulk is bounded by that
/// minus the rest of its request.
const BULK_BYTES: RangeInclusive<u64> =
    1 << 20..=resp_codec::Limits::SERVER.max_frame as u64 - (1 << 20);

fn row(
    tunables: &Arc<Tunables>,
    name: &'static str,
    get: fn(&Tunables) -> String,
    set: fn(&Tunables, &str) -> Result<(), String>,
) -> Setting {
    let (reader, writer) = (Arc::clone(tunables), Arc::clone(tunables));
    let row = Setting::mutable(name, move || get(&reader), move |text| set(&writer, text));
    // Only a password is free text.
    if name == "requirepass" {
        row
    } else {
        row.checked()
    }
}

fn latency_threshold(tunables: &Tunables) -> String {
    tunables.latency_threshold_ms.load(Relaxed).to_string()
}

fn password(tunables: &Tunables) -> String {
    String::from_utf8_lossy(&tunables.password().unwrap_or_default()).into_owned()
}

fn yes_no(is_on: bool) -> String {
    if is_on { "yes" } else { "no" }.to_owned()
}

fn parse_yes_no(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err("argument must be 'yes' or 'no'".to_owned()),
    }
}

/// The maximum number of percentiles per command, so that no client can make `INFO` endless.
const PERCENTILES_MAX: usize = 64;

const PERCENTILES: &str = "latency-tracking-info-percentiles";

/// Percentiles separated by blanks; the list may be empty.
fn parse_percentiles(text: &str) -> Result<Vec<f64>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    if text.split(' ').count() > PERCENTILES_MAX {
        return Err(format!("at most {PERCENTILES_MAX} percentiles are told"));
    }
    text.split(' ')
        .map(|percent| match percent.parse::<f64>() {
            Ok(percent) if percent.is_nan() => Err(format!("Invalid {PERCENTILES} parameters")),
            Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
            Ok(_) => Err(format!(
                "{PERCENTILES} parameters should sit between [0.0,100.0]"
            )),
            Err(_) => Err(format!("Invalid {PERCENTILES} parameters")),
        })
        .collect()
}

/// A percentile as Redis shows it: at most six decimals, without trailing zeros.
pub(super) fn shown_percent(percent: f64) -> String {
    let text = format!("{percent:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn number(text: &str, range: RangeInclusive<i64>) -> Result<i64, String> {
    let number = parse_i64(text.as_bytes()).ok_or("argument couldn't be parsed into an integer")?;
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(out_of(range.start(), range.end()))
    }
}

fn memory(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    let bytes = parse_memory(text).ok_or("argument must be a memory value")?;
    if range.contains(&bytes) {
        Ok(bytes)
    } else {
        Err(out_of(range.start(), range.end()))
    }
}

fn out_of(min: impl std::fmt::Display, max: impl std::fmt::Display) -> String {
    format!("argument must be between {min} and {max} inclusive")
}

/// Accepts only values that mean off. Client libraries and test suites set these to make sure that
/// data is not written to disk, which is always so.
fn keep_off(text: &str) -> Result<(), String> {
    match text {
        "no" => Ok(()),
        "yes" => Err("this server has no append-only file".to_owned()),
        _ => Err("argument must be 'yes' or 'no'".to_owned()),
    }
}

fn keep_empty(text: &str) -> Result<(), String> {
    if text.is_empty() {
        Ok(())
    } else {
        Err("this server has no snapshots".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;

    fn set(name: &str, value: &str) -> Result<String, String> {
        let tunables = Arc::new(Tunables::new(&Limits::DEFAULT, 10_000, b"", false));
        let rows = settings(&tunables);
        let row = rows
            .iter()
            .find(|row| row.name() == name)
            .expect("a row of this name");
        row.set(value).map(|()| row.get())
    }

    #[test]
    fn setting_returns_the_value_that_was_set() {
        for (name, value, shown) in [
            ("maxclients", "20", "20"),
            ("proto-max-bulk-len", "2mb", "2097152"),
            ("requirepass", "secret", "secret"),
            ("slowlog-log-slower-than", "-1", "-1"),
            ("slowlog-max-len", "0", "0"),
            ("timeout", "300", "300"),
            ("busy-reply-threshold", "200", "200"),
            ("lua-time-limit", "200", "200"),
            ("latency-monitor-threshold", "100", "100"),
            ("latency-tracking", "NO", "no"),
            (PERCENTILES, "0 50.50 1e1 99.99999999", "0 50.5 10 100"),
            (PERCENTILES, "", ""),
            ("save", "", ""),
            ("appendonly", "no", "no"),
        ] {
            assert_eq!(set(name, value).as_deref(), Ok(shown), "{name}");
        }
    }

    #[test]
    fn value_out_of_range_gets_redis_error_text() {
        let range = |min, max| format!("argument must be between {min} and {max} inclusive");
        for (name, value, reason) in [
            ("maxclients", "0", range("1", "4294967295")),
            (
                "latency-tracking",
                "maybe",
                "argument must be 'yes' or 'no'".to_owned(),
            ),
            (
                PERCENTILES,
                "50  99",
                format!("Invalid {PERCENTILES} parameters"),
            ),
            (
                PERCENTILES,
                "nan",
                format!("Invalid {PERCENTILES} parameters"),
            ),
            (
                PERCENTILES,
                "100.1",
                format!("{PERCENTILES} parameters should sit between [0.0,100.0]"),
            ),
            (
                PERCENTILES,
                "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 \
                 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 \
                 58 59 60 61 62 63 64 65",
                "at most 64 percentiles are told".to_owned(),
            ),
            ("timeout", "99999999999", range("0", "2147483647")),
            (
                "slowlog-log-slower-than",
                "-2",
                range("-1", "9223372036854775807"),
            ),
            (
                "timeout",
                "1kb",
                "argument couldn't be parsed into an integer".to_owned(),
            ),
            (
                "proto-max-bulk-len",
                "x",
                "argument must be a memory value".to_owned(),
            ),
            ("proto-max-bulk-len", "5", range("1048576", "1072693248")),
            (
                "appendonly",
                "maybe",
                "argument must be 'yes' or 'no'".to_owned(),
            ),
            ("save", "900 1", "this server has no snapshots".to_owned()),
        ] {
            assert_eq!(set(name, value), Err(reason), "{name}");
        }
    }
}
