//! What a log tells about itself.

/// What keeps a log from taking changes as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The disk is full. The bytes are kept and tried again; writes should be refused (`-MISCONF`).
    NoSpace,
    /// A file failed. The log waits for a base from memory; replies are held.
    Renewing,
    /// The same, for longer than `hold_ms`: held replies should become `-MISCONF`.
    Overdue,
    /// The new files failed too. Writes should be refused; the log goes on trying.
    Failed,
}

/// A rewrite: from the cut to the moment when its base is listed. A later one makes it stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RewriteId(pub u64);

/// Why a rewrite cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// One is in progress.
    InProgress,
    /// The log is stopping or starting, or its disk is full.
    NotNow,
}

/// Tickets of a batch that does not follow the batch before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    /// The first ticket that was expected.
    pub expected: u64,
}

/// Figures for `INFO persistence` and metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// `aof_current_size`: bytes of the base and all increments.
    pub current_bytes: u64,
    /// `aof_base_size`: the same after the latest rewrite or start.
    pub base_bytes: u64,
    /// Bytes that are not written yet: `aof_buffer_length`.
    pub waiting_bytes: u64,
    /// Bytes that are written and not known to be durable.
    pub unsynced_bytes: u64,
    /// `aof_pending_bio_fsync`: syncs in flight.
    pub syncs_pending: u32,
    /// `aof_delayed_fsync`: syncs that took longer than two seconds.
    pub syncs_delayed: u64,
    /// Syncs of increments that succeeded.
    pub syncs: u64,
    /// Blocks that were written.
    pub blocks: u64,
    /// `aof_last_write_status`.
    pub last_write_ok: bool,
    /// `aof_last_bgrewrite_status`.
    pub last_rewrite_ok: bool,
    /// `aof_rewrite_in_progress`.
    pub rewrite_in_progress: bool,
    /// Rewrites that succeeded: `aof_rewrites`.
    pub rewrites: u64,
    /// Rewrites that failed since the last that succeeded: `aof_rewrites_consecutive_failures`.
    pub rewrite_failures: u32,
}
