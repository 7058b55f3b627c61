//! Replies of many elements that are written while the client reads them, from a snapshot of their value.
//!
//! The memory for such a reply is bounded, and the key is not locked meanwhile.

use respire_engine::{Output, Proto, Reply};
use std::ops::Range;

/// Up to this many elements are written at once.
const AT_ONCE_MAX: usize = 512;

/// The elements of a part of a longer reply, for [`reply_ranges`].
const PART_ELEMENTS: usize = 256;

/// The largest number of elements that a reply may repeat, for commands that draw one and the same element any number
/// of times. Inside `EXEC`, and in the binary protocol, replies are in memory as a whole.
pub(crate) const REPEATED_MAX: u64 = 1 << 24;

/// Writes the elements of an aggregate, whose header is written, in parts, as the peer reads them. `write` is called
/// with each index below `parts`, in order, and writes some hundred elements.
///
/// There are `count` elements of about `element_bytes` bytes in all parts. Few of them are written at once.
pub(crate) fn reply_parts(
    reply: &mut Reply<'_>,
    (count, element_bytes): (usize, usize),
    parts: usize,
    mut write: impl FnMut(usize, &mut Reply<'_>) + Send + 'static,
) {
    let proto = reply.proto();
    if count <= AT_ONCE_MAX || !matches!(proto, Proto::Resp2 | Proto::Resp3) {
        return (0..parts).for_each(|part| write(part, reply));
    }
    let (mut next, mut out) = (0, Output::new());
    let bytes_guess = count.saturating_mul(element_bytes);
    reply.sink().put_elements(bytes_guess, move |bytes_max| {
        while next < parts && out.len() < bytes_max {
            write(next, &mut Reply::new(&mut out, proto));
            next += 1;
        }
        (!out.is_empty()).then(|| out.take_some(bytes_max))
    });
}

/// Writes `count` elements like [`reply_parts`]. `write` is called with the numbers of some of them, in order.
pub(crate) fn reply_ranges(
    reply: &mut Reply<'_>,
    (count, element_bytes): (usize, usize),
    mut write: impl FnMut(Range<usize>, &mut Reply<'_>) + Send + 'static,
) {
    let parts = count.div_ceil(PART_ELEMENTS);
    reply_parts(reply, (count, element_bytes), parts, move |part, reply| {
        let start = part * PART_ELEMENTS;
        write(start..count.min(start + PART_ELEMENTS), reply);
    });
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;
    use respire_engine::Output;

    /// The elements of each collection that [`client`] makes.
    const LEN: usize = 8_000;

    /// The memory that a streamed reply may take at any time.
    const MEMORY_MAX: usize = 150 << 10;

    /// Makes collections of these elements: the numbers from 10,000 on are in both of each type.
    fn client() -> Client {
        let mut client = Client::new();
        for (name, from) in [("1", 0), ("2", LEN / 2)] {
            for start in (from..from + LEN).step_by(500) {
                let numbers = start..start + 500;
                let each = |f: &dyn Fn(usize) -> String| {
                    numbers.clone().map(f).collect::<Vec<String>>().join(" ")
                };
                let members = each(&|number| format!("member:{number:05}"));
                client.send(&format!("SADD s{name} {members}"));
                client.send(&format!("RPUSH l{name} {members}"));
                let scored = each(&|number| format!("{number} member:{number:05}"));
                client.send(&format!("ZADD z{name} {scored}"));
                let fields = each(&|number| format!("field:{number:05} member:{number:05}"));
                client.send(&format!("HSET h{name} {fields}"));
            }
        }
        client
    }

    /// Reads a reply as a client does; returns it with the most memory that it took.
    fn read(mut out: Output) -> (String, usize) {
        let (mut read, mut memory) = (Vec::new(), out.capacity());
        while !out.is_empty() {
            out.pull().expect("it does not break off");
            memory = memory.max(out.capacity());
            let first = out.first();
            read.extend_from_slice(first);
            out.advance(first.len());
        }
        (String::from_utf8(read).expect("text"), memory)
    }

    /// Requests with large replies, and how many elements those have.
    const REQUESTS: &[(&str, usize)] = &[
        ("HGETALL h1", 2 * LEN),
        ("HKEYS h1", LEN),
        ("HRANDFIELD h1 -40000", 40_000),
        ("HRANDFIELD h1 -20000 WITHVALUES", 40_000),
        ("SMEMBERS s1", LEN),
        ("SUNION s1 s2", LEN / 2 * 3),
        ("SUNION s1 s2 s1", LEN / 2 * 3),
        ("SINTER s1 s2", LEN / 2),
        ("SDIFF s1 s2", LEN / 2),
        ("SRANDMEMBER s1 -40000", 40_000),
        ("SRANDMEMBER s1 60000", LEN),
        ("LRANGE l1 0 -1", LEN),
        ("ZRANGE z1 0 -1 WITHSCORES", 2 * LEN),
        ("ZUNION 2 z1 z2", LEN / 2 * 3),
        ("ZINTER 2 z1 z2 WITHSCORES", LEN),
        ("ZDIFF 2 z1 z2", LEN / 2),
        ("ZRANDMEMBER z1 -40000", 40_000),
        ("ZRANDMEMBER z1 7999", LEN - 1),
        ("SORT s1 ALPHA", LEN),
    ];

    #[test]
    fn large_reply_is_in_memory_only_as_far_as_the_client_reads_it() {
        let mut client = client();
        for (request, elements) in REQUESTS {
            let (reply, memory) = read(client.send_for_output(request));
            assert!(memory < MEMORY_MAX, "{request} took {memory} bytes");
            assert!(reply.starts_with(&format!("*{elements}\r\n")), "{request}");
            assert_eq!(reply.matches('$').count(), *elements, "{request}");
        }
    }

    #[test]
    fn streamed_reply_has_the_elements_of_the_moment_of_its_request() {
        let different = |reply: &str| {
            let lines = reply.split("\r\n").filter(|it| it.starts_with("member:"));
            let mut members: Vec<String> = lines.map(str::to_owned).collect();
            members.sort();
            members
        };
        let members = |numbers: std::ops::Range<usize>| -> Vec<String> {
            numbers.map(|it| format!("member:{it:05}")).collect()
        };
        let (half, whole) = (LEN / 2, LEN / 2 * 3);
        for (request, expected) in [
            ("SUNION s1 s2", members(0..whole)),
            ("SUNION s1 s2 s1", members(0..whole)),
            ("SINTER s1 s2", members(half..LEN)),
            ("SDIFF s1 s2", members(0..half)),
            ("ZUNION 2 z1 s2", members(0..whole)),
            ("ZINTER 2 z1 s2", members(half..LEN)),
            ("ZDIFF 2 z1 z2", members(0..half)),
        ] {
            let write = || "DEL s1 s2 z1 z2".to_owned();
            let mut client = client();
            let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, write);
            assert!(different(&reply) == expected, "{request}");
            assert_eq!(is_unlocked, [true], "{request}");
            client.check(&[("EXISTS s1 s2 z1 z2", ":0\r\n")]);
        }
    }

    #[test]
    fn more_repeated_elements_than_the_bound_are_refused() {
        const RANGE: &str = "-ERR value is out of range\r\n";
        let mut client = client();
        for request in [
            "HRANDFIELD h1 -16777217",
            "SRANDMEMBER s1 -16777217",
            "ZRANDMEMBER z1 -16777217",
        ] {
            client.check(&[(request, RANGE)]);
        }
    }
}
