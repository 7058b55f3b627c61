//! The requests of a load: which commands, with which keys and values.
//!
//! A [`Workload`] is plain data. With a seed it determines every byte that is sent and, since
//! values follow from keys, every byte that must come back.

mod keys;
mod values;
mod wire;

pub use keys::{KeySource, Pattern};
pub use values::Values;
pub use wire::{Expect, Wire};

use serde::Serialize;

use crate::error::{Error, Result};

/// The protocol of requests and replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Redis protocol that every server speaks.
    #[default]
    Resp2,
    /// The Redis protocol after `HELLO 3`.
    Resp3,
    /// Respire's compact binary protocol; only Respire speaks it.
    Binary,
}

/// A command that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Kind {
    /// `SET key value`.
    Set,
    /// `GET key`.
    Get,
    /// `DEL key`; in the binary protocol `DELETE`, which returns the value.
    Delete,
}

impl Kind {
    /// All of them, in the order of [`Kind::index`].
    pub const ALL: [Self; 3] = [Self::Set, Self::Get, Self::Delete];

    /// Its index in arrays with one entry per kind.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Set => "SET",
            Self::Get => "GET",
            Self::Delete => "DELETE",
        }
    }
}

/// The order of commands on each connection, repeated until the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mix {
    /// SET, GET and DELETE of one key.
    Cycle,
    /// A number of SETs, then a number of GETs, each with a key of its own.
    Ratio {
        /// SETs per round of the mix.
        sets: u32,
        /// GETs per round of the mix.
        gets: u32,
    },
}

/// One place in the mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The command.
    pub kind: Kind,
    /// Whether to draw a new key, rather than to keep the last one.
    pub draws: bool,
}

/// The most commands in one round of a mix.
const ROUND_MAX: u32 = 10_000;

impl Mix {
    /// The number of commands per drawn key; these are one request.
    pub const fn commands_each(self) -> u64 {
        match self {
            Self::Cycle => Kind::ALL.len() as u64,
            Self::Ratio { .. } => 1,
        }
    }

    /// One round of the mix.
    pub fn places(self) -> Vec<Place> {
        match self {
            Self::Cycle => Kind::ALL
                .map(|kind| Place {
                    kind,
                    draws: kind == Kind::Set,
                })
                .to_vec(),
            Self::Ratio { sets, gets } => {
                let place = |kind| Place { kind, draws: true };
                let sets = std::iter::repeat_n(place(Kind::Set), sets as usize);
                let gets = std::iter::repeat_n(place(Kind::Get), gets as usize);
                sets.chain(gets).collect()
            }
        }
    }
}

impl std::str::FromStr for Mix {
    type Err = String;

    /// `SETS:GETS`, such as `1:10`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let numbers = text
            .split_once(':')
            .and_then(|(sets, gets)| Some((sets.parse::<u32>().ok()?, gets.parse::<u32>().ok()?)));
        let (sets, gets) = numbers.ok_or("want SETS:GETS, such as 1:10")?;
        match sets.checked_add(gets) {
            Some(1..=ROUND_MAX) => Ok(Self::Ratio { sets, gets }),
            _ => Err(format!("want 1 to {ROUND_MAX} commands in all")),
        }
    }
}

/// A load, independent of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Workload {
    /// The protocol.
    pub protocol: Protocol,
    /// The commands and their order.
    pub mix: Mix,
    /// Requests sent at once on a connection (closed loop), or outstanding at most (open loop).
    pub pipeline: usize,
    /// Bytes of a value.
    pub data_size: usize,
    /// The prefix of every key.
    pub key_prefix: String,
    /// Length of a key in bytes, prefix included; the rest is decimal digits.
    pub key_length: usize,
    /// The number of different keys.
    pub key_space: u64,
    /// How keys are drawn.
    pub pattern: Pattern,
}

/// A `u64` can have any number of this many digits.
const DIGITS_MAX: usize = 18;

impl Workload {
    /// A mix over a million keys of 16 bytes: the shape of `redis-benchmark -r 1000000`.
    pub fn mixed(sets: u32, gets: u32) -> Self {
        Self {
            protocol: Protocol::Resp2,
            mix: Mix::Ratio { sets, gets },
            pipeline: 1,
            data_size: 3,
            key_prefix: "key:".to_owned(),
            key_length: 16,
            key_space: 1_000_000,
            pattern: Pattern::Uniform,
        }
    }

