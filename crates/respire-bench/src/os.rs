//! System calls: CPU time and memory of processes, their cores, and the limit of open files.

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
/// [`Error::Io`] if the system does not report it.
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

/// Restricts this process, and the threads it will start, to these cores.
///
/// # Errors
/// [`Error::Flag`] of `--load-cpu` if a core does not exist, or the system cannot pin.
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

/// The usage of a process on this machine; `None` if it does not exist or the system does not
/// report it.
pub fn usage(pid: u32) -> Option<Usage> {
    #[cfg(target_os = "linux")]
    {
        use nix::time::clock_getcpuclockid;
        use nix::unistd::{Pid, SysconfVar, sysconf};
        // Use the process's own clock: /proc counts in ticks of usually 10 ms.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn own_process_uses_memory() {
        let usage_of_own = usage(std::process::id()).unwrap();
        assert!(usage_of_own.rss > 100_000 && !usage_of_own.cpu.is_zero());
        assert_eq!(usage(u32::MAX), None);
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
