//! The large form of sorted sets: members ordered by score, found by score, by rank and by member.
//!
//! A tree with counts has the order, as in the
//! [counted B-trees](https://www.chiark.greenend.org.uk/~sgtatham/algorithms/cbtree.html) of Simon Tatham. Its
//! leaves have the elements, packed ([`leaf`]); nodes above them have bounds and counts ([`inner`]). The leaves are
//! numbered ([`leaves`]), and an index from members' hashes names the leaf of each member ([`index`]), so that a
//! member is stored once, and takes 9 bytes for its place. All parts are shared by clones and copied when they
//! change.

mod index;
mod inner;
mod iter;
mod leaf;
mod leaves;
mod order;
mod tree;

use ahash::RandomState;
use std::sync::Arc;

use index::Index;
use inner::{Inner, Node};
use iter::{Back, Forward};
use leaf::{Entries, Entry, Key, Leaf};
use leaves::Leaves;
use tree::{Taken, Tree};

use crate::hash::hash_key;
use crate::types::allocated;
use crate::visits::visited;

/// Bytes whose freeing is as much work as the freeing of an allocation.
const BYTES_PER_ALLOCATION: usize = 16 << 10;

/// Members with scores, ordered by score and then by member.
///
/// A clone is a snapshot and shares all elements: it costs O(elements / 2,000). The first changes after it copy
/// what they change.
///
/// ```
/// use respire_store::Ranked;
///
/// let mut players = Ranked::new([1, 2, 3, 4]);
/// assert_eq!(players.insert(b"ada", 20.0), None);
/// assert_eq!(players.insert(b"bob", 10.0), None);
/// assert_eq!(players.insert(b"bob", 30.0), Some(10.0));
/// assert_eq!(players.rank(b"bob"), Some((1, 30.0)));
/// assert_eq!(players.iter_from(0).next(), Some((b"ada".as_slice(), 20.0)));
/// ```
#[derive(Debug, Clone)]
pub struct Ranked {
    tree: Tree,
    members: Members,
    len: usize,
}

/// The leaves, and what finds the leaf of a member.
#[derive(Debug, Clone)]
struct Members {
    leaves: Leaves,
    lookup: Lookup,
    /// The bytes of a leaf while it is split. It is kept to save an allocation for each new element.
    scratch: Vec<u8>,
}

/// The index, and the hash function of its hashes.
#[derive(Debug, Clone)]
struct Lookup {
    index: Index,
    hasher: RandomState,
}

impl Lookup {
    #[inline]
    fn hash(&self, member: &[u8]) -> u32 {
        hash_key(&self.hasher, member) as u32
    }

    /// Moves the places of these entries to another leaf.
    fn move_all(&mut self, entries: &[u8], from: u32, to: u32) {
        for entry in Entries(entries) {
            let hash = self.hash(entry.member);
            self.index.replace(hash, from, to);
        }
    }
}

impl Ranked {
    /// Returns an empty set. The seed of the hash function must be secret where members come from people who might
    /// choose them to have the same hash.
    #[must_use]
    pub fn new([a, b, c, d]: [u64; 4]) -> Self {
        Ranked {
            tree: Tree::default(),
            members: Members {
                leaves: Leaves::default(),
                lookup: Lookup {
                    index: Index::default(),
                    hasher: RandomState::with_seeds(a, b, c, d),
                },
                scratch: Vec::new(),
            },
            len: 0,
        }
    }

