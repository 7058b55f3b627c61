//! The flags of a command.

use std::ops::BitOr;

/// The properties of a command: the flags of `COMMAND INFO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Flags(u32);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// May change the data.
    pub const WRITE: Self = Self(1);
    /// Never changes the data.
    pub const READONLY: Self = Self(1 << 1);
    /// Refused if memory is used up.
    pub const DENYOOM: Self = Self(1 << 2);
    /// For administrators of the server.
    pub const ADMIN: Self = Self(1 << 3);
    /// Part of publish and subscribe.
    pub const PUBSUB: Self = Self(1 << 4);
    /// Not allowed in scripts.
    pub const NOSCRIPT: Self = Self(1 << 5);
    /// May wait for a long time.
    pub const BLOCKING: Self = Self(1 << 6);
    /// Allowed while loading.
    pub const LOADING: Self = Self(1 << 7);
    /// Allowed on stale data.
    pub const STALE: Self = Self(1 << 8);
    /// Not shown to monitors.
    pub const SKIP_MONITOR: Self = Self(1 << 9);
    /// Not recorded in the slow log.
    pub const SKIP_SLOWLOG: Self = Self(1 << 10);
    /// Constant or logarithmic cost.
    pub const FAST: Self = Self(1 << 11);
    /// Allowed before authentication.
    pub const NO_AUTH: Self = Self(1 << 12);
    /// Allowed while busy.
    pub const ALLOW_BUSY: Self = Self(1 << 13);
    /// Finding its keys requires parsing the arguments.
    pub const MOVABLE_KEYS: Self = Self(1 << 14);
    /// Refused inside `MULTI`.
    pub const NO_MULTI: Self = Self(1 << 15);
    /// Runs at once inside `MULTI` instead of being queued (EXEC, DISCARD, MULTI, WATCH, QUIT, RESET).
    pub const IMMEDIATE: Self = Self(1 << 16);
    /// Uses keys that are not described by [`Spec::keys`](crate::Spec::keys) in the selected
    /// database: all keys (KEYS, SCAN, FLUSHALL, SWAPDB) or keys of another database (MOVE, COPY).
    /// `EXEC` then locks all shards.
    pub const ALL_KEYS: Self = Self(1 << 17);

    /// Allowed on a RESP2 connection with a subscription (SUBSCRIBE and similar commands, PING,
    /// QUIT, RESET).
    pub const SUBSCRIBED: Self = Self(1 << 18);

    /// Later requests need not wait for its reply if the reply is deferred.
    pub const PIPELINED: Self = Self(1 << 19);

    /// Each call costs the same, regardless of its arguments and the values that it works on, apart
    /// from receiving the request and sending the reply.
    ///
    /// The first 10,000 calls of such a command are timed, and after that one in 128, chosen at
    /// random: reading the clock twice costs more than a `GET`. So an unusually slow later call (a
    /// handler that waited for a lock, a page that was swapped out) is in the slow log with a
    /// probability of 1/128. With a `slowlog-log-slower-than` below 1000, or with any
    /// [layer](crate::Layer), every call is timed.
    ///
    /// A command has this flag only if it declares it, and `COMMAND` does not list it.
    /// [`Flags::FAST`] means less: Redis gives it to `MGET` and `EXISTS`, whose cost grows with the
    /// number of keys.
    pub const CONSTANT: Self = Self(1 << 20);

    /// Runs the queue of `MULTI` (`EXEC`). If it is refused, it ends the transaction.
    pub const EXEC: Self = Self(1 << 21);

    /// Runs other commands, and may use keys that it does not name ([`Calls`](crate::Calls)).
    pub const SCRIPT: Self = Self(1 << 22);

    /// Accepts requests without a key.
    pub const NO_MANDATORY_KEYS: Self = Self(1 << 23);

    /// Counts as a write during `CLIENT PAUSE ... WRITE` and in read-only scripts without having
    /// [`Flags::WRITE`]: it may run commands that write (`EVAL`), or its effect leaves the server
    /// (`PUBLISH`). [`Command::may_write`](crate::Command::may_write) decides for each request.
    pub const MAY_WRITE: Self = Self(1 << 24);

    /// Asks whether the server runs as it should (`PING`): it gets `BUSY` while a script runs for longer
    /// than `busy-reply-threshold`, even though it would not wait for it.
    pub const PROBE: Self = Self(1 << 25);

    /// Refused while a replica loads a new data set beside the old one (`SAVE`). There is no such state here; clients see
    /// the flag.
    pub const NO_ASYNC_LOADING: Self = Self(1 << 26);

    /// The union of both sets, usable in constants.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any flag of `other` is set.
    #[must_use]
    pub const fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The names in `COMMAND INFO`, in Redis's order, without Respire's own flags.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        const NAMES: [(Flags, &str); 18] = [
            (Flags::WRITE, "write"),
            (Flags::READONLY, "readonly"),
            (Flags::DENYOOM, "denyoom"),
            (Flags::ADMIN, "admin"),
            (Flags::PUBSUB, "pubsub"),
            (Flags::NOSCRIPT, "noscript"),
            (Flags::BLOCKING, "blocking"),
            (Flags::LOADING, "loading"),
            (Flags::STALE, "stale"),
            (Flags::SKIP_MONITOR, "skip_monitor"),
            (Flags::SKIP_SLOWLOG, "skip_slowlog"),
            (Flags::FAST, "fast"),
            (Flags::NO_AUTH, "no_auth"),
            (Flags::NO_MANDATORY_KEYS, "no_mandatory_keys"),
            (Flags::NO_ASYNC_LOADING, "no_async_loading"),
            (Flags::NO_MULTI, "no_multi"),
            (Flags::MOVABLE_KEYS, "movablekeys"),
            (Flags::ALLOW_BUSY, "allow_busy"),
        ];
        NAMES
            .into_iter()
            .filter(move |(flag, _)| self.has(*flag))
            .map(|(_, name)| name)
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.with(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_names_exclude_respires_own_flags() {
        let flags = Flags::WRITE | Flags::FAST | Flags::ALL_KEYS | Flags::CONSTANT;
        assert_eq!(flags.names().collect::<Vec<_>>(), ["write", "fast"]);
    }
}
