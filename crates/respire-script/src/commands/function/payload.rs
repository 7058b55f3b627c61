//! `FUNCTION DUMP`, `FUNCTION RESTORE`: move libraries between servers.

use super::{CHANGE_TIPS, FUNCTION, wrong_syntax};
use crate::library::{self, Loading, Policy};
use crate::limits::RESTORE_LIMIT_MS;
use crate::scripts::Scripts;
use crate::thread;
use respire_engine::{App, Arg, ArgKind, ArgList, Arity, Cx, Error, Flags, Reply, Spec};
use std::sync::Arc;

pub(super) static DUMP: Spec = Spec {
    name: "function|dump",
    summary: "Dump all functions into a serialized binary payload",
    complexity: "O(N) where N is the number of functions",
    arity: Arity::exactly(2),
    flags: Flags::NOSCRIPT,
    // A payload is no text.
    examples: &[(
        "FUNCTION DUMP lib",
        "-ERR wrong number of arguments for 'function|dump' command\r\n",
    )],
    ..FUNCTION
};

pub(super) static RESTORE: Spec = Spec {
    name: "function|restore",
    summary: "Restore all the functions on the given payload",
    complexity: "O(N) where N is the number of functions on the payload",
    arity: Arity::at_least(3),
    flags: Flags::WRITE.with(Flags::DENYOOM).with(Flags::NOSCRIPT),
    args: &[
        Arg::new("serialized-value", ArgKind::String),
        Arg::one_of(
            "policy",
            &[
                Arg::word("flush", "FLUSH"),
                Arg::word("append", "APPEND"),
                Arg::word("replace", "REPLACE"),
            ],
        )
        .optional(),
    ],
    tips: CHANGE_TIPS,
    examples: &[(
        "FUNCTION RESTORE \"\\n\\x00]\\x9b\\\\@\\x0f\\x7f\\xa2\\xda\"",
        "+OK\r\n",
    )],
    ..FUNCTION
};

pub(super) fn dump<A: App>(
    scripts: &Arc<Scripts>,
    _: &mut Cx<'_, A>,
    _: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    reply.bulk(library::dump(&scripts.libraries.table()).as_slice());
    Ok(())
}

