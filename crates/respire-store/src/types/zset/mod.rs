//! Sorted sets: members with scores, ordered by score and then by member.

mod packed;
mod ranked;
mod score;

use core::cmp::Ordering;
use core::convert::Infallible;

use super::changes::{is_noted, note};
use super::{Elements, Encoding, Growth, Kind, Limits, Step, allocated};
use crate::packed::listpack::{Damaged, Element, Listpack, ListpackBuf};
use crate::places::{Place, arrange};
use packed::{LISTPACK_BYTES_MAX, Pairs};
pub use ranked::Ranked;
pub use score::ScoreText;

/// A sorted set. It is packed up to the limits of [`Kind::LIMITS`] or of its store.
///
/// ```
/// use respire_store::{Config, Edited, Elements, EventName, Store, ZSet};
///
/// const ADDED: EventName = EventName { class: 1, name: "zadd" };
///
/// let store = Store::new(Config::default());
/// let mut view = store.view(0, 0);
/// for (player, points) in [(b"ada", 20.0), (b"bob", 10.0), (b"cyd", 30.0)] {
///     let old = view.update(b"players", |slot| {
///         let growth = slot.growth::<ZSet>();
///         slot.edit(ADDED, |players: &mut ZSet| {
///             Edited::Changed(players.insert(player, points, &growth))
///         })
///     });
///     assert_eq!(old, Ok(None));
/// }
/// view.read(b"players", |entry| {
///     let players = entry.unwrap().typed::<ZSet>().unwrap();
///     assert_eq!((players.len(), players.rank(b"ada")), (3, Some((1, 20.0))));
///     let mut best = Vec::new();
///     players.for_range(0, 2, true, &mut |(player, _)| best.push(player.to_bytes().into_owned()));
///     assert_eq!(best, [b"cyd", b"ada"]);
/// });
/// ```
#[derive(Debug, Clone)]
pub struct ZSet(Form);

#[derive(Debug, Clone)]
enum Form {
    /// A listpack of members and scores. No elements are an empty listpack.
    Packed(ListpackBuf),
    Large(Ranked),
}

/// A member and its score.
pub type Scored<'e> = (Element<'e>, f64);

