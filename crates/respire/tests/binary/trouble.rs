//! Tests of directories that cannot be written, when the server starts and while it runs.

use crate::data::{Place, Running, until};
use redis::Value;
use std::fs;

#[test]
fn directory_that_does_not_exist_exits_with_code_1() {
    for flags in [["--appendonly", "yes"], ["--save", "60 1"]] {
        let place = Place::new(&flags);
        let missing = place.file("missing");
        let (code, log) = place.refused(&["--dir", missing.to_str().unwrap()]);
        assert_eq!(code, Some(1), "{log}");
        let why = "missing: No such file or directory";
        assert!(log.contains(why), "{log}");
    }
}

#[test]
fn file_in_place_of_the_logs_directory_exits_with_code_1() {
    let place = Place::new(&["--appendonly", "yes"]);
    fs::write(place.file("appendonlydir"), "a file").unwrap();
    let (code, log) = place.refused(&[]);
    assert_eq!(code, Some(1), "{log}");
    let why = format!(
        "respire-server: {}",
        place
            .file("appendonlydir")
            .canonicalize()
            .unwrap()
            .display()
    );
    assert!(log.contains(&why), "{log}");
    assert!(log.contains("Not a directory"), "{log}");
    assert_eq!(fs::read(place.file("appendonlydir")).unwrap(), b"a file");
}

#[test]
fn log_that_cannot_be_turned_on_leaves_the_server_without_one() {
    let place = Place::new(&[]);
    let server = place.start();
    fs::write(place.file("appendonlydir"), "a file").unwrap();
    let _: Value = server.ask("SET a v");
    // The setting is taken, and given up when its directory turns out to be none.
    let _ = redis::cmd("CONFIG")
        .arg(&["SET", "appendonly", "yes"])
        .exec(&mut server.client());
    until("the reason is in the log", || {
        server.log().contains("cannot be turned on")
    });
    let shown: Vec<String> = server.ask("CONFIG GET appendonly");
    assert_eq!(shown, ["appendonly", "no"]);
    assert_eq!(server.info("aof_enabled"), "0");
    let _: Value = server.ask("SET a v");
}

fn save_fails(server: &Running) {
    let failed = server.error("SAVE");
    assert!(!failed.contains("MISCONF"), "{failed}");
    assert_eq!(server.info("rdb_last_bgsave_status"), "err");
}

#[test]
fn snapshot_that_cannot_be_written_stops_writes_until_one_can() {
    let place = Place::new(&["--save", "3600 1000000"]);
    let server = place.start();
    let _: Value = server.ask("SET a v");
    let (data, aside) = (place.data(), place.data().with_extension("aside"));
    fs::rename(&data, &aside).unwrap();
    let _: String = server.ask("BGSAVE");
    until("the snapshot has failed", || {
        server.info("rdb_last_bgsave_status") == "err"
    });
    save_fails(&server);
    until("writes are refused", || {
        let asked = redis::cmd("SET")
            .arg("a")
            .arg("w")
            .exec(&mut server.client());
        asked.is_err_and(|error| error.to_string().contains("MISCONF"))
    });
    let mut reader = server.client();
    let value: String = crate::data::ask(&mut reader, "GET a");
    assert!(value == "v" || value == "w", "{value}");
    #[cfg(feature = "scripts")]
    {
        let refused = server.error("EVAL return(redis.call('SET','a','b')) 0");
        assert!(refused.contains("MISCONF"), "{refused}");
    }

    fs::rename(&aside, &data).unwrap();
    assert_eq!(server.ask::<String>("SAVE"), "OK");
    assert_eq!(server.info("rdb_last_bgsave_status"), "ok");
    until("writes are taken", || {
        redis::cmd("SET")
            .arg("a")
            .arg("x")
            .exec(&mut server.client())
            .is_ok()
    });
    assert!(place.file("dump.rdb").exists());
}

#[test]
fn failed_snapshot_does_not_stop_writes_where_that_is_off_or_no_rules_are_set() {
    for flags in [
        &["--dbfilename", "taken"][..],
        &["--dbfilename", "taken", "--save", "3600 1000000"],
    ] {
        let place = Place::new(&[]);
        // A directory with something in it cannot be replaced by a file.
        let server = place.start_with(flags);
        fs::create_dir_all(place.file("taken").join("something")).unwrap();
        let set = "CONFIG SET stop-writes-on-bgsave-error no";
        let _: String = server.ask(set);
        save_fails(&server);
        let _: Value = server.ask("SET a v");
        let value: String = server.ask("GET a");
        assert_eq!(value, "v");
        let left = fs::read_dir(place.data()).unwrap().count();
        assert_eq!(left, 1, "no temporary file is left");
    }
}

#[test]
fn log_whose_directory_is_away_for_a_time_loses_nothing() {
    for policy in ["always", "everysec"] {
        let place = Place::new(&["--appendonly", "yes", "--appendfsync", policy]);
        let server = place.start();
        let _: Value = server.ask("SET before v");
        let (data, aside) = (place.data(), place.data().with_extension("aside"));
        fs::rename(&data, &aside).unwrap();
        let _: String = server.ask("BGREWRITEAOF");
        until("the rewrite has failed", || {
            server.info("aof_last_bgrewrite_status") == "err"
        });
        let answered = redis::cmd("SET")
            .arg(&["meanwhile", "v"])
            .exec(&mut server.client());
        let exists: u32 = server.ask("EXISTS before");
        assert_eq!(exists, 1);

        fs::rename(&aside, &data).unwrap();
        until("writes are taken", || {
            let mut command = redis::cmd("SET");
            command.arg(&["after", "v"]);
            command.exec(&mut server.client()).is_ok()
        });
        server.kill();
        let server = place.start();
        assert_eq!(server.ask::<u32>("EXISTS before after"), 2);
        if answered.is_ok() {
            assert_eq!(server.ask::<u32>("EXISTS meanwhile"), 1);
        }
        let _: String = server.ask("BGREWRITEAOF");
        until("the log is rewritten", || {
            server.info("aof_rewrite_in_progress") == "0"
        });
        assert_eq!(server.info("aof_last_bgrewrite_status"), "ok");
    }
}

#[test]
fn wrong_values_of_durability_exit_with_code_2() {
    for (flag, value) in [
        ("--appendfsync", "sometimes"),
        ("--save", "60"),
        ("--dbfilename", "folder/name"),
        ("--appendonly", "perhaps"),
    ] {
        let (code, text) = Place::new(&[]).refused(&[flag, value]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(value), "{text}");
    }
}