pub(super) fn restore<A: App>(
    scripts: &Arc<Scripts>,
    cx: &mut Cx<'_, A>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    if args.len() > 2 {
        return Err(wrong_syntax(&cx.request()[1]));
    }
    let policy = match args.get(1).map(<[u8]>::to_ascii_lowercase).as_deref() {
        None | Some(b"append") => Policy::Append,
        Some(b"replace") => Policy::Replace,
        Some(b"flush") => Policy::Flush,
        Some(_) => {
            return Err(Error::fixed(
                "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.",
            ));
        }
    };
    let thread = thread::of(scripts)?;
    thread.state.limit_memory(scripts.bytes_max());
    let mut loading = Loading::new(cx.engine().host(), RESTORE_LIMIT_MS, true);
    let restored = library::restore(&thread.state, &args[0], &mut loading);
    // While it was loaded it saw no library.
    thread.tidy_up(scripts, true);
    let (table, restored) = restored?;
    let added = scripts.libraries.restore(table, policy);
    added.map_err(|text| Error::new("ERR", text))?;
    for (library, registered) in restored {
        // Without memory, it is loaded again when it is called.
        let _ = thread.libraries.keep(&thread.state, &library, registered);
    }
    thread.note_bytes(scripts);
    reply.ok();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::commands::testing::{client, load};

    /// What `FUNCTION DUMP` of Redis 7.0.15 gave.
    const OF_REDIS: &[u8] = b"\xf5@C#!lua name=l2\nredis.register_function(\"f3\",function() \
                              return 5 end)";

    fn payload(body: &[u8], version: u16) -> Vec<u8> {
        let mut payload = [body, &version.to_le_bytes()].concat();
        let crc = respire_rdb::checksum(&payload);
        payload.extend_from_slice(&crc.to_le_bytes());
        payload
    }

    #[test]
    fn payload_of_redis_is_restored_and_dumped() {
        let mut client = client();
        let first: &[u8] = b"\xf5\xc3@\xc6@\xfb\x1f#!lua name=l\nlocal n=0 redis.reg\x13ister_\
            function(\"f1\",\xe0\x00\r\x03k,a) .\x02n+1 0\x0bturn {k[1],a@\x04\x06n} end) \x19\
            \xe0\x0cJ\x00{\xc0E\x00_`|\x04\"f2\", }\x05lback=\xc0\x1b\x80a\xa0[\x80H@#\x06(\"get\
            \",@k\x00)@d\x14,flags={\"no-writes\",\" K\x11ow-stale\"},descrip@\xc4\x01=\"@\x0c\
            \x01\"}";
        let footer: &[u8] = b"\n\x00\xb2\xb1\\\xed\xd9\x93\x8fP";
        let whole = [first, OF_REDIS, footer].concat();
        let restored = client.call([&b"FUNCTION"[..], b"RESTORE", &whole]);
        assert_eq!(restored.raw(), b"+OK\r\n");
        assert_eq!(client.call("FCALL f3 0"), 5);
        assert_eq!(client.call("FCALL f1 1 k a").at(2), 1);
        let expected = [format!("${}\r\n", whole.len()).as_bytes(), &whole, b"\r\n"].concat();
        assert_eq!(client.call("FUNCTION DUMP").raw(), expected);
    }

    #[test]
    fn wrong_payload_changes_nothing() {
        let mut client = client();
        load(
            &mut client,
            "redis.register_function('f', function() return 1 end)",
        );
        let string = |text: &[u8]| [&[0xf5, text.len() as u8], text].concat();
        let twice = [OF_REDIS, OF_REDIS].concat();
        let cases: [(Vec<u8>, &str); 9] = [
            (
                OF_REDIS.to_vec(),
                "DUMP payload version or checksum are wrong",
            ),
            (
                payload(OF_REDIS, 11),
                "DUMP payload version or checksum are wrong",
            ),
            (payload(b"\x00\x01a", 10), "given type is not a function"),
            (
                payload(b"\xf6\x01a", 10),
                "Pre-GA function format not supported",
            ),
            (
                payload(b"\xf5\x3fabc", 10),
                "Failed loading library payload",
            ),
            (
                payload(b"\xf5\xc3\x02\x81\x00\x00\x00\x7f\xff\xff\xff\xff\x00a", 10),
                "Failed loading library payload",
            ),
            (payload(b"\xf5\xc0\x05", 10), "Missing library metadata"),
            (
                payload(&string(b"#!lua name=z\n"), 10),
                "No functions registered",
            ),
            (payload(&twice, 10), "Library 'l2' already exists"),
        ];
        for (payload, text) in cases {
            let reply = client.call([&b"FUNCTION"[..], b"RESTORE", &payload, b"FLUSH"]);
            assert_eq!(reply.error(), format!("ERR {text}"));
            assert_eq!(client.call("FCALL f 0"), 1);
            assert_eq!(client.call("FCALL f3 0").error(), "ERR Function not found");
        }
    }

    #[test]
    fn policy_decides_about_libraries_that_are_there() {
        let mut client = client();
        let bytes = payload(OF_REDIS, 10);
        let mut restore = |policy: &str| {
            let request = [&b"FUNCTION"[..], b"RESTORE", &bytes, policy.as_bytes()];
            let reply = client.call(request);
            String::from_utf8_lossy(reply.raw()).into_owned()
        };
        assert_eq!(restore("append"), "+OK\r\n");
        assert_eq!(restore("APPEND"), "-ERR Library l2 already exists\r\n");
        assert_eq!(restore("REPLACE"), "+OK\r\n");
        assert_eq!(restore("FLUSH"), "+OK\r\n");
        assert!(restore("other").starts_with("-ERR Wrong restore policy given"));
    }
}
