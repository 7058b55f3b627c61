//! Checks that any string is safe as a `HyperLogLog`. The tests and the fuzzer share it.

use resp_codec::Value;
use respire_commands::{Kv, add_to};
use respire_engine::{Router, TestClient};
use respire_store::{Config, Expiry, Store};

const HEADER: &[u8] = b"HYLL";

/// Runs the commands on any string. A command that panics fails the check: [`TestClient`] passes
/// the panic on.
///
/// The first byte is the number of elements to add; the rest is the string, whose header is made
/// valid if its first bit is set.
pub(crate) fn check_hll(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else {
        return;
    };
    let mut bytes = rest.to_vec();
    if first & 0x80 != 0 && bytes.len() >= 16 {
        bytes[..4].copy_from_slice(HEADER);
        bytes[4] &= 1;
        if bytes[4] == 0 {
            bytes.resize(12_304, first);
        }
    }
    let store = Store::new(Config {
        databases: 1,
        shards: 2,
        ..Config::default()
    });
    for key in [b"k".as_slice(), b"copy"] {
        store
            .view(0, 0)
            .update(key, |slot| slot.set(bytes.clone(), Expiry::Clear));
    }
    let mut client = add_to(Router::new(Kv::new(store))).client();
    let elements: String = (0..first & 0x7f).map(|it| format!(" {it}")).collect();
    client.call(format!("PFADD k{elements}").as_str());
    for request in [
        "PFCOUNT k k",
        "PFMERGE merged k copy",
        "PFDEBUG DECODE k",
        "PFCOUNT merged",
        "PFCOUNT merged merged",
    ] {
        client.call(request);
    }
    check_forms(&mut client);
}

/// Both forms of one `HyperLogLog` have the same estimate.
fn check_forms(client: &mut TestClient<Kv>) {
    client.call("COPY k sparse REPLACE");
    // A noted estimate may be forged.
    client.call("PFADD sparse one more");
    client.call("SETRANGE sparse 15 \"\\x80\"");
    client.call("COPY sparse dense REPLACE");
    let sparse = client.call("PFCOUNT sparse").into_value();
    let converted = client.call("PFDEBUG TODENSE dense").into_value();
    if matches!((&sparse, &converted), (Value::Int(_), Value::Int(_))) {
        assert_eq!(client.call("PFCOUNT dense").into_value(), sparse);
        assert_eq!(client.call("PFCOUNT dense dense").into_value(), sparse);
    }
}
