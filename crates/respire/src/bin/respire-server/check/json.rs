//! The result of a check as a JSON document.

use respire_disk::check::{Done, FileReport, FileVerdict, Fixed, Kind, Loss, Report, Verdict, utc};
use serde_json::{Value, json};

/// The document, which ends with a line end.
pub(super) fn of(fixed: &Fixed) -> String {
    let mut document = report(&fixed.before);
    if let Value::Object(fields) = &mut document {
        fields.insert("refused".to_owned(), json!(fixed.refused));
        fields.insert("done".to_owned(), json!(fixed.done.as_ref().map(done)));
    }
    format!("{document:#}\n")
}

fn done(done: &Done) -> Value {
    json!({
        "cut": loss(&done.loss),
        "originals": done.originals,
        "after": report(&done.after),
    })
}

fn report(report: &Report) -> Value {
    let wrong = report.wrong.as_ref().map(|wrong| {
        json!({
            "file": wrong.file,
            "offset": wrong.offset,
            "what": wrong.what,
            "last_good_seq": wrong.last_good,
            "last_good_time": time(wrong.last_good_time_s),
            "loss": wrong.loss.as_ref().map(loss),
        })
    });
    let unknown = report.unknown.iter().map(|unknown| {
        json!({
            "file": unknown.file,
            "offset": unknown.offset,
            "command": unknown.name,
            "count": unknown.count,
        })
    });
    json!({
        "path": report.path.to_string_lossy(),
        "folder": report.folder.to_string_lossy(),
        "kind": match report.kind {
            Kind::Log => "log",
            Kind::Commands => "commands",
            Kind::Snapshot => "snapshot",
        },
        "verdict": match report.verdict {
            Verdict::Whole => "whole",
            Verdict::Torn => "torn",
            Verdict::Damaged => "damaged",
            Verdict::Unknown => "unknown-commands",
        },
        "in_use": report.is_in_use,
        "files": report.files.iter().map(file).collect::<Vec<_>>(),
        "unlisted": report.unlisted,
        "unknown_commands": unknown.collect::<Vec<_>>(),
        "wrong": wrong,
        "advice": report.advice,
        "command": report.command,
    })
}

fn file(file: &FileReport) -> Value {
    let (verdict, offset, what) = match &file.verdict {
        FileVerdict::Whole => ("whole", None, None),
        FileVerdict::Torn { offset, .. } => ("torn", Some(*offset), None),
        FileVerdict::Damaged { offset, what } => ("damaged", Some(*offset), Some(what)),
        FileVerdict::Missing => ("missing", None, None),
        FileVerdict::Unread => ("unread", None, None),
    };
    json!({
        "name": file.name,
        "kind": file.kind,
        "bytes": file.bytes,
        "keys": file.keys,
        "commands": file.commands,
        "checksums": file.checksums,
        "last_seq": file.last_seq,
        "last_time": time(file.last_time_s),
        "verdict": verdict,
        "offset": offset,
        "what": what,
    })
}

fn loss(loss: &Loss) -> Value {
    json!({
        "file": loss.file,
        "offset": loss.offset,
        "bytes": loss.bytes,
        "commands": loss.commands,
        "has_more_commands": loss.has_more,
        "files": loss.files,
    })
}

fn time(unix_s: Option<u64>) -> Value {
    let text = |unix_s| json!({ "utc": utc(unix_s), "unix_s": unix_s });
    unix_s.map_or(Value::Null, text)
}
