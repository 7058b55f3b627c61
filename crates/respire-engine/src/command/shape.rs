//! In debug builds: whether what a command wrote are whole replies.

use crate::reply::output::Mark;
use crate::{Flags, Flow, Proto, Reply};
use resp_codec::binary::ReplyDecoder;
use resp_codec::{FrameDecoder, Kind, Limits, Step};

/// Limits that no reply in a test runs into.
const LIMITS: Limits = Limits {
    max_bulk: u64::MAX,
    max_inline: u32::MAX,
    max_depth: u16::MAX,
    max_nodes: u32::MAX,
    max_frame: u32::MAX,
    ..Limits::CLIENT
};

/// Holds a command to one whole reply: an array of three that got two swallows the reply of the
/// next request, and nobody finds out why. Does nothing in a release build.
///
/// Confirmations of subscriptions come in numbers, as pushes or arrays that name themselves, and
/// muted replies not at all, so that only what is certainly wrong is found.
///
/// # Panics
/// When the reply is not whole, or more than one.
pub(crate) fn check(flow: &Flow, reply: &mut Reply<'_>, mark: Mark, flags: Flags) {
    if !cfg!(debug_assertions) || *flow != Flow::Replied {
        return;
    }
    let proto = reply.proto();
    let Some(wrote) = reply.sink().put_after(mark) else {
        // Large values lie elsewhere.
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

/// How long the reply is that these bytes begin with, and whether it is a push.
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
