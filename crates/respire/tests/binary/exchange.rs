//! Tests that Redis loads our files, and we load its.

use crate::data::{Place, Running, Shown, fill, until};
use redis::Value;
use std::fs;

const LOG: &[&str] = &["--appendonly", "yes"];
const SNAPSHOTS: &[&str] = &["--save", "3600 1000000"];

fn rewrite(server: &Running) {
    let _: String = server.ask("BGREWRITEAOF");
    until("the log is rewritten", || {
        server.info("aof_rewrite_in_progress") == "0" && server.info("aof_rewrite_scheduled") == "0"
    });
    assert_eq!(server.info("aof_last_bgrewrite_status"), "ok");
}

/// What Redis shows after a restart: it forgets how many entries a group of a stream has read.
fn after_restart(place: &Place, theirs: Running) -> Shown {
    let digest: String = theirs.ask("DEBUG DIGEST");
    theirs.stop();
    let theirs = place.redis(LOG);
    assert_eq!(theirs.ask::<String>("DEBUG DIGEST"), digest);
    let shown = theirs.shown();
    theirs.stop();
    shown
}

/// Changes values that `fill` has written.
fn change(server: &Running) {
    for line in [
        "APPEND string more",
        "HSET hash d 4",
        "RPUSH list f",
        "XADD stream 4-1 field value",
        "DEL large-zset",
        "LREM by-script 100 1",
    ] {
        let _: Value = server.ask(line);
    }
}

#[test]
fn redis_loads_a_log_of_ours() {
    let place = Place::new(LOG);
    let ours = place.start();
    fill(&ours);
    let before = ours.shown();
    ours.stop();
    let theirs = place.redis(LOG);
    assert_eq!(theirs.shown(), before);
}

#[test]
fn redis_loads_a_base_of_ours_and_what_follows_and_we_load_what_it_adds() {
    let place = Place::new(LOG);
    let ours = place.start();
    fill(&ours);
    rewrite(&ours);
    change(&ours);
    let before = ours.shown();
    ours.kill();

    let theirs = place.redis(LOG);
    assert_eq!(theirs.shown(), before);
    let _: Value = theirs.ask("RPUSH list by-redis");
    let before = theirs.shown();
    theirs.stop();

    let ours = place.start();
    assert_eq!(ours.shown(), before);
    let _: Value = ours.ask("RPUSH list by-us-again");
    let before = ours.shown();
    ours.stop();
    assert_eq!(place.redis(LOG).shown(), before);
}

#[test]
fn redis_loads_a_snapshot_of_ours() {
    let place = Place::new(SNAPSHOTS);
    let ours = place.start();
    fill(&ours);
    let before = ours.shown();
    assert_eq!(ours.ask::<String>("SAVE"), "OK");
    ours.kill();
    assert_eq!(place.redis(&["--save", "3600 1"]).shown(), before);
}

#[test]
fn we_load_a_log_of_redis_with_and_without_a_base() {
    let place = Place::new(LOG);
    let theirs = place.redis(&["--appendonly", "yes", "--aof-timestamp-enabled", "yes"]);
    fill(&theirs);
    let before = after_restart(&place, theirs);
    let ours = place.start();
    assert_eq!(ours.shown(), before);
    ours.stop();

    let theirs = place.redis(LOG);
    rewrite(&theirs);
    change(&theirs);
    let before = theirs.shown();
    theirs.stop();
    let ours = place.start();
    assert_eq!(ours.shown(), before);
}

#[test]
fn we_load_a_log_of_redis_with_a_base_of_commands() {
    let place = Place::new(LOG);
    let flags = ["--appendonly", "yes", "--aof-use-rdb-preamble", "no"];
    let theirs = place.redis(&flags);
    fill(&theirs);
    rewrite(&theirs);
    change(&theirs);
    let before = theirs.shown();
    theirs.stop();
    let ours = place.start();
    assert_eq!(ours.shown(), before);
}

#[test]
fn we_load_the_single_file_of_an_old_redis() {
    let place = Place::new(LOG);
    let theirs = place.redis(LOG);
    fill(&theirs);
    let before = after_restart(&place, theirs);
    // Without a base, the one increment has what the single file had.
    let increment = fs::read(place.log_file("appendonly.aof.1.incr.aof")).unwrap();
    fs::remove_dir_all(place.file("appendonlydir")).unwrap();
    fs::write(place.file("appendonly.aof"), &increment).unwrap();
    let ours = place.start();
    assert_eq!(ours.shown(), before);
    ours.stop();
    let ours = place.start();
    assert_eq!(ours.shown(), before, "the second start");
    ours.stop();

    let named = Place::new(&[]);
    let old = named.file("old.aof");
    fs::write(&old, &increment).unwrap();
    let ours = named.start_with(&["--load", old.to_str().unwrap()]);
    assert_eq!(ours.shown(), before);
}

#[test]
fn we_load_a_snapshot_of_redis_that_is_named_and_keep_it_in_a_log() {
    let place = Place::new(LOG);
    let theirs = place.redis(&["--save", ""]);
    fill(&theirs);
    let before = theirs.shown();
    assert_eq!(theirs.ask::<String>("SAVE"), "OK");
    theirs.kill();

    let (code, log) = place.refused(&[]);
    assert_eq!(code, Some(3), "{log}");
    assert!(log.contains("--load") && log.contains("dump.rdb"), "{log}");
    let snapshot = place.file("dump.rdb");
    let ours = place.start_with(&["--load", snapshot.to_str().unwrap()]);
    assert_eq!(ours.shown(), before);
    until("it is in the log", || {
        let manifest = fs::read_to_string(place.log_file("appendonly.aof.manifest"));
        manifest.is_ok_and(|manifest| manifest.contains("type b"))
    });
    ours.kill();
    let ours = place.start();
    assert_eq!(ours.shown(), before);
    ours.stop();

    // Both at once: the log has it already.
    let (code, log) = place.refused(&["--load", snapshot.to_str().unwrap()]);
    assert_eq!(code, Some(3), "{log}");
    assert!(log.contains("only one of both"), "{log}");
}

#[test]
fn we_load_a_snapshot_of_redis_where_snapshots_are_kept() {
    let place = Place::new(SNAPSHOTS);
    let theirs = place.redis(SNAPSHOTS);
    fill(&theirs);
    let before = theirs.shown();
    theirs.stop();
    assert_eq!(place.start().shown(), before);
}
