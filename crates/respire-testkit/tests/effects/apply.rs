//! Applies what observers are told to a store.

use respire_store::{
    Bound, Delivery, Edited, Effect, End, EventName, Expiry, Freeing, Hash, Keep, Kind, List,
    Owned, References, Set, Slot, Step, Store, Stream, StreamGroup, StringRef, Trim, ZSet,
};

const EVENT: EventName = EventName {
    class: 1,
    name: "applied",
};

type OwnedStep = Step<Vec<u8>>;

/// An effect that owns its data.
pub(crate) enum OwnedEffect {
    Written(u32, Vec<u8>, Owned),
    Changed(u32, Vec<u8>, Vec<OwnedStep>),
    ExpirySet(u32, Vec<u8>, Option<u64>),
    Removed(u32, Vec<u8>),
    Flushed(u32),
    Swapped(u32, u32),
}

impl OwnedEffect {
    pub(crate) fn new(effect: Effect<'_>) -> Self {
        match effect {
            Effect::Written { db, key, entry } => Self::Written(db, key.into(), entry.owned()),
            Effect::Changed { db, key, change } => {
                let steps = change.steps().map(|step| step.map(<[u8]>::to_vec));
                Self::Changed(db, key.into(), steps.collect())
            }
            Effect::ExpirySet {
                db,
                key,
                expires_at,
            } => Self::ExpirySet(db, key.into(), expires_at),
            Effect::Removed { db, key, .. } => Self::Removed(db, key.into()),
            Effect::Flushed { db } => Self::Flushed(db),
            Effect::Swapped { a, b } => Self::Swapped(a, b),
        }
    }

    pub(crate) fn is_change(&self) -> bool {
        matches!(self, Self::Changed(..))
    }

    /// Applies the effect at the time 0, when no key has expired.
    pub(crate) fn apply(self, store: &Store) {
        match self {
            Self::Written(db, key, owned) => {
                store.view(db, 0).update(&key, |slot| slot.put(owned));
            }
            Self::Changed(db, key, steps) => {
                store.view(db, 0).update(&key, |slot| change(slot, &steps));
            }
            Self::ExpirySet(db, key, expires_at) => {
                let mut view = store.view(db, 0);
                assert!(view.update(&key, |slot| slot.set_expiry(expires_at)));
            }
            Self::Removed(db, key) => {
                store.view(db, 0).update(&key, |slot| slot.remove());
            }
            Self::Flushed(db) => {
                store.view(db, 0).flush(Freeing::AtOnce);
            }
            Self::Swapped(a, b) => store.view(a, 0).swap(a, b),
        }
    }
}

/// Applies the steps of one edit.
fn change(slot: &mut Slot<'_>, steps: &[OwnedStep]) {
    match &steps[0] {
        Step::Appended { .. } | Step::Overwritten { .. } => {
            steps.iter().for_each(|step| change_string(slot, step));
        }
        Step::FieldSet { .. } | Step::FieldExpirySet { .. } | Step::FieldRemoved { .. } => {
            let growth = slot.growth::<Hash>();
            edit(slot, steps, |hash: &mut Hash, step| match step {
                Step::FieldSet {
                    field,
                    value,
                    expires_at,
                } => _ = hash.insert_until(field, &value[..], *expires_at, &growth),
                Step::FieldExpirySet { field, expires_at } => {
                    assert!(hash.set_expiry(field, *expires_at, &growth));
                }
                Step::FieldRemoved { field } => assert!(hash.remove(field)),
                other => panic!("{other:?} of a hash"),
            });
        }
        Step::MemberAdded { .. } | Step::MemberRemoved { .. } => {
            let growth = slot.growth::<Set>();
            edit(slot, steps, |set: &mut Set, step| match step {
                Step::MemberAdded { member } => assert!(set.insert(member, &growth)),
                Step::MemberRemoved { member } => assert!(set.remove(member)),
                other => panic!("{other:?} of a set"),
            });
        }
        Step::Scored { .. } | Step::Unscored { .. } | Step::RanksRemoved { .. } => {
            let growth = slot.growth::<ZSet>();
            edit(slot, steps, |set: &mut ZSet, step| match step {
                Step::Scored { member, score } => _ = set.insert(member, *score, &growth),
                Step::Unscored { member } => assert!(set.remove(member).is_some()),
                Step::RanksRemoved { start, count } => {
                    let len = set.read().count_below(Bound::End);
                    assert!(start + count <= len);
                    set.remove_range(*start, *count, &mut |_| ());
                }
                other => panic!("{other:?} of a sorted set"),
            });
        }
        Step::Pushed { .. }
        | Step::Cut { .. }
        | Step::ElementSet { .. }
        | Step::Inserted { .. }
        | Step::EqualRemoved { .. } => change_list(slot, steps),
        _ => change_stream(slot, steps),
    }
}

