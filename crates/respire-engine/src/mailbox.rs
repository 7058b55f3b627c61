//! Messages for a connection from others, until its session takes them.

use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A bounded queue that any thread may put into and one session takes from.
///
/// Putting never waits for the peer: it is a short lock and a reference count, so a slow subscriber
/// costs a publisher nothing but the memory that the bound allows.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    queue: Mutex<Queue>,
    /// Whether the session has something to look at: messages, or that there were too many.
    has_mail: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Bytes>,
    bytes: usize,
    is_overrun: bool,
}

/// What a message costs in the queue besides its bytes, so that empty ones are bounded as well.
const MESSAGE_BYTES: usize = size_of::<Bytes>() * 2;

/// What [`Mailbox::take`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mail {
    /// All there was is taken.
    Empty,
    /// More is left than there was room for.
    Left,
    /// The connection did not take its messages in time; they are dropped, and it must end.
    Overrun,
}

impl Mailbox {
    /// Adds a message; `true` when the session must be woken for it.
    ///
    /// A message that does not fit below `bytes_max` ends the connection: a subscriber that misses
    /// messages without being told is worse off than one that has to connect again.
    pub(crate) fn put(&self, message: &Bytes, bytes_max: usize) -> bool {
        let mut queue = self.lock();
        if queue.is_overrun {
            return false;
        }
        queue.bytes += message.len() + MESSAGE_BYTES;
        if queue.bytes > bytes_max {
            *queue = Queue {
                is_overrun: true,
                ..Queue::default()
            };
            self.has_mail.store(true, Ordering::Release);
            // The session knows of messages, but not that it must stop waiting for its peer.
            return true;
        }
        queue.messages.push_back(message.clone());
        !self.has_mail.swap(true, Ordering::AcqRel)
    }

    /// Whether [`Mailbox::take`] has something to do; one load.
    pub(crate) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Acquire)
    }

    /// Hands messages to `write`, oldest first, as long as it says that there is room; it is asked
    /// with `None` before the first.
    pub(crate) fn take(&self, mut write: impl FnMut(Option<&Bytes>) -> bool) -> Mail {
        let mut queue = self.lock();
        if queue.is_overrun {
            return Mail::Overrun;
        }
        let mut has_room = write(None);
        while let Some(message) = queue.messages.pop_front() {
            if !has_room {
                queue.messages.push_front(message);
                return Mail::Left;
            }
            queue.bytes -= message.len() + MESSAGE_BYTES;
            has_room = write(Some(&message));
        }
        self.has_mail.store(false, Ordering::Release);
        Mail::Empty
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Bytes = Bytes::from_static(b"one");
    const TWO: Bytes = Bytes::from_static(b"two");

    #[test]
    fn only_the_first_message_of_several_wakes() {
        let mailbox = Mailbox::default();
        assert!(mailbox.put(&ONE, 1000));
        assert!(!mailbox.put(&TWO, 1000));
        let mut taken = Vec::new();
        let mail = mailbox.take(|message| {
            taken.extend(message.cloned());
            true
        });
        assert_eq!((mail, taken), (Mail::Empty, vec![ONE, TWO]));
        assert!(mailbox.put(&ONE, 1000));
    }

    #[test]
    fn taking_stops_when_there_is_no_room() {
        let mailbox = Mailbox::default();
        mailbox.put(&ONE, 1000);
        mailbox.put(&TWO, 1000);
        assert_eq!(mailbox.take(|_| false), Mail::Left);
        assert_eq!(mailbox.take(|message| message.is_none()), Mail::Left);
        assert!(mailbox.has_mail());
        assert_eq!(mailbox.take(|message| message.is_none()), Mail::Empty);
        assert!(!mailbox.has_mail());
    }

    #[test]
    fn messages_past_the_bound_are_dropped_with_all_before_them() {
        let mailbox = Mailbox::default();
        let bytes_max = 2 * (ONE.len() + MESSAGE_BYTES);
        mailbox.put(&ONE, bytes_max);
        mailbox.put(&ONE, bytes_max);
        assert!(mailbox.put(&TWO, bytes_max), "the session must end");
        assert!(!mailbox.put(&TWO, bytes_max));
        assert_eq!(mailbox.take(|_| true), Mail::Overrun);
    }
}