    /// Returns the number of elements. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no elements. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the bytes allocated for the elements, in an allocator's steps of 16. O(1).
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.tree.bytes
            + self.members.leaves.heap_bytes()
            + self.members.lookup.index.heap_bytes()
            + allocated(self.members.scratch.capacity())
    }

    /// Sets a member's score, which must be a number. Returns the score that it had. A score equal to that is not
    /// set, so `-0` and `0` do not replace each other. O(log n).
    pub fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        let hash = self.members.lookup.hash(member);
        let old = self.entry_of(hash, member);
        match old {
            Some(old) if old == score => {}
            Some(old) => self.change_score(hash, member, old, score),
            None => self.add(hash, member, score),
        }
        old
    }

    /// Sets a member's score to the number that `f` returns for the one that it has. If `f` returns `None` or an
    /// error, nothing changes. Returns what `f` returned. O(log n).
    ///
    /// # Errors
    /// That of `f`.
    pub fn change<E>(
        &mut self,
        member: &[u8],
        f: impl FnOnce(Option<f64>) -> Result<Option<f64>, E>,
    ) -> Result<Option<f64>, E> {
        let hash = self.members.lookup.hash(member);
        let old = self.entry_of(hash, member);
        let Some(score) = f(old)? else {
            return Ok(None);
        };
        match old {
            Some(old) if old == score => {}
            Some(old) => self.change_score(hash, member, old, score),
            None => self.add(hash, member, score),
        }
        Ok(Some(score))
    }

    fn add(&mut self, hash: u32, member: &[u8], score: f64) {
        visited(1);
        let leaf = self.tree.put(&mut self.members, &Entry::new(score, member));
        self.members.lookup.index.insert(hash, leaf);
        self.len += 1;
        self.trim_scratch();
    }

    /// Removes a member. Returns the score that it had. O(log n).
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let hash = self.members.lookup.hash(member);
        let score = self.entry_of(hash, member)?;
        let key = Entry::new(score, member).key();
        let mut hear =
            |lookup: &mut Lookup, leaf: u32, _: Entry<'_>| lookup.index.remove(hash, leaf);
        let count = self.tree.take(&mut self.members, Taken::At(key), &mut hear);
        debug_assert_eq!(count, 1);
        self.len -= count;
        Some(score)
    }

    /// Removes the elements of a range of ranks, or as many of them as there are, and calls `f` with each, in their
    /// order. O(log n) and O(elements removed).
    pub fn remove_range(&mut self, start: usize, count: usize, f: &mut dyn FnMut(&[u8], f64)) {
        let end = start.saturating_add(count).min(self.len);
        let mut left = end.saturating_sub(start);
        while left > 0 {
            let mut hear = |lookup: &mut Lookup, leaf: u32, entry: Entry<'_>| {
                let hash = lookup.hash(entry.member);
                lookup.index.remove(hash, leaf);
                visited(1);
                f(entry.member, entry.score());
            };
            let taken = Taken::From(start, left);
            let count = self.tree.take(&mut self.members, taken, &mut hear);
            left -= count;
            self.len -= count;
        }
    }

    fn change_score(&mut self, hash: u32, member: &[u8], old: f64, new: f64) {
        let mut from = 0;
        let key = Entry::new(old, member).key();
        let mut hear = |_: &mut Lookup, leaf: u32, _: Entry<'_>| from = leaf;
        let count = self.tree.take(&mut self.members, Taken::At(key), &mut hear);
        debug_assert_eq!(count, 1);
        let to = self.tree.put(&mut self.members, &Entry::new(new, member));
        if from != to {
            self.members.lookup.index.replace(hash, from, to);
        }
        self.trim_scratch();
    }

    /// Frees the scratch buffer if a large member has made it large.
    fn trim_scratch(&mut self) {
        if self.members.scratch.capacity() > 2 * leaf::LEAF_BYTES_MAX {
            self.members.scratch = Vec::new();
        }
    }

    /// Returns a member's score. O(1).
    #[must_use]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.entry_of(self.members.lookup.hash(member), member)
    }

    #[inline]
    fn entry_of(&self, hash: u32, member: &[u8]) -> Option<f64> {
        let Members { leaves, lookup, .. } = &self.members;
        let places = lookup.index.get(hash).iter();
        let mut leaves = places.map(|place| leaves.get(index::leaf_of(*place)));
        let entry = leaves.find_map(|leaf| leaf.of_member(member))?;
        Some(entry.score())
    }

    /// Returns a member's rank, the number of elements before it, and its score. O(log n).
    #[must_use]
    pub fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        let score = self.score(member)?;
        let rank = self.rank_of(Entry::new(score, member).key(), false);
        Some((rank, score))
    }

    /// Returns the number of elements with a score below this one; with `inclusive`, or equal to it. O(log n).
    #[must_use]
    pub fn count_below_score(&self, score: f64, inclusive: bool) -> usize {
        let score = Entry::new(score, &[]).key().score + u64::from(inclusive);
        self.rank_of(Key { score, member: &[] }, false)
    }

    /// Returns the number of elements whose member sorts before this one; with `inclusive`, or is this one. The
    /// scores of all elements must be equal; else the number is that of the elements before such a member with
    /// the lowest score. O(log n).
    #[must_use]
    pub fn count_below_member(&self, member: &[u8], inclusive: bool) -> usize {
        let Some((_, score)) = self.iter_from(0).next() else {
            return 0;
        };
        let score = Entry::new(score, &[]).key().score;
        self.rank_of(Key { score, member }, inclusive)
    }

    /// Returns the number of elements before a key; with `inclusive`, or at it.
    fn rank_of(&self, key: Key<'_>, inclusive: bool) -> usize {
        let (mut node, mut rank) = (&self.tree.root, 0);
        if node.len() == 0 {
            return 0;
        }
        loop {
            let at = node.child_of(key);
            rank += node.count_before(at);
            match node.node(at) {
                Node::Inner(child) => node = child,
                Node::Leaf(leaf) => {
                    let found = self.members.leaves.get(*leaf).find(key);
                    return rank + found.index + usize::from(inclusive && found.len > 0);
                }
            }
        }
    }

    /// Returns the elements from a rank on, in their order. O(log n) for the first one.
    pub fn iter_from(&self, rank: usize) -> impl Iterator<Item = (&[u8], f64)> {
        Forward::new(self, rank)
    }

    /// Calls `f` with elements from a rank on, in their order. O(log n) and O(`count`).
    pub fn for_range<'t>(
        &'t self,
        start: usize,
        count: usize,
        f: &mut (impl FnMut(&'t [u8], f64) + ?Sized),
    ) {
        let Some((leaf, rank)) = self.leaf_at(start) else {
            return;
        };
        let (mut rest, mut left) = (leaf.iter(), count);
        rest.skip_some(rank);
        for entry in rest.take(count) {
            visited(1);
            f(entry.member, entry.score());
            left -= 1;
        }
        // A short range usually ends in the leaf in which it begins, and needs no way to the next one.
        if left > 0 {
            Forward::new(self, start + (count - left)).for_some(left, &mut |member, score| {
                f(member, score);
            });
        }
    }

    /// Returns the elements before a rank, in the reverse order. O(log n) for the first one.
    pub fn iter_back_from(&self, rank: usize) -> impl Iterator<Item = (&[u8], f64)> {
        Back::new(self, rank)
    }

    /// Runs one step of an iteration in the order of hashes, as [`Elements::scan`](crate::Elements::scan) describes.
    /// A change of a score does not change an element's place in it.
    pub fn scan<'t>(&'t self, cursor: u64, count: usize, f: &mut dyn FnMut(&'t [u8], f64)) -> u64 {
        let Members { leaves, lookup, .. } = &self.members;
        let Ok(from) = u32::try_from(cursor) else {
            return 0;
        };
        let mut visit = |hash: u32, places: &[u64]| {
            for (at, place) in places.iter().enumerate() {
                // The places are sorted: those of the same leaf stand together.
                if at > 0 && places[at - 1] == *place {
                    continue;
                }
                let entries = leaves.get(index::leaf_of(*place)).iter();
                let same = entries.filter(|entry| lookup.hash(entry.member) == hash);
                same.for_each(|entry| f(entry.member, entry.score()));
            }
        };
        lookup
            .index
            .visit(from, count.max(1), &mut visit)
            .map_or(0, u64::from)
    }

    /// Begins to load the memory that a search for this member reads first.
    pub fn warm(&self, member: &[u8]) {
        self.members
            .lookup
            .index
            .warm(self.members.lookup.hash(member));
    }

    /// Begins to load the leaf that has this member, some time after [`Ranked::warm`]. Nothing happens if there is no
    /// such member.
    pub fn warm_found(&self, member: &[u8]) {
        let Members { leaves, lookup, .. } = &self.members;
        if let [place, ..] = lookup.index.get(lookup.hash(member)) {
            leaves.get(index::leaf_of(*place)).prefetch();
        }
    }

    /// Begins to load the leaf that has the element of this rank. O(log n).
    pub fn warm_rank(&self, rank: usize) {
        if let Some((leaf, _)) = self.leaf_at(rank) {
            leaf.prefetch();
        }
    }

    /// Returns the leaf with the element of this rank, and the rank in it. O(log n).
    #[inline]
    fn leaf_at(&self, mut rank: usize) -> Option<(&Leaf, usize)> {
        if rank >= self.len {
            return None;
        }
        let mut node: &Inner = &self.tree.root;
        loop {
            let at;
            (at, rank) = node.select(rank);
            match node.node(at) {
                Node::Inner(child) => node = child,
                Node::Leaf(leaf) => return Some((self.members.leaves.get(*leaf), rank)),
            }
        }
    }

    /// Frees parts until `budget` is used up, as [`Kind::free_some`](crate::Kind::free_some) describes. The set must
    /// not be used for anything else afterwards.
    pub fn free_some(&mut self, budget: &mut usize) -> bool {
        self.len = 0;
        let root = &mut self.tree.root;
        (*budget > 0 && free_nodes(root, &mut self.tree.bytes, budget))
            && self.members.leaves.free_some(budget)
            && self.members.lookup.index.free_some(budget)
    }
}

/// Frees the nodes below this one, the last ones first, until the budget is used up. Returns whether none is left.
fn free_nodes(node: &mut Arc<Inner>, bytes: &mut usize, budget: &mut usize) -> bool {
    let node = Arc::make_mut(node);
    while let Some(mut branch) = node.pop() {
        *bytes -= allocated(branch.tail.len());
        if let Node::Inner(child) = &mut branch.node {
            let is_empty = free_nodes(child, bytes, budget);
            if !is_empty {
                *bytes += allocated(branch.tail.len());
                node.insert(node.len(), branch);
                return false;
            }
            *bytes -= child.heap_bytes(false);
            *budget = budget.saturating_sub(4);
            if *budget == 0 {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests;
