//! `GETRANGE key start end`, formerly `SUBSTR`: returns the part of a string between two indexes.
//!
//! As in Redis, both indexes are inclusive and count from the end if negative.

use crate::Ctx;
use crate::options::integer;
use crate::unlocked::EDITED_BYTES_MAX;
use crate::value::{index_range, string_if_any};
use respire_engine::{Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeySpec, Reply, Spec};
use respire_store::{SHARED_BYTES_MIN, StringRef};

pub(super) static GETRANGE: Spec = Spec {
    name: "getrange",
    summary: "Get a substring of the string stored at a key",
    since: "2.4.0",
    complexity: "O(N) where N is the length of the returned string. The complexity is ultimately determined by the returned length, but because creating a substring from an existing string is very cheap, it can be considered O(1) for small strings.",
    group: Group::String,
    arity: Arity::exactly(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("end", ArgKind::Integer),
    ],
    examples: &[
        ("SET k \"This is a string\"", "+OK\r\n"),
        ("GETRANGE k 0 3", "$4\r\nThis\r\n"),
        ("GETRANGE k -3 -1", "$3\r\ning\r\n"),
        ("GETRANGE k 5 3", "$0\r\n\r\n"),
        ("GETRANGE missing 0 -1", "$0\r\n\r\n"),
        (
            "GETRANGE k a b",
            "-ERR value is not an integer or out of range\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) static SUBSTR: Spec = Spec {
    name: "substr",
    summary: "Get a substring of the string stored at a key",
    complexity: "O(N) where N is the length of the returned string. The complexity is ultimately determined by the returned length, but because creating a substring from an existing string is very cheap, it can be considered O(1) for small strings.",
    group: Group::String,
    arity: Arity::exactly(4),
    flags: Flags::READONLY,
    keys: &[KeySpec::at(1)],
    args: &[
        Arg::key("key", 0),
        Arg::new("start", ArgKind::Integer),
        Arg::new("end", ArgKind::Integer),
    ],
    deprecated: Some(("2.0.0", "`GETRANGE`")),
    examples: &[
        ("SET k \"This is a string\"", "+OK\r\n"),
        ("SUBSTR k 0 3", "$4\r\nThis\r\n"),
    ],
    ..Spec::EMPTY
};

pub(super) fn getrange(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (start, end) = (integer(&args[1])?, integer(&args[2])?);
    let is_replied = ctx.read(&args[0], |entry| match string_if_any(entry)? {
        Some(string) => Ok(reply_part(reply, string, start, end)),
        None => {
            reply.bulk(b"");
            Ok(true)
        }
    })?;
    if is_replied {
        return Ok(());
    }
    ctx.view.update(&args[0], |slot| {
        slot.share_string();
        match string_if_any(slot.get())? {
            Some(string) => drop(reply_part(reply, string, start, end)),
            None => reply.bulk(b""),
        }
        Ok(())
    })
}

/// Replies with the part between two indexes. Returns false, without a reply, if the part is too
/// long to be copied and has to be shared first.
fn reply_part(reply: &mut Reply<'_>, string: StringRef<'_>, start: i64, end: i64) -> bool {
    // Two indexes before the first byte would both be clamped to it; in reverse order they select
    // nothing.
    let is_reversed = start < 0 && end < 0 && start > end;
    let Some(range) = index_range(start, end, string.len()).filter(|_| !is_reversed) else {
        reply.bulk(b"");
        return true;
    };
    match string {
        StringRef::Shared(bytes) if range.len() >= SHARED_BYTES_MIN => {
            reply.bulk_shared(bytes.slice(range));
        }
        StringRef::Bytes(_) if range.len() > EDITED_BYTES_MAX => return false,
        string => reply.bulk(&string.as_bytes(&mut [0; 20])[range]),
    }
    true
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    #[test]
    fn indexes_are_clamped_and_reversed_ones_select_nothing() {
        Client::new().check(&[
            ("SET k hello", "+OK\r\n"),
            ("GETRANGE k -100 -100", "$1\r\nh\r\n"),
            ("GETRANGE k -2 -3", "$0\r\n\r\n"),
            ("GETRANGE k 4 100", "$1\r\no\r\n"),
            ("GETRANGE k 5 5", "$0\r\n\r\n"),
            (
                "GETRANGE k -9223372036854775808 9223372036854775807",
                "$5\r\nhello\r\n",
            ),
            ("SET n 12345", "+OK\r\n"),
            ("GETRANGE n 1 -2", "$3\r\n234\r\n"),
            ("SUBSTR n -1 -1", "$1\r\n5\r\n"),
            (
                "GETRANGE k 0 9223372036854775808",
                "-ERR value is not an integer or out of range\r\n",
            ),
        ]);
    }
}
