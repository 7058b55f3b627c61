//! Hashes: fields with values. A small one is a listpack with each field before its value, as in Redis; a large one
//! is spread over segments.

mod packed;

use super::changes::{is_noted, is_on, note};
use super::{Elements, Encoding, Growth, Kind, Limits, Step, StringRef, allocated};
use crate::hash::mix;
use crate::packed::listpack::{self, Listpack, ListpackBuf};
use crate::segments::{Element, Fields, NewElement, NewText, Text};

/// A hash.
///
/// ```
/// use respire_store::{Config, Edited, Elements, EventName, Hash, Store};
///
/// const HSET: EventName = EventName { class: 1, name: "hset" };
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 0);
/// let added = view.update(b"user", |slot| {
///     let growth = slot.growth::<Hash>();
///     slot.edit(HSET, |hash: &mut Hash| {
///         let added = [("name", "Ada"), ("year", "1815")]
///             .map(|(field, value)| hash.insert(field.as_bytes(), value.as_bytes(), &growth));
///         Edited::Changed(added)
///     })
/// });
/// assert_eq!(added, Ok([true, true]));
/// let year = view.read(b"user", |entry| {
///     let hash = entry.map(|entry| entry.typed::<Hash>()).transpose()?;
///     Ok::<_, respire_store::WrongType>(hash.and_then(|hash| hash.get(b"year")?.to_int()))
/// });
/// assert_eq!(year, Ok(Some(1815)));
/// ```
#[derive(Debug, Clone)]
pub struct Hash(Form);

#[derive(Debug, Clone)]
enum Form {
    Packed(ListpackBuf),
    Large(Fields),
}

/// A borrowed hash.
#[derive(Debug, Clone, Copy)]
pub struct HashRef<'e>(FormRef<'e>);

#[derive(Debug, Clone, Copy)]
enum FormRef<'e> {
    Packed(Listpack<'e>),
    Large(&'e Fields),
}

impl Default for Hash {
    fn default() -> Hash {
        Hash::from_packed(Vec::new())
    }
}

impl Hash {
    /// Sets a field to a value. Returns whether the field is new. O(bytes of both) in the large form, O(bytes of the
    /// hash) in the packed one.
    pub fn insert<'v>(
        &mut self,
        field: &[u8],
        value: impl Into<NewText<'v>>,
        growth: &Growth,
    ) -> bool {
        self.insert_until(field, value, None, growth)
    }

    /// Sets a field to a value and an expiry in unix milliseconds; `None` is never. Returns whether the field is
    /// new. A hash with an expiry leaves the packed form. Costs as much as [`Hash::insert`].
    ///
    /// ```
    /// use respire_store::{Elements, Growth, Hash, Kind};
    ///
    /// let growth = Growth { limits: Hash::LIMITS, seed: [1, 2, 3, 4] };
    /// let mut hash = Hash::default();
    /// hash.insert_until(b"token", b"secret", Some(500), &growth);
    /// assert_eq!(hash.read().expiry_of(b"token"), Some(Some(500)));
    /// hash.insert(b"token", b"other", &growth);
    /// assert_eq!(hash.read().expiry_of(b"token"), Some(None));
    /// ```
    pub fn insert_until<'v>(
        &mut self,
        field: &[u8],
        value: impl Into<NewText<'v>>,
        expires_at: Option<u64>,
        growth: &Growth,
    ) -> bool {
        let value = value.into();
        if is_noted(self) {
            note(Step::FieldSet {
                field,
                value: value.as_bytes(),
                expires_at,
            });
        }
        if expires_at.is_some() {
            self.expand(growth);
        }
        let bytes_max = growth.limits.bytes as usize;
        if field.len().max(value.as_bytes().len()) > bytes_max {
            self.expand(growth);
        }
        let is_new = match &mut self.0 {
            Form::Packed(list) => packed::insert(list, field, value.as_bytes()),
            Form::Large(fields) => {
                return fields.insert(&NewElement {
                    expires_at,
                    ..NewElement::new(field, value)
                });
            }
        };
        if self.read().len() > growth.limits.elements as usize {
            self.expand(growth);
        }
        is_new
    }

    /// Sets the expiry of a field, in unix milliseconds; `None` is never. Returns whether there is such a field. Costs
    /// as much as [`Hash::insert`].
    pub fn set_expiry(&mut self, field: &[u8], expires_at: Option<u64>, growth: &Growth) -> bool {
        if !self.read().contains(field) {
            return false;
        }
        if is_noted(self) {
            note(Step::FieldExpirySet { field, expires_at });
        }
        if expires_at.is_some() {
            self.expand(growth);
        }
        match &mut self.0 {
            Form::Packed(_) => true,
            Form::Large(fields) => fields.set_expiry(field, expires_at),
        }
    }

    /// Removes a field. Returns whether there was one. Costs as much as [`Hash::insert`].
    pub fn remove(&mut self, field: &[u8]) -> bool {
        let is_removed = match &mut self.0 {
            Form::Packed(list) => packed::remove(list, field),
            Form::Large(fields) => fields.remove(field),
        };
        if is_removed && is_noted(self) {
            note(Step::FieldRemoved { field });
        }
        is_removed
    }

    /// Returns the hash with these packed fields and values, or `None` if a field is there twice, a field has no
    /// value or there is none. It becomes a large one if it is beyond the limits. O(bytes).
    #[must_use]
    pub fn of_listpack(list: Listpack<'_>, growth: &Growth) -> Option<Hash> {
        if !packed::is_valid(list) {
            return None;
        }
        let canonical = list.canonical().map(ListpackBuf::into_bytes);
        let mut hash = Hash::from_packed(canonical.unwrap_or_else(|| list.as_bytes().to_vec()));
        if packed::is_beyond(list, &growth.limits) {
            hash.expand(growth);
        }
        Some(hash)
    }

    /// Leaves the packed form.
    fn expand(&mut self, growth: &Growth) {
        let Form::Packed(list) = &self.0 else { return };
        let mut fields = Fields::new(growth.seed);
        let (mut digits, mut more) = ([0; 20], [0; 20]);
        for (field, value) in packed::pairs(list.read()) {
            let (field, value) = (text_of(field), text_of(value));
            let field = field.as_bytes(&mut digits);
            fields.insert(&NewElement::new(field, value.as_bytes(&mut more)));
        }
        self.0 = Form::Large(fields);
    }
}

