//! One call whose reply is yet to come: where the two sides meet, whoever is first.

use crate::client::ClientShared;
use crate::reply::code::error_code;
use crate::{IntoReply, Output, Proto};
use resp_codec::Encoder;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

/// A pending call. The session that waits for it holds one end, a [`Later`](super::Later) the other.
///
/// It belongs to one request of one connection and is never used again, so that a late reply has
/// nowhere to go but to its own request.
pub(crate) struct Call {
    client: Arc<ClientShared>,
    /// What the reply is written in: the protocol of the time of the request.
    proto: Proto,
    began_us: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Waited for.
    Open(Open),
    /// Answered; the session has not taken it yet.
    Answered(Answer),
    /// Taken, or not wanted any more.
    Over,
}

#[derive(Debug, Default)]
struct Open {
    fallback: Option<Fallback>,
    hooks: Vec<Hook>,
    task: Option<Waker>,
    /// The session waits: it must be woken.
    is_parked: bool,
}

#[derive(Debug)]
struct Fallback {
    due_us: u64,
    answer: Answer,
}

/// Called when the call is over and its answer came from elsewhere, or not at all.
struct Hook(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// A whole reply, encoded.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) output: Output,
    /// Whether it is an error, or cannot be written in the protocol.
    pub(crate) is_error: bool,
    /// What it panicked with instead of answering.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

impl Answer {
    /// Encodes a reply; one that panics is answered as any other defect.
    pub(crate) fn new(proto: Proto, reply: impl IntoReply) -> Self {
        let write = || {
            let mut output = Output::new();
            let mut encoder = Encoder::new(&mut output, proto);
            reply.into_reply(&mut encoder);
            let is_error = encoder.error_count() > 0;
            Self {
                output,
                is_error,
                panic: None,
            }
        };
        catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|panic| Self::panicked(proto, panic))
    }

    /// The reply to a call that panicked with this.
    pub(crate) fn panicked(proto: Proto, panic: Box<dyn Any + Send>) -> Self {
        Self {
            panic: Some(panic),
            ..Self::new(proto, crate::text::INTERNAL)
        }
    }

    /// The code word of an error.
    pub(crate) fn code(&self, proto: Proto) -> &str {
        error_code(self.output.put_since(0), proto)
    }
}

impl Call {
    pub(crate) fn new(client: Arc<ClientShared>, proto: Proto, began_us: u64) -> Arc<Self> {
        Arc::new(Self {
            client,
            proto,
            began_us,
            state: Mutex::new(State::Open(Open::default())),
        })
    }

    pub(crate) fn client(&self) -> &Arc<ClientShared> {
        &self.client
    }

    pub(crate) fn proto(&self) -> Proto {
        self.proto
    }

    pub(crate) fn began_us(&self) -> u64 {
        self.began_us
    }

    /// The reply of whoever holds the `Later`; `false` when it comes too late.
    pub(crate) fn answer(&self, answer: Answer) -> bool {
        self.finish(|_| Some(State::Answered(answer)), false)
    }

    /// A reply from elsewhere, which whoever holds the `Later` is told of; `false` when the call
    /// was over already.
    pub(crate) fn settle(&self, answer: Answer) -> bool {
        self.finish(|_| Some(State::Answered(answer)), true)
    }

    /// Answers with the fallback if its time has come.
    pub(crate) fn expire(&self, now_us: u64) -> bool {
        let due = |open: &mut Open| {
            let fallback = open.fallback.take_if(|it| it.due_us <= now_us)?;
            Some(State::Answered(fallback.answer))
        };
        self.finish(due, true)
    }

    /// Nobody wants the reply any more.
    pub(crate) fn cancel(&self) {
        if !self.finish(|_| Some(State::Over), true) {
            let before = std::mem::replace(&mut *self.lock(), State::Over);
            drop(before);
        }
    }

    /// Ends an open call as `with` says, unless it gives nothing. All that others left with the
    /// call is dropped, called and woken without the lock.
    fn finish(&self, with: impl FnOnce(&mut Open) -> Option<State>, tell: bool) -> bool {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else {
            return false;
        };
        let Some(next) = with(open) else {
            return false;
        };
        let State::Open(open) = std::mem::replace(&mut *state, next) else {
            return false;
        };
        drop(state);
        if open.is_parked {
            self.client.wake();
        }
        if tell {
            open.hooks.into_iter().for_each(call);
            if let Some(task) = open.task {
                task.wake();
            }
        }
        true
    }

    /// The answer, if there is one already; otherwise the session waits from now on.
    pub(crate) fn park(&self) -> Option<Answer> {
        if let State::Open(open) = &mut *self.lock() {
            open.is_parked = true;
            return None;
        }
        self.take()
    }

    /// Takes the answer, if there is one.
    pub(crate) fn take(&self) -> Option<Answer> {
        let mut state = self.lock();
        if !matches!(*state, State::Answered(_)) {
            return None;
        }
        match std::mem::replace(&mut *state, State::Over) {
            State::Answered(answer) => Some(answer),
            State::Open(_) | State::Over => None,
        }
    }

    pub(crate) fn is_answered(&self) -> bool {
        matches!(*self.lock(), State::Answered(_))
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(*self.lock(), State::Open(_))
    }

    /// When the fallback is due, if there is one and it is still waited for.
    pub(crate) fn due_us(&self) -> Option<u64> {
        match &*self.lock() {
            State::Open(open) => open.fallback.as_ref().map(|fallback| fallback.due_us),
            State::Answered(_) | State::Over => None,
        }
    }

    pub(crate) fn set_fallback(&self, due_us: u64, answer: Answer) {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else {
            return;
        };
        let before = open.fallback.replace(Fallback { due_us, answer });
        let is_parked = open.is_parked;
        drop(state);
        drop(before);
        if is_parked {
            // It has to look up anew when to be polled.
            self.client.wake();
        }
    }

    /// Has `hook` called when the call is over by itself; at once if it is.
    pub(crate) fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        let hook = Hook(Box::new(hook));
        let mut state = self.lock();
        if let State::Open(open) = &mut *state {
            return open.hooks.push(hook);
        }
        drop(state);
        call(hook);
    }

    /// Has a task woken when the call is over by itself; `false` if it is.
    pub(crate) fn watch(&self, task: &Waker) -> bool {
        let mut state = self.lock();
        let State::Open(open) = &mut *state else {
            return false;
        };
        match &mut open.task {
            Some(present) => present.clone_from(task),
            none => *none = Some(task.clone()),
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// A hook that panics is a defect of the service, and must not cost others theirs.
fn call(hook: Hook) {
    let _ = catch_unwind(AssertUnwindSafe(hook.0));
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("client", &self.client.id())
            .field("state", &*self.lock())
            .finish_non_exhaustive()
    }
}
