//! The machine a table was measured on.

use std::fs;

use serde::Serialize;

use crate::launch::first_line;

/// What the numbers depend on beside the servers.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// System and release.
    pub system: String,
    /// Day of the measurement, UTC.
    pub day: String,
    /// Revision of the sources, if they are at hand.
    pub revision: Option<String>,
}

impl Machine {
    /// This one, today. What it does not tell is "unknown".
    pub fn this() -> Self {
        let unknown = || "unknown".to_owned();
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = field(&meminfo, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok());
        Self {
            processor: field(&cpuinfo, "model name").map_or_else(unknown, str::to_owned),
            cores: cpuinfo.matches("processor\t").count(),
            memory_mib: kib.unwrap_or(0_u64) / 1024,
            system: first_line("uname", &["-srm"]).unwrap_or_else(unknown),
            day: first_line("date", &["-u", "+%Y-%m-%d"]).unwrap_or_else(unknown),
            revision: first_line("git", &["rev-parse", "--short=12", "HEAD"]),
        }
    }
}

/// The value of the first `name : value` line.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_the_first_line_of_that_name() {
        let text = "processor\t: 0\nmodel name\t: A B: C\nmodel name\t: D\n";
        assert_eq!(field(text, "model name"), Some("A B: C"));
        assert_eq!(field(text, "model"), None);
    }
}
