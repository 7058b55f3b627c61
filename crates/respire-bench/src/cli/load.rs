//! The flags that describe a load.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::check::Verify;
use crate::engine::{Bound, Load};
use crate::error::{Error, Result};
use crate::target::{Login, Target};
use crate::workload::{Mix, Pattern, Protocol, Workload};

/// The default number of requests of a load without `--requests` and `--test-time`.
const REQUESTS: u64 = 100_000;
/// The default number of keys of a `--ratio`.
const KEY_SPACE: u64 = 1_000_000;
/// The default prefix of keys, where there is room for it.
const KEY_PREFIX: &str = "key:";

/// How to log in.
#[derive(Args, Clone, Debug, Default)]
pub struct LoginArgs {
    /// Password; RESPIRE_BENCH_PASSWORD keeps it out of the process list.
    #[arg(
        short = 'a',
        long,
        env = "RESPIRE_BENCH_PASSWORD",
        hide_env_values = true,
        help_heading = "Server"
    )]
    pub password: Option<String>,
    /// User, where the server has several.
    #[arg(long, requires = "password", help_heading = "Server")]
    pub user: Option<String>,
    /// Database to SELECT.
    #[arg(
        long,
        default_value_t = 0,
        value_name = "INDEX",
        help_heading = "Server"
    )]
    pub db: u32,
}

/// How keys are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeyPattern {
    /// Every key with the same probability.
    Uniform,
    /// A few keys take most of the load; see --zipf-exponent.
    Zipf,
    /// Around the middle of the key space; see --deviation.
    Gaussian,
    /// One after another.
    Sequential,
}

/// What to send.
#[derive(Args, Clone, Debug)]
pub struct LoadArgs {
    /// Connections.
    #[arg(short, long, default_value_t = 50, help_heading = "Load")]
    pub clients: usize,
    /// Requests in all: commands of a --ratio, otherwise sequences of SET, GET, DELETE [default:
    /// 100000 unless --test-time].
    #[arg(short = 'n', long, help_heading = "Load")]
    pub requests: Option<u64>,
    /// Seconds after which no more requests are sent.
    #[arg(long, value_name = "SECONDS", help_heading = "Load")]
    pub test_time: Option<f64>,
    /// Commands sent at once on a connection; with --rate, the most that are outstanding.
    #[arg(short = 'P', long, default_value_t = 1, help_heading = "Load")]
    pub pipeline: usize,
    /// SETs and GETs in turn, each of a key of its own, such as 1:10.
    #[arg(long, value_name = "SET:GET", help_heading = "Load")]
    pub ratio: Option<Mix>,
    /// Open loop: commands per second. Each has a scheduled time, from which its latency counts.
    #[arg(long, value_name = "PER_SECOND", help_heading = "Load")]
    pub rate: Option<f64>,
    /// Threads that share the connections.
    #[arg(long, default_value_t = 1, help_heading = "Load")]
    pub threads: usize,
    /// Protocol to speak.
    #[arg(long, value_enum, default_value_t, help_heading = "Load")]
    pub protocol: Protocol,
    /// SET every key before the measurement, so that every GET finds one.
    #[arg(long, requires = "ratio", help_heading = "Load")]
    pub populate: bool,
    /// How thoroughly replies are checked.
    #[arg(long, value_enum, default_value_t, help_heading = "Load")]
    pub verify: Verify,

    /// Bytes of a value, with k or m for KiB or MiB.
    #[arg(short, long, value_name = "BYTES", default_value = "3", value_parser = parse_bytes, help_heading = "Keys and values")]
    pub data_size: usize,
    /// Bytes of a key.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 16,
        help_heading = "Keys and values"
    )]
    pub key_length: usize,
    /// Prefix of every key; the rest is digits [default: key: where there is room].
    #[arg(long, value_name = "TEXT", help_heading = "Keys and values")]
    pub key_prefix: Option<String>,
    /// Number of different keys [default: 1000000 of a --ratio, otherwise all that --key-length has
    /// digits for].
    #[arg(
        short = 'r',
        long,
        value_name = "KEYS",
        help_heading = "Keys and values"
    )]
    pub key_space: Option<u64>,
    /// How keys are drawn.
    #[arg(long, value_enum, default_value_t = KeyPattern::Uniform, help_heading = "Keys and values")]
    pub key_pattern: KeyPattern,
    /// Skew of --key-pattern zipf: 0 is none.
    #[arg(
        long,
        value_name = "S",
        default_value_t = 1.0,
        help_heading = "Keys and values"
    )]
    pub zipf_exponent: f64,
    /// Standard deviation of --key-pattern gaussian, as a share of the key space.
    #[arg(
        long,
        value_name = "SHARE",
        default_value_t = 0.125,
        help_heading = "Keys and values"
    )]
    pub deviation: f64,
    /// Seed of the random keys: the same seed draws the same keys.
    #[arg(long, default_value_t = 1, help_heading = "Keys and values")]
    pub seed: u64,
}

/// Bytes with an optional `k` or `m`.
fn parse_bytes(text: &str) -> std::result::Result<usize, String> {
    let lower = text.to_ascii_lowercase();
    let (digits, unit) = match lower.as_bytes().last() {
        Some(b'k') => (&lower[..lower.len() - 1], 1024),
        Some(b'm') => (&lower[..lower.len() - 1], 1024 * 1024),
        _ => (&*lower, 1),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|n| n.checked_mul(unit))
        .ok_or_else(|| "want bytes, such as 256, 4k or 1m".to_owned())
}

