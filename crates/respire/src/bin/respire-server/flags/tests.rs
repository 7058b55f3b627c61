//! Tests of the flags.

use super::*;

#[test]
fn flags_are_declared_consistently() {
    Flags::command().debug_assert();
}

#[test]
fn every_config_name_is_an_alias_of_its_flag() {
    for (flag, setting) in aliases() {
        assert_eq!(flag_of(setting).as_deref(), Some(&*flag));
    }
}

#[test]
fn defaults_equal_the_drivers_defaults() {
    let (ours, theirs) = (Flags::defaults().to_config(), Config::default());
    assert_eq!(ours.hosts, theirs.hosts);
    assert_eq!(ours.port, theirs.port);
    assert_eq!(ours.backlog, theirs.backlog);
    assert_eq!(ours.keepalive_s, theirs.keepalive_s);
    assert_eq!(ours.limits, theirs.limits);
    assert!(ours.protected_mode.is_on());
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
            parse(&arguments.map(OsString::from)).is_err(),
            "{arguments:?}"
        );
    }
}
