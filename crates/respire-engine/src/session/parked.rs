//! The pending calls of one connection, each with the replies that wait behind it.

use crate::client::later::{Answer, Call, LocalTask};
use crate::{Limits, Output};
use std::collections::VecDeque;
use std::sync::Arc;

/// A pending call, and the replies to send once it is answered.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) call: Arc<Call>,
    /// The future that answers the call, if the session polls it.
    pub(super) task: Option<LocalTask>,
    /// The index of its command in the table.
    pub(super) at: u32,
    /// The next requests may run before the call is answered.
    pub(super) is_pipelined: bool,
    /// It may wait for a long time, as `BLPOP` does.
    pub(super) is_blocking: bool,
    /// `CLIENT REPLY` turned its reply off.
    pub(super) is_muted: bool,
    /// The connection closes after this reply.
    pub(super) is_last: bool,
    /// Replies to the requests after it, up to the next pending call.
    pub(super) behind: Output,
}

/// Pending calls in the order of their requests. Nearly always empty.
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

    /// Whether the next request must wait until some of these replies are sent.
    pub(super) fn is_full(&self, limits: &Limits) -> bool {
        let behind = self.items.iter().map(|item| item.behind.len());
        let last = self.items.back().map_or(0, |item| item.behind.len());
        self.items.len() >= limits.pending_calls_max
            || behind.sum::<usize>() >= limits.parked_bytes_max
            || last >= limits.output_bytes_max
    }

    /// Where the replies of the next requests go; `out` when no call is pending.
    pub(super) fn target<'o>(&'o mut self, out: &'o mut Output) -> &'o mut Output {
        self.items.back_mut().map_or(out, |item| &mut item.behind)
    }

    /// The same buffer, taken out; [`Parked::put_behind`] puts it back.
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

    /// Polls the futures that were woken.
    pub(super) fn run_tasks(&mut self) {
        for task in self.items.iter_mut().filter_map(|item| item.task.as_mut()) {
            task.run();
        }
    }

    /// Whether the next turn has work even if nothing arrives.
    pub(super) fn has_work(&self) -> bool {
        let is_woken = |item: &Item| item.task.as_ref().is_some_and(LocalTask::is_woken);
        self.items
            .front()
            .is_some_and(|front| front.call.is_answered())
            || self.items.iter().any(is_woken)
    }

    /// Answers calls whose deadline has passed with their fallback.
    pub(super) fn expire(&self, now_us: u64) {
        for item in &self.items {
            item.call.expire(now_us);
        }
    }

    /// Answers blocking calls with their fallback at once; those without one keep waiting.
    pub(super) fn expire_blocking(&self) {
        for item in self.items.iter().filter(|item| item.is_blocking) {
            item.call.expire(u64::MAX);
        }
    }

    /// The earliest deadline of a fallback.
    pub(super) fn due_us(&self) -> Option<u64> {
        self.items
            .iter()
            .filter_map(|item| item.call.due_us())
            .min()
    }

    /// Removes the oldest call if it is answered.
    pub(super) fn pop_answered(&mut self) -> Option<(Item, Answer)> {
        let answer = self.items.front()?.call.take()?;
        Some((self.items.pop_front()?, answer))
    }

    /// Removes the oldest call, answered or not.
    pub(super) fn pop(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    /// Whether an unanswered call may wait for a long time.
    pub(super) fn has_blocking(&self) -> bool {
        self.items
            .iter()
            .any(|item| item.is_blocking && item.call.is_open())
    }

    /// Whether a finished reply waits behind an earlier call.
    pub(super) fn has_finished(&self) -> bool {
        self.items
            .iter()
            .any(|item| !item.behind.is_empty() || item.call.is_answered())
    }
}
