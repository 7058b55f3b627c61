//! Sets: members without an order. A small set of integers is an integer set, and any other small one a listpack; a
//! large one is spread over segments.

mod list;

use super::changes::{is_noted, note};
use super::{
    Elements, Encoding, Growth, Kind, Limits, SHARED_BYTES_MIN, Step, StringRef, allocated,
};
use crate::decimal::canonical_int;
use crate::hash::mix;
use crate::packed::intset::{IntSet, IntSetRef};
use crate::packed::listpack::{Listpack, ListpackBuf};
use crate::segments::{Members, NewElement, Text};

/// A set.
///
/// ```
/// use respire_store::{Config, Edited, Elements, EventName, Set, Store};
///
/// const SADD: EventName = EventName { class: 1, name: "sadd" };
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 0);
/// let added = view.update(b"primes", |slot| {
///     let growth = slot.growth::<Set>();
///     slot.edit(SADD, |primes: &mut Set| {
///         let added = [b"2", b"3", b"2"].map(|prime| primes.insert(prime, &growth));
///         Edited::Changed(added)
///     })
/// });
/// assert_eq!(added, Ok([true, true, false]));
/// view.read(b"primes", |entry| {
///     let primes = entry.unwrap().typed::<Set>().unwrap();
///     assert!(primes.len() == 2 && primes.contains(b"3") && !primes.contains(b"4"));
/// });
/// ```
#[derive(Debug, Clone)]
pub struct Set(Form);

#[derive(Debug, Clone)]
enum Form {
    Ints(IntSet),
    List(ListpackBuf),
    Large(Members),
}

/// A borrowed set.
#[derive(Debug, Clone, Copy)]
pub struct SetRef<'e>(FormRef<'e>);

