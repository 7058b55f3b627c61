//! Replies through this codec and through the `redis-protocol` crate.
//!
//! What this codec accepts of RESP2, the other accepts too, with the same length. The other way
//! round it does not hold, and need not; it is known to take, and this codec refuses:
//! * lengths with `+`, leading zeros or `-0`;
//! * any two bytes in place of the CRLF behind a payload;
//! * CR or LF alone within a line.
//!
//! Nesting is bounded to 32 for both, and RESP3 is left out: there the other has no type for some
//! of what is legal (verbatim formats other than `txt` and `mkd`, aggregates as keys, attributes on
//! null), and keeps neither order nor duplicates.
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

/// Whether a frame is RESP2 throughout. Texts are to be UTF-8 for the other's sake.
fn resp2(frame: resp_codec::Frame<'_, '_>) -> bool {
    use resp_codec::{Kind, NullForm};
    let kind = match frame.kind() {
        Kind::Simple | Kind::Error | Kind::Int | Kind::Bulk | Kind::Array => true,
        Kind::Null => frame.null_form() != Some(NullForm::Null),
        _ => false,
    };
    kind && frame.attributes().is_none() && frame.children().all(resp2)
}
