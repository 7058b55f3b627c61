//! Runs a script: its section, what it may call, and when it must end.

use crate::flags::Flags as ScriptFlags;
use crate::lua::caller::{Called, Caller, Refusal, Stop};
use crate::running::Run;
use crate::scripts::Scripts;
use respire_engine::{App, ArgList, Calls, Error, Flags, LongCall, NotFound, Output, Proto, Spec};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A script that has run for so many nanoseconds lets the server do other things from then on.
const LONG_NS: u64 = 500_000;

/// A long script lets the server do other things this often.
const RELIEF_NS: u64 = 250_000;

/// The clock is read after so many calls of commands. Between calls it is read after so many
/// instructions.
const CALLS_PER_LOOK: u32 = 8;

/// What a script may do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permits {
    /// Commands that write are refused.
    pub(crate) is_read_only: bool,
    /// Commands that use memory are refused, as it was used up when the script began.
    pub(crate) is_out_of_memory: bool,
}

impl Permits {
    /// What a script with these flags may do.
    ///
    /// # Errors
    /// If it must not run now.
    pub(crate) fn new(
        flags: Option<ScriptFlags>,
        is_read_only: bool,
        is_out_of_memory: bool,
        writes_refused: Option<Error>,
    ) -> Result<Self, Error> {
        let Some(flags) = flags else {
            return Ok(Self {
                is_read_only,
                is_out_of_memory,
            });
        };
        if let Some(error) = writes_refused.filter(|_| !flags.no_writes) {
            return Err(error);
        }
        if is_out_of_memory && !flags.allow_oom && !flags.no_writes {
            return Err(Error::fixed(
                "OOM allow-oom flag is not set on the script, can not run it when used memory > \
                 'maxmemory'",
            ));
        }
        if is_read_only && !flags.no_writes {
            return Err(Error::fixed(
                "ERR Can not execute a script with write flag using *_ro command.",
            ));
        }
        Ok(Self {
            is_read_only: is_read_only || flags.no_writes,
            is_out_of_memory: is_out_of_memory && !flags.allow_oom,
        })
    }
}

/// A running script, as `FUNCTION STATS` shows it.
pub(crate) struct Caption<'r> {
    /// The function's name, or the script's.
    pub(crate) name: &'r dyn std::fmt::Display,
    pub(crate) is_function: bool,
    /// The request that runs it.
    pub(crate) request: ArgList<'r>,
}

/// The server, as one running script sees it.
pub(crate) struct ScriptCalls<'r, 'c, A: App> {
    calls: &'r mut Calls<'c, A>,
    scripts: &'r Scripts,
    caption: &'r Caption<'r>,
    permits: Permits,
    proto: Proto,
    /// Whether it has called a command that writes.
    has_written: bool,
    /// Whether it has called a command that may have had another effect than a reply.
    has_acted: bool,
    calls_made: u32,
    /// When the clock was first read.
    began_ns: Option<u64>,
    long: Option<Long<'r, 'c>>,
}

/// A script that has run for long.
struct Long<'r, 'c> {
    run: Arc<Run>,
    scripts: &'r Scripts,
    call: LongCall<'c>,
    relieved_ns: u64,
}

impl Drop for Long<'_, '_> {
    fn drop(&mut self) {
        self.scripts.running.remove(&self.run);
    }
}

impl<'r, 'c, A: App> ScriptCalls<'r, 'c, A> {
    pub(crate) fn new(
        calls: &'r mut Calls<'c, A>,
        scripts: &'r Scripts,
        caption: &'r Caption<'r>,
        permits: Permits,
    ) -> Self {
        Self {
            calls,
            scripts,
            caption,
            permits,
            proto: Proto::Resp2,
            has_written: false,
            has_acted: false,
            calls_made: 0,
            began_ns: None,
            long: None,
        }
    }

    /// Whether it may run again as if it had not run.
    pub(crate) fn is_repeatable(&self) -> bool {
        !self.has_acted
    }

    /// Whether the script may call a command now.
    fn admit(&self, spec: &Spec) -> Result<(), Error> {
        if spec.flags.has(Flags::NOSCRIPT) {
            return Err(Error::fixed(
                "ERR This Redis command is not allowed from script",
            ));
        }
        if self.permits.is_read_only && spec.flags.any(Flags::WRITE | Flags::MAY_WRITE) {
            return Err(Error::fixed(
                "ERR Write commands are not allowed from read-only scripts.",
            ));
        }
        // A script that has written is not stopped halfway.
        if spec.flags.has(Flags::WRITE)
            && !self.has_written
            && !self.calls.now().is_replaying()
            && let Some(error) = self.calls.engine().writes_refused()
        {
            return Err(error);
        }
        if self.permits.is_out_of_memory && !self.has_written && spec.flags.has(Flags::DENYOOM) {
            return Err(Error::fixed(
                "OOM command not allowed when used memory > 'maxmemory'.",
            ));
        }
        Ok(())
    }

