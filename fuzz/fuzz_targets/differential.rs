//! Compares this codec with the `redis-protocol` crate: both decode the same replies.
//!
//! RESP2 that this codec accepts must also be accepted by the other crate, with the same length. The
//! opposite is not required, and does not hold: the other crate is known to accept, and this codec
//! refuses:
//! * lengths with `+`, leading zeros or `-0`;
//! * any two bytes in place of the CRLF after a payload;
//! * a lone CR or LF within a line.
//!
//! Nesting is limited to 32 for both. RESP3 is left out: the other crate has no type for some valid
//! values (verbatim formats other than `txt` and `mkd`, aggregates as keys, attributes on null), and
//! keeps neither order nor duplicates.
#![no_main]

use resp_codec::{Dialect, FrameDecoder, Limits, Step};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let limits = Limits { max_depth: 32, max_nodes: 4096, ..Limits::CLIENT };
    let mut decoder = FrameDecoder::with_dialect(limits, Dialect::CANONICAL);
    let Ok(step) = decoder.decode(data) else { return };
    let Step::Ready { item, consumed } = step else { return };
    if !item.wire().iter().all(|&byte| byte < 0x80) || !resp2(item) {
        return;
    }
    match redis_protocol::resp2::decode::decode(item.wire()) {
        Ok(Some((_, len))) => assert_eq!(len, consumed),
        other => panic!("{:?}: {other:?}", item.wire().escape_ascii()),
    }
});

/// Whether a frame is entirely RESP2. The texts must be UTF-8, since the other crate requires it.
fn resp2(frame: resp_codec::Frame<'_, '_>) -> bool {
    use resp_codec::{Kind, NullForm};
    let kind = match frame.kind() {
        Kind::Simple | Kind::Error | Kind::Int | Kind::Bulk | Kind::Array => true,
        Kind::Null => frame.null_form() != Some(NullForm::Null),
        _ => false,
    };
    kind && frame.attributes().is_none() && frame.children().all(resp2)
}
