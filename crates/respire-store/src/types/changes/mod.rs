//! What an edit did to a value, element by element: the steps that observers are told, and the recorder that notes
//! them while an edit runs.

mod recorder;

use super::{End, StreamId, StreamMarks};
pub(crate) use recorder::{
    Recording, enter_group, is_group_noted, is_noted, is_on, note, note_of_group, read_notes, spoil,
};

/// What an edit did to a value: steps that turn the value before it into the one after it. An absent key is an empty
/// value.
///
/// ```
/// use respire_store::{Change, Effect, Interest, Observer, Set, Step, Store, Ticket};
/// use respire_store::{Config, Edited, EventName};
/// use std::sync::{Arc, Mutex};
///
/// #[derive(Default)]
/// struct Members(Mutex<Vec<Vec<u8>>>);
///
/// impl Observer for Members {
///     fn effect(&self, _: Ticket, effect: Effect<'_>) {
///         let Effect::Changed { change, .. } = effect else { return };
///         for step in change.steps() {
///             if let Step::MemberAdded { member } = step {
///                 self.0.lock().unwrap().push(member.to_vec());
///             }
///         }
///     }
/// }
///
/// const SADD: EventName = EventName { class: 1, name: "sadd" };
/// let (store, members) = (Store::new(Config::default()), Arc::new(Members::default()));
/// store.observe(members.clone(), Interest::CHANGES);
/// store.view(0, 0).update(b"k", |slot| {
///     let growth = slot.growth::<Set>();
///     slot.edit(SADD, |set: &mut Set| Edited::Changed(set.insert(b"m", &growth)))
/// })
/// .unwrap();
/// assert_eq!(*members.0.lock().unwrap(), [b"m"]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Change<'e> {
    steps: &'e [Step<Span>],
    bytes: &'e [u8],
}

/// Where the text of a step lies among the bytes of its change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// So many bytes from here on; `None` if they are too many.
    pub(crate) fn new(start: usize, len: usize) -> Option<Span> {
        let (start, len) = (u32::try_from(start).ok()?, u32::try_from(len).ok()?);
        Some(Span { start, len })
    }

    fn of(self, bytes: &[u8]) -> &[u8] {
        let start = self.start as usize;
        bytes.get(start..start + self.len as usize).unwrap_or(b"")
    }
}

impl<'e> Change<'e> {
    pub(crate) fn new(steps: &'e [Step<Span>], bytes: &'e [u8]) -> Self {
        Change { steps, bytes }
    }

    /// Returns the steps, in order.
    pub fn steps(self) -> impl Iterator<Item = Step<&'e [u8]>> {
        let bytes = self.bytes;
        self.steps
            .iter()
            .map(move |step| step.map(|span| span.of(bytes)))
    }
}

