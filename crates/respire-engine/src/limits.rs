//! The limits on one connection's memory and on one turn.

/// The limits of a session. Units are the last word of the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum bulk length in a request, in bytes (`proto-max-bulk-len`). A longer one is a
    /// protocol error, detected from its header.
    pub bulk_bytes_max: u64,
    /// The maximum number of arguments in a request, as in Redis; more is a protocol error. An
    /// announced count reserves no memory.
    pub arguments_max: u32,
    /// The maximum length of an inline request in bytes; a longer one is a protocol error.
    pub inline_bytes_max: u32,
    /// The maximum number of requests in a turn, so that a long pipeline does not delay other
    /// connections.
    pub commands_per_poll_max: u32,
    /// The turn ends when this many bytes wait for the peer. No more is read until it has read
    /// them.
    pub output_bytes_max: usize,
    /// The maximum number of message bytes that wait for a slow subscriber. Beyond that its
    /// connection is closed, as by Redis's `client-output-buffer-limit pubsub`.
    pub mailbox_bytes_max: usize,
    /// While a connection waits (for a deferred reply, `CLIENT PAUSE`, `DEBUG SLEEP`), reading
    /// stops at this many bytes.
    pub waiting_input_bytes_max: usize,
    /// The maximum number of pending calls of one connection, for commands that let later requests
    /// run. At the maximum, the next request waits.
    pub pending_calls_max: usize,
    /// The maximum number of bytes of finished replies that wait behind a pending call. At the
    /// maximum, the next request waits.
    pub parked_bytes_max: usize,
    /// How long pending calls may continue after the peer closed its side, since the last answer,
    /// in milliseconds. The peer may be gone, or may still wait for its replies.
    pub half_closed_ms_max: u32,
    /// The number of wrong passwords that a connection, and an address, may send in a row before
    /// further attempts are delayed, because people mistype.
    pub wrong_passwords_free: u32,
    /// The maximum delay of an attempt to authenticate after wrong passwords, in milliseconds. The
    /// right password is delayed too, so this is below the timeouts of client libraries.
    pub auth_wait_ms_max: u32,
    /// How long wrong passwords count after the last one, in seconds.
    pub wrong_passwords_kept_s: u32,
    /// The maximum number of addresses whose wrong passwords are stored. Beyond that, the address
    /// with the oldest failure is removed.
    pub auth_peers_max: usize,
    /// The maximum number of unknown command names that are counted by name and logged.
    pub unknown_names_max: usize,
    /// The maximum number of requests that `MULTI` may queue. Beyond it, `EXEC` refuses the
    /// transaction.
    pub queued_commands_max: usize,
    /// The maximum number of bytes that `MULTI` may queue. Beyond it, `EXEC` refuses the
    /// transaction.
    pub queued_bytes_max: usize,
}

impl Limits {
    /// The limits of Redis, and turns short enough to keep the p99 latency of other connections
    /// low.
    pub const DEFAULT: Self = Self {
        bulk_bytes_max: 512 << 20,
        arguments_max: i32::MAX as u32,
        inline_bytes_max: 64 << 10,
        commands_per_poll_max: 1024,
        output_bytes_max: 1 << 20,
        mailbox_bytes_max: 32 << 20,
        waiting_input_bytes_max: 64 << 10,
        pending_calls_max: 128,
        parked_bytes_max: 1 << 20,
        half_closed_ms_max: 1_000,
        wrong_passwords_free: 3,
        auth_wait_ms_max: 1_000,
        wrong_passwords_kept_s: 60,
        auth_peers_max: 1024,
        unknown_names_max: 128,
        queued_commands_max: 1 << 20,
        queued_bytes_max: 1 << 30,
    };
}

impl Limits {
    /// The codec's limits for clients that have authenticated or need not.
    #[must_use]
    pub fn codec(&self) -> resp_codec::Limits {
        resp_codec::Limits {
            max_bulk: self.bulk_bytes_max,
            max_args: self.arguments_max,
            max_inline: self.inline_bytes_max,
            ..resp_codec::Limits::SERVER
        }
    }

    /// The codec's limits for unauthenticated clients: as tight as Redis's.
    #[must_use]
    pub fn codec_before_password(&self) -> resp_codec::Limits {
        let (ours, strangers) = (self.codec(), resp_codec::Limits::UNAUTHENTICATED);
        resp_codec::Limits {
            max_bulk: ours.max_bulk.min(strangers.max_bulk),
            max_args: ours.max_args.min(strangers.max_args),
            ..strangers
        }
    }
}

const _: () = assert!(Limits::DEFAULT.inline_bytes_max as u64 <= Limits::DEFAULT.bulk_bytes_max);
const _: () = assert!(Limits::DEFAULT.commands_per_poll_max > 0);
const _: () = assert!(Limits::DEFAULT.auth_peers_max > 0);
const _: () = assert!(Limits::DEFAULT.pending_calls_max > 0);
const _: () = assert!(Limits::DEFAULT.bulk_bytes_max <= Limits::DEFAULT.queued_bytes_max as u64);

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}
