//! `RESTORE key ttl payload [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]`: creates a key
//! from a payload of `DUMP`, from this server or from Redis up to 7.0.
//!
//! `ttl` is in milliseconds, from now or, with `ABSTTL`, as unix time; 0 means no expiry. Strings
//! are the only type so far, so the payload of any other type is a `Bad data format`. As in Redis,
//! `IDLETIME` and `FREQ` take effect if the eviction policy ranks keys by that measure.

use crate::errors::{
    BUSY_KEY, PAYLOAD_FOOTER, PAYLOAD_FORMAT, RESTORE_FREQUENCY, RESTORE_IDLE_TIME, RESTORE_TTL,
    SYNTAX,
};
use crate::notify;
use crate::options::{Options, integer, is_word};
use crate::rdb::PayloadError;
use crate::value::new_value;
use crate::{Ctx, rdb};
use respire_engine::{
    Arg, ArgKind, ArgList, Arity, Error, Flags, Group, KeyFlag, KeySpec, Reply, Spec,
};
use respire_store::{Access, Expiry, NewValue};

pub(super) static RESTORE: Spec = Spec {
    name: "restore",
    summary: "Create a key using the provided serialized value, previously obtained using DUMP.",
    since: "2.6.0",
    complexity: "O(1) to create the new key and additional O(N*M) to reconstruct the serialized value, where N is the number of Redis objects composing the value and M their average size. For small string values the time complexity is thus O(1)+O(1*M) where M is small, so simply O(1). However for sorted set values the complexity is O(N*M*log(N)) because inserting values into sorted sets is O(log(N)).",
    group: Group::Generic,
    arity: Arity::at_least(4),
    flags: Flags::WRITE.with(Flags::DENYOOM),
    categories: &["dangerous"],
    keys: &[KeySpec::at(1).flags(&[KeyFlag::Ow, KeyFlag::Update])],
    args: &[
        Arg::key("key", 0),
        Arg::new("ttl", ArgKind::Integer),
        Arg::new("serialized-value", ArgKind::String),
        Arg::word("replace", "REPLACE").since("3.0.0").optional(),
        Arg::word("absttl", "ABSTTL").since("5.0.0").optional(),
        Arg::new("seconds", ArgKind::Integer)
            .token("IDLETIME")
            .since("5.0.0")
            .optional(),
        Arg::new("frequency", ArgKind::Integer)
            .token("FREQ")
            .since("5.0.0")
            .optional(),
    ],
    history: &[
        ("3.0.0", "Added the `REPLACE` modifier."),
        ("5.0.0", "Added the `ABSTTL` modifier."),
        ("5.0.0", "Added the `IDLETIME` and `FREQ` options."),
    ],
    examples: &[
        ("RESTORE a 0 \"\\x00\\x03cwl\\n\\x00sW{~a/+4\"", "+OK\r\n"),
        ("GET a", "$3\r\ncwl\r\n"),
        (
            "RESTORE a 0 \"\\x00\\x03cwl\\n\\x00sW{~a/+4\"",
            "-BUSYKEY Target key name already exists.\r\n",
        ),
        (
            "RESTORE a 100000 \"\\x00\\x03cwl\\n\\x00sW{~a/+4\" REPLACE",
            "+OK\r\n",
        ),
        ("TTL a", ":100\r\n"),
        (
            "RESTORE b 0 payload",
            "-ERR DUMP payload version or checksum are wrong\r\n",
        ),
    ],
    ..Spec::EMPTY
};

pub(super) fn run(
    ctx: &mut Ctx<'_>,
    args: ArgList<'_>,
    reply: &mut Reply<'_>,
) -> Result<(), Error> {
    let (key, ttl, payload) = (&args[0], &args[1], &args[2]);
    let options = RestoreOptions::parse(Options::new(args.skip(3)))?;
    let now_ms = ctx.view.now_ms();
    let expiry = options.expiry(ttl, ctx.now.unix_ms());
    // Unpacking may take long, so it runs before the key is locked. An existing key is nevertheless
    // the first error to report.
    let value = match rdb::restore(payload, ctx.kv.types, ctx.kv.store()) {
        // A long string is not copied.
        Ok(NewValue::Bytes(bytes)) => Ok(new_value(ctx.client, bytes)),
        Ok(value) => Ok(value),
        Err(PayloadError::Footer) => Err(PAYLOAD_FOOTER),
        Err(PayloadError::Format) => Err(PAYLOAD_FORMAT),
    };
    ctx.view.update(key, |slot| {
        if !options.replace && slot.exists() {
            return Err(BUSY_KEY);
        }
        let (expiry, value) = (expiry?, value?);
        if matches!(expiry, Expiry::At(at) if at <= now_ms) {
            // Unlike SET, it changes nothing if the key was absent.
            if slot.remove() {
                slot.event(notify::DEL);
            }
            return Ok(());
        }
        slot.about_to_replace();
        slot.set(value, expiry);
        slot.event(notify::RESTORE);
        if let Some(access) = options.access {
            slot.set_access(access);
        }
        Ok(())
    })?;
    reply.ok();
    Ok(())
}

/// The options of one request.
#[derive(Default)]
struct RestoreOptions {
    replace: bool,
    is_unix_time: bool,
    access: Option<Access>,
}