impl<'e> HashRef<'e> {
    /// Returns the value of a field. O(bytes of the field) in the large form, O(bytes of the hash) in the packed
    /// one.
    #[must_use]
    #[inline]
    pub fn get(self, field: &[u8]) -> Option<StringRef<'e>> {
        match self.0 {
            FormRef::Packed(list) => packed::get(list, field).map(text_of),
            FormRef::Large(fields) => fields.get(field).map(|found| string_of(found.value)),
        }
    }

    /// Returns the expiry of a field in unix milliseconds: `Some(None)` is never, `None` that there is no such field.
    /// Costs as much as [`HashRef::get`].
    #[must_use]
    pub fn expiry_of(self, field: &[u8]) -> Option<Option<u64>> {
        match self.0 {
            FormRef::Packed(list) => packed::get(list, field).map(|_| None),
            FormRef::Large(fields) => fields.get(field).map(|found| found.expires_at),
        }
    }

    /// Returns whether there may be fields with an expiry. O(1).
    #[must_use]
    #[inline]
    pub fn has_expiries(self) -> bool {
        match self.0 {
            FormRef::Packed(_) => false,
            FormRef::Large(fields) => fields.has_expiries(),
        }
    }

    /// Returns the number of fields that [`Elements::for_each`] visits. [`Elements::len`] also counts due fields of
    /// a large hash that have not been removed yet. O(1), or O(fields) if there are such fields.
    #[must_use]
    pub fn live_len(self) -> usize {
        match self.0 {
            FormRef::Packed(_) => self.len(),
            FormRef::Large(fields) => fields.live_len(),
        }
    }

    /// Calls `f` with every field, its value and its expiry, in the order of [`Elements::for_each`]. O(fields).
    pub fn for_each_until(self, f: &mut dyn FnMut(StringRef<'e>, StringRef<'e>, Option<u64>)) {
        match self.0 {
            FormRef::Packed(_) => self.for_each(&mut |(field, value)| f(field, value, None)),
            FormRef::Large(fields) => fields.for_each(|element| {
                let (field, value) = pair_of(element);
                f(field, value, element.expires_at);
            }),
        }
    }

    /// Returns whether there is a field. Costs as much as [`HashRef::get`].
    #[must_use]
    pub fn contains(self, field: &[u8]) -> bool {
        match self.0 {
            FormRef::Packed(list) => packed::get(list, field).is_some(),
            FormRef::Large(fields) => fields.contains(field),
        }
    }

    /// Returns the bytes of a packed hash, which is a listpack with each field before its value; `None` for a large
    /// one.
    #[must_use]
    pub fn listpack(self) -> Option<&'e [u8]> {
        match self.0 {
            FormRef::Packed(list) => Some(list.as_bytes()),
            FormRef::Large(_) => None,
        }
    }

    /// Returns the number of parts of a large hash, 1 for a packed one. O(1).
    #[must_use]
    pub fn parts(self) -> usize {
        match self.0 {
            FormRef::Packed(_) => 1,
            FormRef::Large(fields) => fields.parts(),
        }
    }

    /// Calls `f` with the fields and values of one part. All parts together are the hash, in the order of
    /// [`Elements::for_each`]. O(elements of the part): a few hundred.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn for_part(self, at: usize, f: &mut dyn FnMut((StringRef<'e>, StringRef<'e>))) {
        match self.0 {
            FormRef::Packed(list) => packed::pairs(list).for_each(|pair| f(strings_of(pair))),
            FormRef::Large(fields) => fields.part(at).for_each(|element| f(pair_of(element))),
        }
    }
}

