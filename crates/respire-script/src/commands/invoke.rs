//! Runs a script or a function, in the section of its keys.

use crate::flags::Flags;
use crate::library::FunctionInfo;
use crate::lua::caller::Stop;
use crate::lua::{Callable, Failure, Inputs, Returned, Visit};
use crate::run::{Caption, Permits, ScriptCalls};
use crate::script::Script;
use crate::scripts::Scripts;
use crate::thread::Thread;
use resp_codec::number;
use respire_engine::{App, ArgList, Cx, Error, Keyspace, Reply};
use smallvec::SmallVec;
use std::fmt::Display;

/// The keys and the arguments of a script.
pub(super) struct Input<'a> {
    keys: SmallVec<[&'a [u8]; 4]>,
    args: ArgList<'a>,
}

impl<'a> Input<'a> {
    /// Reads the number of keys, the keys and the arguments, which follow the script.
    ///
    /// # Errors
    /// `not_a_number`, or that the number does not fit the arguments.
    pub(super) fn parse(args: ArgList<'a>, not_a_number: Error) -> Result<Self, Error> {
        let number = number::parse_i64(&args[1]).ok_or(not_a_number)?;
        if number > args.len() as i64 - 2 {
            return Err(Error::fixed(
                "ERR Number of keys can't be greater than number of args",
            ));
        }
        let Ok(number) = usize::try_from(number) else {
            return Err(Error::fixed("ERR Number of keys can't be negative"));
        };
        Ok(Self {
            keys: args.skip(2).iter().take(number).collect(),
            args: args.skip(2 + number),
        })
    }
}

/// A script or a function, as far as it matters for running it.
pub(super) trait Subject {
    /// Whether it is a function of a library, which gets keys and arguments as parameters.
    const IS_FUNCTION: bool;

    /// Its name in errors.
    fn name(&self) -> &dyn Display;

    /// Its flags; `None` if it has no place for them.
    fn flags(&self) -> Option<Flags>;

    /// Called when it runs, at this monotonic time in microseconds.
    fn use_at(&self, now_us: u64);

    /// Whether it cannot write into the tables of the libraries.
    fn is_pure(&self) -> bool;

    /// Whether it may use keys that it does not declare.
    fn widens(&self) -> bool;

    /// From now on it runs in sections that can be widened.
    fn mark_widening(&self);
}

impl Subject for Script {
    const IS_FUNCTION: bool = false;

    fn name(&self) -> &dyn Display {
        &self.sha
    }

    fn flags(&self) -> Option<Flags> {
        self.flags
    }

    fn use_at(&self, now_us: u64) {
        self.use_at(now_us);
    }

    fn is_pure(&self) -> bool {
        self.is_pure()
    }

    fn widens(&self) -> bool {
        self.widens()
    }

    fn mark_widening(&self) {
        self.mark_widening();
    }
}

impl Subject for FunctionInfo {
    const IS_FUNCTION: bool = true;

    fn name(&self) -> &dyn Display {
        &self.name
    }

    fn flags(&self) -> Option<Flags> {
        Some(self.flags)
    }

    fn use_at(&self, _: u64) {}

    fn is_pure(&self) -> bool {
        self.is_pure
    }

    fn widens(&self) -> bool {
        self.widens()
    }

    fn mark_widening(&self) {
        self.mark_widening();
    }
}

/// A script or a function that is about to run.
pub(super) struct Invocation<'r, S> {
    pub(super) scripts: &'r Scripts,
    pub(super) thread: &'r Thread,
    pub(super) subject: &'r S,
    pub(super) function: &'r Callable,
}

impl<S: Subject> Invocation<'_, S> {
    /// Runs it, and writes its reply.
    ///
    /// # Errors
    /// The error for the client.
    pub(super) fn run<A: App>(
        &self,
        cx: &mut Cx<'_, A>,
        input: &Input<'_>,
        is_read_only: bool,
        reply: &mut Reply<'_>,
    ) -> Result<(), Error> {
        self.subject.use_at(cx.now().monotonic_us());
        // Inside `EXEC` room was made before its section began; evicting now would need others.
        let is_full = !cx.is_in_section()
            && !cx.now().is_replaying()
            && A::Keys::make_room(cx.app(), cx.now()).is_err();
        let writes_refused = cx.engine().writes_refused();
        let permits = Permits::new(
            self.subject.flags(),
            is_read_only,
            is_full,
            writes_refused.filter(|_| !cx.now().is_replaying()),
        )?;
        self.thread.state.limit_memory(self.scripts.bytes_max());
        let mut end = self.attempt(cx, input, permits, reply);
        if let End::Again = end {
            self.subject.mark_widening();
            end = self.attempt(cx, input, permits, reply);
        }
        self.thread.tidy_up(self.scripts, self.subject.is_pure());
        match end {
            End::Replied => Ok(()),
            End::Again => Err(Error::fixed(
                "ERR the script's section could not be widened",
            )),
            End::Failed(error) => Err(error),
        }
    }

    /// Runs the script once.
    fn attempt<A: App>(
        &self,
        cx: &mut Cx<'_, A>,
        input: &Input<'_>,
        permits: Permits,
        reply: &mut Reply<'_>,
    ) -> End {
        let mut end = End::Replied;
        let caption = Caption {
            name: self.subject.name(),
            is_function: S::IS_FUNCTION,
            request: cx.request(),
        };
        cx.section(&input.keys, self.subject.widens(), &mut |calls| {
            let mut calls = ScriptCalls::new(calls, self.scripts, &caption, permits);
            let visit = Visit {
                function: self.function,
                inputs: match S::IS_FUNCTION {
                    true => Inputs::Parameters,
                    false => Inputs::Globals,
                },
                keys: &input.keys,
                args: input.args,
                reply: Some(&mut *reply),
            };
            end = match self.thread.state.run(visit, &mut calls) {
                Ok(Returned::Other) => End::Replied,
                Ok(Returned::CountedError) => {
                    calls.error_is_counted();
                    End::Replied
                }
                Err(failure) => {
                    let end = self.failed(&failure, calls.is_repeatable());
                    if matches!(end, End::Failed(_)) && failure.is_counted {
                        calls.error_is_counted();
                    }
                    end
                }
            };
        });
        end
    }

    fn failed(&self, failure: &Failure, is_repeatable: bool) -> End {
        if failure.stop == Some(Stop::Undeclared) && is_repeatable && !self.subject.widens() {
            return End::Again;
        }
        if failure.stop == Some(Stop::Undeclared) {
            self.subject.mark_widening();
        }
        let message = failure.message(&self.subject.name().to_string());
        End::Failed(Error::owned(message))
    }
}

/// How one attempt to run a script ended.
enum End {
    Replied,
    /// It used a key that it had not declared, before it changed anything.
    Again,
    Failed(Error),
}