/// A place between two elements of a sorted set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound<'b> {
    /// Before all elements.
    Start,
    /// After all elements.
    End,
    /// Before the elements with this score.
    BelowScore(f64),
    /// After the elements with this score.
    ThroughScore(f64),
    /// Before this member. All elements must have the same score.
    BelowMember(&'b [u8]),
    /// After this member. All elements must have the same score.
    ThroughMember(&'b [u8]),
}

/// A borrowed sorted set.
#[derive(Debug, Clone, Copy)]
pub enum ZSetRef<'e> {
    /// A packed one.
    Packed(Listpack<'e>),
    /// A large one.
    Large(&'e Ranked),
}

impl Default for ZSet {
    fn default() -> Self {
        ZSet(Form::Packed(ListpackBuf::new()))
    }
}

impl ZSet {
    /// Sets a member's score, which must be a number. Returns the score that it had; a score equal to that is not
    /// set. O(log n), or O(n) while the set is packed.
    pub fn insert(&mut self, member: &[u8], score: f64, growth: &Growth) -> Option<f64> {
        let mut old = None;
        let set = self.change_score(member, growth, |found| {
            old = found;
            Ok::<_, Infallible>(Some(score))
        });
        debug_assert_eq!(set, Ok(Some(score)));
        old
    }

    /// Sets a member's score to the number that `f` returns for the one that it has. If `f` returns `None` or an
    /// error, nothing changes. Returns what `f` returned. O(log n), or O(n) while the set is packed.
    ///
    /// # Errors
    /// That of `f`.
    pub fn change_score<E>(
        &mut self,
        member: &[u8],
        growth: &Growth,
        f: impl FnOnce(Option<f64>) -> Result<Option<f64>, E>,
    ) -> Result<Option<f64>, E> {
        let set = self.rescore(member, growth, f)?;
        if let Some(score) = set
            && is_noted(self)
        {
            note(Step::Scored { member, score });
        }
        Ok(set)
    }

    #[inline]
    fn rescore<E>(
        &mut self,
        member: &[u8],
        growth: &Growth,
        f: impl FnOnce(Option<f64>) -> Result<Option<f64>, E>,
    ) -> Result<Option<f64>, E> {
        let list = match &mut self.0 {
            Form::Packed(list) => list,
            Form::Large(ranked) => return ranked.change(member, f),
        };
        let found = packed::find(list.read(), member);
        let Some(score) = f(found.map(|(_, _, old, _)| old))? else {
            return Ok(None);
        };
        if let Some((_, place, old, next)) = found {
            if old != score {
                list.splice(place..next, &[]);
                packed::insert(list, member, score);
            }
            return Ok(Some(score));
        }
        let limits = growth.limits;
        let fits = list.read().len() / 2 < limits.elements as usize
            && member.len() <= limits.bytes as usize
            && list.as_bytes().len() + member.len() <= LISTPACK_BYTES_MAX;
        if fits {
            packed::insert(list, member, score);
        } else {
            self.make_large(growth).insert(member, score);
        }
        Ok(Some(score))
    }

    /// Converts the set to its large form, which it keeps.
    fn make_large(&mut self, growth: &Growth) -> &mut Ranked {
        if let Form::Packed(list) = &self.0 {
            let mut ranked = Ranked::new(growth.seed);
            for (member, score) in Pairs::new(list.read()) {
                ranked.insert(&member.to_bytes(), score);
            }
            self.0 = Form::Large(ranked);
        }
        match &mut self.0 {
            Form::Large(ranked) => ranked,
            Form::Packed(_) => unreachable!("invariant: it was converted"),
        }
    }

    /// Returns a set of elements in any order, with members that differ. It is packed if the limits allow it. Calls
    /// `step` for each comparison and each element: a step takes less than a microsecond. O(n log n).
    ///
    /// ```
    /// use respire_store::{Config, Elements, Kind, Store, ZSet};
    ///
    /// let growth = Store::new(Config::default()).growth::<ZSet>();
    /// let mut steps = 0;
    /// let elements = vec![(b"b", 2.0), (b"a", 1.0)];
    /// let set = ZSet::from_elements(elements, &growth, &mut || steps += 1);
    /// assert_eq!(set.read().rank(b"b"), Some((1, 2.0)));
    /// ```
    #[must_use]
    pub fn from_elements<M: AsRef<[u8]>>(
        mut elements: Vec<(M, f64)>,
        growth: &Growth,
        step: &mut dyn FnMut(),
    ) -> Self {
        Self::sort(&mut elements, step);
        let limits = growth.limits;
        let fits = |(member, _): &(M, f64)| member.as_ref().len() <= limits.bytes as usize;
        let bytes: usize = elements
            .iter()
            .map(|(member, _)| member.as_ref().len())
            .sum();
        let is_small = elements.len() <= limits.elements as usize && bytes <= LISTPACK_BYTES_MAX;
        if is_small && elements.iter().all(fits) {
            let mut list = ListpackBuf::with_capacity(bytes + 12 * elements.len());
            for (member, score) in &elements {
                list.push(member.as_ref());
                list.push(ScoreText::packed(*score).as_bytes());
            }
            return ZSet(Form::Packed(list));
        }
        let mut ranked = Ranked::new(growth.seed);
        for (member, score) in &elements {
            step();
            ranked.insert(member.as_ref(), *score);
        }
        ZSet(Form::Large(ranked))
    }

    /// Sorts elements as a set does: by score, then by member. Calls `step` for each comparison and some times for each
    /// element. O(n log n); least if they are in the order of their members.
    pub fn sort<M: AsRef<[u8]>>(elements: &mut [(M, f64)], step: &mut dyn FnMut()) {
        let is_by_member = elements.is_sorted_by(|(a, _), (b, _)| {
            step();
            a.as_ref() <= b.as_ref()
        });
        let place = |(at, (_, score)): (usize, &(M, f64))| {
            step();
            Place::by_number(*score, at)
        };
        let mut places: Vec<Place> = elements.iter().enumerate().map(place).collect();
        places.sort_unstable_by(|a, b| {
            step();
            a.compare(*b, |a, b| match is_by_member {
                true => Ordering::Equal,
                false => elements[a].0.as_ref().cmp(elements[b].0.as_ref()),
            })
        });
        arrange(elements, places, step);
    }

    /// Takes the listpack of a payload, as Redis writes it, and checks all of it. It becomes large if it is beyond the
    /// limits. O(n log n).
    ///
    /// # Errors
    /// [`Damaged`] if the bytes are no listpack of members and scores in their order.
    pub fn verify(bytes: Vec<u8>, growth: &Growth) -> Result<Self, Damaged> {
        let list = ListpackBuf::try_from(bytes)?;
        let list = list.read().canonical().unwrap_or(list);
        if !packed::is_valid(list.read()) {
            return Err(Damaged);
        }
        let mut pairs = Pairs::new(list.read());
        let limits = growth.limits;
        let too_long = pairs.any(|(member, _)| member.to_bytes().len() > limits.bytes as usize);
        let is_large = too_long || list.read().len() / 2 > limits.elements as usize;
        let mut set = ZSet(Form::Packed(list));
        if is_large {
            set.make_large(growth);
        }
        Ok(set)
    }

    /// Removes a member. Returns the score that it had. O(log n), or O(n) while the set is packed.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let score = self.take(member);
        if score.is_some() && is_noted(self) {
            note(Step::Unscored { member });
        }
        score
    }

    fn take(&mut self, member: &[u8]) -> Option<f64> {
        match &mut self.0 {
            Form::Packed(list) => {
                let (_, place, score, next) = packed::find(list.read(), member)?;
                list.splice(place..next, &[]);
                Some(score)
            }
            Form::Large(ranked) => ranked.remove(member),
        }
    }

    /// Removes the elements of a range of ranks, or as many of them as there are, and calls `f` with each, in their
    /// order. O(log n) and O(elements removed).
    pub fn remove_range(&mut self, start: usize, count: usize, f: &mut dyn FnMut(Scored<'_>)) {
        if is_noted(self) {
            let count = count.min(self.read().len().saturating_sub(start));
            if count > 0 {
                note(Step::RanksRemoved { start, count });
            }
        }
        match &mut self.0 {
            Form::Packed(list) => packed::remove_range(list, start, count, f),
            Form::Large(ranked) => {
                ranked.remove_range(start, count, &mut |member, score| {
                    f((Element::Bytes(member), score))
                });
            }
        }
    }
}

impl<'e> ZSetRef<'e> {
    /// Returns a member's score. O(1), or O(n) if the set is packed.
    #[must_use]
    pub fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            ZSetRef::Packed(list) => packed::find(list, member).map(|(_, _, score, _)| score),
            ZSetRef::Large(ranked) => ranked.score(member),
        }
    }

    /// Returns a member's rank, the number of elements before it, and its score. O(log n), or O(n) if the set is
    /// packed.
    #[must_use]
    pub fn rank(self, member: &[u8]) -> Option<(usize, f64)> {
        match self {
            ZSetRef::Packed(list) => {
                packed::find(list, member).map(|(rank, _, score, _)| (rank, score))
            }
            ZSetRef::Large(ranked) => ranked.rank(member),
        }
    }

    /// Returns the number of elements before a bound. O(log n), or O(n) if the set is packed.
    #[must_use]
    pub fn count_below(self, bound: Bound<'_>) -> usize {
        let ranked = match self {
            ZSetRef::Packed(list) => return packed::count_below(list, bound),
            ZSetRef::Large(ranked) => ranked,
        };
        match bound {
            Bound::Start => 0,
            Bound::End => ranked.len(),
            Bound::BelowScore(score) => ranked.count_below_score(score, false),
            Bound::ThroughScore(score) => ranked.count_below_score(score, true),
            Bound::BelowMember(member) => ranked.count_below_member(member, false),
            Bound::ThroughMember(member) => ranked.count_below_member(member, true),
        }
    }

    /// Calls `f` with the elements of a range of ranks, or as many of them as there are. In reverse, ranks count from
    /// the last element. O(log n) and O(elements visited).
    pub fn for_range(
        self,
        start: usize,
        count: usize,
        reverse: bool,
        f: &mut (impl FnMut(Scored<'e>) + ?Sized),
    ) {
        let end = self.len().saturating_sub(if reverse { start } else { 0 });
        match (self, reverse) {
            (ZSetRef::Packed(list), false) => Pairs::skip_to(list, start).take(count).for_each(f),
            (ZSetRef::Packed(list), true) => packed::back(list, end).take(count).for_each(f),
            (ZSetRef::Large(ranked), false) => {
                ranked.for_range(start, count, &mut |member, score| {
                    f((Element::Bytes(member), score));
                });
            }
            (ZSetRef::Large(ranked), true) => {
                let elements = ranked.iter_back_from(end).take(count);
                elements.for_each(|(member, score)| f((Element::Bytes(member), score)));
            }
        }
    }

    /// Returns the listpack of a packed set.
    #[must_use]
    pub fn listpack(self) -> Option<Listpack<'e>> {
        match self {
            ZSetRef::Packed(list) => Some(list),
            ZSetRef::Large(_) => None,
        }
    }
}

impl Kind for ZSet {
    const NAME: &'static str = "zset";

    const LIMITS: Limits = Limits {
        elements: 128,
        bytes: 64,
    };

    type Ref<'e> = ZSetRef<'e>;

    fn read(&self) -> ZSetRef<'_> {
        match &self.0 {
            Form::Packed(list) => ZSetRef::Packed(list.read()),
            Form::Large(ranked) => ZSetRef::Large(ranked),
        }
    }

    fn read_packed(bytes: &[u8]) -> ZSetRef<'_> {
        ZSetRef::Packed(Listpack::from_valid(bytes))
    }

    fn packed(&self) -> Option<&[u8]> {
        match &self.0 {
            Form::Packed(list) => Some(list.as_bytes()),
            Form::Large(_) => None,
        }
    }

    fn from_packed(bytes: Vec<u8>) -> Self {
        ZSet(Form::Packed(ListpackBuf::from_valid(bytes)))
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
            Form::Large(ranked) => ranked.heap_bytes(),
        }
    }

    fn free_some(&mut self, budget: &mut usize) -> bool {
        match &mut self.0 {
            Form::Packed(_) => true,
            Form::Large(ranked) => ranked.free_some(budget),
        }
    }
}

