//! `LRANGE key start stop`: the elements from index `start` to `stop`, which count from the end if they are negative.
//!
//! A long range is written from a snapshot of the list, without its key's lock, while the client reads it.

use super::{list_if_any, range_of};
use crate::Ctx;
use crate::options::integer;
use crate::streamed::reply_ranges;
use crate::value::reply_string;
use crate::work::work_begins;
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{Elements, End, Kind, List, ListRef, StringRef};

pub(super) static LRANGE: Spec = Spec {
    name: "lrange",
    summary: "Get a range of elements from a list",
    since: "1.0.0",
    complexity: "O(S+N) where S is the distance of start offset from HEAD for small lists, from nearest end (HEAD or TAIL) for large lists; and N is the number of elements in the specified range.",
    group: Group::List,
    arity: Arity::exactly(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("stop", ArgKind::Integer),
    ],
    examples: &[
        ("RPUSH a x y z", ":3\r\n"),
        ("LRANGE a 1 5", "*2\r\n$1\r\ny\r\n$1\r\nz\r\n"),
        ("LRANGE a -3 -2", "*2\r\n$1\r\nx\r\n$1\r\ny\r\n"),
        ("LRANGE a 5 10", "*0\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (start, stop) = (integer(&args[1])?, integer(&args[2])?);
    let snapshot = ctx.read(&args[0], |entry| {
        let list = list_if_any(entry)?;
        let range = list.and_then(|list| range_of(start, stop, list.len()));
        let (Some(list), Some(range)) = (list, range) else {
            reply.array(0);
            return Ok(None);
        };
        let (skipped, count) = (range.start, range.len());
        let part = Part {
            end: End::Left,
            skipped,
            count,
        };
        Ok::<_, Error>(part.reply(list, reply))
    })?;
    if let Some(snapshot) = snapshot {
        snapshot.reply(reply);
    }
    Ok(())
}

/// Elements of a list that a reply has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The end from which they are written.
    pub(super) end: End,
    /// The number of elements between that end and the first one.
    pub(super) skipped: usize,
    pub(super) count: usize,
}

/// The most elements, and bytes of elements, that are written under a lock. They take a few microseconds.
const LOCKED_ELEMENTS_MAX: usize = 1024;
const LOCKED_BYTES_MAX: usize = 64 << 10;

impl Part {
    /// Replies with the elements, unless that would take long: then writes nothing and returns a snapshot, for a reply
    /// without the lock.
    #[inline]
    pub(super) fn reply(self, list: ListRef<'_>, reply: &mut Reply<'_>) -> Option<Snapshot> {
        if self.count > LOCKED_ELEMENTS_MAX {
            return Some(self.snapshot(list));
        }
        let (mark, mut bytes) = (reply.sink().mark(), 0);
        reply.array(self.count);
        let elements = list.iter_from(self.end, self.skipped);
        for element in elements.take(self.count) {
            if let StringRef::Bytes(element) = element {
                bytes += element.len();
            }
            if bytes > LOCKED_BYTES_MAX {
                reply.sink().cut(mark);
                return Some(self.snapshot(list));
            }
            reply_string(reply, element);
        }
        None
    }

    fn snapshot(self, list: ListRef<'_>) -> Snapshot {
        Snapshot {
            list: list.snapshot(),
            part: self,
        }
    }
}

/// A list, of which a part is a reply.
#[derive(Debug)]
pub(super) struct Snapshot {
    list: List,
    part: Part,
}

impl Snapshot {
    pub(super) fn reply(self, reply: &mut Reply<'_>) {
        work_begins();
        let Part {
            end,
            skipped,
            count,
        } = self.part;
        // Each element has a header and two line ends besides its text.
        let element_bytes = 8 + self.list.heap_bytes() / self.list.len().max(1);
        reply.array(count);
        reply_ranges(reply, (count, element_bytes), move |some, reply| {
            let elements = self.list.read().iter_from(end, skipped + some.start);
            elements
                .take(some.len())
                .for_each(|element| reply_string(reply, element));
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use crate::unlocked::tests::send_and_write_meanwhile;

    /// Creates a list `k` of so many elements of at least this length; returns them as they are in replies.
    fn with_list(len: usize, count: usize) -> (Client, Vec<String>) {
        let mut client = Client::new();
        let elements: Vec<String> = (0..count).map(|at| format!("{at:0len$}")).collect();
        for part in elements.chunks(50_000 / (len + 4)) {
            client.send(&format!("RPUSH k {}", part.join(" ")));
        }
        let bulk = |element: &String| format!("${}\r\n{element}\r\n", element.len());
        (client, elements.iter().map(bulk).collect())
    }

    #[test]
    fn range_of_any_size_is_replied_in_order() {
        for (len, count) in [
            (1, 5_000),
            (20, 3_000),
            (300, 1_000),
            (9_000, 40),
            (20_000, 9),
        ] {
            let (mut client, bulks) = with_list(len, count);
            for (from, to) in [(0, count), (1, count - 1), (count / 2, count - 3), (3, 7)] {
                let expected = format!("*{}\r\n{}", to - from, bulks[from..to].concat());
                let request = format!("LRANGE k {from} {}", to - 1);
                assert!(client.send(&request) == expected, "{request} of {len}");
            }
        }
    }

    #[test]
    fn popped_elements_of_any_size_are_replied_in_order() {
        for (len, count) in [(1, 5_000), (20, 3_000), (300, 1_000), (20_000, 9)] {
            let (mut client, mut bulks) = with_list(len, count);
            let left = bulks.drain(..count / 2).collect::<String>();
            bulks.reverse();
            let (half, rest) = (count / 2, count - count / 2);
            assert!(client.send(&format!("LPOP k {half}")) == format!("*{half}\r\n{left}"));
            let expected = format!("*2\r\n$1\r\nk\r\n*{rest}\r\n{}", bulks.concat());
            assert!(client.send(&format!("LMPOP 1 k RIGHT COUNT {count}")) == expected);
            client.check(&[("EXISTS k", ":0\r\n")]);
        }
    }

    #[test]
    fn snapshot_is_written_while_the_list_changes() {
        for request in ["LRANGE k 0 -1", "LPOP k 5000"] {
            let (mut client, bulks) = with_list(10, 5_000);
            let push = || "LPUSH k meanwhile".to_owned();
            let (reply, is_unlocked) = send_and_write_meanwhile(&mut client, request, push);
            assert!(reply == format!("*5000\r\n{}", bulks.concat()), "{request}");
            assert_eq!(is_unlocked, [true], "{request}");
            client.check(&[("LINDEX k 0", "$9\r\nmeanwhile\r\n")]);
        }
    }
}