impl LoadArgs {
    /// The workload of these flags, checked.
    ///
    /// # Errors
    /// [`Error::Flag`] as for [`Workload::check`].
    pub fn workload(&self) -> Result<Workload> {
        let mix = self.ratio.unwrap_or(Mix::Cycle);
        let prefix = match &self.key_prefix {
            Some(prefix) => prefix,
            None if self.key_length > 2 * KEY_PREFIX.len() => KEY_PREFIX,
            None => "",
        };
        let capacity = Workload::key_capacity(prefix, self.key_length);
        let key_space = match (self.key_space, mix) {
            (Some(keys), _) => keys,
            (None, Mix::Ratio { .. }) => KEY_SPACE.min(capacity),
            (None, Mix::Cycle) => capacity,
        };
        let workload = Workload {
            protocol: self.protocol,
            mix,
            pipeline: self.pipeline,
            data_size: self.data_size,
            key_prefix: prefix.to_owned(),
            key_length: self.key_length,
            key_space,
            pattern: match self.key_pattern {
                KeyPattern::Uniform => Pattern::Uniform,
                KeyPattern::Zipf => Pattern::Zipf {
                    exponent: self.zipf_exponent,
                },
                KeyPattern::Gaussian => Pattern::Gaussian {
                    deviation: self.deviation,
                },
                KeyPattern::Sequential => Pattern::Sequential,
            },
        };
        workload.check()?;
        Ok(workload)
    }

    /// The load on a server, checked.
    ///
    /// # Errors
    /// [`Error::Flag`] for a flag that is invalid, alone or with the others.
    pub fn load(&self, target: Target, login: &LoginArgs) -> Result<Load> {
        let workload = self.workload()?;
        let time = match self.test_time {
            None => None,
            Some(seconds) => Some(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|e| Error::flag("--test-time", e.to_string()))?,
            ),
        };
        let requests = match (self.requests, time) {
            (None, None) => Some(REQUESTS),
            (requests, _) => requests,
        };
        let load = Load {
            target,
            login: Login {
                user: login.user.clone(),
                password: login.password.clone(),
                database: login.db,
                protocol: self.protocol,
            },
            workload,
            verify: self.verify,
            clients: self.clients,
            threads: self.threads,
            bound: Bound { requests, time },
            rate: self.rate,
            seed: self.seed,
            logging: false,
            beside: None,
        };
        load.check()?;
        Ok(load)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::Cli;

    fn load(flags: &str) -> Result<Load> {
        let words = ["respire-bench"]
            .into_iter()
            .chain(flags.split_whitespace());
        let run = Cli::parse_from(words).run;
        run.load.load(run.target(), &run.login)
    }

    #[test]
    fn default_is_a_bounded_cycle_over_random_keys() {
        let load = load("").unwrap();
        assert_eq!(load.workload.mix, Mix::Cycle);
        assert_eq!(load.bound.requests, Some(100_000));
        assert_eq!(load.workload.key_space, 1_000_000_000_000);
    }

    #[test]
    fn short_keys_have_no_prefix() {
        let load = load("--key-length 4 --requests 10").unwrap();
        assert_eq!(load.workload.key_prefix, "");
        assert_eq!(load.workload.key_space, 10_000);
        assert_eq!(load.bound.requests, Some(10));
    }

    #[test]
    fn flags_of_a_workload_parse_to_the_same_workload() {
        for flags in [
            "",
            "--ratio 1:10 --pipeline 30 --data-size 256",
            "--key-pattern zipf --zipf-exponent 0.5 --protocol binary",
            "--key-pattern gaussian --key-prefix x --key-length 9",
            "--key-pattern sequential --protocol resp3",
        ] {
            let workload = load(flags).unwrap().workload;
            let again = load(&workload.flags().join(" ")).unwrap().workload;
            assert_eq!(workload, again, "{flags}");
        }
    }

    #[test]
    fn test_time_alone_bounds_the_load() {
        let load = load("--test-time 0.5 --ratio 1:10").unwrap();
        assert_eq!(load.bound, Bound::time(Duration::from_millis(500)));
        assert_eq!(load.workload.key_space, 1_000_000);
    }

    #[test]
    fn error_of_a_flag_begins_with_its_name() {
        for (flags, name) in [
            ("--clients 0", "--clients: "),
            ("--threads 60", "--threads: "),
            ("--pipeline 0", "--pipeline: "),
            ("--requests 0", "--requests: "),
            ("--test-time 0", "--test-time: "),
            ("--rate 0", "--rate: "),
            ("--data-size 1024m", "--data-size: "),
            ("--key-length 0", "--key-length: "),
            ("--key-prefix 0123456789abcdef", "--key-prefix: "),
            ("--key-length 4 --key-space 10001", "--key-space: "),
        ] {
            let text = load(flags).unwrap_err().to_string();
            assert!(text.starts_with(name), "{flags}: {text}");
        }
    }

    #[test]
    fn byte_sizes_accept_a_unit() {
        assert_eq!(parse_bytes("4k"), Ok(4096));
        assert_eq!(parse_bytes("1M"), Ok(1 << 20));
        assert!(parse_bytes("").is_err() && parse_bytes("k").is_err());
    }
}