impl RestoreOptions {
    fn parse(mut options: Options<'_>) -> Result<Self, Error> {
        let mut parsed = Self::default();
        while let Some(word) = options.next() {
            if is_word(word, "REPLACE") {
                parsed.replace = true;
            } else if is_word(word, "ABSTTL") {
                parsed.is_unix_time = true;
            } else if is_word(word, "IDLETIME") {
                if matches!(parsed.access, Some(Access::Frequency(_))) {
                    return Err(SYNTAX);
                }
                let idle_s = u64::try_from(options.integer()?).map_err(|_| RESTORE_IDLE_TIME)?;
                parsed.access = Some(Access::IdleMs(idle_s.saturating_mul(1000)));
            } else if is_word(word, "FREQ") {
                if matches!(parsed.access, Some(Access::IdleMs(_))) {
                    return Err(SYNTAX);
                }
                let counter = u8::try_from(options.integer()?).map_err(|_| RESTORE_FREQUENCY)?;
                parsed.access = Some(Access::Frequency(counter));
            } else {
                return Err(SYNTAX);
            }
        }
        Ok(parsed)
    }

    fn expiry(&self, ttl: &[u8], now_ms: u64) -> Result<Expiry, Error> {
        let ttl = u64::try_from(integer(ttl)?).map_err(|_| RESTORE_TTL)?;
        Ok(match ttl {
            0 => Expiry::Clear,
            _ if self.is_unix_time => Expiry::At(ttl),
            // Redis wraps around on overflow, to a time in the distant past.
            _ => Expiry::At(
                ttl.checked_add(now_ms)
                    .filter(|at| i64::try_from(*at).is_ok())
                    .unwrap_or(0),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::key::testing::Client;

    const PAYLOAD: &str = "\"\\x00\\x03cwl\\n\\x00sW{~a/+4\"";
    /// The letter `a` 30 times, packed.
    const PACKED: &str =
        "\"\\x00\\xc3\\x09\\x1e\\x01aa\\xe0\\x11\\x00\\x01aa\\n\\x00Es|\\xbb+d{\\xbb\"";

    #[test]
    fn time_to_live_is_relative_unless_absttl_is_given() {
        Client::new().check(&[
            (&format!("RESTORE a 5000 {PAYLOAD}"), "+OK\r\n"),
            ("PTTL a", ":5000\r\n"),
            (
                &format!("RESTORE b 1700000005000 {PAYLOAD} absttl"),
                "+OK\r\n",
            ),
            ("PTTL b", ":5000\r\n"),
            (&format!("RESTORE a 0 {PACKED} REPLACE"), "+OK\r\n"),
            ("PTTL a", ":-1\r\n"),
            ("STRLEN a", ":30\r\n"),
        ]);
    }

    #[test]
    fn time_in_the_past_leaves_no_key() {
        Client::new().check(&[
            ("SET a 1", "+OK\r\n"),
            (&format!("RESTORE a 5 {PAYLOAD} ABSTTL REPLACE"), "+OK\r\n"),
            ("EXISTS a", ":0\r\n"),
            (
                &format!("RESTORE a 9223372036854775807 {PAYLOAD}"),
                "+OK\r\n",
            ),
            ("EXISTS a", ":0\r\n"),
            (
                &format!("RESTORE a 9223372036854775807 {PAYLOAD} ABSTTL"),
                "+OK\r\n",
            ),
            ("PEXPIRETIME a", ":9223372036854775807\r\n"),
        ]);
    }

    #[test]
    fn idle_time_or_frequency_is_restored_as_the_policy_requires() {
        Client::new().check(&[
            (
                &format!("RESTORE a 0 {PAYLOAD} IDLETIME 5 idletime 90"),
                "+OK\r\n",
            ),
            ("OBJECT IDLETIME a", ":90\r\n"),
            (&format!("RESTORE b 0 {PAYLOAD} FREQ 200"), "+OK\r\n"),
            ("OBJECT IDLETIME b", ":0\r\n"),
            ("CONFIG SET maxmemory-policy allkeys-lfu", "+OK\r\n"),
            (
                &format!("RESTORE b 0 {PAYLOAD} FREQ 200 REPLACE"),
                "+OK\r\n",
            ),
            ("OBJECT FREQ b", ":200\r\n"),
        ]);
    }

    #[test]
    fn errors_are_checked_in_the_order_of_redis() {
        const NO_INTEGER: &str = "-ERR value is not an integer or out of range\r\n";
        Client::new().check(&[
            ("RESTORE a x x KEEP", "-ERR syntax error\r\n"),
            (
                "RESTORE a x x FREQ 256",
                "-ERR Invalid FREQ value, must be >= 0 and <= 255\r\n",
            ),
            (
                "RESTORE a x x IDLETIME -1",
                "-ERR Invalid IDLETIME value, must be >= 0\r\n",
            ),
            ("RESTORE a x x IDLETIME soon", NO_INTEGER),
            ("RESTORE a x x IDLETIME 1 FREQ 1", "-ERR syntax error\r\n"),
            ("RESTORE a x x", NO_INTEGER),
            ("RESTORE a -1 x", "-ERR Invalid TTL value, must be >= 0\r\n"),
            (
                "RESTORE a 0 x",
                "-ERR DUMP payload version or checksum are wrong\r\n",
            ),
            ("SET a 1", "+OK\r\n"),
            (
                "RESTORE a x x",
                "-BUSYKEY Target key name already exists.\r\n",
            ),
            ("RESTORE a x x REPLACE", NO_INTEGER),
        ]);
    }
}