#[derive(Debug, Clone, Copy)]
enum FormRef<'e> {
    Ints(IntSetRef<'e>),
    List(Listpack<'e>),
    Large(&'e Members),
}

impl Default for Set {
    fn default() -> Set {
        Set::from_packed(Vec::new())
    }
}

impl Set {
    /// Adds a member. Returns whether it is new. O(bytes of the member) in the large form, O(bytes of the set) in the
    /// packed ones.
    #[inline]
    pub fn insert(&mut self, member: &[u8], growth: &Growth) -> bool {
        let is_new = self.add(member, growth);
        if is_new && is_noted(self) {
            note(Step::MemberAdded { member });
        }
        is_new
    }

    #[inline]
    fn add(&mut self, member: &[u8], growth: &Growth) -> bool {
        match &mut self.0 {
            Form::Large(members) => members.insert(&NewElement::new(member, b"")),
            Form::List(list) if list::has_room(list.read(), member) => {
                let is_new = list::find(list.read(), member).is_none();
                if is_new {
                    list.push(member);
                }
                is_new
            }
            Form::List(list) => {
                list::find(list.read(), member).is_none() && {
                    self.expand(growth);
                    self.add(member, growth)
                }
            }
            Form::Ints(ints) => match canonical_int(member) {
                Some(number) => {
                    let is_new = ints.insert(number);
                    if is_new && ints.len() > growth.limits.elements as usize {
                        self.leave_ints(growth);
                    }
                    is_new
                }
                None => {
                    self.leave_ints(growth);
                    self.add(member, growth)
                }
            },
        }
    }

    /// Removes a member. Returns whether there was one. Costs as much as [`Set::insert`].
    pub fn remove(&mut self, member: &[u8]) -> bool {
        let is_removed = self.take(member);
        if is_removed && is_noted(self) {
            note(Step::MemberRemoved { member });
        }
        is_removed
    }

    fn take(&mut self, member: &[u8]) -> bool {
        match &mut self.0 {
            Form::Ints(ints) => canonical_int(member).is_some_and(|number| ints.remove(number)),
            Form::List(list) => {
                let found = list::find(list.read(), member);
                if let Some(place) = found {
                    list.remove(place, 1);
                }
                found.is_some()
            }
            Form::Large(members) => members.remove(member),
        }
    }

    /// Removes and returns the member that a random number selects, all with the same probability; `None` if there is
    /// none. Costs as much as [`Set::insert`].
    pub fn pop(&mut self, random: u64) -> Option<Vec<u8>> {
        let member = self.read().sample(random)?.to_vec();
        self.remove(&member);
        Some(member)
    }

    /// Returns the set of these integers, which become a large set if they are too many. O(integers).
    #[must_use]
    pub fn of_ints(ints: IntSet, growth: &Growth) -> Set {
        let is_beyond = ints.len() > growth.limits.elements as usize;
        let mut set = Set(Form::Ints(ints));
        if is_beyond {
            set.leave_ints(growth);
        }
        set
    }

    /// Leaves the form of an integer set, for a listpack if that has room for another member.
    fn leave_ints(&mut self, growth: &Growth) {
        let Form::Ints(ints) = &mut self.0 else {
            return;
        };
        if ints.is_empty() {
            let mut bytes = core::mem::take(ints).into_bytes();
            bytes.clear();
            self.0 = Form::List(ListpackBuf::from_valid(bytes));
        } else if ints.len() < list::MEMBERS_MAX {
            let mut list = ListpackBuf::new();
            let mut digits = itoa::Buffer::new();
            for number in ints.read().iter() {
                list.push(digits.format(number).as_bytes());
            }
            self.0 = Form::List(list);
        } else {
            self.expand(growth);
        }
    }

    /// Leaves the packed forms.
    fn expand(&mut self, growth: &Growth) {
        let mut members = Members::new(growth.seed);
        self.read().for_each(&mut |member| {
            members.insert(&NewElement::new(member.as_bytes(&mut [0; 20]), b""));
        });
        self.0 = Form::Large(members);
    }
}

impl<'e> SetRef<'e> {
    /// Returns whether there is a member of these bytes. O(their number) in the large form, O(bytes of the set) in a
    /// listpack, and O(log integers) in an integer set.
    #[must_use]
    #[inline]
    pub fn contains(self, member: &[u8]) -> bool {
        match self.0 {
            FormRef::Ints(ints) => {
                canonical_int(member).is_some_and(|number| ints.contains(number))
            }
            FormRef::List(list) => list::find(list, member).is_some(),
            FormRef::Large(members) => members.contains(member),
        }
    }

    /// Returns whether a member of another set is in this one. Costs as much as [`SetRef::contains`].
    #[must_use]
    #[inline]
    pub fn has(self, member: StringRef<'_>) -> bool {
        match (self.0, member) {
            (FormRef::Ints(ints), StringRef::Int(number)) => ints.contains(number),
            _ => self.contains(member.as_bytes(&mut [0; 20])),
        }
    }

    /// Returns the bytes of an integer set ([`IntSet`]); `None` if the set is in another form.
    #[must_use]
    pub fn ints(self) -> Option<&'e [u8]> {
        match self.0 {
            FormRef::Ints(ints) => Some(ints.as_bytes()),
            FormRef::List(_) | FormRef::Large(_) => None,
        }
    }

    /// Returns the number of parts of a large set, 1 for another one. O(1).
    #[must_use]
    pub fn parts(self) -> usize {
        match self.0 {
            FormRef::Ints(_) | FormRef::List(_) => 1,
            FormRef::Large(members) => members.parts(),
        }
    }

    /// Calls `f` with the members of one part. All parts together are the set, in the order of
    /// [`Elements::for_each`]. O(members of the part): a few hundred.
    ///
    /// Large sets of one store have members with equal bytes in parts with nearly the same place, so looking up the
    /// members of a part in another set reads little memory.
    ///
    /// # Panics
    /// If there is no such part.
    #[inline]
    pub fn for_part(self, at: usize, mut f: impl FnMut(StringRef<'e>)) {
        match self.0 {
            FormRef::Ints(ints) => ints.iter().map(StringRef::Int).for_each(f),
            FormRef::List(list) => list.iter().map(list::string_of).for_each(f),
            FormRef::Large(members) => {
                members
                    .part(at)
                    .for_each(|member| f(string_of(member.element)));
            }
        }
    }
}

impl Kind for Set {
    const NAME: &'static str = "set";

    /// The limits of integer sets. Those of listpacks are fixed, because Redis 7.0 has none of them.
    const LIMITS: Limits = Limits {
        elements: 512,
        bytes: 64,
    };

    type Ref<'e> = SetRef<'e>;

    #[inline]
    fn read(&self) -> SetRef<'_> {
        SetRef(match &self.0 {
            Form::Ints(ints) => FormRef::Ints(ints.read()),
            Form::List(list) => FormRef::List(list.read()),
            Form::Large(members) => FormRef::Large(members),
        })
    }

    #[inline]
    fn read_packed(bytes: &[u8]) -> SetRef<'_> {
        SetRef(if list::is_list(bytes) {
            FormRef::List(Listpack::from_valid(bytes))
        } else {
            FormRef::Ints(IntSetRef::from_valid(bytes))
        })
    }

    fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Ints(ints) => Some(ints.as_bytes()),
            Form::List(list) => Some(list.as_bytes()),
            Form::Large(_) => None,
        }
    }

    fn from_packed(bytes: Vec<u8>) -> Set {
        Set(if list::is_list(&bytes) {
            Form::List(ListpackBuf::from_valid(bytes))
        } else {
            Form::Ints(IntSet::from_valid(bytes))
        })
    }

    fn into_packed(self) -> Option<Vec<u8>> {
        match self.0 {
            Form::Ints(ints) => Some(ints.into_bytes()),
            Form::List(list) => Some(list.into_bytes()),
            Form::Large(_) => None,
        }
    }

    fn heap_bytes(&self) -> usize {
        match &self.0 {
            Form::Ints(ints) => allocated(ints.capacity()),
            Form::List(list) => allocated(list.capacity()),
            Form::Large(members) => members.heap_bytes(),
        }
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        match &mut self.0 {
            Form::Ints(_) | Form::List(_) => true,
            Form::Large(members) => members.free_some(budget),
        }
    }
}

