//! Checks that any payload of a stream is refused, or restored to a stream that every command works on. The tests and
//! the fuzzer share it.

use resp_codec::Value;
use respire_commands::{Kv, add_to};
use respire_engine::Router;
use respire_store::{Config, Store};

/// The type bytes of streams.
const TYPES: [u8; 3] = [15, 19, 21];

/// The format version of Redis 7.0.
const VERSION: [u8; 2] = [10, 0];

/// Restores the bytes as the body of a payload and, if that succeeds, runs the commands. One that panics fails the check:
/// [`TestClient`](respire_engine::TestClient) passes the panic on.
///
/// The first byte chooses the type; the rest is what follows it in the payload.
pub(crate) fn check_stream_payload(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let mut payload = [&[TYPES[usize::from(first) % TYPES.len()]], rest, &VERSION].concat();
    payload.extend_from_slice(&respire_rdb::checksum(&payload).to_le_bytes());
    let store = Store::new(Config {
        databases: 1,
        shards: 2,
        ..Config::default()
    });
    let mut client = add_to(Router::new(Kv::new(store))).client();
    if client.call(("RESTORE", "k", "0", &payload[..])).is_error() {
        return;
    }
    // What is dumped is restored to the same.
    let Value::Bulk(dumped) = client.call("DUMP k").into_value() else {
        panic!("a stream has a payload");
    };
    assert_eq!(client.call(("RESTORE", "same", "0", &dumped[..])), "OK");
    assert_eq!(client.call("DUMP same").into_value(), Value::Bulk(dumped));

    let Value::Int(len) = client.call("XLEN k").into_value() else {
        panic!("a stream has a length");
    };
    for request in ["XRANGE k - +", "XREVRANGE k + -"] {
        match client.call(request).into_value() {
            Value::Array(entries) => assert_eq!(entries.len() as i64, len, "{request}"),
            other => panic!("{request}: {other:?}"),
        }
    }
    for request in [
        "XINFO STREAM k FULL COUNT 0",
        "XINFO GROUPS k",
        "DEBUG DIGEST-VALUE k",
        "XADD k * field value",
        "XGROUP CREATE k checks 0",
        "XREADGROUP GROUP checks Ada STREAMS k >",
        "XREADGROUP GROUP checks Ada STREAMS k 0",
        "XAUTOCLAIM k checks Bob 0 -",
        "XPENDING k checks - + 100",
        "XTRIM k MAXLEN 5",
        "XTRIM k MINID 1000",
        "XDEL k 1-0 1000-0 1700000000000-0",
        "XTRIM k MAXLEN 0",
        "XGROUP DESTROY k checks",
        "DEL k same",
    ] {
        client.call(request);
    }
}
