//! The bounds of a driver: sizes of reads, of turns and of waits.

/// What a driver may do per turn and how long it waits for peers. Units stand last in the names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes one read takes. One such buffer exists per thread, none per connection, so a
    /// large one costs little; it is what a deep pipeline is cut into.
    pub buffer_bytes: usize,
    /// The most reads and writes one connection gets before the others have their turn.
    pub io_calls_per_turn_max: u32,
    /// The most connections accepted in a row before the open ones are served.
    pub accepts_per_turn_max: u32,
    /// How long accepting rests when the process is out of descriptors; retrying at once would
    /// only burn the processor.
    pub accept_backoff_ms: u32,
    /// How long a stopping server waits for commands to end and for peers to take what they are owed; then
    /// it cuts them.
    pub shutdown_grace_ms: u32,
    /// How long a connection that ends in a protocol error, or was answered that lately when the
    /// server stops, goes on discarding what the peer still sends. Closing a socket with unread input
    /// makes TCP drop replies that are on their way.
    pub linger_ms: u32,
    /// How much is discarded at most in that time.
    pub linger_bytes_max: usize,
    /// How long a closing or idle peer may leave what it is owed untouched before it is cut.
    pub stall_ms_max: u32,
}

impl Limits {
    /// Turns of about a millisecond at most, and patience for slow peers of seconds.
    pub const DEFAULT: Self = Self {
        buffer_bytes: 64 << 10,
        io_calls_per_turn_max: 4,
        accepts_per_turn_max: 64,
        accept_backoff_ms: 100,
        shutdown_grace_ms: 10_000,
        linger_ms: 1_000,
        linger_bytes_max: 1 << 20,
        stall_ms_max: 30_000,
    };

    /// One row per limit, from which flags, `CONFIG` and the table of limits are made.
    pub const ROWS: &'static [LimitRow] = &[
        LimitRow {
            name: "buffer",
            unit: "bytes",
            min: 16,
            max: 1 << 30,
            get: |limits| limits.buffer_bytes as u64,
            set: |limits, value| limits.buffer_bytes = value as usize,
        },
        LimitRow {
            name: "io-calls-per-turn-max",
            unit: "calls",
            min: 1,
            max: 1 << 20,
            get: |limits| u64::from(limits.io_calls_per_turn_max),
            set: |limits, value| limits.io_calls_per_turn_max = value as u32,
        },
        LimitRow {
            name: "accepts-per-turn-max",
            unit: "connections",
            min: 1,
            max: 1 << 20,
            get: |limits| u64::from(limits.accepts_per_turn_max),
            set: |limits, value| limits.accepts_per_turn_max = value as u32,
        },
        LimitRow {
            name: "accept-backoff-ms",
            unit: "ms",
            min: 1,
            max: 60_000,
            get: |limits| u64::from(limits.accept_backoff_ms),
            set: |limits, value| limits.accept_backoff_ms = value as u32,
        },
        LimitRow {
            name: "shutdown-timeout",
            unit: "s",
            min: 0,
            max: 3600,
            get: |limits| u64::from(limits.shutdown_grace_ms / 1000),
            set: |limits, value| limits.shutdown_grace_ms = value as u32 * 1000,
        },
        LimitRow {
            name: "linger-ms",
            unit: "ms",
            min: 0,
            max: 60_000,
            get: |limits| u64::from(limits.linger_ms),
            set: |limits, value| limits.linger_ms = value as u32,
        },
        LimitRow {
            name: "linger-bytes-max",
            unit: "bytes",
            min: 0,
            max: 1 << 30,
            get: |limits| limits.linger_bytes_max as u64,
            set: |limits, value| limits.linger_bytes_max = value as usize,
        },
        LimitRow {
            name: "stall-ms-max",
            unit: "ms",
            min: 1,
            max: 3_600_000,
            get: |limits| u64::from(limits.stall_ms_max),
            set: |limits, value| limits.stall_ms_max = value as u32,
        },
    ];
}

const _: () = assert!(
    Limits::DEFAULT.io_calls_per_turn_max >= 2,
    "a read and its reply"
);
const _: () = assert!(Limits::DEFAULT.linger_ms <= Limits::DEFAULT.stall_ms_max);

impl Default for Limits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// One limit by its name. The default is read from [`Limits::DEFAULT`] with `get`.
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// The name, in the form that flags and `CONFIG` use where they have it.
    pub name: &'static str,
    /// What the number counts.
    pub unit: &'static str,
    /// The least value that makes sense.
    pub min: u64,
    /// The most.
    pub max: u64,
    /// Reads it.
    pub get: fn(&Limits) -> u64,
    /// Writes it; the caller has checked the range.
    pub set: fn(&mut Limits, u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_row_that_reads_and_writes_it() {
        // A field that is added fails to compile here until it is named, and then needs its row.
        let Limits {
            buffer_bytes,
            io_calls_per_turn_max,
            accepts_per_turn_max,
            accept_backoff_ms,
            shutdown_grace_ms,
            linger_ms,
            linger_bytes_max,
            stall_ms_max,
        } = Limits::DEFAULT;
        let defaults = [
            buffer_bytes as u64,
            u64::from(io_calls_per_turn_max),
            u64::from(accepts_per_turn_max),
            u64::from(accept_backoff_ms),
            u64::from(shutdown_grace_ms / 1000),
            u64::from(linger_ms),
            linger_bytes_max as u64,
            u64::from(stall_ms_max),
        ];
        assert_eq!(Limits::ROWS.len(), defaults.len());
        for (row, default) in Limits::ROWS.iter().zip(defaults) {
            assert_eq!((row.get)(&Limits::DEFAULT), default, "{}", row.name);
            assert!((row.min..=row.max).contains(&default), "{}", row.name);
            let mut changed = Limits::DEFAULT;
            (row.set)(&mut changed, row.max);
            assert_eq!((row.get)(&changed), row.max, "{}", row.name);
        }
    }
}
