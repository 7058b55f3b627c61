//! `DEBUG subcommand [...]`: the harmless subcommands that test suites and tests of clients need.
//!
//! The subcommands are `DIGEST`, `DIGEST-VALUE key [key ...]`, `ERROR text`, `HELP`, `LISTPACK key`, `OBJECT key`,
//! `POPULATE count [prefix] [size]`, `PROTOCOL type`, `QUICKLIST key [level]`, `QUICKLIST-PACKED-THRESHOLD size`,
//! `SET-ACTIVE-EXPIRE 0|1` and `SLEEP seconds`.
//! All others are refused as unknown: in Redis these crash, leak, reload or inspect internal
//! structures. `SLEEP` delays the replies of this connection only, while Redis stops altogether.
//! `OBJECT` does not disclose the address. `LISTPACK` and `QUICKLIST` reply as `OBJECT` does; Redis prints the structure to
//! its standard output. A list here has no elements outside of listpacks, so the threshold has no effect. The remaining subcommands need no permission, while
//! Redis requires `enable-debug-command`.

use crate::digest::Digest;
use crate::errors::{
    NO_SUCH_KEY, NOT_POSITIVE, PACKED_THRESHOLD, POPULATE_TOO_MUCH, PROTOCOL_TYPE,
    RESP2_UNSUPPORTED, STRING_TOO_LONG, debug_subcommand,
};
use crate::help::reply_help;
use crate::{Ctx, rdb};
use resp_codec::number::{parse_f64, parse_i64};
use respire_engine::{
    ArgList, Arity, Error, Flags, Group, LongWork, Proto, Reply, Spec, parse_memory,
};
use respire_store::{EntryRef, Expiry, Scope};
use std::time::Duration;

pub(super) static DEBUG: Spec = Spec {
    name: "debug",
    summary: "A container for debugging commands",
    since: "1.0.0",
    complexity: "Depends on subcommand.",
    group: Group::Server,
    arity: Arity::at_least(2),
    flags: Flags::ADMIN
        .with(Flags::NOSCRIPT)
        .with(Flags::LOADING)
        .with(Flags::STALE)
        .with(Flags::ALL_KEYS),
    examples: &[
        ("SET a 1", "+OK\r\n"),
        (
            "DEBUG DIGEST-VALUE a b",
            "*2\r\n+b4fc66738120fba0b5aa500ab5c2bf89cea1c5da\r\n+0000000000000000000000000000000000000000\r\n",
        ),
        ("DEBUG SLEEP 0", "+OK\r\n"),
        ("DEBUG SET-ACTIVE-EXPIRE 1", "+OK\r\n"),
        ("DEBUG POPULATE 2 p", "+OK\r\n"),
        ("GET p:1", "$7\r\nvalue:1\r\n"),
        (
            "DEBUG PROTOCOL BIGNUM",
            "$37\r\n1234567999999999999999999999999999999\r\n",
        ),
        ("DEBUG ERROR \"FULL come again\"", "-FULL come again\r\n"),
        ("DEBUG OBJECT b", "-ERR no such key\r\n"),
        (
            "DEBUG JMAP",
            "-ERR unknown subcommand or wrong number of arguments for 'JMAP'. Try DEBUG HELP.\r\n",
        ),
    ],
    ..Spec::EMPTY
};

