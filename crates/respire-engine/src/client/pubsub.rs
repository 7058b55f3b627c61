//! The subscribers of channels, and sending messages to them.

use crate::client::ClientShared;
use crate::client::mailbox::{Message, WhenFull};
use crate::glob_match;
use resp_codec::{Encoder, Proto};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

/// The three kinds of subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A channel by its name: `SUBSCRIBE`.
    Channel,
    /// All channels that match a pattern: `PSUBSCRIBE`.
    Pattern,
    /// A shard channel, in a namespace of its own: `SSUBSCRIBE`.
    Shard,
}

/// The subscribers of each name, sorted by connection id so that the oldest is served first.
type Topics = HashMap<Box<[u8]>, BTreeMap<u64, Arc<ClientShared>>>;

/// All subscriptions of a server.
///
/// Publishing holds a read lock, and only while it puts messages into mailboxes: no socket is
/// written under the lock.
#[derive(Debug, Default)]
pub(crate) struct PubSub {
    channels: RwLock<Topics>,
    patterns: RwLock<Topics>,
    shard_channels: RwLock<Topics>,
}

impl PubSub {
    fn topics(&self, kind: Kind) -> &RwLock<Topics> {
        match kind {
            Kind::Channel => &self.channels,
            Kind::Pattern => &self.patterns,
            Kind::Shard => &self.shard_channels,
        }
    }

    pub(crate) fn read<R>(&self, kind: Kind, f: impl FnOnce(&Topics) -> R) -> R {
        f(&self
            .topics(kind)
            .read()
            .unwrap_or_else(PoisonError::into_inner))
    }

    fn write<R>(&self, kind: Kind, f: impl FnOnce(&mut Topics) -> R) -> R {
        f(&mut self
            .topics(kind)
            .write()
            .unwrap_or_else(PoisonError::into_inner))
    }

    /// How many connections subscribe to exactly this name.
    pub(crate) fn subscribers(&self, kind: Kind, name: &[u8]) -> usize {
        self.read(kind, |topics| topics.get(name).map_or(0, BTreeMap::len))
    }

    /// How many names of this kind have subscribers.
    pub(crate) fn len(&self, kind: Kind) -> usize {
        self.read(kind, HashMap::len)
    }

    /// Sends a message to a channel's subscribers, and to those of matching patterns unless it is a
    /// shard channel. Returns how many got it. A connection that matches twice gets it twice.
    ///
    /// O(subscribers + patterns).
    pub(crate) fn publish(
        &self,
        kind: Kind,
        channel: &[u8],
        payload: &[u8],
        bytes_max: usize,
    ) -> usize {
        let word: &[u8] = if kind == Kind::Shard {
            b"smessage"
        } else {
            b"message"
        };
        let mut sent = self.read(kind, |topics| {
            let Some(subscribers) = topics.get(channel) else {
                return 0;
            };
            send(subscribers, &message(&[word, channel, payload]), bytes_max)
        });
        if kind == Kind::Channel {
            sent += self.read(Kind::Pattern, |patterns| {
                let matching = patterns
                    .iter()
                    .filter(|(pattern, _)| glob_match(pattern, channel, false));
                matching
                    .map(|(pattern, subscribers)| {
                        let parts: [&[u8]; 4] = [b"pmessage", pattern, channel, payload];
                        send(subscribers, &message(&parts), bytes_max)
                    })
                    .sum::<usize>()
            });
        }
        sent
    }

    /// Ends all subscriptions of a connection without a confirmation.
    pub(crate) fn forget(&self, client: &ClientShared, subscriptions: &Subscriptions) {
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            for name in subscriptions.names(kind) {
                self.remove(kind, name, client);
            }
        }
    }

    fn add(&self, kind: Kind, name: &[u8], client: &Arc<ClientShared>) {
        self.write(kind, |topics| {
            let subscribers = topics.entry(name.into()).or_default();
            subscribers.insert(client.id(), Arc::clone(client));
        });
    }

    fn remove(&self, kind: Kind, name: &[u8], client: &ClientShared) {
        self.write(kind, |topics| {
            let Some(subscribers) = topics.get_mut(name) else {
                return;
            };
            subscribers.remove(&client.id());
            if subscribers.is_empty() {
                topics.remove(name);
            }
        });
    }
}

