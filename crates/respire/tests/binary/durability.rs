//! Tests that data outlives the server, as users ask for it with flags and commands.

use crate::data::{Place, Running, Shown, fill, until};
use redis::Value;
use respire::serve::Flavour;
use std::fs;

const WITH_LOG: &[&str] = &["--appendonly", "yes"];
const WITH_SNAPSHOTS: &[&str] = &["--save", "3600 1000000"];

/// What a server has that starts over the same directory.
fn after_restart(place: &Place) -> Shown {
    let server = place.start();
    let shown = server.shown();
    server.kill();
    shown
}

#[test]
fn restart_with_a_log_keeps_data_of_all_types() {
    for flavour in Flavour::ALL {
        for policy in ["always", "everysec", "no"] {
            let place = Place::new(&["--appendfsync", policy, "--flavour", flavour.name()]);
            let with_log = |place: &Place| place.start_with(WITH_LOG);
            let server = with_log(&place);
            fill(&server);
            let before = server.shown();
            server.stop();
            let server = with_log(&place);
            assert_eq!(server.shown(), before, "{policy}");
            server.stop();
            let server = with_log(&place);
            assert_eq!(server.shown(), before, "the second restart");
        }
    }
}

#[test]
fn restart_from_a_base_keeps_data_of_all_types() {
    for flavour in Flavour::ALL {
        let place = Place::new(&["--appendonly", "yes", "--flavour", flavour.name()]);
        let server = place.start();
        fill(&server);
        let started: String = server.ask("BGREWRITEAOF");
        assert_eq!(started, "Background append only file rewriting started");
        rewritten(&server);
        let before = server.shown();
        server.kill();
        assert_eq!(after_restart(&place), before);
    }
}

fn rewritten(server: &Running) {
    until("the log is rewritten", || {
        server.info("aof_rewrite_in_progress") == "0"
    });
    assert_eq!(server.info("aof_last_bgrewrite_status"), "ok");
}

#[test]
fn server_that_is_killed_comes_back_with_its_last_snapshot() {
    for flavour in Flavour::ALL {
        let place = Place::new(WITH_SNAPSHOTS);
        let server = place.start_with(&["--flavour", flavour.name()]);
        fill(&server);
        let before = server.shown();
        assert_eq!(server.ask::<String>("SAVE"), "OK");
        let _: Value = server.ask("SET unsaved value");
        server.kill();
        assert_eq!(after_restart(&place), before);
    }
}

#[test]
fn snapshots_in_the_background_move_lastsave() {
    let place = Place::new(WITH_SNAPSHOTS);
    let server = place.start();
    fill(&server);
    let began: u64 = server.ask("LASTSAVE");
    assert_ne!(server.info("rdb_changes_since_last_save"), "0");
    until("another second", || {
        let time: Vec<u64> = server.ask("TIME");
        time[0] > began
    });
    let started: String = server.ask("BGSAVE");
    assert_eq!(started, "Background saving started");
    until("it is saved", || {
        server.info("rdb_bgsave_in_progress") == "0"
    });
    assert_eq!(server.info("rdb_last_bgsave_status"), "ok");
    assert_eq!(server.info("rdb_changes_since_last_save"), "0");
    let ended: u64 = server.ask("LASTSAVE");
    assert!(ended > began, "{ended} {began}");
    let before = server.shown();
    server.kill();
    assert_eq!(after_restart(&place), before);
}

#[test]
fn rules_set_while_the_server_runs_lead_to_a_snapshot() {
    let place = Place::new(&[]);
    let server = place.start();
    fill(&server);
    let before = server.shown();
    let mut command = redis::cmd("CONFIG");
    command.arg(&["SET", "save", "1 1"]);
    command.exec(&mut server.client()).unwrap();
    until("it is saved", || place.file("dump.rdb").exists());
    server.kill();
    let server = place.start_with(WITH_SNAPSHOTS);
    assert_eq!(server.shown(), before);
}

#[test]
fn log_turned_on_while_the_server_runs_has_all_data() {
    for flavour in Flavour::ALL {
        let place = Place::new(&["--flavour", flavour.name()]);
        let server = place.start();
        fill(&server);
        let refused = server.error("BGREWRITEAOF");
        assert!(refused.contains("append-only file is off"), "{refused}");
        assert_eq!(server.ask::<String>("CONFIG SET appendonly yes"), "OK");
        until("the log is on", || server.info("aof_enabled") == "1");
        until("its base is listed", || {
            let manifest = fs::read_to_string(place.log_file("appendonly.aof.manifest"));
            manifest.is_ok_and(|manifest| manifest.contains("type b"))
        });
        assert_eq!(server.ask::<String>("CONFIG SET appendfsync always"), "OK");
        let _: Value = server.ask("SET in-the-log value");
        assert_eq!(
            server.ask::<String>("CONFIG SET appendfsync everysec"),
            "OK"
        );
        let _: Value = server.ask("SET in-the-log-too value");
        let before = server.shown();
        server.kill();
        let server = place.start_with(WITH_LOG);
        assert_eq!(server.shown(), before);

        assert_eq!(server.ask::<String>("CONFIG SET appendonly no"), "OK");
        until("the log is off", || server.info("aof_enabled") == "0");
        let _: Value = server.ask("SET not-in-the-log value");
        server.kill();
        let server = place.start_with(WITH_LOG);
        assert_eq!(server.shown(), before);
    }
}

