//! Tests of the configuration file.

use super::*;
use crate::logging::LogLevel;

fn given(arguments: &[&str]) -> Result<Given, Wrong> {
    read(arguments.iter().map(OsString::from).collect())
}

/// The result of a file with this text, and of these arguments.
fn with_file(text: &str, arguments: &[&str]) -> Result<Given, Wrong> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("respire.conf");
    std::fs::write(&path, text).unwrap();
    given(&[&[path.to_str().unwrap()], arguments].concat())
}

/// The mistakes in a file, without its path.
fn file_errors(text: &str) -> Vec<String> {
    match with_file(text, &[]) {
        Err(Wrong::File(why)) => why
            .lines()
            .map(|line| match line.split_once("respire.conf:") {
                Some((_, mistake)) => mistake.to_owned(),
                None => line.to_owned(),
            })
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn pairs(lines: &[Line]) -> Vec<(&str, &str)> {
    lines
        .iter()
        .map(|line| (&*line.key, &*line.value))
        .collect()
}

#[test]
fn flags_override_the_file_and_later_lines_override_earlier_ones() {
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
fn empty_path_means_none() {
    let given = with_file("unixsocket /run/s\nunixsocket \"\"\n", &[]).unwrap();
    assert_eq!(given.flags.to_config().unix_socket, None);
}

#[test]
fn threshold_of_busy_replies_takes_effect_under_both_names() {
    for name in ["busy-reply-threshold", "lua-time-limit"] {
        let given = with_file(&format!("{name} 200\n"), &[]).unwrap();
        assert_eq!(pairs(&given.settings), [(name, "200")]);
    }
}

#[test]
fn file_may_be_the_first_argument() {
    let both = with_file("port 7000\ntimeout 5\n", &["--port", "7001"]).unwrap();
    assert_eq!(both.flags.to_config().port, 7001);
    assert_eq!(pairs(&both.flag_lines), [("timeout", "5")]);
    assert!(matches!(
        given(&["a.conf", "--config", "b.conf"]),
        Err(Wrong::Usage(_))
    ));
}

#[test]
fn all_mistakes_of_the_file_are_reported_at_once() {
    let text = "# ours\nport none\nsave \"x\nport\nslowlog-max-len -1\nmaxmemry 1gb\nzzz 1\n\
                config other.conf\nrename-command FLUSHALL \"\"\ntimeout 5\n";
    assert_eq!(
        file_errors(text),
        [
            "the configuration has 8 mistakes:",
            "2: invalid value 'none' for '--port <PORT>': invalid digit found in string",
            "3: a quote is not closed",
            "4: 'port' has no value",
            "5: invalid value '-1' for 'slowlog-max-len': argument must be between 0 and \
             9223372036854775807 inclusive",
            "6: unknown setting 'maxmemry'; did you mean 'maxmemory'?",
            "7: unknown setting 'zzz'",
            "8: 'config' is a flag, not a setting",
            "9: 'rename-command': commands cannot be renamed or taken away: this one would stay in \
             reach",
        ]
    );
    assert_eq!(file_errors("port\n"), ["1: 'port' has no value"]);
}

#[test]
fn redis_settings_without_effect_share_one_warning() {
    let text = "hz 10\nport 7000\ndynamic-hz yes\ntls-cert-file a\ntls-key-file b\n";
    let given = with_file(text, &[]).unwrap();
    assert_eq!(
        given.warnings,
        [
            "tls-cert-file (line 4), tls-key-file (line 5): no effect, as there is no TLS here",
            "settings of Redis's without effect here: hz, dynamic-hz",
        ]
    );
    assert_eq!(pairs(&given.flag_lines), [("port", "7000")]);
    assert!(given.settings.is_empty());
}

#[test]
fn lines_of_save_add_up() {
    let text = "save 900 1\nsave 300 10\nappendonly yes\ndir /var/lib/redis\n";
    let given = with_file(text, &[]).unwrap();
    let durability = given.flags.durability();
    let value = |name| {
        durability
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, value)| &**value)
    };
    assert_eq!(value("save"), Some("900 1 300 10"));
    assert_eq!(value("appendonly"), Some("yes"));
    assert_eq!(value("dir"), Some("/var/lib/redis"));
    assert_eq!(pairs(&given.flag_lines)[0], ("save", "900 1 300 10"));
    let given = with_file("save 900 1\nsave \"\"\nsave 5 1\n", &[]).unwrap();
    assert_eq!(given.flags.durability()[2].1, "5 1");
    let given = with_file("save 900 1\n", &["--save", "60", "5"]).unwrap();
    assert_eq!(given.flags.durability()[2].1, "60 5");
}

#[test]
fn redis_arguments_start_this_server() {
    let given = with_file(
        "slowlog-max-len 5\nslowlog-log-slower-than 1\n",
        &[
            "--supervised",
            "systemd",
            "--daemonize",
            "no",
            "--save",
            "",
            "--appendonly=no",
            "--slowlog-log-slower-than",
            "-1",
            "--loglevel",
            "verbose",
            "--latency-tracking-info-percentiles",
            "50",
            "99",
            "-p",
            "7000",
        ],
    );
    // A word after a value is ambiguous; like Redis, treat it as part of the value.
    let Err(Wrong::File(why)) = given else {
        panic!("{given:?}");
    };
    assert!(why.starts_with("invalid value '50 99 -p 7000'"), "{why}");
    let given = with_file(
        "slowlog-max-len 5\nslowlog-log-slower-than 1\n",
        &[
            "--supervised",
            "systemd",
            "--slowlog-log-slower-than",
            "-1",
            "--save",
            "",
            "--port",
            "7",
        ],
    )
    .unwrap();
    assert_eq!(given.flags.to_config().port, 7);
    assert_eq!(
        pairs(&given.settings),
        [("slowlog-max-len", "5"), ("slowlog-log-slower-than", "-1")]
    );
    assert_eq!(given.warnings.len(), 1);
    assert!(given.warnings[0].starts_with("--supervised: "));
}

#[test]
fn settings_in_arguments_are_checked_like_lines() {
    for (arguments, expected) in [
        (&["--appendfilename"][..], "'--appendfilename' has no value"),
        (
            &["--slowlog-max-len", "x"],
            "invalid value 'x' for 'slowlog-max-len'",
        ),
        (
            &["--replicaof", "10.0.0.1", "6379"],
            "'replicaof': there is no replication",
        ),
    ] {
        let Err(Wrong::File(why)) = given(arguments) else {
            panic!("{arguments:?}");
        };
        assert!(why.starts_with(expected), "{why}");
    }
    assert!(matches!(given(&["--prot", "1"]), Err(Wrong::Usage(_))));
}

/// The lines of Debian's redis.conf, as of Redis 7.0.
const DEBIAN: &str = include_str!("debian.conf");

#[test]
fn debian_redis_conf_starts_the_server() {
    let given = with_file(DEBIAN, &[]).unwrap();
    let config = given.flags.to_config();
    assert_eq!(config.hosts, ["127.0.0.1", "-::1"]);
    assert_eq!((config.port, config.backlog), (6379, 511));
    let warnings = given.warnings.join("\n");
    for what in [
        "daemonize (line 7): ",
        "pidfile (line 8): ",
        "logfile (line 10): ",
        ", rdb-save-incremental-fsync, ",
    ] {
        assert!(warnings.contains(what), "{warnings}");
    }
    assert!(given.warnings.len() < 10, "{warnings}");
}
