//! Sorting by numbers: most comparisons are decided by a number beside the place of an element, so that they read
//! no other memory and have no branch that depends on it.

use core::cmp::Ordering;

/// The place of an element in a list, and a number that decides its order as far as it can.
///
/// ```
/// use respire_store::Place;
///
/// let scores = [2.0, -1.0, 0.5];
/// let places = scores.iter().enumerate().map(|(at, score)| Place::by_number(*score, at));
/// let mut places: Vec<Place> = places.collect();
/// places.sort_unstable_by(|a, b| a.compare(*b, |_, _| std::cmp::Ordering::Equal));
/// assert!(places.iter().map(|place| place.index()).eq([1, 2, 0]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Place {
    rank: u64,
    index: u32,
}

impl Place {
    /// Returns a place with a rank.
    ///
    /// # Panics
    /// If `index` is 2^32 or more.
    #[must_use]
    #[inline]
    pub fn new(rank: u64, index: usize) -> Self {
        let index = u32::try_from(index).expect("a value has less than 2^32 elements");
        Place { rank, index }
    }

    /// Returns a place that a number ranks; the negative zero equals the positive one.
    ///
    /// # Panics
    /// If `index` is 2^32 or more.
    #[must_use]
    #[inline]
    pub fn by_number(number: f64, index: usize) -> Self {
        let bits = (number + 0.0).to_bits();
        let rank = if bits >> 63 == 0 {
            bits | 1 << 63
        } else {
            !bits
        };
        Self::new(rank, index)
    }

    /// Returns the place with the opposite rank, for the descending order.
    #[must_use]
    pub fn reversed(self) -> Self {
        Place {
            rank: !self.rank,
            ..self
        }
    }

    /// Returns the place.
    #[must_use]
    #[inline]
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// Compares the ranks; if they are equal, the elements by `tie`; if they are equal too, the places.
    #[must_use]
    #[inline(always)]
    pub fn compare(self, other: Self, tie: impl FnOnce(usize, usize) -> Ordering) -> Ordering {
        if self.rank == other.rank {
            let tie = tie(self.index(), other.index());
            return tie.then(self.index.cmp(&other.index));
        }
        self.rank.cmp(&other.rank)
    }
}

/// Ranks texts by the bytes that follow what all of them begin with.
///
/// ```
/// use respire_store::TextRanks;
///
/// let mut ranks = TextRanks::default();
/// let texts = [b"member:00012".as_slice(), b"member:00011"];
/// texts.iter().for_each(|text| ranks.add(text));
/// assert!(ranks.rank(texts[0]) > ranks.rank(texts[1]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TextRanks {
    /// What all texts begin with; `None` without any text.
    start: Option<Vec<u8>>,
}

impl TextRanks {
    /// Learns of a text. O(what all texts begin with).
    #[inline]
    pub fn add(&mut self, text: &[u8]) {
        match &mut self.start {
            Some(start) if text.starts_with(start) => {}
            Some(start) => {
                let same = start.iter().zip(text).take_while(|(a, b)| a == b).count();
                start.truncate(same);
            }
            None => self.start = Some(text.to_vec()),
        }
    }

    /// Returns the rank of one of the texts. Of two texts the lower one has no higher rank. O(1).
    #[must_use]
    #[inline]
    pub fn rank(&self, text: &[u8]) -> u64 {
        let skipped = self.start.as_ref().map_or(0, Vec::len);
        let rest = text.get(skipped..).unwrap_or_default();
        if let Some(first) = rest.first_chunk() {
            return u64::from_be_bytes(*first);
        }
        let mut first = [0; 8];
        first[..rest.len()].copy_from_slice(rest);
        u64::from_be_bytes(first)
    }
}

/// Sorts elements by the places that are sorted already: the element of the first place becomes the first one. Calls
/// `step` for each element, and each time that one is moved. O(n).
///
/// # Panics
/// If the places are not those of all elements.
pub(crate) fn arrange<T>(elements: &mut [T], places: Vec<Place>, step: &mut dyn FnMut()) {
    // Memory that the process has not used before is slow: others are served while it is filled.
    let mut targets = Vec::with_capacity(places.len());
    while targets.len() < places.len() {
        step();
        targets.resize(places.len().min(targets.len() + FILLED_AT_ONCE), 0_u32);
    }
    for (target, place) in (0..).zip(&places) {
        step();
        targets[place.index()] = target;
    }
    for at in 0..elements.len() {
        step();
        // One round can move nearly all elements.
        while targets[at] as usize != at {
            step();
            let target = targets[at] as usize;
            elements.swap(at, target);
            targets.swap(at, target);
        }
    }
}

/// The places that are filled in one step.
const FILLED_AT_ONCE: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_ordered_like_the_numbers() {
        let ascending = [
            f64::NEG_INFINITY,
            -1e300,
            -2.0,
            -1e-300,
            0.0,
            1e-300,
            1.0,
            10.0,
            f64::INFINITY,
        ];
        let place = |number: f64| Place::by_number(number, 0);
        let equal = |_, _| Ordering::Equal;
        for pair in ascending.windows(2) {
            let (a, b) = (place(pair[0]), place(pair[1]));
            assert_eq!(a.compare(b, equal), Ordering::Less);
            assert_eq!(a.reversed().compare(b.reversed(), equal), Ordering::Greater);
        }
        assert_eq!(place(-0.0).compare(place(0.0), equal), Ordering::Equal);
    }

    #[test]
    fn equal_ranks_are_ordered_by_the_tie_and_then_by_place() {
        let places = [Place::new(1, 0), Place::new(1, 1), Place::new(1, 2)];
        let mut sorted = places;
        // The second element comes last, the others are equal.
        sorted.sort_unstable_by(|a, b| a.compare(*b, |a, b| (a == 1).cmp(&(b == 1))));
        assert!(sorted.iter().map(|place| place.index()).eq([0, 2, 1]));
    }

    #[test]
    fn texts_are_ranked_in_their_order_behind_what_they_share() {
        let texts = ["ab", "ab\0", "abc", "abcdefghij", "abcdefghik", "abd", "b"];
        for count in 0..=texts.len() {
            let mut ranks = TextRanks::default();
            texts[..count]
                .iter()
                .for_each(|text| ranks.add(text.as_bytes()));
            let rank = |text: &&str| ranks.rank(text.as_bytes());
            assert!(texts[..count].iter().map(rank).is_sorted());
        }
        let mut ranks = TextRanks::default();
        let texts = [b"shared:00000001", b"shared:00000002"];
        texts.iter().for_each(|text| ranks.add(*text));
        assert!(ranks.rank(texts[0]) < ranks.rank(texts[1]));
    }

    #[test]
    fn arranged_elements_stand_at_their_places() {
        let mut elements = vec!["d", "a", "c", "b", "e"];
        let places = [1, 3, 2, 0, 4].map(|index| Place::new(0, index)).to_vec();
        let mut steps = 0;
        arrange(&mut elements, places, &mut || steps += 1);
        assert_eq!(elements, ["a", "b", "c", "d", "e"]);
        assert_eq!(steps, 13);
    }
}
