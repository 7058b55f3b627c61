//! Tests of `respire-bench-docs http` with tiny loads.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("respire-bench-docs-http-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A tiny load; everything runs on core 0, which every machine has.
const TINY: &str = "--rounds 2 --test-time 0.02 --callers 12 --pool 4 --server-cpu 0 --load-cpu 0";

fn http(out: &Path, load: &str, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_respire-bench-docs"))
        .arg("http")
        .args(load.split(' '))
        .arg("--out")
        .arg(out)
        .args(flags)
        .output()
        .unwrap()
}

fn succeeded(output: &Output) -> String {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn every_row_is_measured_and_written() {
    let folder = Folder::new("all");
    let (out, json) = (folder.path("doc.md"), folder.path("doc.json"));
    let printed = succeeded(&http(&out, TINY, &["--json", json.to_str().unwrap()]));
    assert!(printed.contains("round 2 of 2") && printed.contains("HTTP POST JSON, axum"));

    let text = fs::read_to_string(&out).unwrap();
    for part in [
        "# RESP instead of HTTP",
        "\"12345&?\\\"678,\\n90\"",
        "### pool: ",
        "### pool-pipelined-cores: ",
        "**The claim.**",
        "`respire-bench-docs http --times 100 --callers 12 --pool 4 --rounds 2",
        "(doc-figures.svg)",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }

    let measured: Value = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(measured["reply_bytes"], 1500);
    let outcomes = measured["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 6);
    let standings = || {
        let all = outcomes.iter();
        all.flat_map(|outcome| outcome["standings"].as_array().unwrap())
    };
    assert_eq!(standings().count(), 3 * 6 + 3 * 4);
    for standing in standings() {
        assert_eq!(standing["samples"].as_array().unwrap().len(), 2);
        for sample in standing["samples"].as_array().unwrap() {
            assert!(sample["calls"].as_u64().unwrap() > 0);
            // All requests are equal and all replies are equal, so the bytes per call are a whole
            // number.
            let [sent, received] =
                ["bytes_sent", "bytes_received"].map(|name| sample[name].as_f64().unwrap());
            match standing["client"].as_str().unwrap() {
                "resp" => assert_eq!((sent, received), (46.0, 1509.0)),
                _ => assert!(sent.fract() == 0.0 && sent > 46.0 && received > 1509.0),
            }
        }
    }

    let plot = fs::read_to_string(folder.path("doc-figures.svg")).unwrap();
    let plot = roxmltree::Document::parse(&plot).unwrap();
    let texts: Vec<&str> = plot.descendants().filter_map(|node| node.text()).collect();
    for part in ["Thousand calls per second", "p99 latency, ms", "pool-cores"] {
        assert!(texts.iter().any(|text| text.trim() == part), "{part}");
    }
}

#[test]
fn only_the_text_between_the_marks_is_replaced() {
    let folder = Folder::new("marks");
    let out = folder.path("doc.md");
    let flags = ["--row", "one", "--times", "1", "--payload", "a b"];
    fs::write(&out, "before\n<!-- http -->\nold\n<!-- /http -->\nafter\n").unwrap();
    succeeded(&http(&out, TINY, &flags));
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.starts_with("before\n<!-- http -->\n"));
    assert!(text.ends_with("<!-- /http -->\nafter\n"));
    assert!(text.contains("### one: ") && !text.contains("\nold\n") && !text.contains("### pool"));
    assert!(text.contains("--row one --payload 'a b'`"), "{text}");
}

#[test]
fn document_without_marks_is_refused_and_unchanged() {
    let folder = Folder::new("unmarked");
    let out = folder.path("doc.md");
    fs::write(&out, "somebody's own\n").unwrap();
    let output = http(&out, &format!("{TINY} --row one"), &[]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && error.contains("--out: "),
        "{error}"
    );
    assert_eq!(fs::read_to_string(&out).unwrap(), "somebody's own\n");
}

#[test]
fn bad_flags_are_refused_and_nothing_is_written() {
    let folder = Folder::new("refused");
    let out = folder.path("doc.md");
    let one = format!("{TINY} --row one");
    let cases = [
        (
            format!("{TINY} --row none"),
            "--row: no row \"none\" among one, pool, ",
        ),
        (
            one.replace("--pool 4", "--pool 13"),
            "--pool: want 1 to 12 connections",
        ),
        (one.replace("--callers 12", "--callers 0"), "--callers: "),
        (one.replace("--rounds 2", "--rounds 0"), "--rounds: "),
        (
            one.replace("--test-time 0.02", "--test-time 0"),
            "--test-time: ",
        ),
        (
            format!("{one} --times 100000"),
            "--times: a reply has at most 1048576 bytes",
        ),
    ];
    for (load, complaint) in cases {
        let output = http(&out, &load, &[]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && error.contains(complaint),
            "{error}"
        );
    }
    assert!(!out.exists());
}