    /// How many keys fit this length and prefix, at most 10^18.
    pub fn key_capacity(key_prefix: &str, key_length: usize) -> u64 {
        let digits = key_length.saturating_sub(key_prefix.len()).min(DIGITS_MAX);
        10_u64.pow(digits as u32)
    }

    /// # Errors
    /// [`Error::Flag`] for the first field that is out of range or conflicts with the others.
    pub fn check(&self) -> Result<()> {
        if !(1..=10_000).contains(&self.pipeline) {
            return Err(Error::flag("--pipeline", "want 1 to 10000 requests"));
        }
        if self.data_size > 512 * 1024 * 1024 {
            return Err(Error::flag("--data-size", "a value has at most 512 MiB"));
        }
        if self.key_length == 0 || self.key_length > 64 * 1024 {
            return Err(Error::flag("--key-length", "want 1 to 65536 bytes"));
        }
        if self.key_prefix.len() >= self.key_length {
            let reason = format!(
                "{:?} leaves no digit in a key of {} bytes",
                self.key_prefix, self.key_length
            );
            return Err(Error::flag("--key-prefix", reason));
        }
        let capacity = Self::key_capacity(&self.key_prefix, self.key_length);
        if self.key_space == 0 || self.key_space > capacity {
            let reason = format!(
                "want 1 to {capacity} keys: --key-length {} and prefix {:?} leave no room for {}",
                self.key_length, self.key_prefix, self.key_space
            );
            return Err(Error::flag("--key-space", reason));
        }
        Ok(())
    }

    /// The flags that describe this workload, as typed.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = vec![
            format!("--pipeline={}", self.pipeline),
            format!("--data-size={}", self.data_size),
            format!("--key-length={}", self.key_length),
            format!("--key-prefix={}", self.key_prefix),
            format!("--key-space={}", self.key_space),
        ];
        if let Mix::Ratio { sets, gets } = self.mix {
            flags.push(format!("--ratio={sets}:{gets}"));
        }
        match self.protocol {
            Protocol::Resp2 => {}
            Protocol::Resp3 => flags.push("--protocol=resp3".to_owned()),
            Protocol::Binary => flags.push("--protocol=binary".to_owned()),
        }
        match self.pattern {
            Pattern::Uniform => {}
            Pattern::Zipf { exponent } => {
                flags.push("--key-pattern=zipf".to_owned());
                flags.push(format!("--zipf-exponent={exponent}"));
            }
            Pattern::Gaussian { deviation } => {
                flags.push("--key-pattern=gaussian".to_owned());
                flags.push(format!("--deviation={deviation}"));
            }
            Pattern::Sequential => flags.push("--key-pattern=sequential".to_owned()),
        }
        flags
    }

    /// The same keys and values, each set once in order, to fill a server before a measurement.
    pub fn populating(&self) -> Self {
        Self {
            mix: Mix::Ratio { sets: 1, gets: 0 },
            pipeline: (64 * 1024 / (self.data_size + 64)).clamp(1, 64),
            pattern: Pattern::Sequential,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_is_parsed_as_sets_and_gets() {
        assert_eq!("1:10".parse(), Ok(Mix::Ratio { sets: 1, gets: 10 }));
        for bad in ["", "1", "0:0", "-1:2", "1:2:3", "9999:2"] {
            assert!(bad.parse::<Mix>().is_err(), "{bad}");
        }
    }

    #[test]
    fn cycle_uses_one_key_for_three_commands() {
        let draws: Vec<bool> = Mix::Cycle.places().iter().map(|p| p.draws).collect();
        assert_eq!(draws, [true, false, false]);
        assert_eq!(Mix::Ratio { sets: 2, gets: 3 }.places().len(), 5);
    }

    #[test]
    fn error_for_too_many_keys_names_the_flag() {
        let load = Workload {
            key_length: 8,
            ..Workload::mixed(1, 1)
        };
        let text = load.check().unwrap_err().to_string();
        assert!(text.starts_with("--key-space: want 1 to 10000"), "{text}");
        let fits = Workload {
            key_space: 10_000,
            ..load
        };
        fits.check().unwrap();
    }
}
