//! Sends push messages to a connection from any thread.

use crate::client::mailbox::{Message, Put, WhenFull};
use crate::{ClientShared, IntoReply, Output, Proto, Reply};
use resp_codec::Encoder;
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// Sends messages to one connection, from any thread, between its replies.
///
/// A RESP3 client gets them as pushes. A RESP2 client gets them as arrays, and only while it has a
/// subscription, because otherwise it could not tell them from replies. A client of the binary
/// protocol gets none.
///
/// A message that a handler sends to its own client follows the handler's reply, unless the reply
/// is deferred. While finished replies wait for an earlier pending call, messages wait too: a
/// message never overtakes a reply that finished before the message was sent.
///
/// Sending never waits: it takes a short lock and copies the message. The bytes that wait for the
/// client are bounded; [`Pusher::when_full`] sets what happens beyond that. A pusher does not keep
/// its connection open.
///
/// ```
/// use respire_engine::{App, NoKeys, Pusher, Router};
/// use std::sync::Mutex;
///
/// #[derive(Default)]
/// struct Watchers(Mutex<Vec<Pusher>>);
/// impl App for Watchers {
///     type Conn = ();
///     type Keys = NoKeys;
/// }
/// let router = Router::new(Watchers::default())
///     .command("WATCHING", |cx, ()| cx.app().0.lock().unwrap().push(cx.pusher()))
///     .command("TELL", |cx, ()| {
///         let mut watchers = cx.app().0.lock().unwrap();
///         watchers.retain(|watcher| watcher.push(("news", 1_i64)).is_ok());
///     });
/// ```
#[derive(Clone)]
pub struct Pusher {
    client: Weak<ClientShared>,
    client_id: u64,
    bytes_max: usize,
    when_full: WhenFull,
}

/// Why a message was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushError {
    /// The client is too slow to read its messages; see [`Pusher::when_full`].
    Full,
    /// The connection is closed.
    Gone,
    /// The client speaks RESP2 without a subscription, or the binary protocol.
    NotSubscribed,
    /// A [`Stream`](crate::Stream) in the message did not produce the number of bytes that it
    /// announced.
    Broken,
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the client does not take its messages in time",
            Self::Gone => "the connection is gone",
            Self::NotSubscribed => "the client has no way to tell a message from a reply",
            Self::Broken => "a stream in the message broke off",
        })
    }
}

impl std::error::Error for PushError {}

impl Pusher {
    pub(crate) fn new(client: &Arc<ClientShared>, bytes_max: usize) -> Self {
        Self {
            client: Arc::downgrade(client),
            client_id: client.id(),
            bytes_max,
            when_full: WhenFull::default(),
        }
    }

    /// Sets what happens when there is no room. The default closes the connection.
    #[must_use]
    pub fn when_full(self, when_full: WhenFull) -> Self {
        Self { when_full, ..self }
    }

    /// Sets how many bytes may wait for the client, including messages from others and for its
    /// subscriptions. The default, and the maximum, is `mailbox_bytes_max`.
    #[must_use]
    pub fn bytes_max(self, bytes_max: usize) -> Self {
        let bytes_max = bytes_max.min(self.bytes_max);
        Self { bytes_max, ..self }
    }

    /// Sends a message. O(its length).
    ///
    /// # Errors
    /// If the message cannot be delivered. A message that was sent can still be lost with its
    /// connection.
    pub fn push(&self, message: impl IntoPush) -> Result<(), PushError> {
        let client = self.client.upgrade().ok_or(PushError::Gone)?;
        let is_resp3 = client.resp.load(Ordering::Relaxed) == 3;
        if !is_resp3 && !client.subscribed.is_any() {
            return Err(PushError::NotSubscribed);
        }
        let proto = if is_resp3 { Proto::Resp3 } else { Proto::Resp2 };
        let mut out = Output::new();
        message.into_push(&mut Encoder::new(&mut out, proto));
        let announced = out.len();
        let whole = out.take();
        if whole.len() < announced {
            return Err(PushError::Broken);
        }
        let message = Message::new(whole, is_resp3);
        match client.send(&message, self.bytes_max, self.when_full) {
            Put::Queued { .. } => Ok(()),
            Put::Full { .. } => Err(PushError::Full),
            Put::Gone => Err(PushError::Gone),
        }
    }

    /// The id of the connection.
    #[must_use]
    pub fn client_id(&self) -> u64 {
        self.client_id
    }
}

impl fmt::Debug for Pusher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pusher")
            .field("client_id", &self.client_id)
            .field("bytes_max", &self.bytes_max)
            .field("when_full", &self.when_full)
            .finish_non_exhaustive()
    }
}

/// A message of a [`Pusher`]: its kind and its elements.
///
/// Implemented for tuples: the kind as a string, then up to seven replies.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a message",
    label = "does not implement `IntoPush`",
    note = "use a tuple: a string that tells the kind, then values that are replies, as in `(\"news\", 1_i64)`"
)]
pub trait IntoPush {
    /// Writes exactly one push: [`push`](resp_codec::Encoder::push) with the number of elements,
    /// the kind as a bulk string, then the other elements.
    fn into_push(self, push: &mut Reply<'_>);
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<Kind: AsRef<[u8]>, $($name: IntoReply),*> IntoPush for (Kind, $($name,)*) {
            #[expect(non_snake_case, reason = "the variables are named after their types")]
            fn into_push(self, push: &mut Reply<'_>) {
                let (kind, $($name,)*) = self;
                push.push([stringify!(Kind), $(stringify!($name)),*].len());
                push.bulk(kind);
                $($name.into_reply(push);)*
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);

impl<Kind: AsRef<[u8]>> IntoPush for (Kind,) {
    fn into_push(self, push: &mut Reply<'_>) {
        push.push(1);
        push.bulk(self.0);
    }
}
