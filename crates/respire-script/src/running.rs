//! The scripts that have been running for a while: `SCRIPT KILL` and `FUNCTION STATS` see them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A script that has been running for a millisecond or more.
#[derive(Debug)]
pub(crate) struct Run {
    /// The function's name, or the script's.
    pub(crate) name: String,
    /// The request that runs it.
    pub(crate) command: Vec<Vec<u8>>,
    pub(crate) is_function: bool,
    pub(crate) is_killed: AtomicBool,
    /// Whether it has called a command that writes.
    pub(crate) has_written: AtomicBool,
    /// When it began, on the host's stopwatch.
    pub(crate) began_ns: u64,
}

/// All such scripts.
#[derive(Debug, Default)]
pub(crate) struct Running(Mutex<Vec<Arc<Run>>>);

/// How `SCRIPT KILL` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kill {
    /// At least one script will end.
    Done,
    /// No script runs.
    NotBusy,
    /// Only functions run, or only scripts when a function is to be killed.
    OtherKind,
    /// Every script has written.
    HasWritten,
}

impl Running {
    fn runs(&self) -> MutexGuard<'_, Vec<Arc<Run>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, run: Run) -> Arc<Run> {
        let run = Arc::new(run);
        self.runs().push(Arc::clone(&run));
        run
    }

    pub(crate) fn remove(&self, run: &Arc<Run>) {
        self.runs().retain(|other| !Arc::ptr_eq(other, run));
    }

    /// The function that has been running for the longest time.
    pub(crate) fn oldest_function(&self) -> Option<Arc<Run>> {
        let runs = self.runs();
        let functions = runs.iter().filter(|run| run.is_function);
        functions.min_by_key(|run| run.began_ns).map(Arc::clone)
    }

    /// Tells scripts, or functions, that have not written to end.
    pub(crate) fn kill(&self, functions: bool) -> Kill {
        let runs = self.runs();
        if runs.is_empty() {
            return Kill::NotBusy;
        }
        let mut end = Kill::OtherKind;
        for run in runs.iter().filter(|run| run.is_function == functions) {
            if !run.has_written.load(Ordering::Acquire) {
                run.is_killed.store(true, Ordering::Release);
                end = Kill::Done;
            } else if end == Kill::OtherKind {
                end = Kill::HasWritten;
            }
        }
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(is_function: bool, has_written: bool) -> Run {
        Run {
            name: String::new(),
            command: Vec::new(),
            is_function,
            is_killed: AtomicBool::new(false),
            has_written: AtomicBool::new(has_written),
            began_ns: 0,
        }
    }

    #[test]
    fn kill_ends_scripts_that_have_not_written() {
        let running = Running::default();
        assert_eq!(running.kill(false), Kill::NotBusy);
        let writer = running.add(run(false, true));
        assert_eq!(running.kill(false), Kill::HasWritten);
        assert_eq!(running.kill(true), Kill::OtherKind);
        let reader = running.add(run(false, false));
        assert_eq!(running.kill(false), Kill::Done);
        assert!(reader.is_killed.load(Ordering::Relaxed));
        assert!(!writer.is_killed.load(Ordering::Relaxed));
        running.remove(&writer);
        running.remove(&reader);
        assert_eq!(running.kill(false), Kill::NotBusy);
    }
}
