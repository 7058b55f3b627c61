//! A pending call: the state that its session and the holder of its `Later` share.

use crate::client::ClientShared;
use crate::reply::code::error_code;
use crate::{IntoReply, Output, Proto};
use resp_codec::Encoder;
use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;

/// A pending call. The session that waits holds one end, and a [`Later`](super::Later) the other.
///
/// It belongs to one request of one connection and is never reused, so a late reply can only reach
/// its own request.
pub(crate) struct Call {
    client: Arc<ClientShared>,
    /// The protocol of the reply, which is the connection's protocol at the time of the request.
    proto: Proto,
    began_us: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Not answered.
    Open(Open),
    /// Answered; the session has not taken it yet.
    Answered(Answer),
    /// The answer is taken, or the call is cancelled.
    Over,
}

#[derive(Debug, Default)]
struct Open {
    fallback: Option<Fallback>,
    hooks: Vec<Hook>,
    task: Option<Waker>,
    /// The session waits and must be woken.
    is_parked: bool,
}

#[derive(Debug)]
struct Fallback {
    due_us: u64,
    answer: Answer,
}

/// Called when the call ends without a reply from the holder of its `Later`.
struct Hook(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// A complete reply, encoded.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) output: Output,
    /// Whether it is an error, or the protocol cannot express it.
    pub(crate) is_error: bool,
    /// The payload of a panic that happened instead of an answer.
    pub(crate) panic: Option<Box<dyn Any + Send>>,
}

impl Answer {
    /// Encodes a reply. A panic while encoding becomes an error, as in a command.
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

    /// The reply to a call that panicked with this payload.
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

    /// The reply of the holder of the `Later`; `false` if it comes too late.
    pub(crate) fn answer(&self, answer: Answer) -> bool {
        self.finish(|_| Some(State::Answered(answer)), false)
    }

    /// A reply from another source; the holder of the `Later` is notified. `false` if the call was
    /// over already.
    pub(crate) fn answer_for_holder(&self, answer: Answer) -> bool {
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

    /// Ends the call without a reply.
    pub(crate) fn cancel(&self) {
        if !self.finish(|_| Some(State::Over), true) {
            let before = std::mem::replace(&mut *self.lock(), State::Over);
            drop(before);
        }
    }

    /// Ends an open call in the state that `with` returns, unless it returns `None`. Hooks are
    /// called, tasks are woken and values are dropped without the lock.
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

    /// The answer, if there is one. Otherwise the session waits from now on and must be woken.
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

    /// The time of the fallback, if the call is open and has one.
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
            // The session must compute its next deadline again.
            self.client.wake();
        }
    }

    /// Calls `hook` when the call ends from another source, or at once if it has.
    pub(crate) fn on_cancel(&self, hook: impl FnOnce() + Send + 'static) {
        let hook = Hook(Box::new(hook));
        let mut state = self.lock();
        if let State::Open(open) = &mut *state {
            return open.hooks.push(hook);
        }
        drop(state);
        call(hook);
    }

    /// Wakes a task when the call ends from another source; `false` if it has already.
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

/// Calls a hook. If it panics, the other hooks are still called.
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
