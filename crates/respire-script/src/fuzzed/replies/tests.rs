//! Checks conversions both ways, through a script.

use super::Replies;
use mlua::{Lua, Result, Value};
use respire_engine::Proto;

fn readable(outcome: std::result::Result<Vec<u8>, Vec<u8>>) -> String {
    let bytes = outcome.unwrap_or_else(|error| [b"failed: ", &error[..]].concat());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a client gets of a command's reply that a script returns.
#[track_caller]
fn check_passed(reply: impl AsRef<[u8]>, expected: &str) {
    let replies = Replies::new(20).unwrap();
    let reply = reply.as_ref();
    let has_error = reply.contains(&b'-') || reply.contains(&b'!');
    let passed = replies.pass(reply, Proto::Resp3, has_error);
    assert_eq!(readable(passed), expected, "{}", reply.escape_ascii());
}

/// The error of a script whose command's reply cannot be converted.
fn failed(text: &str) -> String {
    format!("failed: ERR {text} script: , on @user_script:1.")
}

/// What a client gets of a value that a script returns.
fn returned(make: impl FnOnce(&Lua) -> Result<Value>) -> String {
    readable(Replies::new(20).unwrap().write(Proto::Resp2, make))
}

#[test]
fn blob_error_is_an_error() {
    check_passed("!6\r\nERR no\r\n", "-ERR no\r\n");
    check_passed("*1\r\n!6\r\nERR\nno\r\n", "*1\r\n-ERR no\r\n");
}

#[test]
fn error_within_a_reply_leaves_the_reply() {
    check_passed("*2\r\n:1\r\n-ERR no\r\n", "*2\r\n:1\r\n-ERR no\r\n");
}

#[test]
fn streamed_reply_is_a_reply() {
    check_passed("$?\r\n;2\r\nab\r\n;1\r\nc\r\n;0\r\n", "$3\r\nabc\r\n");
    check_passed("*?\r\n:1\r\n*?\r\n.\r\n.\r\n", "*2\r\n:1\r\n*0\r\n");
    check_passed("%?\r\n+a\r\n:1\r\n.\r\n", "%1\r\n+a\r\n:1\r\n");
    check_passed("~?\r\n:1\r\n.\r\n", "~1\r\n:1\r\n");
}

#[test]
fn attributes_are_left_out() {
    check_passed("*1\r\n|1\r\n+a\r\n*1\r\n:1\r\n:2\r\n", "*1\r\n:2\r\n");
}

#[test]
fn bytes_that_are_no_reply_fail() {
    let max = i64::MAX;
    for bytes in [
        String::new(),
        "*1".to_owned(),
        "$5\r\nab\r\n".to_owned(),
        format!("${max}\r\n"),
        format!("*{max}\r\n"),
        format!("|{max}\r\n:1\r\n"),
        "*-2\r\n".to_owned(),
        "$?\r\nab\r\n".to_owned(),
        "=2\r\nab\r\n".to_owned(),
        "?\r\n".to_owned(),
    ] {
        check_passed(bytes, &failed("the command's reply cannot be read"));
    }
}

#[test]
fn reply_that_is_nested_too_deep_fails() {
    let nested = |depth: usize| "*1\r\n".repeat(depth) + ":1\r\n";
    check_passed(nested(128), &nested(128));
    let error = failed("the command's reply is nested too deep");
    check_passed(nested(129), &error);
    check_passed(nested(100_000), &error);
}

#[test]
fn number_that_is_no_integer_of_64_bits_is_the_lowest() {
    for number in [
        1e300,
        -1e300,
        f64::INFINITY,
        f64::NAN,
        9_223_372_036_854_775_808.0,
    ] {
        let lowest = ":-9223372036854775808\r\n";
        assert_eq!(returned(|_| Ok(Value::Number(number))), lowest, "{number}");
    }
}

#[test]
fn array_with_more_elements_than_are_held_is_written() {
    let returned = returned(|lua| {
        let outer = lua.create_table()?;
        for _ in 0..2 {
            let inner = lua.create_table()?;
            for _ in 0..900 {
                inner.raw_push(lua.create_sequence_from(["a", "b"])?)?;
            }
            outer.raw_push(inner)?;
        }
        for number in 0..8_100 {
            outer.raw_push(number.to_string())?;
        }
        Ok(Value::Table(outer))
    });
    assert!(
        returned.starts_with("*8102\r\n*900\r\n*2\r\n$1\r\na\r\n"),
        "{returned:.40}"
    );
    assert!(returned.ends_with("$4\r\n8099\r\n"));
}

#[test]
fn table_that_lies_in_itself_twice_is_ended_and_not_written() {
    let returned = returned(|lua| {
        let table = lua.create_table()?;
        table.raw_push(&table)?;
        table.raw_push(&table)?;
        Ok(Value::Table(table))
    });
    let error = "failed: ERR the script was ended: it ran for longer than script-time-limit";
    assert_eq!(returned, error);
}