impl<'e> Elements<'e> for SetRef<'e> {
    type Element = StringRef<'e>;

    fn encoding(self) -> Encoding {
        match self.0 {
            FormRef::Ints(_) => Encoding::Intset,
            // Redis 7.0 has no listpacks of members.
            FormRef::List(_) | FormRef::Large(_) => Encoding::Hashtable,
        }
    }

    #[inline]
    fn len(self) -> usize {
        match self.0 {
            FormRef::Ints(ints) => ints.len(),
            FormRef::List(list) => list.len(),
            FormRef::Large(members) => members.len(),
        }
    }

    fn for_each(self, f: &mut dyn FnMut(StringRef<'e>)) {
        (0..self.parts()).for_each(|at| self.for_part(at, &mut *f));
    }

    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(StringRef<'e>)) -> u64 {
        match self.0 {
            FormRef::Ints(_) | FormRef::List(_) => {
                self.for_each(f);
                0
            }
            FormRef::Large(members) => {
                members.scan(cursor, count, |member| f(string_of(member.element)))
            }
        }
    }

    fn sample(self, random: u64) -> Option<StringRef<'e>> {
        let nth = || mix(random).checked_rem(self.len() as u64);
        match self.0 {
            FormRef::Ints(ints) => ints.get(nth()? as usize).map(StringRef::Int),
            FormRef::List(list) => list.iter().nth(nth()? as usize).map(list::string_of),
            FormRef::Large(members) => members.sample(random).map(|it| string_of(it.element)),
        }
    }

    fn warm(self, element: &[u8]) -> bool {
        if let FormRef::Large(members) = self.0 {
            members.warm(element);
            return true;
        }
        false
    }

    fn warm_found(self, element: &[u8]) {
        if let FormRef::Large(members) = self.0 {
            members.warm_found(element);
        }
    }
}

fn string_of(text: Text<'_>) -> StringRef<'_> {
    match text {
        Text::Far(bytes) if bytes.len() >= SHARED_BYTES_MIN => StringRef::Shared(bytes),
        text => StringRef::Bytes(text.as_bytes()),
    }
}

#[cfg(test)]
mod tests;
