//! Describes the machine of a measurement, and its free memory, cores and load.

use std::fs;

use serde::Serialize;

use respire_bench::launch::first_line;

/// The machine and the sources of a measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
    /// Memory in MiB.
    pub memory_mib: u64,
    /// System and release.
    pub system: String,
    /// Day of the measurement, UTC.
    pub day: String,
    /// Revision of the sources, if git knows it.
    pub revision: Option<String>,
}

impl Machine {
    /// This machine, today. Unavailable facts are "unknown".
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

/// The cores this process may run on; empty if the system does not report them.
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

/// A command line without the folder of its program, which differs between machines.
pub(crate) fn program_name(line: &str) -> String {
    let (program, rest) = line.split_once(' ').unwrap_or((line, ""));
    let name = program.rsplit('/').next().unwrap_or(program);
    format!("{name} {rest}").trim_end().to_owned()
}

/// Bytes of memory that are free or can be freed; `None` if the system does not report them.
pub fn free_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// The number of threads that were running or ready to run, averaged over the last minute; `None` if the system does
/// not report it.
pub fn load_average() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The niceness of this process and of those it starts: from -20, the highest priority, to 19; 0 by default. If the
/// system schedules by sessions and not by processes, it is the session's niceness. `None` if the system does not report
/// it.
pub fn own_niceness() -> Option<i32> {
    let read = |path: &str| fs::read_to_string(path).ok();
    let by_session = read("/proc/sys/kernel/sched_autogroup_enabled")
        .filter(|enabled| enabled.trim() == "1")
        .and_then(|_| session_niceness(&read("/proc/self/autogroup")?));
    by_session.or_else(|| after_name(&read("/proc/self/stat")?)?.nth(16)?.parse().ok())
}

/// The niceness in a line of `/proc/<pid>/autogroup`, such as `/autogroup-25 nice 0`; `None` if it is empty, as for a
/// process outside any session.
fn session_niceness(line: &str) -> Option<i32> {
    line.trim().rsplit_once(' ')?.1.parse().ok()
}

/// The fields of a line of `/proc/<pid>/stat` after the program's name, which is in parentheses and may have any
/// characters.
fn after_name(stat: &str) -> Option<std::str::Split<'_, char>> {
    Some(stat.rsplit_once(") ")?.1.split(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn field_is_read_from_the_first_line_of_its_name() {
        let text = "processor\t: 0\nmodel name\t: A B: C\nmodel name\t: D\n";
        assert_eq!(field(text, "model name"), Some("A B: C"));
        assert_eq!(field(text, "model"), None);
    }

    #[test]
    fn stat_fields_are_read_after_a_name_with_parentheses() {
        let line = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 120 34 0 0 20 0 1 0";
        let fields: Vec<&str> = after_name(line).unwrap().collect();
        assert_eq!((fields[0], fields[11]), ("S", "120"));
        assert!(after_name("garbage").is_none());
    }

    #[test]
    fn session_niceness_is_read_from_the_end_of_the_line() {
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