/// Applies the steps of one edit of a list.
fn change_list(slot: &mut Slot<'_>, steps: &[OwnedStep]) {
    let limits = slot.limits::<List>();
    edit(slot, steps, |list: &mut List, step| match step {
        Step::Pushed { end, element } => {
            list.push(*end, StringRef::Bytes(element), limits);
        }
        Step::Cut { end, count } => {
            assert!(*count <= list.len());
            list.cut(*end, *count);
        }
        Step::ElementSet { index, element } => {
            assert!(list.set(*index, StringRef::Bytes(element), limits));
        }
        Step::Inserted { before, element } => {
            let elements = list.read().iter(End::Left);
            let index = elements.map(StringRef::to_vec).position(|it| it == *before);
            let index = index.expect("the element before which one is inserted");
            list.insert(index, StringRef::Bytes(element), limits);
        }
        Step::EqualRemoved {
            end,
            element,
            count,
        } => {
            let removed = list.remove_equal(*end, element, *count, limits);
            assert_eq!(removed, *count);
        }
        other => panic!("{other:?} of a list"),
    });
}

fn edit<K: Kind>(slot: &mut Slot<'_>, steps: &[OwnedStep], mut f: impl FnMut(&mut K, &OwnedStep)) {
    let edited = slot.edit(EVENT, |value: &mut K| {
        steps.iter().for_each(|step| f(value, step));
        Edited::Changed(())
    });
    edited.expect("a value of the same type");
}

fn change_string(slot: &mut Slot<'_>, step: &OwnedStep) {
    let entry = slot.get().expect("the string exists");
    let mut bytes = entry.string().expect("a string").to_vec();
    match step {
        Step::Appended { bytes: tail } => bytes.extend(tail),
        Step::Overwritten { at, bytes: part } => {
            let (start, end) = (*at as usize, *at as usize + part.len());
            bytes.resize(bytes.len().max(end), 0);
            bytes[start..end].copy_from_slice(part);
        }
        other => panic!("{other:?} of a string"),
    }
    slot.set(&bytes[..], Expiry::Keep);
}

fn change_stream(slot: &mut Slot<'_>, steps: &[OwnedStep]) {
    let limits = slot.limits::<Stream>();
    let mut rest = steps;
    let edited = slot.edit(EVENT, |stream: &mut Stream| {
        while let Some((step, after)) = rest.split_first() {
            rest = after;
            if let Step::EntryAdded { id, fields } = step {
                let (own, after) = after.split_at(*fields);
                rest = after;
                let pairs = own.iter().map(|step| match step {
                    Step::EntryField { field, value } => (&field[..], &value[..]),
                    other => panic!("{other:?} of an entry"),
                });
                let pairs: Vec<_> = pairs.collect();
                stream.add(*id, pairs.iter().copied(), &limits);
            } else {
                step_of_stream(stream, step);
            }
        }
        Edited::Changed(())
    });
    edited.expect("a stream");
}

fn step_of_stream(stream: &mut Stream, step: &OwnedStep) {
    let mut in_group = |name: &[u8], f: &mut dyn FnMut(&mut StreamGroup)| {
        let done = stream.edit_group(name, |group, _| f(group));
        done.expect("the group exists");
    };
    match step {
        Step::EntryDeleted { id } => assert!(stream.delete(*id)),
        Step::Trimmed { first } => {
            let trim = Trim {
                keep: first.map_or(Keep::Last(0), Keep::From),
                is_approximate: false,
                entries_max: u64::MAX,
                references: References::Keep,
            };
            assert!(stream.trim(&trim).entries > 0);
        }
        Step::MarksSet { marks } => stream.set_marks(*marks),
        Step::GroupAdded {
            group,
            last_id,
            entries_read,
        } => assert!(stream.add_group(group, StreamGroup::new(*last_id, *entries_read))),
        Step::GroupRemoved { group } => drop(stream.remove_group(group).expect("the group exists")),
        Step::GroupRead {
            group,
            last_id,
            entries_read,
        } => in_group(group, &mut |group| {
            (group.last_id, group.entries_read) = (*last_id, *entries_read);
        }),
        Step::ConsumerAdded {
            group,
            consumer,
            seen_ms,
        } => in_group(group, &mut |group| {
            assert!(group.add_consumer(consumer, *seen_ms));
        }),
        Step::ConsumerSeen {
            group,
            consumer,
            seen_ms,
            active_ms,
        } => in_group(group, &mut |group| {
            assert!(group.set_consumer_times(consumer, *seen_ms, *active_ms));
        }),
        Step::ConsumerRemoved { group, consumer } => in_group(group, &mut |group| {
            assert!(group.remove_consumer(consumer).is_some());
        }),
        Step::Delivered {
            group,
            consumer,
            id,
            delivered_ms,
            count,
        } => in_group(group, &mut |group| {
            let (delivered_ms, count) = (*delivered_ms, *count);
            let delivery = Delivery {
                delivered_ms,
                count,
            };
            assert!(group.claim(*id, consumer, delivery));
        }),
        Step::Acknowledged { group, id } => in_group(group, &mut |group| {
            assert!(group.acknowledge(*id));
        }),
        other => panic!("{other:?} of a stream"),
    }
}
