//! The result of a check as text for people.

use respire_disk::check::{FileReport, FileVerdict, Fixed, Loss, Report, Verdict, utc};
use std::fmt::Write as _;

/// The text. `is_repair`: whether a repair was asked for.
pub(super) fn of(fixed: &Fixed, is_repair: bool) -> String {
    let mut out = String::new();
    report(&mut out, &fixed.before);
    if let Some(done) = &fixed.done {
        let lost = loss(&done.loss);
        let file = &done.loss.file;
        line(
            &mut out,
            &format!("cut: {file} at byte {}: {lost}", done.loss.offset),
        );
        for name in &done.originals {
            line(
                &mut out,
                &format!("original: {}", done.after.folder.join(name).display()),
            );
        }
        let verdict = word(done.after.verdict);
        line(&mut out, &format!("now: {verdict}. {}", done.after.advice));
        next(&mut out, &done.after);
    } else if let Some(why) = &fixed.refused {
        line(&mut out, &format!("Nothing was changed. {why}"));
    } else if is_repair {
        line(&mut out, "Nothing was changed: there is nothing to cut.");
    } else {
        line(&mut out, &fixed.before.advice);
        next(&mut out, &fixed.before);
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn next(out: &mut String, report: &Report) {
    if let Some(command) = &report.command {
        line(out, &format!("    {command}"));
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Whole => "whole",
        Verdict::Torn => "torn",
        Verdict::Damaged => "DAMAGED",
        Verdict::Unknown => "UNKNOWN COMMANDS",
    }
}

fn report(out: &mut String, report: &Report) {
    line(
        out,
        &format!("{}: {}", report.path.display(), word(report.verdict)),
    );
    if report.is_in_use {
        line(
            out,
            "warning: a server uses these files; they may change while they are read",
        );
    }
    for file in &report.files {
        line(out, &format!("  {}", describe(file)));
    }
    if !report.unlisted.is_empty() {
        line(
            out,
            &format!(
                "  not listed, and not loaded: {}",
                report.unlisted.join(", ")
            ),
        );
    }
    for unknown in &report.unknown {
        line(
            out,
            &format!(
                "unknown command: {} at byte {} of {} ({} of them in the file)",
                unknown.name, unknown.offset, unknown.file, unknown.count
            ),
        );
    }
    let Some(wrong) = &report.wrong else {
        return;
    };
    line(
        out,
        &format!("where: {}, byte {}", wrong.file, wrong.offset),
    );
    line(out, &format!("what:  {}", wrong.what));
    if let Some(good) = good(wrong.last_good, wrong.last_good_time_s) {
        line(out, &format!("good:  {good}"));
    }
    if let Some(lost) = &wrong.loss {
        let (file, offset) = (&lost.file, lost.offset);
        line(
            out,
            &format!("lost:  {} (kept: {file} up to byte {offset})", loss(lost)),
        );
    }
}

fn good(seq: Option<u64>, time_s: Option<u64>) -> Option<String> {
    let seq = seq.map(|seq| format!("up to change {seq}"));
    let time = time_s.map(|time_s| format!("last time {} ({time_s})", utc(time_s)));
    match (seq, time) {
        (Some(seq), Some(time)) => Some(format!("{seq}, {time}")),
        (seq, time) => seq.or(time),
    }
}

fn describe(file: &FileReport) -> String {
    let mut text = format!("{} ({}): {} bytes", file.name, file.kind, file.bytes);
    if let Some(keys) = file.keys {
        let _ = write!(text, ", {keys} keys");
    }
    let is_read = !matches!(file.verdict, FileVerdict::Unread | FileVerdict::Missing);
    let has_only_commands = file.kind != "snapshot" && file.keys.is_none();
    if file.commands > 0 || (is_read && has_only_commands) {
        let _ = write!(text, ", {} commands", file.commands);
    }
    if file.checksums > 0 {
        let _ = write!(text, ", {} checksums", file.checksums);
    }
    if let Some(good) = good(file.last_seq, file.last_time_s) {
        let _ = write!(text, ", {good}");
    }
    let verdict = match &file.verdict {
        FileVerdict::Whole => "whole".to_owned(),
        FileVerdict::Torn { offset, bytes } => format!("torn behind byte {offset}, {bytes} bytes"),
        FileVerdict::Damaged { offset, what } => format!("DAMAGED at byte {offset}: {what}"),
        FileVerdict::Missing => "MISSING".to_owned(),
        FileVerdict::Unread => "not read".to_owned(),
    };
    let _ = write!(text, ": {verdict}");
    text
}

fn loss(loss: &Loss) -> String {
    let more = if loss.has_more { "at least " } else { "" };
    let (bytes, commands) = (loss.bytes, loss.commands);
    let mut text = format!("{bytes} bytes, in which {more}{commands} commands can be read");
    if !loss.files.is_empty() {
        let _ = write!(text, ", among them all of {}", loss.files.join(", "));
    }
    text
}
