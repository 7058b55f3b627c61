//! Publishes keyspace notifications: each event of a key goes to two channels, one named after the
//! key and one after the event.
//!
//! The store reports events under the key's lock, and the observer appends them to one queue. When
//! the locks are released, the thread that changed the key publishes the queued events. So events
//! are published in the order of the changes, before the reply to the command that made them, and
//! never under a lock of the store.

use respire_engine::Publisher;
use respire_store::{Event, EventName, Expiry, Interest, Observer, ObserverId, Slot, Store};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A class of events, as `notify-keyspace-events` chooses them.
///
/// ```
/// use respire_commands::EventClass;
/// use respire_store::{Config, EventName, Expiry, Store};
///
/// /// The event of an embedder's own command.
/// const REFILL: EventName = EventClass::Generic.event("refill");
///
/// let store = Store::new(Config::default());
/// store.view(0, 0).update(b"bucket", |slot| {
///     slot.set(100, Expiry::Clear);
///     slot.event(REFILL);
/// });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventClass {
    /// `g`: commands that are not of one type.
    Generic,
    /// `$`: strings.
    String,
    /// `l`: lists.
    List,
    /// `s`: sets.
    Set,
    /// `h`: hashes.
    Hash,
    /// `z`: sorted sets.
    SortedSet,
    /// `x`: expired keys. The store reports them by itself.
    Expired,
    /// `e`: keys that were evicted because memory ran out. The store reports them by itself.
    Evicted,
    /// `t`: streams.
    Stream,
    /// `d`: modules.
    Module,
    /// `n`: new keys. The store reports them by itself.
    New,
    /// `m`: reads of absent keys. The store reports them by itself.
    KeyMiss,
}

