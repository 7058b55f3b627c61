//! Publishes messages from outside a command.

use crate::client::pubsub::{Kind, PubSub};
use std::sync::Arc;

/// Sends messages to the subscribers of channels, as `PUBLISH` does, from any thread at any time. A
/// service gets one when its engine is created ([`App::started`](crate::App::started)).
///
/// ```
/// use respire_engine::{App, NoKeys, Publisher, Router};
/// use std::sync::{Arc, OnceLock};
///
/// #[derive(Default)]
/// struct Station(OnceLock<Publisher>);
///
/// impl App for Station {
///     type Conn = ();
///     type Keys = NoKeys;
///
///     fn started(&self, publisher: &Publisher) {
///         let _first = self.0.set(publisher.clone());
///     }
/// }
///
/// let router = Router::new(Station::default())
///     .command("TUNE", |cx, ()| cx.app().0.get().unwrap().publish(b"news", b"jingle") as i64);
/// let mut client = router.client();
/// client.call("SUBSCRIBE news");
/// assert_eq!(client.connect().call("TUNE"), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Publisher {
    pubsub: Arc<PubSub>,
    mailbox_bytes_max: usize,
}

impl Publisher {
    pub(crate) fn new(pubsub: &Arc<PubSub>, mailbox_bytes_max: usize) -> Self {
        Self {
            pubsub: Arc::clone(pubsub),
            mailbox_bytes_max,
        }
    }

    /// Sends a message to the subscribers of a channel and of the patterns that match it. Returns
    /// how many got it. It never waits for a subscriber: one whose mailbox is full is closed.
    /// O(subscribers + patterns).
    pub fn publish(&self, channel: &[u8], payload: &[u8]) -> usize {
        let bytes_max = self.mailbox_bytes_max;
        self.pubsub
            .publish(Kind::Channel, channel, payload, bytes_max)
    }

    /// Whether there is any subscriber of any channel or pattern. O(1).
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.pubsub.len(Kind::Channel) + self.pubsub.len(Kind::Pattern) > 0
    }
}
