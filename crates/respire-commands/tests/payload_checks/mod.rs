//! Checks that a payload of `RESTORE` is refused, or becomes a value that every command can use. The tests and the
//! fuzzer share it.

mod body;
mod values;

use resp_codec::Value;
use respire_commands::{Kv, add_to};
use respire_engine::{Router, TestClient};
use respire_store::{Config, Store};
use std::cell::RefCell;
use values::Kind;

/// The most bytes of a value for each byte of its payload: packed strings are up to 264 times as long, and an
/// element of two bytes may take twice as many.
const BYTES_PER_BYTE_MAX: i64 = 600;

thread_local! {
    /// Building the command table would take most of the time.
    static PEER: RefCell<Peer> = RefCell::new(Peer::new());
}

/// A client of a server with all commands.
pub(crate) struct Peer(TestClient<Kv>);

impl Peer {
    fn new() -> Self {
        let store = Store::new(Config {
            databases: 1,
            shards: 2,
            ..Config::default()
        });
        Self(add_to(Router::new(Kv::new(store))).client())
    }

    /// The reply to a request. A command that panics fails the check: [`TestClient`] passes the panic on.
    pub(crate) fn call(&mut self, request: &[&[u8]]) -> Value {
        self.0.call(request).into_value()
    }

    /// The reply to a request that must be none of an error.
    pub(crate) fn ok(&mut self, request: &[&[u8]]) -> Value {
        let reply = self.call(request);
        let shown = request.first().map(|name| name.escape_ascii());
        assert!(!reply.is_error(), "{}: {reply:?}", shown.expect("a name"));
        reply
    }

    pub(crate) fn int(&mut self, request: &[&[u8]]) -> i64 {
        self.ok(request).as_int().expect("an integer")
    }

    /// The bytes of a reply; `None` if it is null.
    pub(crate) fn bytes(&mut self, request: &[&[u8]]) -> Option<Vec<u8>> {
        self.ok(request).as_bytes().map(<[u8]>::to_vec)
    }

    /// The elements of a reply, which are strings, numbers or null.
    pub(crate) fn list(&mut self, request: &[&[u8]]) -> Vec<Vec<u8>> {
        let reply = self.ok(request);
        let elements = reply.elements().expect("an array");
        let text = |element: &Value| match element.as_int() {
            Some(number) => number.to_string().into_bytes(),
            None => element.as_bytes().unwrap_or_default().to_vec(),
        };
        elements.iter().map(text).collect()
    }
}

/// Restores a value of the bytes and, if it is accepted, uses it in all ways.
///
/// The first byte's bits say how the rest becomes a payload, and up to which sizes values are kept small; the
/// second byte is its type. [`body::of`] reads both.
pub(crate) fn check_payload(data: &[u8]) {
    let Some(([options, type_number], rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let payload = body::of(*options, *type_number, rest);
    PEER.with_borrow_mut(|peer| {
        peer.ok(&[b"FLUSHALL"]);
        peer.ok(&body::settings(*options));
        check_restored(peer, &payload);
    });
}

fn check_restored(peer: &mut Peer, payload: &[u8]) {
    let reply = peer.call(&[b"RESTORE", b"k", b"0", payload]);
    if reply.is_error() {
        assert_eq!(reply.as_bytes(), Some(&b"ERR Bad data format"[..]));
        assert_eq!(peer.int(&[b"DBSIZE"]), 0, "nothing is left of it");
        return;
    }
    let name = peer.bytes(&[b"TYPE", b"k"]).expect("a name");
    if name == b"none" {
        // All its fields have expired.
        assert_eq!(peer.int(&[b"EXISTS", b"k"]), 0);
        return;
    }
    if name == b"stream" {
        // `stream_payload.rs` reads and edits streams.
        check_digests(peer, payload.len());
    } else {
        let kind = Kind::of(&name).unwrap_or_else(|| panic!("{}", name.escape_ascii()));
        values::check_reading(peer, kind, b"k");
        check_copies(peer, kind, payload.len());
        values::check_edits(peer, kind);
        check_copies(peer, kind, payload.len() + 4096);
    }
    for key in [&b"k"[..], b"copy", b"again", b"gone"] {
        peer.ok(&[b"DEL", key]);
    }
    let left = peer.list(&[b"KEYS", b"*"]);
    assert!(left.is_empty(), "{left:?} are left");
    let digest = peer.bytes(&[b"DEBUG", b"DIGEST"]);
    assert_eq!(digest.as_deref(), Some(&[b'0'; 40][..]));
}

/// The value has the same digest in a copy, and in one that is dumped and restored.
fn check_digests(peer: &mut Peer, payload_bytes: usize) {
    peer.call(&[b"OBJECT", b"ENCODING", b"k"]);
    peer.call(&[b"DEBUG", b"OBJECT", b"k"]);
    let bytes = peer.ok(&[b"MEMORY", b"USAGE", b"k", b"SAMPLES", b"0"]);
    let bytes = bytes.as_int().unwrap_or_default();
    let bytes_max = payload_bytes as i64 * BYTES_PER_BYTE_MAX + 16_384;
    assert!(bytes <= bytes_max, "{bytes} bytes of {payload_bytes}");
    assert_eq!(peer.int(&[b"COPY", b"k", b"copy", b"REPLACE"]), 1);
    let dumped = peer.bytes(&[b"DUMP", b"k"]).expect("it is there");
    peer.ok(&[b"RESTORE", b"again", b"0", &dumped, b"REPLACE"]);
    let digests = peer.list(&[b"DEBUG", b"DIGEST-VALUE", b"k", b"copy", b"again"]);
    assert!(
        digests.windows(2).all(|pair| pair[0] == pair[1]),
        "{digests:?}"
    );
}

/// The value is the same in a copy, and in one that is dumped and restored.
fn check_copies(peer: &mut Peer, kind: Kind, payload_bytes: usize) {
    check_digests(peer, payload_bytes);
    let value = kind.read(peer, b"k");
    assert_eq!(kind.read(peer, b"copy"), value);
    assert_eq!(kind.read(peer, b"again"), value);
    peer.ok(&[b"RENAME", b"copy", b"gone"]);
    values::check_reading(peer, kind, b"again");
    peer.ok(&[b"UNLINK", b"gone"]);
}
