//! Tests that values round-trip through serde.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use resp_codec::{FrameDecoder, Limits, Value};

fn value(wire: &[u8]) -> Value {
    let mut decoder = FrameDecoder::new(Limits::CLIENT);
    decoder.decode(wire).unwrap().ready().unwrap().to_value()
}

#[test]
fn value_of_every_kind_round_trips_through_json() {
    let value = value(
        b"|1\r\n+k\r\n*0\r\n*15\r\n+s\r\n-ERR e\r\n:-7\r\n$3\r\na\xff\n\r\n_\r\n$-1\r\n*-1\r\n#t\r\n,-0\r\n,inf\r\n(123\r\n!1\r\nx\r\n\
          =5\r\ntxt:v\r\n%1\r\n:1\r\n~1\r\n:2\r\n|1\r\n:1\r\n:3\r\n:5\r\n",
    );
    let json = serde_json::to_string(&value).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap(), value);
}

#[test]
fn json_is_readable() {
    let json = serde_json::to_string(&value(b"%1\r\n+up\r\n,1.5\r\n")).unwrap();
    assert_eq!(json, r#"{"Map":[{"Simple":"up"},{"Double":"1.5"}]}"#);
}

#[test]
fn malformed_json_is_refused() {
    for json in [
        r#"{"Map":[{"Int":1}]}"#,
        r#"{"Attributed":[]}"#,
        r#"{"BigNumber":"1x"}"#,
        r#"{"Double":"x"}"#,
        r#"{"Verbatim":["tx","v"]}"#,
        r#"{"Other":1}"#,
    ] {
        assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
    }
}

#[test]
fn deep_values_are_refused_when_written_and_when_read() {
    let mut deep = Value::from(1);
    for _ in 0..200 {
        deep = Value::from(vec![deep]);
    }
    assert!(serde_json::to_string(&deep).is_err());
    let json = format!("{}{}", r#"{"Array":["#.repeat(200), "]}".repeat(200));
    let mut reader = serde_json::Deserializer::from_str(&json);
    assert!(
        serde::Deserialize::deserialize(&mut reader)
            .map(|value: Value| value)
            .is_err()
    );
}
