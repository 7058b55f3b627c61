//! Tests how commands on keys of any type treat a hash whose fields are due.

use crate::key::testing::Client;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Creates a hash `h` with these fields, whose values are numbers, of which those with an `x` are due.
fn with_due(fields: &[&str]) -> Client {
    let mut client = Client::new();
    for (number, field) in fields.iter().enumerate() {
        client.send(&format!("HSET h {field} {number}"));
        if field.starts_with('x') {
            client.check(&[(&format!("HEXPIRE h 1 FIELDS 1 {field}"), "*1\r\n:1\r\n")]);
        }
    }
    client
}

/// The payload of a key, in the quoting of redis-cli.
fn dump(client: &mut Client, key: &str) -> String {
    let reply = client.send_for_output(&format!("DUMP {key}")).to_vec();
    let start = reply.iter().position(|byte| *byte == b'\n');
    let payload = &reply[start.expect("a line") + 1..reply.len() - 2];
    let bytes = payload.iter().map(|byte| format!("\\x{byte:02x}"));
    format!("\"{}\"", bytes.collect::<String>())
}

#[test]
fn hash_of_due_fields_is_restored_and_absent_at_once() {
    let mut client = with_due(&["x1", "x2"]);
    let payload = dump(&mut client, "h");
    client.advance(SECOND);
    client.check(&[
        (&format!("RESTORE copy 0 {payload}"), "+OK\r\n"),
        ("EXISTS copy h", ":0\r\n"),
        ("TYPE copy", "+none\r\n"),
        ("DBSIZE", ":0\r\n"),
        // Its name is free.
        (&format!("RESTORE copy 0 {payload}"), "+OK\r\n"),
        ("HGETALL copy", "*0\r\n"),
    ]);
}

#[test]
fn restored_hash_keeps_the_fields_that_are_not_due() {
    let mut client = with_due(&["a", "x"]);
    let payload = dump(&mut client, "h");
    client.advance(SECOND);
    client.check(&[
        (&format!("RESTORE copy 0 {payload}"), "+OK\r\n"),
        ("HGETALL copy", "*2\r\n$1\r\na\r\n$1\r\n0\r\n"),
    ]);
}

#[test]
fn watched_hash_is_dirty_when_a_field_is_due_and_removed() {
    for (advanced, reply) in [(Duration::ZERO, "*1\r\n:2\r\n"), (SECOND, "*-1\r\n")] {
        let mut client = with_due(&["a", "x"]);
        client.check(&[("WATCH h", "+OK\r\n")]);
        client.advance(advanced);
        client.send("HLEN h");
        client.check(&[
            ("MULTI", "+OK\r\n"),
            ("HLEN h", "+QUEUED\r\n"),
            ("EXEC", reply),
        ]);
    }
}

#[test]
fn memory_of_due_fields_does_not_count() {
    let mut client = with_due(&["a", "x1", "x2", "x3"]);
    let usage = |client: &mut Client| {
        let reply = client.send("MEMORY USAGE h");
        let number = reply.trim_start_matches(':').trim_end();
        number.parse::<usize>().expect("a number")
    };
    let before = usage(&mut client);
    client.advance(SECOND);
    let after = usage(&mut client);
    assert!(after < before, "{after} of {before}");
}

#[test]
fn sort_finds_no_due_field() {
    const SORT: &str = "SORT l BY *->x GET *->a GET *->x";
    const WRONG_TYPE: &str =
        "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
    let mut client = with_due(&["a", "x"]);
    client.check(&[
        ("RPUSH l h", ":1\r\n"),
        (SORT, "*2\r\n$1\r\n0\r\n$1\r\n1\r\n"),
        ("SORT h", WRONG_TYPE),
    ]);
    client.advance(SECOND);
    client.check(&[(SORT, "*2\r\n$1\r\n0\r\n$-1\r\n")]);
    // A hash of due fields alone is absent.
    client.check(&[("HDEL h a", ":1\r\n"), ("HSET h x 1", ":1\r\n")]);
    client.check(&[("HEXPIRE h 1 FIELDS 1 x", "*1\r\n:1\r\n")]);
    client.advance(SECOND);
    client.check(&[("SORT h", "*0\r\n")]);
}