fn send(
    subscribers: &BTreeMap<u64, Arc<ClientShared>>,
    message: &Message,
    bytes_max: usize,
) -> usize {
    for subscriber in subscribers.values() {
        subscriber.send(message, bytes_max, WhenFull::Close);
    }
    subscribers.len()
}

/// A message, encoded once for all subscribers.
fn message(parts: &[&[u8]]) -> Message {
    let mut whole = Vec::new();
    let mut encoder = Encoder::new(&mut whole, Proto::Resp3);
    encoder.push(parts.len());
    for part in parts {
        encoder.bulk(part);
    }
    Message::new(whole, false)
}

/// The names of one kind that a connection subscribes to.
type Names = BTreeSet<Box<[u8]>>;

static NO_NAMES: Names = Names::new();

/// The subscriptions of one connection.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    /// Indexed by kind. Most connections never subscribe, so this is a single word for them.
    names: Option<Box<[Names; 3]>>,
}

impl Subscriptions {
    pub(crate) fn names(&self, kind: Kind) -> &Names {
        let names = self.names.as_ref();
        names.map_or(&NO_NAMES, |names| &names[kind as usize])
    }

    /// Whether there are no subscriptions.
    pub(crate) fn is_empty(&self) -> bool {
        let names = self.names.as_ref();
        names.is_none_or(|names| names.iter().all(BTreeSet::is_empty))
    }

    /// The count in a confirmation: channels and patterns together, or shard channels.
    pub(crate) fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Channel | Kind::Pattern => {
                self.names(Kind::Channel).len() + self.names(Kind::Pattern).len()
            }
            Kind::Shard => self.names(Kind::Shard).len(),
        }
    }

    /// Subscribes `client`, which owns these subscriptions.
    pub(crate) fn add(
        &mut self,
        pubsub: &PubSub,
        kind: Kind,
        name: &[u8],
        client: &Arc<ClientShared>,
    ) {
        let names = self.names.get_or_insert_default();
        if names[kind as usize].insert(name.into()) {
            pubsub.add(kind, name, client);
        }
    }

    /// Ends a subscription of `client`, if it exists.
    pub(crate) fn remove(
        &mut self,
        pubsub: &PubSub,
        kind: Kind,
        name: &[u8],
        client: &ClientShared,
    ) {
        let names = self.names.as_mut();
        if names.is_some_and(|names| names[kind as usize].remove(name)) {
            pubsub.remove(kind, name, client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NoWake, Now, Peer};
    use std::time::Duration;

    fn client(id: u64) -> Arc<ClientShared> {
        let now = Now::new(Duration::ZERO, Duration::ZERO);
        Arc::new(ClientShared::new(
            id,
            Peer::default(),
            now,
            Box::new(NoWake),
        ))
    }

    #[test]
    fn connection_that_matches_twice_is_counted_twice() {
        let (pubsub, client) = (PubSub::default(), client(1));
        let mut subscriptions = Subscriptions::default();
        subscriptions.add(&pubsub, Kind::Channel, b"news", &client);
        subscriptions.add(&pubsub, Kind::Channel, b"news", &client);
        subscriptions.add(&pubsub, Kind::Pattern, b"n*", &client);
        assert_eq!(pubsub.publish(Kind::Channel, b"news", b"x", 1000), 2);
        assert_eq!(pubsub.publish(Kind::Shard, b"news", b"x", 1000), 0);
        assert_eq!(subscriptions.count(Kind::Channel), 2);
    }

    #[test]
    fn forget_removes_all_subscriptions_of_a_connection() {
        let (pubsub, client) = (PubSub::default(), client(1));
        let mut subscriptions = Subscriptions::default();
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            subscriptions.add(&pubsub, kind, b"a", &client);
        }
        pubsub.forget(&client, &subscriptions);
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            assert_eq!(pubsub.len(kind), 0);
        }
    }
}
