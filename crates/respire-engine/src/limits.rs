//! The bounds of one connection's memory and of one turn.

/// What a session may hold and do before it must give way. Units stand last in the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest bulk a request may carry, in bytes (`proto-max-bulk-len`). A longer one is a
    /// protocol error, decided from its header.
    pub bulk_bytes_max: u64,
    /// The most arguments one request may have, as in Redis; more is a protocol error. Nothing is
    /// reserved for a count: each argument has to arrive.
    pub arguments_max: u32,
    /// The longest inline request in bytes; longer is a protocol error.
    pub inline_bytes_max: u32,
    /// The most requests one turn serves, so that a long pipeline does not starve its neighbours.
    pub commands_per_poll_max: u32,
    /// A turn ends when the peer is owed this many bytes; nothing more is read until it took them.
    pub output_bytes_max: usize,
    /// What may wait for a subscriber that does not take its messages, in bytes; past that its
    /// connection is closed, as by Redis's `client-output-buffer-limit pubsub`.
    pub mailbox_bytes_max: usize,
    /// While a connection waits (a reply that comes later, `CLIENT PAUSE`, `DEBUG SLEEP`), reading
    /// stops at this many bytes.
    pub waiting_input_bytes_max: usize,
    /// The most calls of one connection that may be pending at a time, where their commands let
    /// the requests behind them run; the next request waits.
    pub pending_calls_max: usize,
    /// What finished replies may take that wait for a pending call before them, in bytes; past that
    /// the next request waits.
    pub parked_bytes_max: usize,
    /// How long pending calls may go on after the peer closed its side, from one answer to the next,
    /// in milliseconds: it may have gone, or still wait for what it asked for.
    pub half_closed_ms_max: u32,
    /// The wrong passwords that a connection, and an address, may give in a row before further
    /// attempts wait: people mistype.
    pub wrong_passwords_free: u32,
    /// The longest an attempt to authenticate waits after wrong passwords, in milliseconds. The right
    /// password waits too, so this is kept below the patience of client libraries.
    pub auth_wait_ms_max: u32,
    /// How long wrong passwords are remembered after the last one, in seconds.
    pub wrong_passwords_kept_s: u32,
    /// Of how many addresses wrong passwords are remembered; then the quietest is forgotten.
    pub auth_peers_max: usize,
    /// How many names of commands that are not there are counted one by one, and logged.
    pub unknown_names_max: usize,
    /// The most requests `MULTI` may queue, and
    pub queued_commands_max: usize,
    /// the most bytes; past either the transaction is refused at `EXEC`.
    pub queued_bytes_max: usize,
}

impl Limits {
    /// What Redis allows, and turns that keep the p99 of the neighbours low.
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
    /// What these make of the codec's limits, for peers that have authenticated or need not.
    #[must_use]
    pub fn codec(&self) -> resp_codec::Limits {
        resp_codec::Limits {
            max_bulk: self.bulk_bytes_max,
            max_args: self.arguments_max,
            max_inline: self.inline_bytes_max,
            ..resp_codec::Limits::SERVER
        }
    }

    /// The same for peers that have yet to authenticate: as tight as Redis's.
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
