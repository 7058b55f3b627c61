//! Tests of `respire-server check`.

use super::command;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs it. Returns its exit code, what it printed, and its errors.
fn check(path: &Path, flags: &[&str]) -> (Option<i32>, String, String) {
    let mut command = command();
    command.arg("check").arg(path).args(flags);
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn set(key: &str) -> Vec<u8> {
    format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n$1\r\nv\r\n", key.len()).into_bytes()
}

const SELECT: &[u8] = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";

#[test]
fn torn_file_is_reported_cut_and_then_whole() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("appendonly.aof");
    let whole = [SELECT, &set("a"), &set("b")].concat();
    fs::write(&path, [&whole[..], b"*3\r\n$3\r\nSET"].concat()).unwrap();

    let (code, text, errors) = check(&path, &[]);
    assert_eq!((code, &*errors), (Some(1), ""), "{text}");
    let lost = format!(
        "lost:  11 bytes, in which 0 commands can be read (kept: appendonly.aof up to byte {})",
        whole.len()
    );
    assert!(text.contains(&lost), "{text}");
    let next = format!("    respire-server check {} --fix\n", path.display());
    assert!(text.ends_with(&next), "{text}");

    let (code, text, _) = check(&path, &["--fix"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("now: whole"), "{text}");
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(check(&path, &[]).0, Some(0));
    let (code, text, _) = check(&path, &["--fix"]);
    assert_eq!(code, Some(0));
    assert!(text.contains("nothing to cut"), "{text}");
}

#[test]
fn commands_that_the_server_lacks_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("appendonly.aof");
    let strange = b"*1\r\n$10\r\nFROBNICATE\r\n";
    fs::write(&path, [SELECT, &set("a"), strange].concat()).unwrap();
    let (code, text, _) = check(&path, &["--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (code, &report["verdict"]),
        (Some(1), &Value::from("unknown-commands"))
    );
    let unknown = &report["unknown_commands"][0];
    assert_eq!(unknown["command"], "FROBNICATE");
    assert_eq!(unknown["offset"], (SELECT.len() + set("a").len()) as u64);
}

#[test]
fn wrong_usage_and_missing_files_exit_with_code_2() {
    let directory = tempfile::tempdir().unwrap();
    let (code, _, errors) = check(&directory.path().join("none"), &[]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("No such file"), "{errors}");
    assert_eq!(check(directory.path(), &[]).0, Some(2));
    let both = ["--fix", "--until-offset", "1"];
    assert_eq!(check(directory.path(), &both).0, Some(2));
    let (code, _, errors) = check(directory.path(), &["--until-time", "noon"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("2026-11-23T22:15:00Z"), "{errors}");
    let (code, text, _) = check(Path::new("--help"), &[]);
    assert_eq!(code, Some(0));
    assert!(text.contains("--until-offset"), "{text}");
}

/// Files that a real server has written: a log with times, and a dump. `None` if it is not installed.
fn files_of_redis(directory: &Path) -> Option<PathBuf> {
    let socket = directory.join("socket");
    let version = Command::new("redis-server").arg("--version").output();
    version.ok()?;
    let flags = "--port 0 --save  --appendonly yes --aof-timestamp-enabled yes --loglevel warning";
    let mut server = Command::new("redis-server")
        .args(flags.split(' '))
        .arg("--dir")
        .arg(directory)
        .arg("--unixsocket")
        .arg(&socket)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let ask = |words: &str| {
        let mut client = Command::new("redis-cli");
        let output = client
            .arg("-s")
            .arg(&socket)
            .args(words.split(' '))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    while ask("PING") != "PONG\n" {
        assert_eq!(server.try_wait().unwrap(), None);
    }
    ask("SET before 1");
    ask("BGREWRITEAOF");
    while !ask("INFO persistence").contains("aof_rewrite_in_progress:0\r") {}
    while !ask("INFO persistence").contains("aof_rewrite_scheduled:0\r") {}
    for words in [
        "SET a 1",
        "RPUSH list x y z",
        "EVAL redis.call('SET','b',1)redis.call('SET','c',2) 0",
    ] {
        ask(words);
    }
    ask("SAVE");
    ask("SHUTDOWN NOSAVE");
    server.wait().unwrap();
    Some(directory.join("appendonlydir"))
}

/// The files in a log's folder of this kind, by name.
fn named(folder: &Path, end: &str) -> PathBuf {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.to_str().unwrap().ends_with(end));
    found.next().unwrap()
}

/// Without redis-server this test passes without checking anything.
#[test]
fn files_of_redis_are_whole_and_it_accepts_what_a_repair_leaves() {
    let directory = tempfile::tempdir().unwrap();
    let Some(folder) = files_of_redis(directory.path()) else {
        return;
    };
    let is_whole = |path: &Path| {
        let (code, text, errors) = check(path, &["--json"]);
        assert_eq!(code, Some(0), "{text}{errors}");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let is_accepted = |path: &Path| {
        let output = Command::new("redis-check-aof").arg(path).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
    };
    let report = is_whole(directory.path());
    assert_eq!(report["files"][0]["keys"], 1);
    assert!(
        report["files"][1]["commands"].as_u64() > Some(3),
        "{report}"
    );
    is_whole(&directory.path().join("dump.rdb"));

    // A second increment, and the single file of an older version.
    let (base, increment) = (named(&folder, ".rdb"), named(&folder, ".incr.aof"));
    let commands = fs::read(&increment).unwrap();
    fs::write(folder.join("appendonly.aof.9.incr.aof"), &commands).unwrap();
    let manifest = folder.join("appendonly.aof.manifest");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        format!("{text}file appendonly.aof.9.incr.aof seq 9 type i\n"),
    )
    .unwrap();
    is_whole(&manifest);
    let old = directory.path().join("old.aof");
    fs::write(&old, [fs::read(base).unwrap(), commands.clone()].concat()).unwrap();
    assert_eq!(is_whole(&old)["files"][0]["keys"], 1);

    let torn = &commands[..commands.len() - 3];
    fs::write(folder.join("appendonly.aof.9.incr.aof"), torn).unwrap();
    assert_eq!(check(&folder, &["--fix"]).0, Some(1));
    is_whole(&folder);
    is_accepted(&manifest);
    let at = (commands.len() / 2).to_string();
    check(&increment, &["--until-offset", &at]);
    assert_eq!(is_whole(&folder)["files"].as_array().unwrap().len(), 2);
    is_accepted(&manifest);
}
