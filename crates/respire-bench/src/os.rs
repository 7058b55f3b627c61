//! What only the system knows: CPU time and memory of processes, the cores they run on, open files.

use std::time::Duration;

use crate::error::{Error, Result};

/// CPU time and memory of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// User and system time since it was started, all threads.
    pub cpu: Duration,
    /// Resident memory in bytes.
    pub rss: u64,
}

/// Raises the soft limit of open files to `files`, if it is lower.
///
/// # Errors
/// [`Error::Flag`] of `--clients` if the hard limit is lower too.
pub fn allow_files(files: u64) -> Result<()> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let refuse = |reason: String| Error::flag("--clients", reason);
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)
            .map_err(|e| refuse(format!("limit of open files: {e}")))?;
        if soft < files {
            setrlimit(Resource::RLIMIT_NOFILE, files, hard.max(files)).map_err(|e| {
                refuse(format!(
                    "{files} open files are needed, {hard} allowed: {e}"
                ))
            })?;
        }
    }
    #[cfg(not(unix))]
    let _ = files;
    Ok(())
}

/// CPU time of this process, all threads.
///
/// # Errors
/// [`Error::Io`] if the system does not tell.
pub fn own_cpu() -> Result<Duration> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        let usage = getrusage(UsageWho::RUSAGE_SELF)
            .map_err(|e| Error::io("CPU time of this process")(e.into()))?;
        let time = |t: nix::sys::time::TimeVal| {
            Duration::from_micros((t.tv_sec() as u64) * 1_000_000 + t.tv_usec() as u64)
        };
        Ok(time(usage.user_time()) + time(usage.system_time()))
    }
    #[cfg(not(unix))]
    Ok(Duration::ZERO)
}

/// Restricts this process, and the threads it will start, to some cores.
///
/// # Errors
/// [`Error::Flag`] of `--load-cpu` if there is no such core, or the system cannot pin.
pub fn pin_self(cores: &[usize]) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        use nix::sched::{CpuSet, sched_setaffinity};
        use nix::unistd::Pid;
        let refuse = |e| Error::flag("--load-cpu", format!("cores {cores:?}: {e}"));
        let mut set = CpuSet::new();
        for &core in cores {
            set.set(core).map_err(refuse)?;
        }
        sched_setaffinity(Pid::from_raw(0), &set).map_err(refuse)
    }
    #[cfg(not(target_os = "linux"))]
    Err(Error::flag(
        "--load-cpu",
        format!("cores {cores:?}: only Linux can pin"),
    ))
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

/// Bytes of memory that are free or can be made so; `None` where the system does not tell.
pub fn free_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// How many threads were running or ready to, on average over the last minute; `None` where the system does not tell.
pub fn load_average() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// How much this process, and those it starts, leave to others: from -20, which takes most, to 19; 0 unless somebody
/// chose otherwise. Where the system weighs sessions and not processes, it is the session's. `None` where the system
/// does not tell.
pub fn own_niceness() -> Option<i32> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
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

/// Usage of a process on this machine; `None` if there is no such process to see, or the system does not tell.
pub fn usage(pid: u32) -> Option<Usage> {
    #[cfg(target_os = "linux")]
    {
        use nix::time::clock_getcpuclockid;
        use nix::unistd::{Pid, SysconfVar, sysconf};
        // Its own clock, since /proc counts in ticks of usually 10 ms.
        let clock = clock_getcpuclockid(Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
        let page = sysconf(SysconfVar::PAGE_SIZE).ok()??;
        let statm = std::fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        Some(Usage {
            cpu: Duration::from(clock.now().ok()?),
            rss: statm.split(' ').nth(1)?.parse::<u64>().ok()? * page as u64,
        })
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = pid;
        None
    }
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
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn own_process_uses_memory() {
        let usage_of_own = usage(std::process::id()).unwrap();
        assert!(usage_of_own.rss > 100_000 && !usage_of_own.cpu.is_zero());
        assert_eq!(usage(u32::MAX), None);
        assert!(free_memory().unwrap() > 0);
    }

    #[test]
    fn files_beyond_any_limit_name_the_flag() {
        allow_files(16).unwrap();
        if cfg!(unix) {
            let text = allow_files(u64::MAX / 2).unwrap_err().to_string();
            assert!(text.starts_with("--clients: "), "{text}");
        }
    }
}
