//! The queue of messages from other connections, which a session empties.

use crate::{Output, Proto};
use bytes::Bytes;
use resp_codec::{Encoder, FrameDecoder, Limits, Sink, Step};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A bounded queue. Any thread may put messages, and one session takes them.
///
/// Putting never waits for the peer: it takes a short lock and a reference count. So a slow
/// subscriber costs a publisher only memory, within the bound.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    queue: Mutex<Queue>,
    /// Whether the session has work here: messages, or an overrun.
    has_mail: AtomicBool,
}

#[derive(Debug, Default)]
struct Queue {
    messages: VecDeque<Message>,
    bytes: usize,
    is_overrun: bool,
    /// The connection is closed.
    is_closed: bool,
}

/// An encoded push without its first byte, which depends on the protocol: `>` or `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    bytes: Bytes,
    /// Whether it has elements that only RESP3 has.
    is_resp3: bool,
}

impl Message {
    /// Creates a message from a push in RESP2 or RESP3. `is_resp3`: it would be encoded differently
    /// in RESP2.
    pub(crate) fn new(push: Vec<u8>, is_resp3: bool) -> Self {
        Self {
            bytes: Bytes::from(push).slice(1..),
            is_resp3,
        }
    }

    fn cost(&self) -> usize {
        self.bytes.len() + size_of::<Self>() * 2
    }

    /// Writes it in RESP2 or RESP3.
    pub(crate) fn write(&self, proto: Proto, out: &mut Output) {
        if self.is_resp3 && proto == Proto::Resp2 {
            return self.rewrite(out);
        }
        out.put(if proto == Proto::Resp3 { b">" } else { b"*" });
        out.put_shared(self.bytes.clone());
    }

    /// Encodes it again in RESP2, for a peer that switched back since the message was put.
    #[cold]
    fn rewrite(&self, out: &mut Output) {
        let whole = [b">", &self.bytes[..]].concat();
        if let Ok(Step::Ready { item, .. }) = FrameDecoder::new(Limits::CLIENT).decode(&whole) {
            item.encode(&mut Encoder::new(out, Proto::Resp2));
        }
    }
}

/// What happens to a message when the mailbox is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The connection is closed: a client that misses messages without notice is worse off than one
    /// that has to connect again.
    #[default]
    Close,
    /// The message is dropped; earlier messages stay.
    DropNewest,
}

/// The result of [`Mailbox::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The message is queued. `wake`: the session must be woken.
    Queued { wake: bool },
    /// The mailbox was full. `wake`: the session must be woken, to close.
    Full { wake: bool },
    /// The connection is closed.
    Gone,
}

/// The result of [`Mailbox::take`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mail {
    /// All messages are taken.
    Empty,
    /// Messages are left because there was no room.
    Left,
    /// The peer was too slow; its messages are dropped and the connection must close.
    Overrun,
}

impl Mailbox {
    /// Adds a message if the total stays within `bytes_max`.
    pub(crate) fn put(&self, message: &Message, bytes_max: usize, when_full: WhenFull) -> Put {
        let mut queue = self.lock();
        if queue.is_closed {
            return Put::Gone;
        }
        if queue.is_overrun {
            return Put::Full { wake: false };
        }
        let bytes = queue.bytes + message.cost();
        if bytes <= bytes_max {
            queue.bytes = bytes;
            queue.messages.push_back(message.clone());
            let wake = !self.has_mail.swap(true, Ordering::AcqRel);
            return Put::Queued { wake };
        }
        if when_full == WhenFull::DropNewest {
            return Put::Full { wake: false };
        }
        *queue = Queue {
            is_overrun: true,
            ..Queue::default()
        };
        self.has_mail.store(true, Ordering::Release);
        // The session knows of messages, but not yet that it must close.
        Put::Full { wake: true }
    }

    /// Called when the connection closes. No messages are stored from then on.
    pub(crate) fn close(&self) {
        *self.lock() = Queue {
            is_closed: true,
            ..Queue::default()
        };
    }

