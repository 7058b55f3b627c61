//! The limits of a driver: sizes of reads, limits of turns, and times to wait.

/// Limits of a driver's turns and waits. The unit ends each name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes one read takes. One such buffer exists per thread, none per connection, so a
    /// large one costs little. A deep pipeline is served in pieces of this size.
    pub buffer_bytes: usize,
    /// The most reads and writes of one connection before the other connections have their turn.
    pub io_calls_per_turn_max: u32,
    /// The most connections accepted in a row before the open ones are served.
    pub accepts_per_turn_max: u32,
    /// How long accepting pauses when the process is out of descriptors. An immediate retry would
    /// only waste processor time.
    pub accept_backoff_ms: u32,
    /// How long a stopping server waits for commands to end and for peers to read their replies.
    /// Then it cuts the connections.
    pub shutdown_grace_ms: u32,
    /// How long a closing connection keeps discarding what the peer sends. This applies after a
    /// protocol error, and at a shutdown if the connection got a reply within this time. Closing a
    /// socket with unread input makes TCP drop replies that are on their way.
    pub linger_ms: u32,
    /// The most bytes discarded in that time.
    pub linger_bytes_max: usize,
    /// How long a closing or idle peer may leave its output unread before it is cut.
    pub stall_ms_max: u32,
    /// How long a closing connection waits until what its replies show is kept. Then it is cut, without
    /// these replies.
    pub held_ms_max: u32,
}

impl Limits {
    /// Turns take about a millisecond at most; slow peers get some seconds.
    pub const DEFAULT: Self = Self {
        buffer_bytes: 64 << 10,
        io_calls_per_turn_max: 4,
        accepts_per_turn_max: 64,
        accept_backoff_ms: 100,
        shutdown_grace_ms: 10_000,
        linger_ms: 1_000,
        linger_bytes_max: 1 << 20,
        stall_ms_max: 30_000,
        held_ms_max: 60_000,
    };

    /// One row per limit. Flags, `CONFIG` and the table of limits are made from these rows.
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
        LimitRow {
            name: "held-ms-max",
            unit: "ms",
            min: 1,
            max: 3_600_000,
            get: |limits| u64::from(limits.held_ms_max),
            set: |limits, value| limits.held_ms_max = value as u32,
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

/// The limits that a connection keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    pub(crate) io_calls_per_turn_max: u32,
    pub(crate) linger_ms: u32,
    pub(crate) linger_bytes_max: usize,
    pub(crate) stall_ms_max: u32,
    pub(crate) held_ms_max: u32,
}

impl ConnectionLimits {
    pub(crate) fn of(limits: &Limits) -> Self {
        Self {
            io_calls_per_turn_max: limits.io_calls_per_turn_max,
            linger_ms: limits.linger_ms,
            linger_bytes_max: limits.linger_bytes_max,
            stall_ms_max: limits.stall_ms_max,
            held_ms_max: limits.held_ms_max,
        }
    }
}

/// One limit and its name. Read the default from [`Limits::DEFAULT`] with `get`.
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// The name, in the form of flags and `CONFIG`.
    pub name: &'static str,
    /// What the number counts.
    pub unit: &'static str,
    /// The least valid value.
    pub min: u64,
    /// The greatest valid value.
    pub max: u64,
    /// Reads the limit.
    pub get: fn(&Limits) -> u64,
    /// Sets the limit; the caller has checked the range.
    pub set: fn(&mut Limits, u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_a_row_that_reads_and_writes_it() {
        // A new field does not compile here until it is named; then it needs a row.
        let Limits {
            buffer_bytes,
            io_calls_per_turn_max,
            accepts_per_turn_max,
            accept_backoff_ms,
            shutdown_grace_ms,
            linger_ms,
            linger_bytes_max,
            stall_ms_max,
            held_ms_max,
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
            u64::from(held_ms_max),
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
