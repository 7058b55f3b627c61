//! The machine that is measured on: what documents tell of it, and what of it is free.

use std::fs;

use serde::Serialize;

use respire_bench::launch::first_line;

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

/// The cores this process may run on; none where the system does not tell.
pub fn own_cores() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_getaffinity};
        use nix::unistd::Pid;
        let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
            return Vec::new();
        };
        let is_own = |&core: &usize| set.is_set(core) == Ok(true);
        (0..CpuSet::count()).filter(is_own).collect()
    }
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

/// A command line without the folder of its program, which is somebody's own.
pub(crate) fn program_name(line: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    let name = program.rsplit('/').next().unwrap_or(program);
    format!("{name} {rest}").trim_end().to_owned()
}

/// Bytes of memory that are free or can be made so; `None` where the system does not tell.
pub fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// How many threads were running or ready to, on average over the last minute; `None` where the system does not tell.
pub fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// How much this process, and those it starts, leave to others: from -20, which takes most, to 19; 0 unless somebody
/// chose otherwise. Where the system weighs sessions and not processes, it is the session's. `None` where the system
/// does not tell.
pub fn own_niceness() -> Option<i32> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let by_session = read("/proc/sys/kernel/sched_autogroup_enabled")
        .filter(|enabled| enabled.trim() == "1")
        .and_then(|_| session_niceness(&read("/proc/self/autogroup")?));
    by_session.or_else(|| after_name(&read("/proc/self/stat")?)?.nth(16)?.parse().ok())
}

/// The niceness in a line of `/proc/<pid>/autogroup`, as `/autogroup-25 nice 0`; `None` if it is empty, as it is of a
/// process that was started outside of every session.
fn session_niceness(line: &str) -> Option<i32> {
    line.trim().rsplit_once(' ')?.1.parse().ok()
}

/// The fields of a line of `/proc/<pid>/stat` behind the program's name, which stands in parentheses and may hold
/// anything.
fn after_name(stat: &str) -> Option<std::str::Split<'_, char>> {
    Some(stat.rsplit_once(") ")?.1.split(' '))
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

    #[test]
    fn stat_line_is_read_behind_a_name_with_parentheses() {
        let line = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 120 34 0 0 20 0 1 0";
        let fields: Vec<&str> = after_name(line).unwrap().collect();
        assert_eq!((fields[0], fields[11]), ("S", "120"));
        assert!(after_name("garbage").is_none());
    }

    #[test]
    fn niceness_of_a_session_is_at_the_end_and_may_be_missing() {
        assert_eq!(session_niceness("/autogroup-25 nice -5\n"), Some(-5));
        assert_eq!(session_niceness(""), None);
        assert_eq!(session_niceness("\n"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_process_has_cores_and_a_load() {
        assert!(!own_cores().is_empty());
        assert!(load_average().unwrap() >= 0.0);
        assert!((-20..20).contains(&own_niceness().unwrap()));
        assert!(free_memory().unwrap() > 0);
    }
}
