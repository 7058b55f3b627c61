//! The calls of one connection that are pending, each with the replies that wait behind it.

use crate::client::later::{Answer, Call, LocalTask};
use crate::{Limits, Output};
use std::collections::VecDeque;
use std::sync::Arc;

/// A pending call, and what is owed once it is answered.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) call: Arc<Call>,
    /// The future that answers it, if the session itself polls it.
    pub(super) task: Option<LocalTask>,
    /// Its command.
    pub(super) at: u32,
    /// The next requests may run before it is answered.
    pub(super) is_pipelined: bool,
    /// It may wait for long, as `BLPOP`.
    pub(super) is_blocking: bool,
    /// `CLIENT REPLY` says that its reply is not wanted.
    pub(super) is_muted: bool,
    /// The connection ends with its reply.
    pub(super) is_last: bool,
    /// The replies to requests behind it, up to the next pending call.
    pub(super) behind: Output,
}

/// Pending calls in the order of their requests; empty for nearly every connection, nearly always.
#[derive(Debug, Default)]
pub(super) struct Parked {
    items: VecDeque<Item>,
}

impl Parked {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn push(&mut self, item: Item) {
        self.items.push_back(item);
    }

    /// Whether another request must wait until some of this is sent.
    pub(super) fn is_full(&self, limits: &Limits) -> bool {
        let behind = self.items.iter().map(|item| item.behind.len());
        let last = self.items.back().map_or(0, |item| item.behind.len());
        self.items.len() >= limits.pending_calls_max
            || behind.sum::<usize>() >= limits.parked_bytes_max
            || last >= limits.output_bytes_max
    }

    /// Where the replies of the next requests go; `out` when nothing is pending.
    pub(super) fn target<'o>(&'o mut self, out: &'o mut Output) -> &'o mut Output {
        self.items.back_mut().map_or(out, |item| &mut item.behind)
    }

    /// The same, taken out, to be put back with [`Parked::put_behind`].
    pub(super) fn take_behind(&mut self) -> Output {
        self.items
            .back_mut()
            .map(|item| std::mem::take(&mut item.behind))
            .unwrap_or_default()
    }

    pub(super) fn put_behind(&mut self, at: usize, behind: Output) {
        if let Some(item) = self.items.get_mut(at) {
            item.behind = behind;
        }
    }

    /// Polls the futures that asked for it.
    pub(super) fn run_tasks(&mut self) {
        for task in self.items.iter_mut().filter_map(|item| item.task.as_mut()) {
            task.run();
        }
    }

    /// Whether the next turn has something to do, whatever arrives.
    pub(super) fn is_restless(&self) -> bool {
        let is_rung = |item: &Item| item.task.as_ref().is_some_and(LocalTask::is_rung);
        self.items
            .front()
            .is_some_and(|front| front.call.is_answered())
            || self.items.iter().any(is_rung)
    }

    /// Answers those whose time has come with their fallback.
    pub(super) fn expire(&self, now_us: u64) {
        for item in &self.items {
            item.call.expire(now_us);
        }
    }

    /// Answers the blocking ones as if their time had come; those without a fallback wait on.
    pub(super) fn expire_blocking(&self) {
        for item in self.items.iter().filter(|item| item.is_blocking) {
            item.call.expire(u64::MAX);
        }
    }

    /// When the first fallback is due.
    pub(super) fn due_us(&self) -> Option<u64> {
        self.items
            .iter()
            .filter_map(|item| item.call.due_us())
            .min()
    }

    /// Takes the oldest call, if it is answered.
    pub(super) fn pop_answered(&mut self) -> Option<(Item, Answer)> {
        let answer = self.items.front()?.call.take()?;
        Some((self.items.pop_front()?, answer))
    }

    /// Takes the oldest call, answered or not.
    pub(super) fn pop(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    /// Whether one of them may wait for long and is not answered.
    pub(super) fn has_blocking(&self) -> bool {
        self.items
            .iter()
            .any(|item| item.is_blocking && item.call.is_open())
    }

    /// Whether a reply is finished that waits for a call before it.
    pub(super) fn has_finished(&self) -> bool {
        self.items
            .iter()
            .any(|item| !item.behind.is_empty() || item.call.is_answered())
    }
}