impl<'e> Elements<'e> for ZSetRef<'e> {
    type Element = Scored<'e>;

    fn encoding(self) -> Encoding {
        match self {
            ZSetRef::Packed(_) => Encoding::Listpack,
            ZSetRef::Large(_) => Encoding::Skiplist,
        }
    }

    fn len(self) -> usize {
        match self {
            ZSetRef::Packed(list) => list.len() / 2,
            ZSetRef::Large(ranked) => ranked.len(),
        }
    }

    fn for_each(self, f: &mut dyn FnMut(Scored<'e>)) {
        self.for_range(0, usize::MAX, false, f);
    }

    fn scan(self, cursor: u64, count: usize, f: &mut dyn FnMut(Scored<'e>)) -> u64 {
        match self {
            ZSetRef::Packed(_) => {
                self.for_each(f);
                0
            }
            ZSetRef::Large(ranked) => ranked.scan(cursor, count, &mut |member, score| {
                f((Element::Bytes(member), score))
            }),
        }
    }

    fn sample(self, random: u64) -> Option<Scored<'e>> {
        let at = random.checked_rem(self.len() as u64)?;
        let mut found = None;
        self.for_range(at as usize, 1, false, &mut |element| found = Some(element));
        found
    }

    fn warm(self, element: &[u8]) -> bool {
        if let ZSetRef::Large(ranked) = self {
            ranked.warm(element);
            return true;
        }
        false
    }

    fn warm_found(self, element: &[u8]) {
        if let ZSetRef::Large(ranked) = self {
            ranked.warm_found(element);
        }
    }

    fn warm_rank(self, rank: i64) {
        if let ZSetRef::Large(ranked) = self {
            let from_last = usize::try_from(rank.unsigned_abs()).unwrap_or(usize::MAX);
            let rank = match usize::try_from(rank) {
                Ok(rank) => rank,
                Err(_) => ranked.len().saturating_sub(from_last),
            };
            ranked.warm_rank(rank);
        }
    }
}

#[cfg(test)]
mod tests;