#[test]
fn work_in_the_background_is_reported_before_it_is_answered() {
    let place = Place::new(WITH_LOG);
    let server = place.start();
    let mut client = server.client();
    let mut pipe = redis::pipe();
    pipe.cmd("DEBUG").arg(&["POPULATE", "20000"]).ignore();
    pipe.cmd("BGREWRITEAOF").cmd("INFO").arg("persistence");
    let (rewrite, info): (String, String) = pipe.query(&mut client).unwrap();
    assert_eq!(rewrite, "Background append only file rewriting started");
    assert!(info.contains("aof_rewrite_in_progress:1"), "{info}");
    rewritten(&server);
    let mut pipe = redis::pipe();
    pipe.cmd("BGSAVE").cmd("INFO").arg("persistence");
    let (save, info): (String, String) = pipe.query(&mut client).unwrap();
    assert_eq!(save, "Background saving started");
    assert!(info.contains("rdb_bgsave_in_progress:1"), "{info}");
}

#[test]
fn info_persistence_has_each_field_of_redis_once() {
    let ours = Place::new(WITH_LOG);
    let ours = ours.start();
    let theirs = Place::new(&[]);
    let theirs = theirs.redis(WITH_LOG);
    let info: String = ours.ask("INFO persistence");
    let theirs: String = theirs.ask("INFO persistence");
    for line in theirs.lines().filter(|line| line.contains(':')) {
        let field = line.split_inclusive(':').next().unwrap();
        // Of copies of the process, and of modules: there are none here.
        let count = info.lines().filter(|line| line.starts_with(field)).count();
        let is_none_of_ours = ["current_cow_", "current_fork_", "module_"]
            .iter()
            .any(|start| field.starts_with(start));
        assert!(
            count == 1 || is_none_of_ours && count == 0,
            "{field} {info}"
        );
    }
}

#[test]
fn end_with_rules_of_save_writes_a_snapshot() {
    for flavour in Flavour::ALL {
        for end in ["SIGTERM", "SHUTDOWN", "SHUTDOWN SAVE"] {
            let place = Place::new(&["--flavour", flavour.name()]);
            let rules = if end == "SHUTDOWN SAVE" {
                &[]
            } else {
                WITH_SNAPSHOTS
            };
            let server = place.start_with(rules);
            fill(&server);
            let before = server.shown();
            if end == "SIGTERM" {
                server.stop();
            } else {
                shut_down(server, end);
            }
            let server = place.start_with(WITH_SNAPSHOTS);
            assert_eq!(server.shown(), before, "{end}");
        }
    }
}

/// Lets a command end the server.
fn shut_down(server: Running, command: &str) {
    let ended = server.error(command);
    assert!(!ended.contains("Errors trying to SHUTDOWN"), "{ended}");
    let (code, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
}

#[test]
fn shutdown_without_saving_keeps_the_former_snapshot() {
    let place = Place::new(WITH_SNAPSHOTS);
    let server = place.start();
    fill(&server);
    let before = server.shown();
    let _: String = server.ask("SAVE");
    let _: Value = server.ask("SET unsaved value");
    shut_down(server, "SHUTDOWN NOSAVE");
    assert_eq!(after_restart(&place), before);
}

#[test]
fn shutdown_that_cannot_save_leaves_the_server_running() {
    let place = Place::new(WITH_SNAPSHOTS);
    let server = place.start();
    fill(&server);
    let _: Value = server.ask("SET a v");
    fs::create_dir_all(place.file("dump.rdb").join("something")).unwrap();
    let refused = server.error("SHUTDOWN");
    assert!(refused.contains("Errors trying to SHUTDOWN"), "{refused}");
    assert_eq!(server.ask::<String>("GET a"), "v");
    fs::remove_dir_all(place.file("dump.rdb")).unwrap();
    let before = server.shown();
    shut_down(server, "SHUTDOWN");
    assert_eq!(after_restart(&place), before);
}

#[test]
fn writes_that_are_answered_while_the_server_shuts_down_are_saved() {
    for flavour in Flavour::ALL {
        let place = Place::new(WITH_SNAPSHOTS);
        let server = place.start_with(&["--flavour", flavour.name()]);
        let _: Value = server.ask("DEBUG POPULATE 20000");
        let answered = std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let (mut client, mut answered) = (server.client(), 0);
                while redis::cmd("SET")
                    .arg(&["last", &(answered + 1).to_string()])
                    .exec(&mut client)
                    .is_ok()
                {
                    answered += 1;
                }
                answered
            });
            until("it is written to", || server.ask::<u32>("EXISTS last") == 1);
            let _ = server.error("SHUTDOWN");
            writer.join().unwrap()
        });
        let (code, log) = server.wait();
        assert_eq!(code, Some(0), "{log}");
        let found: u64 = place.start().ask("GET last");
        assert!(
            found == answered || found == answered + 1,
            "{found} {answered}"
        );
    }
}

#[test]
fn log_turned_on_again_replaces_the_former() {
    let place = Place::new(WITH_LOG);
    let server = place.start();
    let _: Value = server.ask("SET former value");
    assert_eq!(server.ask::<String>("CONFIG SET appendonly no"), "OK");
    until("the log is off", || server.info("aof_enabled") == "0");
    let _: Value = server.ask("DEL former");
    fill(&server);
    let before = server.shown();
    assert_eq!(server.ask::<String>("CONFIG SET appendonly yes"), "OK");
    rewritten(&server);
    server.kill();
    assert_eq!(after_restart(&place), before);
}
