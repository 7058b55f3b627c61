//! Commands that wait until a key has what they take, as `BLPOP` does.
//!
//! Such a command first runs like any other. If its keys have nothing for it, it calls [`Ctx::wait`], and then its
//! row's [`KvWait`] calls [`for_keys`].

use crate::Ctx;
use crate::errors::{TIMEOUT, TIMEOUT_NEGATIVE};
use resp_codec::number::parse_f64;
use respire_engine::{ArgList, Error, IntoReply, Later, Reply};
use respire_store::{Scope, Served, View, Wait, Waiter};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The function of a row that waits: it answers when one of its keys has something.
pub(crate) type KvWait = fn(&mut Ctx<'_>, ArgList<'_>, Later);

/// What a command takes from the first of its keys that has it.
pub(crate) trait Take: Send + Sync + 'static {
    /// The reply.
    type Taken: IntoReply;

    /// Whether it wants to know when a key is removed ([`Take::lost`]).
    const SEES_LOSS: bool = false;

    /// The error if a key is removed; `None` if the command still waits.
    fn lost(&self) -> Option<Error> {
        None
    }

    /// Another key that the command changes.
    fn other_key(&self) -> Option<&[u8]> {
        None
    }

    /// Returns what the command would take from this key, or why it cannot; `None` if the key has nothing for it or
    /// holds another type of value. It changes nothing.
    fn look(&self, view: &mut View<'_>, key: &[u8]) -> Option<Result<Self::Taken, Error>>;

    /// Takes what [`Take::look`] has just returned.
    fn take(&self, view: &mut View<'_>, key: &[u8]);
}

/// Null, as commands give it that would have replied with an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NullArray;

impl IntoReply for NullArray {
    fn into_reply(self, reply: &mut Reply<'_>) {
        reply.null_array();
    }
}

/// The time of a blocking command, in seconds with a fraction; `None` is for ever.
pub(crate) fn timeout(text: &[u8]) -> Result<Option<Duration>, Error> {
    let seconds = parse_f64(text)
        .filter(|seconds| !seconds.is_nan())
        .ok_or(TIMEOUT)?;
    let ms = (seconds * 1_000.0).ceil();
    // Redis takes a time that is too long for a negative one.
    if !(0.0..i64::MAX as f64).contains(&ms) {
        return Err(TIMEOUT_NEGATIVE);
    }
    Ok((ms > 0.0).then(|| Duration::from_millis(ms as u64)))
}

/// The keys and the timeout of a command that ends with it.
pub(crate) fn keys_and_timeout(
    args: ArgList<'_>,
) -> (impl ExactSizeIterator<Item = &[u8]> + Clone, &[u8]) {
    let keys = args.len().saturating_sub(1);
    (args.iter().take(keys), args.get(keys).unwrap_or_default())
}

/// Answers with what `take` takes from one of these keys: at once if one of them has it by now, otherwise when one is
/// written. After the timeout, the reply is `nothing`.
pub(crate) fn for_keys<'k>(
    ctx: &mut Ctx<'_>,
    keys: impl Iterator<Item = &'k [u8]> + Clone,
    (timeout, nothing): (Option<Duration>, impl IntoReply),
    later: Later,
    take: impl Take,
) {
    // `CLIENT UNBLOCK` answers with the reply of the deadline, even if that never comes.
    let later = later.deadline(timeout.unwrap_or(Duration::MAX), nothing);
    let blocked = Arc::new(Blocked {
        take,
        later: Mutex::new(Some(later)),
    });
    let db = ctx.view.db();
    let mut covered: Vec<(u32, &[u8])> = keys.clone().map(|key| (db, key)).collect();
    covered.extend(blocked.take.other_key().map(|key| (db, key)));
    ctx.view.locked(&Scope::Keys(&covered), |view| {
        // Another client may have written a key since the command ran.
        if keys
            .clone()
            .any(|key| blocked.serve(view, key) == Served::Over)
        {
            return;
        }
        let waits: Vec<Wait> = keys
            .map(|key| view.wait(key, Arc::clone(&blocked)))
            .collect();
        if let Some(later) = &*blocked.later() {
            // An answer drops the hook, and with it the waits for the other keys.
            later.on_cancel(move || drop(waits));
        }
    });
}

/// A command that waits.
struct Blocked<T> {
    take: T,
    /// `None` once it is answered.
    later: Mutex<Option<Later>>,
}

impl<T> Blocked<T> {
    fn later(&self) -> MutexGuard<'_, Option<Later>> {
        self.later.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Take> Waiter for Blocked<T> {
    fn sees_loss(&self) -> bool {
        T::SEES_LOSS
    }

    fn lost(&self, _key: &[u8]) -> Served {
        let Some(error) = self.take.lost() else {
            return Served::Waits;
        };
        if let Some(later) = self.later().take() {
            // Nobody waits for the answer of a client that is gone.
            let _is_answered = later.reply(Err::<(), _>(error));
        }
        Served::Over
    }

    fn serve(&self, view: &mut View<'_>, key: &[u8]) -> Served {
        let mut waiting = self.later();
        if waiting.as_ref().is_none_or(Later::cancelled) {
            return Served::Over;
        }
        if let Some(other) = self.take.other_key()
            && !view.covers(&Scope::Keys(&[(view.db(), other)]))
        {
            return Served::Needs(other.into());
        }
        let Some(found) = self.take.look(view, key) else {
            return Served::Waits;
        };
        let is_taken = found.is_ok();
        // Nothing is taken for a client that is gone.
        let is_answered = waiting.take().is_some_and(|later| later.reply(found));
        if is_answered && is_taken {
            self.take.take(view, key);
        }
        Served::Over
    }
}
