//! Writes the events of the live view as server-sent events, in the form that the page reads.

use crate::direction::Lost;
use data_encoding::BASE64;
use serde::Serialize;
use std::sync::Arc;

/// A comment line that keeps the stream alive.
pub(crate) const ALIVE: &[u8] = b": alive\n\n";

/// The side that sent the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum From {
    Client,
    Server,
}

/// The first event of a stream.
pub(crate) fn hello(flavour: &str, since_us: u64) -> Arc<[u8]> {
    #[derive(Serialize)]
    struct Hello<'a> {
        server: &'a str,
        flavour: &'a str,
        since_us: u64,
    }
    let server = concat!("respire ", env!("CARGO_PKG_VERSION"));
    event(
        "hello",
        &Hello {
            server,
            flavour,
            since_us,
        },
    )
}

/// A connection is open.
pub(crate) fn open(id: u64, peer: &str, at_us: u64) -> Arc<[u8]> {
    #[derive(Serialize)]
    struct Open<'a> {
        id: u64,
        peer: &'a str,
        at_us: u64,
    }
    // A peer on a Unix socket is named by its path and, as in Redis, port 0, which no other peer
    // has.
    let peer = peer.strip_suffix(":0").unwrap_or(peer);
    event("open", &Open { id, peer, at_us })
}

/// Bytes of whole frames, and the offsets at which reads or writes ended.
pub(crate) struct Shown<'a> {
    pub(crate) id: u64,
    pub(crate) from: From,
    pub(crate) is_binary: bool,
    pub(crate) at_us: u64,
    pub(crate) bytes: &'a [u8],
    pub(crate) cuts: &'a [u32],
}

pub(crate) fn bytes(shown: &Shown<'_>) -> Arc<[u8]> {
    #[derive(Serialize)]
    struct Bytes<'a> {
        id: u64,
        from: From,
        protocol: &'a str,
        at_us: u64,
        base64: String,
        cuts: &'a [u32],
    }
    let protocol = if shown.is_binary { "binary" } else { "resp" };
    event(
        "bytes",
        &Bytes {
            id: shown.id,
            from: shown.from,
            protocol,
            at_us: shown.at_us,
            base64: BASE64.encode(shown.bytes),
            cuts: shown.cuts,
        },
    )
}

/// Bytes that are not shown.
pub(crate) fn lost(id: u64, from: From, lost: Lost) -> Arc<[u8]> {
    #[derive(Serialize)]
    struct Left {
        id: u64,
        from: From,
        bytes: u64,
        why: &'static str,
    }
    let Lost { bytes, why } = lost;
    event(
        "lost",
        &Left {
            id,
            from,
            bytes,
            why: why.text(),
        },
    )
}

/// A connection has ended.
pub(crate) fn close(id: u64, at_us: u64, why: &str) -> Arc<[u8]> {
    #[derive(Serialize)]
    struct Close<'a> {
        id: u64,
        at_us: u64,
        why: &'a str,
    }
    event("close", &Close { id, at_us, why })
}

fn event(name: &str, data: &impl Serialize) -> Arc<[u8]> {
    let mut text = format!("event: {name}\ndata: ").into_bytes();
    serde_json::to_writer(&mut text, data).expect("numbers and strings can be written to memory");
    text.extend_from_slice(b"\n\n");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::direction::Cause;

    #[test]
    fn events_have_the_form_that_the_page_reads() {
        let text = |event: Arc<[u8]>| String::from_utf8(event.to_vec()).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            text(hello("mio", 5)),
            format!(
                "event: hello\ndata: {{\"server\":\"respire {version}\",\"flavour\":\"mio\",\"since_us\":5}}\n\n"
            )
        );
        assert_eq!(
            text(open(7, "a\n\"b", 1)),
            "event: open\ndata: {\"id\":7,\"peer\":\"a\\n\\\"b\",\"at_us\":1}\n\n"
        );
        let address = |event| text(event).split('"').nth(5).map(str::to_owned);
        assert_eq!(
            address(open(7, "/run/kv.sock:0", 1)).unwrap(),
            "/run/kv.sock"
        );
        assert_eq!(address(open(7, "[::1]:40", 1)).unwrap(), "[::1]:40");
        let shown = Shown {
            id: 7,
            from: From::Client,
            is_binary: false,
            at_us: 2,
            bytes: b"PING\r\n",
            cuts: &[1, 6],
        };
        assert_eq!(
            text(bytes(&shown)),
            "event: bytes\ndata: {\"id\":7,\"from\":\"client\",\"protocol\":\"resp\",\"at_us\":2,\
             \"base64\":\"UElORw0K\",\"cuts\":[1,6]}\n\n"
        );
        let gap = Lost {
            bytes: 9,
            why: Cause::TooLarge,
        };
        assert_eq!(
            text(lost(7, From::Server, gap)),
            "event: lost\ndata: {\"id\":7,\"from\":\"server\",\"bytes\":9,\"why\":\"too large\"}\n\n"
        );
        assert_eq!(
            text(close(7, 3, "closed by peer")),
            "event: close\ndata: {\"id\":7,\"at_us\":3,\"why\":\"closed by peer\"}\n\n"
        );
    }
}