impl EventClass {
    /// An event of this class with this name.
    #[must_use]
    pub const fn event(self, name: &'static str) -> EventName {
        EventName {
            class: self.bit(),
            name,
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

pub(crate) const APPEND: EventName = EventClass::String.event("append");
pub(crate) const COPY_TO: EventName = EventClass::Generic.event("copy_to");
pub(crate) const DEL: EventName = EventClass::Generic.event("del");
pub(crate) const EXPIRE: EventName = EventClass::Generic.event("expire");
pub(crate) const HDEL: EventName = EventClass::Hash.event("hdel");
pub(crate) const HEXPIRE: EventName = EventClass::Hash.event("hexpire");
pub(crate) const HEXPIRED: EventName = EventClass::Hash.event("hexpired");
pub(crate) const HINCRBY: EventName = EventClass::Hash.event("hincrby");
pub(crate) const HINCRBYFLOAT: EventName = EventClass::Hash.event("hincrbyfloat");
pub(crate) const HPERSIST: EventName = EventClass::Hash.event("hpersist");
pub(crate) const HSET: EventName = EventClass::Hash.event("hset");
pub(crate) const INCRBY: EventName = EventClass::String.event("incrby");
pub(crate) const INCRBYFLOAT: EventName = EventClass::String.event("incrbyfloat");
pub(crate) const LINSERT: EventName = EventClass::List.event("linsert");
pub(crate) const LPOP: EventName = EventClass::List.event("lpop");
pub(crate) const LPUSH: EventName = EventClass::List.event("lpush");
pub(crate) const LREM: EventName = EventClass::List.event("lrem");
pub(crate) const LSET: EventName = EventClass::List.event("lset");
pub(crate) const LTRIM: EventName = EventClass::List.event("ltrim");
pub(crate) const MOVE_FROM: EventName = EventClass::Generic.event("move_from");
pub(crate) const MOVE_TO: EventName = EventClass::Generic.event("move_to");
pub(crate) const PFADD: EventName = EventClass::String.event("pfadd");
pub(crate) const PERSIST: EventName = EventClass::Generic.event("persist");
pub(crate) const RENAME_FROM: EventName = EventClass::Generic.event("rename_from");
pub(crate) const RENAME_TO: EventName = EventClass::Generic.event("rename_to");
pub(crate) const RESTORE: EventName = EventClass::Generic.event("restore");
pub(crate) const SADD: EventName = EventClass::Set.event("sadd");
pub(crate) const SDIFFSTORE: EventName = EventClass::Set.event("sdiffstore");
pub(crate) const RPOP: EventName = EventClass::List.event("rpop");
pub(crate) const RPUSH: EventName = EventClass::List.event("rpush");
pub(crate) const SET: EventName = EventClass::String.event("set");
pub(crate) const SETBIT: EventName = EventClass::String.event("setbit");
pub(crate) const SETRANGE: EventName = EventClass::String.event("setrange");
pub(crate) const SINTERSTORE: EventName = EventClass::Set.event("sinterstore");
pub(crate) const SORTSTORE: EventName = EventClass::List.event("sortstore");
pub(crate) const SPOP: EventName = EventClass::Set.event("spop");
pub(crate) const SREM: EventName = EventClass::Set.event("srem");
pub(crate) const SUNIONSTORE: EventName = EventClass::Set.event("sunionstore");
pub(crate) const XADD: EventName = EventClass::Stream.event("xadd");
pub(crate) const XDEL: EventName = EventClass::Stream.event("xdel");
pub(crate) const XGROUP_CREATE: EventName = EventClass::Stream.event("xgroup-create");
pub(crate) const XGROUP_CREATECONSUMER: EventName =
    EventClass::Stream.event("xgroup-createconsumer");
pub(crate) const XGROUP_DELCONSUMER: EventName = EventClass::Stream.event("xgroup-delconsumer");
pub(crate) const XGROUP_DESTROY: EventName = EventClass::Stream.event("xgroup-destroy");
pub(crate) const XGROUP_SETID: EventName = EventClass::Stream.event("xgroup-setid");
pub(crate) const XSETID: EventName = EventClass::Stream.event("xsetid");
pub(crate) const XTRIM: EventName = EventClass::Stream.event("xtrim");

/// Reports that a string command has set a key, with this expiry.
#[inline]
pub(crate) fn was_set(slot: &mut Slot<'_>, expiry: Expiry, now_ms: u64) {
    slot.event(SET);
    if let Expiry::At(at) = expiry {
        slot.event(EXPIRE);
        if at <= now_ms {
            slot.expired_at_once();
        }
    }
}

/// Reports that a key got this expiry, or was removed because the time is in the past.
pub(crate) fn was_given_expiry(slot: &mut Slot<'_>, at: u64, now_ms: u64) {
    slot.event(if at <= now_ms { DEL } else { EXPIRE });
}

/// The letters of the classes, in the order in which Redis writes them.
const LETTERS: [(char, EventClass); 11] = [
    ('g', EventClass::Generic),
    ('$', EventClass::String),
    ('l', EventClass::List),
    ('s', EventClass::Set),
    ('h', EventClass::Hash),
    ('z', EventClass::SortedSet),
    ('x', EventClass::Expired),
    ('e', EventClass::Evicted),
    ('t', EventClass::Stream),
    ('d', EventClass::Module),
    ('n', EventClass::New),
];

/// `A`: all classes except new keys and missed keys.
const ALL: u32 = EventClass::New.bit() - 1;
/// `K`: publish to the channels named after keys.
const KEYSPACE: u32 = EventClass::KeyMiss.bit() << 1;
/// `E`: publish to the channels named after events.
const KEYEVENT: u32 = KEYSPACE << 1;

/// The selected classes and channels, as in `notify-keyspace-events`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask(u32);

impl Mask {
    /// Parses the letters; `None` if one of them is unknown.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bits = |letter| match letter {
            'A' => Some(ALL),
            'K' => Some(KEYSPACE),
            'E' => Some(KEYEVENT),
            'm' => Some(EventClass::KeyMiss.bit()),
            _ => {
                let mut letters = LETTERS.iter();
                let found = letters.find(|(known, _)| *known == letter);
                found.map(|(_, class)| class.bit())
            }
        };
        let mut letters = text.chars();
        let all = letters.try_fold(0, |all, letter| Some(all | bits(letter)?));
        all.map(Mask)
    }

    /// The letters in the form in which Redis shows them. Redis omits `n` if all other classes are
    /// selected.
    pub(crate) fn letters(self) -> String {
        let has = |bits: u32| self.0 & bits == bits;
        let mut letters = String::new();
        if has(ALL) {
            letters.push('A');
        } else {
            let set = LETTERS.iter().filter(|(_, class)| has(class.bit()));
            letters.extend(set.map(|(letter, _)| *letter));
        }
        for (bits, letter) in [
            (KEYSPACE, 'K'),
            (KEYEVENT, 'E'),
            (EventClass::KeyMiss.bit(), 'm'),
        ] {
            letters.extend(has(bits).then_some(letter));
        }
        letters
    }

    fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }

    /// The events that the store must report for this mask.
    fn interest(self) -> Interest {
        use EventClass::{Evicted, Expired, KeyMiss, New};
        if !self.has(KEYSPACE | KEYEVENT) {
            return Interest::NONE;
        }
        let by_itself = Expired.bit() | Evicted.bit() | New.bit() | KeyMiss.bit();
        let interests = [
            (Expired.bit() | Evicted.bit(), Interest::LOSSES),
            (New.bit(), Interest::ADDITIONS),
            (KeyMiss.bit(), Interest::MISSES),
            ((KEYSPACE - 1) & !by_itself, Interest::EVENTS),
        ];
        let wanted = interests.into_iter().filter(|(bits, _)| self.has(*bits));
        wanted.fold(Interest::NONE, |all, (_, interest)| all.with(interest))
    }
}

/// Publishes the notifications of a store.
#[derive(Debug)]
pub(crate) struct Notifications {
    notifier: Arc<Notifier>,
    id: ObserverId,
}

impl Notifications {
    /// Creates the notifications of this store. None are published before
    /// [`Notifications::choose`].
    pub(crate) fn new(store: &Store) -> Self {
        let notifier = Arc::new(Notifier::default());
        let observer = Arc::clone(&notifier) as Arc<dyn Observer>;
        let id = store.observe(observer, Interest::NONE);
        Self { notifier, id }
    }

    /// Sets the publisher. Only the first call has an effect.
    pub(crate) fn publish_with(&self, publisher: &Publisher) {
        let _first = self.notifier.publisher.set(publisher.clone());
    }

    /// The selected classes and channels.
    pub(crate) fn chosen(&self) -> Mask {
        self.notifier.mask()
    }

    /// Selects the classes and channels to publish from now on.
    pub(crate) fn choose(&self, mask: Mask, store: &Store) {
        self.notifier.mask.store(mask.0, Ordering::Relaxed);
        store.set_interest(self.id, mask.interest());
    }
}

/// Takes events from the store and publishes them.
#[derive(Debug, Default)]
struct Notifier {
    mask: AtomicU32,
    publisher: OnceLock<Publisher>,
    /// The events to publish, in order. Its lock is a leaf.
    queue: Mutex<VecDeque<Notification>>,
    /// Held while the queue is emptied, so that only one thread publishes at a time.
    publishing: Mutex<()>,
}

#[derive(Debug)]
struct Notification {
    db: u32,
    key: Box<[u8]>,
    name: &'static str,
}

impl Notifier {
    fn mask(&self) -> Mask {
        Mask(self.mask.load(Ordering::Relaxed))
    }
}

impl Observer for Notifier {
    fn event(&self, db: u32, key: &[u8], event: Event) {
        let EventName { class, name } = match event {
            Event::Added => EventClass::New.event("new"),
            Event::Expired => EventClass::Expired.event("expired"),
            Event::Evicted => EventClass::Evicted.event("evicted"),
            Event::Emptied => DEL,
            Event::ElementsExpired => HEXPIRED,
            Event::Missed => EventClass::KeyMiss.event("keymiss"),
            Event::Named(name) => name,
        };
        let is_heard = self.publisher.get().is_some_and(Publisher::is_heard);
        if is_heard && self.mask().has(class) {
            let key = key.into();
            lock(&self.queue).push_back(Notification { db, key, name });
        }
    }

    fn released(&self) {
        let Some(publisher) = self.publisher.get() else {
            return;
        };
        let _publishing = lock(&self.publishing);
        loop {
            let batch = std::mem::take(&mut *lock(&self.queue));
            if batch.is_empty() {
                return;
            }
            batch
                .iter()
                .for_each(|notification| notification.publish(publisher, self.mask()));
        }
    }
}

impl Notification {
    fn publish(&self, publisher: &Publisher, mask: Mask) {
        let Self { db, key, name } = self;
        if mask.has(KEYSPACE) {
            let channel = [format!("__keyspace@{db}__:").as_bytes(), key].concat();
            publisher.publish(&channel, name.as_bytes());
        }
        if mask.has(KEYEVENT) {
            publisher.publish(format!("__keyevent@{db}__:{name}").as_bytes(), key);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