const HELP_LINES: &[&str] = &[
    "DEBUG <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "DIGEST",
    "    Output a hex signature representing the current DB content.",
    "DIGEST-VALUE <key> [<key> ...]",
    "    Output a hex signature of the values of all the specified keys.",
    "ERROR <string>",
    "    Return a Redis protocol error with <string> as message. Useful for clients",
    "    unit tests to simulate Redis errors.",
    "LISTPACK <key>",
    "    Show low level info about `key`, if its encoding is listpack.",
    "OBJECT <key>",
    "    Show low level info about `key` and associated value.",
    "POPULATE <count> [<prefix>] [<size>]",
    "    Create <count> string keys named key:<num>. If <prefix> is specified then",
    "    it is used instead of the 'key' prefix.",
    "PROTOCOL <type>",
    "    Reply with a test value of the specified type. <type> can be: string,",
    "    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
    "    true, false.",
    "QUICKLIST <key> [<0|1>]",
    "    Show low level info about `key`, if its encoding is quicklist.",
    "QUICKLIST-PACKED-THRESHOLD <size>",
    "    Accepts a size of up to 4GB, which has no effect.",
    "SET-ACTIVE-EXPIRE <0|1>",
    "    Setting it to 0 disables expiring keys in background when they are not",
    "    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
    "    default.",
    "SLEEP <seconds>",
    "    Stop the server for <seconds>. Decimals allowed.",
    "HELP",
    "    Prints this help.",
];

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (name, rest) = (&args[0], args.skip(1));
    match (name.to_ascii_uppercase().as_slice(), rest.len()) {
        (b"DIGEST", 0) => digest(ctx, reply),
        (b"DIGEST-VALUE", _) => digest_values(ctx, rest, reply),
        (b"ERROR", 1) => reply.error(&rest[0]),
        (b"HELP", 0) => reply_help(reply, HELP_LINES),
        (b"LISTPACK", 1) => encoded(ctx, &rest[0], "listpack", reply)?,
        (b"OBJECT", 1) => object(ctx, &rest[0], reply)?,
        (b"POPULATE", 1..=3) => populate(ctx, rest, reply)?,
        (b"PROTOCOL", 1) => protocol(&rest[0], reply)?,
        (b"QUICKLIST", 1..=2) => encoded(ctx, &rest[0], "quicklist", reply)?,
        (b"QUICKLIST-PACKED-THRESHOLD", 1) => {
            let size = std::str::from_utf8(&rest[0]).ok().and_then(parse_memory);
            if size.is_none_or(|size| size > PACKED_THRESHOLD_MAX) {
                return Err(PACKED_THRESHOLD);
            }
            reply.ok();
        }
        (b"SET-ACTIVE-EXPIRE", 1) => {
            // Redis parses it with `atoi`: text that is not a number is 0.
            let is_active = parse_i64(&rest[0]).is_some_and(|number| number != 0);
            ctx.kv.store().set_active_expiry(is_active);
            reply.ok();
        }
        (b"SLEEP", 1) => {
            let seconds = parse_f64(&rest[0]).unwrap_or(0.0);
            ctx.reply_after(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO));
            reply.ok();
        }
        _ => return Err(debug_subcommand(name)),
    }
    Ok(())
}

/// Replies with the digest of all databases.
fn digest(ctx: &mut Ctx<'_>, reply: &mut Reply<'_>) {
    let mut whole = Digest::default();
    let databases = ctx.kv.store().databases();
    ctx.view.locked(&Scope::Everything, |view| {
        for db in 0..databases {
            let mut view = view.in_db(db);
            if view.is_empty() {
                continue;
            }
            whole.mix(&db.to_be_bytes());
            view.for_each(|key, entry| whole.combine_digest(Digest::of_entry(key, entry)));
        }
    });
    reply.simple(whole.to_hex());
}

fn digest_values(ctx: &mut Ctx<'_>, keys: ArgList<'_>, reply: &mut Reply<'_>) {
    reply.array(keys.len());
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    for key in keys.iter() {
        let found = ctx.peek_owned(key, |_| ());
        let digest =
            found.map(|(owned, ())| Digest::of_value(owned.value(), owned.expires_at(), &mut step));
        reply.simple(digest.unwrap_or_default().to_hex());
    }
}

fn object(ctx: &mut Ctx<'_>, key: &[u8], reply: &mut Reply<'_>) -> Result<(), Error> {
    /// Redis stores 24 bits of the seconds.
    const CLOCK_MASK: u64 = (1 << 24) - 1;
    let now_ms = ctx.view.now_ms();
    let describe = |entry: EntryRef<'_>| (entry.idle_ms(now_ms) / 1000, entry.encoding().name());
    let (owned, (idle_s, encoding)) = ctx.peek_owned(key, describe).ok_or(NO_SUCH_KEY)?;
    let mut work = ctx.long_work();
    let mut step = || work.iter_mut().for_each(LongWork::step);
    let serialized_len = rdb::serialized_len(owned.value(), &mut step);
    let lru = (now_ms / 1000).saturating_sub(idle_s) & CLOCK_MASK;
    reply.simple(format!(
        "Value at:0x0 refcount:1 encoding:{encoding} serializedlength:{serialized_len} lru:{lru} \
         lru_seconds_idle:{idle_s}"
    ));
    Ok(())
}

/// Describes a value of this encoding, and refuses others.
fn encoded(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    encoding: &str,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let found = |entry: Option<EntryRef<'_>>| entry.map(|entry| entry.encoding().name());
    if ctx.view.peek(key, found).ok_or(NO_SUCH_KEY)? != encoding {
        return Err(Error::owned(format!(
            "ERR Not a {encoding} encoded object."
        )));
    }
    object(ctx, key, reply)
}

/// The largest threshold that Redis accepts.
const PACKED_THRESHOLD_MAX: u64 = (1 << 32) - (1 << 20);

/// The most bytes of values that `DEBUG POPULATE` creates. Redis creates as many as it can
/// allocate.
const POPULATE_BYTES_MAX: u64 = 32 << 30;
/// The bytes that a value without a given size counts.
const POPULATE_VALUE_BYTES: u64 = 16;