impl Kind for Hash {
    const NAME: &'static str = "hash";

    const LIMITS: Limits = Limits {
        elements: 512,
        bytes: 64,
    };

    type Ref<'e> = HashRef<'e>;

    #[inline]
    fn read(&self) -> HashRef<'_> {
        HashRef(match &self.0 {
            Form::Packed(list) => FormRef::Packed(list.read()),
            Form::Large(fields) => FormRef::Large(fields),
        })
    }

    #[inline]
    fn read_packed(bytes: &[u8]) -> HashRef<'_> {
        HashRef(FormRef::Packed(Listpack::from_valid(bytes)))
    }

    fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Packed(list) => Some(list.as_bytes()),
            Form::Large(_) => None,
        }
    }

    fn from_packed(bytes: Vec<u8>) -> Hash {
        Hash(Form::Packed(ListpackBuf::from_valid(bytes)))
    }

    fn into_packed(self) -> Option<Vec<u8>> {
        match self.0 {
            Form::Packed(list) => Some(list.into_bytes()),
            Form::Large(_) => None,
        }
    }

    fn heap_bytes(&self) -> usize {
        match &self.0 {
            Form::Packed(list) => allocated(list.capacity()),
            Form::Large(fields) => fields.heap_bytes(),
        }
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        match &mut self.0 {
            Form::Packed(_) => true,
            Form::Large(fields) => fields.free_some(budget),
        }
    }

    #[inline]
    fn due_at(&self) -> Option<u64> {
        match &self.0 {
            Form::Packed(_) => None,
            Form::Large(fields) => fields.due_at(),
        }
    }

    #[inline]
    fn is_due(&self, now_ms: u64) -> bool {
        match &self.0 {
            Form::Packed(_) => false,
            Form::Large(fields) => fields.is_due(now_ms),
        }
    }

    fn expire(&mut self, now_ms: u64, budget: usize) -> usize {
        match &mut self.0 {
            Form::Packed(_) => 0,
            Form::Large(fields) if is_on() => fields.expire_with(now_ms, budget, &mut |field| {
                note(Step::FieldRemoved { field })
            }),
            Form::Large(fields) => fields.expire(now_ms, budget),
        }
    }

    fn is_live(&self) -> bool {
        match &self.0 {
            Form::Packed(_) => true,
            Form::Large(fields) => fields.is_live(),
        }
    }
}

impl<'e> Elements<'e> for HashRef<'e> {
    type Element = (StringRef<'e>, StringRef<'e>);

    fn encoding(self) -> Encoding {
        match self.0 {
            FormRef::Packed(_) => Encoding::Listpack,
            FormRef::Large(_) => Encoding::Hashtable,
        }
    }

    #[inline]
    fn len(self) -> usize {
        match self.0 {
            FormRef::Packed(list) => list.len() / 2,
            FormRef::Large(fields) => fields.len(),
        }
    }

    fn for_each(self, f: &mut dyn FnMut(Self::Element)) {
        (0..self.parts()).for_each(|at| self.for_part(at, f));
    }

    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(Self::Element)) -> u64 {
        match self.0 {
            FormRef::Packed(_) => {
                self.for_each(f);
                0
            }
            FormRef::Large(fields) => fields.scan(cursor, count, |element| f(pair_of(element))),
        }
    }

    fn sample(self, random: u64) -> Option<Self::Element> {
        match self.0 {
            FormRef::Packed(list) => {
                let nth = mix(random).checked_rem(self.len() as u64)?;
                packed::pairs(list).nth(nth as usize).map(strings_of)
            }
            FormRef::Large(fields) => fields.sample(random).map(pair_of),
        }
    }

    fn warm(self, element: &[u8]) -> bool {
        if let FormRef::Large(fields) = self.0 {
            fields.warm(element);
            return true;
        }
        false
    }

    fn warm_found(self, element: &[u8]) {
        if let FormRef::Large(fields) = self.0 {
            fields.warm_found(element);
        }
    }
}

fn text_of(element: listpack::Element<'_>) -> StringRef<'_> {
    match element {
        listpack::Element::Bytes(bytes) => StringRef::Bytes(bytes),
        listpack::Element::Int(number) => StringRef::Int(number),
    }
}

fn strings_of<'e>((field, value): packed::Pair<'e>) -> (StringRef<'e>, StringRef<'e>) {
    (text_of(field), text_of(value))
}

fn string_of(text: Text<'_>) -> StringRef<'_> {
    match text {
        Text::Near(bytes) => StringRef::Bytes(bytes),
        Text::Far(bytes) => StringRef::Shared(bytes),
    }
}

fn pair_of(element: Element<'_>) -> (StringRef<'_>, StringRef<'_>) {
    (string_of(element.element), string_of(element.value))
}

#[cfg(test)]
mod tests;
