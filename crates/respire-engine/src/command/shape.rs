//! Checks in debug builds that a command wrote exactly one complete reply.

use crate::reply::output::Mark;
use crate::{Flags, Flow, Proto, Reply};
use resp_codec::binary::ReplyDecoder;
use resp_codec::{FrameDecoder, Kind, Limits, Step};

/// Limits that no reply in a test reaches.
const LIMITS: Limits = Limits {
    max_bulk: u64::MAX,
    max_inline: u32::MAX,
    max_depth: u16::MAX,
    max_nodes: u32::MAX,
    max_frame: u32::MAX,
    ..Limits::CLIENT
};

/// Checks that a command wrote one complete reply. An array of three with only two elements
/// swallows the reply of the next request, which is hard to trace. Does nothing in a release build.
///
/// Subscription commands write several confirmations, as pushes or as arrays, and muted replies are
/// not written. So only certain errors are reported.
///
/// # Panics
/// If the reply is incomplete, or there is more than one.
pub(crate) fn check(flow: &Flow, reply: &mut Reply<'_>, mark: Mark, flags: Flags) {
    if !cfg!(debug_assertions) || *flow != Flow::Replied {
        return;
    }
    let proto = reply.proto();
    let Some(wrote) = reply.sink().put_after(mark) else {
        // Large values are stored elsewhere.
        return;
    };
    let (mut at, mut replies) = (0, 0);
    while at < wrote.len() {
        let (used, is_push) = whole(&wrote[at..], proto, flags);
        at += used;
        replies += usize::from(!is_push);
    }
    assert!(
        replies <= 1 || flags.has(Flags::PUBSUB),
        "a handler wrote more than one reply: an aggregate of n elements got more, or it answered \
         twice: b\"{}\"",
        wrote.escape_ascii()
    );
}

/// The length of the reply at the front of these bytes, and whether it is a push.
fn whole(bytes: &[u8], proto: Proto, flags: Flags) -> (usize, bool) {
    let mut resp = FrameDecoder::new(LIMITS);
    let mut binary = ReplyDecoder::new(LIMITS);
    let decoded = match proto {
        Proto::Resp2 | Proto::Resp3 => resp.decode(bytes),
        Proto::Binary => binary.decode(bytes),
        Proto::BinaryPlain => return (bytes.len(), false),
    };
    match decoded {
        Ok(Step::Ready { item, consumed }) => (consumed, item.kind() == Kind::Push),
        Ok(Step::NeedMore { .. }) => panic!(
            "the reply is not whole: an aggregate of n elements got fewer: b\"{}\"",
            bytes.escape_ascii()
        ),
        // As in Redis, the array of `EXEC` holds the pushes that confirm subscriptions.
        Err(_) if flags.has(Flags::EXEC) => (bytes.len(), false),
        Err(error) => panic!(
            "what a handler wrote is no reply: {error}: b\"{}\"",
            bytes.escape_ascii()
        ),
    }
}
