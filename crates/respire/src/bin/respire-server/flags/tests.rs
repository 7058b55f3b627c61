//! Tests of flags and file.

use super::*;

fn given(arguments: &[&str]) -> Result<Given, Wrong> {
    read(arguments.iter().map(OsString::from).collect())
}

fn file_error(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.conf");
    std::fs::write(&path, text).unwrap();
    match given(&["--config", path.to_str().unwrap()]) {
        Err(Wrong::File(why)) => why.rsplit_once("respire.conf").unwrap().1.to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_command_is_consistent() {
    Flags::command().debug_assert();
}

#[test]
fn every_other_name_is_an_alias_of_its_flag() {
    for (flag, setting) in aliases() {
        assert_eq!(flag_of(setting).as_deref(), Some(&*flag));
    }
}

#[test]
fn defaults_are_those_of_the_drivers() {
    let (ours, theirs) = (Flags::defaults().to_config(), Config::default());
    assert_eq!(ours.hosts, theirs.hosts);
    assert_eq!(ours.port, theirs.port);
    assert_eq!(ours.backlog, theirs.backlog);
    assert_eq!(ours.keepalive_s, theirs.keepalive_s);
    assert_eq!(ours.limits, theirs.limits);
    assert!(ours.protected_mode.is_on());
}

#[test]
fn flags_win_over_the_file_and_the_last_line_over_the_first() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.conf");
    let text = "port 7000\nport 7001\nbind 127.0.0.1 ::1\nLogLevel verbose\nrequirepass \"a b\"\n\
                protected-mode no\nslowlog-max-len 5\n";
    std::fs::write(&path, text).unwrap();
    let path = path.to_str().unwrap();

    let from_file = given(&["--config", path]).unwrap();
    let config = from_file.flags.to_config();
    assert_eq!(config.port, 7001);
    assert_eq!(config.hosts, ["127.0.0.1", "::1"]);
    assert!(!config.protected_mode.is_on());
    assert_eq!(from_file.flags.log_level, LogLevel::Verbose);
    assert_eq!(from_file.flags.requirepass.as_deref(), Some("a b"));
    assert_eq!(from_file.settings[0].key, "slowlog-max-len");

    let both = given(&["--port", "7002", "--config", path, "--requirepass", "mine"]).unwrap();
    assert_eq!(both.flags.to_config().port, 7002);
    assert_eq!(both.flags.requirepass.as_deref(), Some("mine"));
}

#[test]
fn errors_of_the_file_name_the_line() {
    assert_eq!(
        file_error("# ours\nport none\n"),
        ":2: invalid value 'none' for '--port <PORT>': invalid digit found in string"
    );
    assert_eq!(
        file_error("config other.conf\n"),
        ":1: 'config' is a flag, not a setting"
    );
    assert_eq!(file_error("port \"70\n"), ":1: a quote is not closed");
}

#[test]
fn values_out_of_range_are_refused() {
    for arguments in [
        ["--shards", "1000"],
        ["--shards", "1"],
        ["--buffer", "8"],
        ["--buffer", "lots"],
        ["--databases", "0"],
        ["--maxclients", "0"],
        ["--unixsocketperm", "999"],
        ["--maxmemory-policy", "lru"],
        ["--flavour", "vanilla"],
        ["--nonsense", "1"],
    ] {
        assert!(
            matches!(given(&arguments), Err(Wrong::Usage(_))),
            "{arguments:?}"
        );
    }
}