fn populate(ctx: &mut Ctx<'_>, args: ArgList<'_>, reply: &mut Reply<'_>) -> Result<(), Error> {
    let positive = |text: &[u8]| {
        parse_i64(text)
            .filter(|number| *number >= 0)
            .ok_or(NOT_POSITIVE)
    };
    let count = positive(&args[0])?;
    let prefix = args.get(1).unwrap_or(b"key");
    let size = args
        .get(2)
        .map(positive)
        .transpose()?
        .unwrap_or(0)
        .unsigned_abs();
    if size > ctx.string_bytes_max() {
        return Err(STRING_TOO_LONG);
    }
    if count
        .unsigned_abs()
        .saturating_mul(size.max(POPULATE_VALUE_BYTES))
        > POPULATE_BYTES_MAX
    {
        return Err(POPULATE_TOO_MUCH);
    }
    for number in 0..count {
        let key = [prefix, b":", number.to_string().as_bytes()].concat();
        let mut value = format!("value:{number}").into_bytes();
        if size > 0 {
            value.resize(size as usize, 0);
        }
        ctx.view.update(&key, |slot| {
            if !slot.exists() {
                slot.set(value.as_slice(), Expiry::Clear);
            }
        });
    }
    reply.ok();
    Ok(())
}

/// Replies with a test value of a type, with the same contents as Redis.
fn protocol(kind: &[u8], reply: &mut Reply<'_>) -> Result<(), Error> {
    match kind.to_ascii_lowercase().as_slice() {
        b"string" => reply.bulk("Hello World"),
        b"integer" => reply.int(12_345),
        #[expect(
            clippy::approx_constant,
            reason = "Redis's test value, which is not meant as pi"
        )]
        b"double" => reply.double(3.141),
        b"null" => reply.null(),
        b"array" => {
            reply.array(3);
            (0..3).for_each(|number| reply.int(number));
        }
        b"set" => {
            reply.set(3);
            (0..3).for_each(|number| reply.int(number));
        }
        b"map" => {
            reply.map(3);
            for number in 0..3 {
                reply.int(number);
                reply.bool(number == 1);
            }
        }
        b"attrib" => {
            if reply.attributes(1) {
                reply.bulk("key-popularity");
                reply.array(2);
                reply.bulk("key:123");
                reply.int(90);
            }
            reply.bulk("Some real reply following the attribute");
        }
        b"push" if reply.proto() == Proto::Resp2 => return Err(RESP2_UNSUPPORTED),
        b"push" => {
            reply.push(2);
            reply.bulk("server-cpu-usage");
            reply.int(42);
            // A push message is not a reply: the reply to the request follows it.
            reply.bulk("Some real reply following the push reply");
        }
        b"bignum" => reply.big_number(b"1234567999999999999999999999999999999"),
        b"true" => reply.bool(true),
        b"false" => reply.bool(false),
        b"verbatim" => reply.verbatim(*b"txt", b"This is a verbatim\nstring"),
        _ => return Err(PROTOCOL_TYPE),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;
    use std::time::Duration;

    #[test]
    fn digest_depends_on_the_data_and_not_on_its_history() {
        let digest_after = |requests: &[&str]| {
            let mut client = Client::new();
            for request in requests {
                client.send(request);
            }
            client.send("DEBUG DIGEST")
        };
        let one = digest_after(&["SET a 1", "SET b 2", "MOVE b 3"]);
        let other = digest_after(&["SELECT 3", "SET b 2", "SELECT 0", "APPEND a 1"]);
        assert_eq!(one, other);
        assert_ne!(one, digest_after(&["SET a 1", "SET b 2", "MOVE b 4"]));
        assert_ne!(one, digest_after(&["SET a 1 EX 9", "SET b 2", "MOVE b 3"]));
        let empty = format!("+{}\r\n", "0".repeat(40));
        assert_eq!(digest_after(&[]), empty);
    }

    #[test]
    fn digest_equals_that_of_redis() {
        // From DEBUG DIGEST of Redis 7.0.
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            ("SET b hello EX 100", "+OK\r\n"),
            ("SELECT 9", "+OK\r\n"),
            ("SET c world", "+OK\r\n"),
            (
                "DEBUG DIGEST",
                "+9b2827655f60a62927a26823508a95d59f178c2e\r\n",
            ),
        ]);
    }

    #[test]
    fn object_describes_the_value_without_its_address() {
        let mut client = Client::new();
        client.check(&[("SET a xxxxx", "+OK\r\n")]);
        client.advance(Duration::from_secs(3));
        let described = "+Value at:0x0 refcount:1 encoding:embstr serializedlength:6 \
                         lru:5501184 lru_seconds_idle:3\r\n";
        client.check(&[("DEBUG OBJECT a", described)]);
    }

    #[test]
    fn packed_forms_are_described_if_the_value_has_them() {
        const THRESHOLD: &str =
            "-ERR argument must be a memory value bigger than 1 and smaller than 4gb\r\n";
        let mut client = Client::new();
        client.check(&[
            ("DEBUG LISTPACK h", "-ERR no such key\r\n"),
            ("HSET h a 1", ":1\r\n"),
            ("RPUSH l a", ":1\r\n"),
            (
                "DEBUG LISTPACK l",
                "-ERR Not a listpack encoded object.\r\n",
            ),
            (
                "DEBUG QUICKLIST h 1",
                "-ERR Not a quicklist encoded object.\r\n",
            ),
            ("DEBUG QUICKLIST-PACKED-THRESHOLD 5b", "+OK\r\n"),
            ("DEBUG QUICKLIST-PACKED-THRESHOLD 4gb", THRESHOLD),
            ("DEBUG QUICKLIST-PACKED-THRESHOLD -1", THRESHOLD),
        ]);
        let described = [
            ("DEBUG LISTPACK h", "encoding:listpack"),
            ("DEBUG QUICKLIST l", "encoding:quicklist"),
        ];
        for (request, encoding) in described {
            assert!(client.send(request).contains(encoding), "{request}");
        }
    }

    #[test]
    fn sleep_delays_the_reply() {
        let mut client = Client::new();
        let mut other = client.other();
        assert_eq!(client.send("DEBUG SLEEP 0.5"), "");
        other.check(&[("PING", "+PONG\r\n")]);
        client.advance(Duration::from_millis(499));
        assert_eq!(client.poll(), "");
        client.advance(Duration::from_millis(1));
        assert_eq!(client.poll(), "+OK\r\n");
    }

    #[test]
    fn populate_creates_only_missing_keys() {
        Client::new().check(&[
            ("SET key:1 mine", "+OK\r\n"),
            ("DEBUG POPULATE 3", "+OK\r\n"),
            (
                "MGET key:0 key:1 key:2",
                "*3\r\n$7\r\nvalue:0\r\n$4\r\nmine\r\n$7\r\nvalue:2\r\n",
            ),
            ("DEBUG POPULATE 1 p 3", "+OK\r\n"),
            ("GET p:0", "$3\r\nval\r\n"),
            (
                "DEBUG POPULATE 9223372036854775807",
                "-ERR OOM in dictTryExpand\r\n",
            ),
            (
                "DEBUG POPULATE 1 p -1",
                "-ERR value is out of range, must be positive\r\n",
            ),
            (
                "DEBUG POPULATE 1 p 99999999999",
                "-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n",
            ),
        ]);
    }

    #[test]
    fn protocol_replies_with_every_type_of_resp3() {
        let mut client = Client::new();
        client.check(&[(
            "DEBUG PROTOCOL push",
            "-ERR RESP2 is not supported by this command\r\n",
        )]);
        assert!(client.send("HELLO 3").starts_with('%'));
        client.check(&[
            ("DEBUG PROTOCOL string", "$11\r\nHello World\r\n"),
            ("DEBUG PROTOCOL integer", ":12345\r\n"),
            ("DEBUG PROTOCOL double", ",3.141\r\n"),
            ("DEBUG PROTOCOL null", "_\r\n"),
            ("DEBUG PROTOCOL array", "*3\r\n:0\r\n:1\r\n:2\r\n"),
            ("DEBUG PROTOCOL set", "~3\r\n:0\r\n:1\r\n:2\r\n"),
            ("DEBUG PROTOCOL map", "%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f\r\n"),
            (
                "DEBUG PROTOCOL push",
                ">2\r\n$16\r\nserver-cpu-usage\r\n:42\r\n$40\r\nSome real reply following the push reply\r\n",
            ),
            ("DEBUG PROTOCOL true", "#t\r\n"),
            ("DEBUG PROTOCOL verbatim", "=29\r\ntxt:This is a verbatim\nstring\r\n"),
        ]);
        assert!(
            client
                .send("DEBUG PROTOCOL attrib")
                .starts_with("|1\r\n$14\r\nkey-popularity\r\n*2\r\n")
        );
        assert!(
            client
                .send("DEBUG PROTOCOL maybe")
                .starts_with("-ERR Wrong protocol type name.")
        );
    }

    #[test]
    fn harmful_subcommand_is_refused_as_unknown() {
        let mut client = Client::new();
        for name in [
            "JMAP",
            "SEGFAULT",
            "PANIC",
            "OOM",
            "RELOAD",
            "LOADAOF",
            "RESTART",
            "CRASH-AND-RECOVER",
        ] {
            let refusal = format!(
                "-ERR unknown subcommand or wrong number of arguments for '{name}'. Try DEBUG HELP.\r\n"
            );
            client.check(&[(&format!("DEBUG {name}"), &refusal)]);
        }
    }
}
