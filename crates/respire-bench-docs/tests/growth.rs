//! Tests of `respire-bench-docs growth` with tiny loads on redis-server, if it is installed.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Run everything on core 0, which every machine has.
const TINY: &str =
    "--rounds 2 --test-time 0.1 --keys-max 10000 --connections-max 10 --server-cpu 0 --load-cpu 0";
/// Redis stays at one thread whatever the number; it serves as a server that takes one.
const REDIS: &str =
    "redis=redis-server --port {port} --save '' --appendonly no --tcp-backlog 51{threads}";

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("respire-bench-docs-growth-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn has_redis() -> bool {
    let version = Command::new("redis-server").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

fn growth(out: &Path, flags: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_respire-bench-docs"))
        .arg("growth")
        .args(TINY.split(' '))
        .args(["--server", REDIS, "--out"])
        .arg(out)
        .args(flags)
        .output()
        .unwrap()
}

fn assert_success(output: &Output) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

#[test]
fn every_part_is_measured_and_written() {
    if !has_redis() {
        return;
    }
    let folder = Folder::new("all");
    let (out, json) = (folder.0.join("doc.md"), folder.0.join("doc.json"));
    assert_success(&growth(&out, &["--json", json.to_str().unwrap()]));
    let text = fs::read_to_string(&out).unwrap();
    let measured: Value = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let parts = measured["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 8);
    let cpu_us = &parts[0]["scaling"]["series"][2]["points"][1]["cpu_us"]["median"];
    assert!(cpu_us.as_f64().unwrap() > 0.0, "{cpu_us}");
    for said in [
        "<!-- growth -->",
        "| redis: GET of 1,000 keys |",
        "| floor ",
        "| redis: MSET and DEL ",
        "| redis: keys expire ",
        "| redis: tables grow ",
        "| redis: EXISTS of 100 keys ",
        "256 B",
        "<!-- /growth -->",
    ] {
        assert!(text.contains(said), "{said} in {text}");
    }
    for plot in text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let plot = fs::read_to_string(folder.0.join(plot)).unwrap();
        assert!(plot.starts_with("<svg"), "{plot}");
    }
}

#[test]
fn result_replaces_only_its_part_of_a_document() {
    if !has_redis() {
        return;
    }
    let folder = Folder::new("place");
    let out = folder.0.join("doc.md");
    fs::write(&out, "before\n<!-- growth -->old<!-- /growth -->\nafter\n").unwrap();
    assert_success(&growth(&out, &["--part", "arguments"]));
    let text = fs::read_to_string(&out).unwrap();
    assert!(
        text.starts_with("before\n<!-- growth -->\n# Growth")
            && text.ends_with("<!-- /growth -->\nafter\n")
    );
    assert!(
        !text.contains("old<") && !text.contains("## Keys"),
        "{text}"
    );
    fs::write(&out, "a document of something else").unwrap();
    let refused = growth(&out, &["--part", "arguments"]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        !refused.status.success() && error.contains("--out: "),
        "{error}"
    );
}