    /// Counts a refused call.
    fn refuse(&self, request: ArgList<'_>, error: &Error) -> Refusal {
        self.calls.count_refusal(request, error);
        Refusal::Error([b"-", error.text()].concat())
    }

    /// Says that the script ends with an error that was counted when a call failed.
    pub(crate) fn error_is_counted(&mut self) {
        self.calls.error_is_counted();
    }

    /// Declares the script a long call, and lets the driver serve others.
    fn begin_long(&mut self, began_ns: u64, now_ns: u64) {
        let run = Run {
            name: self.caption.name.to_string(),
            command: self.caption.request.iter().map(<[u8]>::to_vec).collect(),
            is_function: self.caption.is_function,
            is_killed: AtomicBool::new(false),
            has_written: AtomicBool::new(self.has_written),
            began_ns,
        };
        let busy = if self.caption.is_function {
            BUSY_FUNCTION
        } else {
            BUSY_SCRIPT
        };
        self.long = Some(Long {
            run: self.scripts.running.add(run),
            scripts: self.scripts,
            call: self.calls.engine().begin_long_call(began_ns, busy),
            relieved_ns: now_ns,
        });
    }
}

/// The error for requests that would wait for a script that runs for long.
pub(crate) const BUSY_SCRIPT: Error = Error::fixed(
    "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
);

/// The same for a function.
pub(crate) const BUSY_FUNCTION: Error = Error::fixed(
    "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.",
);

impl<A: App> Caller for ScriptCalls<'_, '_, A> {
    fn call(&mut self, request: ArgList<'_>, out: &mut Output) -> Result<Called, Refusal> {
        let callee = self.calls.find(request).map_err(|missing| {
            let error = match missing {
                NotFound::Command => Error::fixed("ERR Unknown Redis command called from script"),
                NotFound::Arity => {
                    Error::fixed("ERR Wrong number of args calling Redis command from script")
                }
            };
            self.refuse(request, &error)
        })?;
        let spec = callee.spec();
        self.admit(spec)
            .map_err(|error| self.refuse(request, &error))?;
        if !self.calls.cover(callee, request) {
            return Err(Refusal::Stop(Stop::Undeclared));
        }
        self.has_acted |= !spec.flags.has(Flags::READONLY);
        if spec.flags.has(Flags::WRITE) && !self.has_written {
            self.has_written = true;
            if let Some(long) = &self.long {
                long.run.has_written.store(true, Ordering::Release);
            }
        }
        let is_error = self
            .calls
            .run(callee, request, self.proto, out)
            .map_err(|error| self.refuse(request, &error))?;
        self.calls_made += 1;
        if self.calls_made.is_multiple_of(CALLS_PER_LOOK) {
            self.pause().map_err(Refusal::Stop)?;
        }
        Ok(Called { is_error })
    }

    fn proto(&self) -> Proto {
        self.proto
    }

    fn set_proto(&mut self, proto: Proto) {
        self.proto = proto;
    }

    fn pause(&mut self) -> Result<(), Stop> {
        let host = self.calls.engine().host();
        let now_ns = host.stopwatch_ns();
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let age_ns = now_ns.saturating_sub(began_ns);
        if age_ns < LONG_NS {
            return Ok(());
        }
        if self.long.is_none() {
            self.begin_long(began_ns, now_ns);
        }
        if let Some(long) = &mut self.long {
            if now_ns.saturating_sub(long.relieved_ns) >= RELIEF_NS {
                long.call.relieve();
                long.relieved_ns = self.calls.engine().host().stopwatch_ns();
            }
            if long.run.is_killed.load(Ordering::Acquire) {
                return Err(Stop::Killed);
            }
        }
        let limit_ms = self.scripts.time_limit_ms();
        if limit_ms > 0 && age_ns / 1_000_000 >= limit_ms && !self.has_written {
            return Err(Stop::TimeLimit);
        }
        if host.is_stopping() {
            return Err(Stop::Shutdown);
        }
        Ok(())
    }

    fn log(&mut self, level: u8, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.calls.engine().host().log(level, &text);
    }

    fn may_run(&self, request: ArgList<'_>) -> Option<bool> {
        self.calls.find(request).is_ok().then_some(true)
    }
}