    /// The number of queued messages.
    pub(crate) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Whether [`Mailbox::take`] has work; costs one load.
    pub(crate) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Acquire)
    }

    /// Passes at most `most` messages to `write`, oldest first, as long as it returns that there is
    /// room. The first call, with `None`, only asks for room.
    pub(crate) fn take(
        &self,
        most: usize,
        mut write: impl FnMut(Option<&Message>) -> bool,
    ) -> Mail {
        let mut queue = self.lock();
        if queue.is_overrun {
            return Mail::Overrun;
        }
        let mut has_room = write(None);
        for taken in 0.. {
            if queue.messages.is_empty() {
                break;
            }
            if taken == most || !has_room {
                return Mail::Left;
            }
            if let Some(message) = queue.messages.pop_front() {
                queue.bytes -= message.cost();
                has_room = write(Some(&message));
            }
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

    const QUEUED: Put = Put::Queued { wake: true };

    fn message(text: &str) -> Message {
        Message::new(format!(">1\r\n+{text}\r\n").into_bytes(), false)
    }

    fn put(mailbox: &Mailbox, text: &str, bytes_max: usize) -> Put {
        mailbox.put(&message(text), bytes_max, WhenFull::Close)
    }

    #[test]
    fn only_the_first_queued_message_wakes() {
        let mailbox = Mailbox::default();
        assert_eq!(put(&mailbox, "one", 1000), QUEUED);
        assert_eq!(put(&mailbox, "two", 1000), Put::Queued { wake: false });
        let mut taken = Vec::new();
        let mail = mailbox.take(usize::MAX, |message| {
            taken.extend(message.cloned());
            true
        });
        assert_eq!(mail, Mail::Empty);
        assert_eq!(taken, [message("one"), message("two")]);
        assert_eq!(put(&mailbox, "one", 1000), QUEUED);
    }

    #[test]
    fn take_stops_without_room_or_at_its_maximum() {
        let mailbox = Mailbox::default();
        for text in ["one", "two", "three"] {
            let _ = put(&mailbox, text, 1000);
        }
        assert_eq!(mailbox.take(usize::MAX, |_| false), Mail::Left);
        assert_eq!(mailbox.take(1, |_| true), Mail::Left);
        assert_eq!(mailbox.len(), 2);
        let nothing_after_one = |message: Option<&Message>| message.is_none();
        assert_eq!(mailbox.take(usize::MAX, nothing_after_one), Mail::Left);
        assert!(mailbox.has_mail());
        assert_eq!(mailbox.take(1, nothing_after_one), Mail::Empty);
        assert!(!mailbox.has_mail());
    }

    #[test]
    fn overrun_drops_all_messages() {
        let mailbox = Mailbox::default();
        let bytes_max = 2 * message("one").cost();
        let _ = put(&mailbox, "one", bytes_max);
        let _ = put(&mailbox, "one", bytes_max);
        assert_eq!(put(&mailbox, "two", bytes_max), Put::Full { wake: true });
        assert_eq!(put(&mailbox, "two", bytes_max), Put::Full { wake: false });
        assert_eq!(mailbox.take(usize::MAX, |_| true), Mail::Overrun);
    }

    #[test]
    fn drop_newest_keeps_earlier_messages() {
        let mailbox = Mailbox::default();
        let bytes_max = 2 * message("one").cost();
        let put = |text| mailbox.put(&message(text), bytes_max, WhenFull::DropNewest);
        assert_eq!(put("one"), QUEUED);
        let _ = put("two");
        assert_eq!(put("six"), Put::Full { wake: false });
        let mut out = Output::new();
        let mail = mailbox.take(usize::MAX, |message| {
            message.inspect(|message| message.write(Proto::Resp3, &mut out));
            true
        });
        assert_eq!(mail, Mail::Empty);
        assert_eq!(out.take(), b">1\r\n+one\r\n>1\r\n+two\r\n");
    }

    #[test]
    fn closed_mailbox_stores_no_messages() {
        let mailbox = Mailbox::default();
        let _ = put(&mailbox, "one", 1000);
        mailbox.close();
        assert_eq!(put(&mailbox, "two", 1000), Put::Gone);
        assert_eq!(mailbox.len(), 0);
    }

    #[test]
    fn resp3_elements_are_encoded_again_for_resp2() {
        let mut out = Output::new();
        let message = Message::new(b">3\r\n$1\r\nk\r\n#t\r\n_\r\n".to_vec(), true);
        message.write(Proto::Resp2, &mut out);
        assert_eq!(out.take(), b"*3\r\n$1\r\nk\r\n:1\r\n$-1\r\n");
        message.write(Proto::Resp3, &mut out);
        assert_eq!(out.take(), b">3\r\n$1\r\nk\r\n#t\r\n_\r\n");
    }
}
