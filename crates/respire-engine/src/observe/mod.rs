//! Statistics, logs and metrics about running commands.

pub(crate) mod histogram;
pub(crate) mod info;
pub(crate) mod latency;
pub mod metrics;
pub(crate) mod slowlog;
pub(crate) mod stats;
pub(crate) mod unknown;