/// A step of a [`Change`]. Its texts are of the type `T`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step<T> {
    /// Bytes were added to the end of a string.
    Appended {
        /// The bytes.
        bytes: T,
    },
    /// A part of a string was written. If the string was shorter, there are zeros before the part.
    Overwritten {
        /// Where the part begins, in bytes.
        at: u64,
        /// The bytes of the part.
        bytes: T,
    },
    /// A field of a hash was set.
    FieldSet {
        /// The field.
        field: T,
        /// Its value.
        value: T,
        /// When it expires, in unix milliseconds; `None` is never.
        expires_at: Option<u64>,
    },
    /// The expiry of a field was set.
    FieldExpirySet {
        /// The field.
        field: T,
        /// When it expires, in unix milliseconds; `None` is never.
        expires_at: Option<u64>,
    },
    /// A field was removed, by a command or because it had expired.
    FieldRemoved {
        /// The field.
        field: T,
    },
    /// A member was added to a set.
    MemberAdded {
        /// The member.
        member: T,
    },
    /// A member was removed from a set.
    MemberRemoved {
        /// The member.
        member: T,
    },
    /// A member of a sorted set has this score now.
    Scored {
        /// The member.
        member: T,
        /// Its score.
        score: f64,
    },
    /// A member was removed from a sorted set.
    Unscored {
        /// The member.
        member: T,
    },
    /// The members of these ranks were removed from a sorted set.
    RanksRemoved {
        /// The first rank.
        start: usize,
        /// The number of members.
        count: usize,
    },
    /// An element was added at an end of a list.
    Pushed {
        /// The end.
        end: End,
        /// The element.
        element: T,
    },
    /// Elements were removed from an end of a list.
    Cut {
        /// The end.
        end: End,
        /// The number of elements.
        count: usize,
    },
    /// An element of a list was replaced.
    ElementSet {
        /// Its index.
        index: usize,
        /// The new element.
        element: T,
    },
    /// An element was inserted into a list.
    Inserted {
        /// It was inserted before the first element that is equal to this one.
        before: T,
        /// The element.
        element: T,
    },
    /// The first elements from an end of a list that are equal to this one were removed.
    EqualRemoved {
        /// The end.
        end: End,
        /// The element.
        element: T,
        /// The number of elements that were removed.
        count: usize,
    },
    /// An entry was added to a stream. So many steps [`Step::EntryField`] follow.
    EntryAdded {
        /// Its ID.
        id: StreamId,
        /// The number of its fields.
        fields: usize,
    },
    /// A field of the entry that was added last.
    EntryField {
        /// The field.
        field: T,
        /// Its value.
        value: T,
    },
    /// An entry of a stream was deleted.
    EntryDeleted {
        /// Its ID.
        id: StreamId,
    },
    /// The first entries of a stream were removed.
    Trimmed {
        /// The first entry that is left; `None` if none is.
        first: Option<StreamId>,
    },
    /// A stream's last ID, largest ID of a deleted entry and number of added entries were set.
    MarksSet {
        /// These, besides others.
        marks: StreamMarks,
    },
    /// A group was added to a stream.
    GroupAdded {
        /// Its name.
        group: T,
        /// The ID of the entry that it read last.
        last_id: StreamId,
        /// The number of entries that it has read; `None` if that is not known.
        entries_read: Option<i64>,
    },
    /// A group has read so far.
    GroupRead {
        /// Its name.
        group: T,
        /// The ID of the entry that it read last.
        last_id: StreamId,
        /// The number of entries that it has read; `None` if that is not known.
        entries_read: Option<i64>,
    },
    /// A group was removed.
    GroupRemoved {
        /// Its name.
        group: T,
    },
    /// A consumer was added to a group.
    ConsumerAdded {
        /// The group.
        group: T,
        /// The consumer.
        consumer: T,
        /// When it was last named by a command, in unix milliseconds.
        seen_ms: u64,
    },
    /// The times of a consumer were set.
    ConsumerSeen {
        /// The group.
        group: T,
        /// The consumer.
        consumer: T,
        /// When it was last named by a command, in unix milliseconds.
        seen_ms: u64,
        /// When entries were last delivered to it, in unix milliseconds; `None` if none were.
        active_ms: Option<u64>,
    },
    /// A consumer was removed, with the entries that were pending for it.
    ConsumerRemoved {
        /// The group.
        group: T,
        /// The consumer.
        consumer: T,
    },
    /// An entry is pending for this consumer, and for no other one of its group.
    Delivered {
        /// The group.
        group: T,
        /// The consumer.
        consumer: T,
        /// The entry.
        id: StreamId,
        /// When it was delivered last, in unix milliseconds.
        delivered_ms: u64,
        /// The number of deliveries.
        count: u64,
    },
    /// An entry is no longer pending in a group.
    Acknowledged {
        /// The group.
        group: T,
        /// The entry.
        id: StreamId,
    },
}

/// Builds [`Step::map`]: the fields of each variant that are texts, and those that are not.
macro_rules! map_steps {
    ($($variant:ident { $($text:ident),* ; $($other:ident),* })*) => {
        impl<T: Copy> Step<T> {
            /// Returns the same step with what `f` returns for each of its texts.
            #[must_use]
            pub fn map<U>(&self, mut f: impl FnMut(T) -> U) -> Step<U> {
                match *self {
                    $(Step::$variant { $($text,)* $($other),* } => Step::$variant {
                        $($text: f($text),)*
                        $($other),*
                    },)*
                }
            }
        }
    };
}

map_steps! {
    Appended { bytes; }
    Overwritten { bytes; at }
    FieldSet { field, value; expires_at }
    FieldExpirySet { field; expires_at }
    FieldRemoved { field; }
    MemberAdded { member; }
    MemberRemoved { member; }
    Scored { member; score }
    Unscored { member; }
    RanksRemoved { ; start, count }
    Pushed { element; end }
    Cut { ; end, count }
    ElementSet { element; index }
    Inserted { before, element; }
    EqualRemoved { element; end, count }
    EntryAdded { ; id, fields }
    EntryField { field, value; }
    EntryDeleted { ; id }
    Trimmed { ; first }
    MarksSet { ; marks }
    GroupAdded { group; last_id, entries_read }
    GroupRead { group; last_id, entries_read }
    GroupRemoved { group; }
    ConsumerAdded { group, consumer; seen_ms }
    ConsumerSeen { group, consumer; seen_ms, active_ms }
    ConsumerRemoved { group, consumer; }
    Delivered { group, consumer; id, delivered_ms, count }
    Acknowledged { group; id }
}
