//! Inner nodes of the tree: which child has which elements, and how many.

use std::sync::Arc;

use super::leaf::Key;
use crate::types::allocated;

/// The most children of a node.
pub(super) const CHILDREN_MAX: usize = 64;

/// A node with fewer children is merged with a neighbour if both fit.
pub(super) const CHILDREN_MIN: usize = CHILDREN_MAX / 4;

/// Nodes grow by so many children at a time.
const STEP_CHILDREN: usize = 8;

/// A node with children. The three lists have the same length and capacity.
#[derive(Debug, Default)]
pub(super) struct Inner {
    /// The scores of the bounds: child `i` has the elements from bound `i` to bound `i + 1`, without the latter.
    /// The first bound is 0, and has no member. Searches read them alone, unless scores are equal.
    scores: Vec<u64>,
    /// The numbers of elements of the children.
    counts: Vec<usize>,
    children: Vec<Child>,
}

#[derive(Debug, Clone)]
struct Child {
    /// The member of the bound, or the start of one that is enough to tell the elements apart.
    tail: Box<[u8]>,
    node: Node,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    /// The number of a leaf.
    Leaf(u32),
    Inner(Arc<Inner>),
}

/// A child with its bound.
#[derive(Debug)]
pub(super) struct Branch {
    pub(super) score: u64,
    pub(super) tail: Box<[u8]>,
    pub(super) count: usize,
    pub(super) node: Node,
}

impl Branch {
    /// A first child, whose bound is not used.
    pub(super) fn first(count: usize, node: Node) -> Self {
        Branch {
            score: 0,
            tail: Box::default(),
            count,
            node,
        }
    }
}

impl Clone for Inner {
    /// Returns a copy with the same capacity, because the accounting assumes it.
    fn clone(&self) -> Self {
        let mut copy = Inner::with_capacity(self.children.capacity());
        copy.scores.extend_from_slice(&self.scores);
        copy.counts.extend_from_slice(&self.counts);
        copy.children.extend_from_slice(&self.children);
        copy
    }
}

impl Inner {
    fn with_capacity(children: usize) -> Self {
        Inner {
            scores: Vec::with_capacity(children),
            counts: Vec::with_capacity(children),
            children: Vec::with_capacity(children),
        }
    }

    /// Returns a node with these children.
    pub(super) fn new(branches: impl ExactSizeIterator<Item = Branch>) -> Self {
        let mut node = Self::with_capacity(branches.len());
        for (at, branch) in branches.enumerate() {
            node.insert(at, branch);
        }
        node
    }

    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    /// Returns the bytes allocated for this node alone. O(1), without the bounds' members, or O(children) with them.
    pub(super) fn heap_bytes(&self, with_tails: bool) -> usize {
        let lists = allocated(self.scores.capacity() * size_of::<u64>())
            + allocated(self.counts.capacity() * size_of::<usize>())
            + allocated(self.children.capacity() * size_of::<Child>());
        let tails = self
            .children
            .iter()
            .map(|child| allocated(child.tail.len()));
        let tails = if with_tails { tails.sum() } else { 0 };
        allocated(16 + size_of::<Inner>()) + lists + tails
    }

    /// Returns the child that has this place. A node without children has none.
    #[inline]
    pub(super) fn child_of(&self, key: Key<'_>) -> usize {
        let mut after = self.scores.partition_point(|score| *score < key.score);
        if self.scores.get(after) == Some(&key.score) {
            let same = self.scores[after..].partition_point(|score| *score == key.score);
            let tails = &self.children[after..after + same];
            after += tails.partition_point(|child| &*child.tail <= key.member);
        }
        after.max(1) - 1
    }

    /// Returns the child that has the element of this rank, and the rank in it.
    pub(super) fn select(&self, mut rank: usize) -> (usize, usize) {
        let mut at = 0;
        // Several at a time, because each is a comparison that depends on the one before.
        while let Some(eight) = self.counts[at..].first_chunk::<8>() {
            let sum = eight.iter().sum();
            if rank < sum || at + 8 == self.counts.len() {
                break;
            }
            (rank, at) = (rank - sum, at + 8);
        }
        while at + 1 < self.counts.len() && rank >= self.counts[at] {
            rank -= self.counts[at];
            at += 1;
        }
        (at, rank)
    }

    /// Returns the number of elements before a child.
    pub(super) fn count_before(&self, at: usize) -> usize {
        self.counts[..at].iter().sum()
    }

    pub(super) fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    pub(super) fn count(&mut self, at: usize) -> &mut usize {
        &mut self.counts[at]
    }

    #[inline]
    pub(super) fn node(&self, at: usize) -> &Node {
        &self.children[at].node
    }

    pub(super) fn node_mut(&mut self, at: usize) -> &mut Node {
        &mut self.children[at].node
    }

    pub(super) fn insert(&mut self, at: usize, branch: Branch) {
        if self.children.len() == self.children.capacity() {
            self.scores.reserve_exact(STEP_CHILDREN);
            self.counts.reserve_exact(STEP_CHILDREN);
            self.children.reserve_exact(STEP_CHILDREN);
        }
        let Branch {
            score,
            tail,
            count,
            node,
        } = branch;
        self.scores.insert(at, score);
        self.counts.insert(at, count);
        self.children.insert(at, Child { tail, node });
    }

    /// Removes a child. If it is the first one, it takes the bound of the next one with it, which is not used then.
    pub(super) fn remove(&mut self, at: usize) -> Branch {
        if let (0, [first, next, ..]) = (at, &mut self.children[..]) {
            core::mem::swap(&mut first.tail, &mut next.tail);
            self.scores.swap(0, 1);
        }
        let Child { tail, node } = self.children.remove(at);
        Branch {
            score: self.scores.remove(at),
            tail,
            count: self.counts.remove(at),
            node,
        }
    }

    /// Removes the children from one on, and returns them as a node with its bound. O(children).
    pub(super) fn split_off(&mut self, at: usize) -> (u64, Box<[u8]>, Inner) {
        let mut rest = Inner::with_capacity(self.children.len() - at);
        rest.scores.extend(self.scores.drain(at..));
        rest.counts.extend(self.counts.drain(at..));
        rest.children.extend(self.children.drain(at..));
        let room = self.children.len() + STEP_CHILDREN;
        self.scores.shrink_to(room);
        self.counts.shrink_to(room);
        self.children.shrink_to(room);
        let tail = core::mem::take(&mut rest.children[0].tail);
        (core::mem::take(&mut rest.scores[0]), tail, rest)
    }

    /// Adds the children of the next node, whose bound was this one. O(children).
    pub(super) fn append(&mut self, score: u64, tail: Box<[u8]>, next: &Inner) {
        let more = next.children.len();
        self.scores.reserve_exact(more);
        self.counts.reserve_exact(more);
        self.children.reserve_exact(more);
        let first = self.children.len();
        self.scores.extend_from_slice(&next.scores);
        self.counts.extend_from_slice(&next.counts);
        self.children.extend_from_slice(&next.children);
        self.scores[first] = score;
        self.children[first].tail = tail;
    }

    /// Removes and returns the last child.
    pub(super) fn pop(&mut self) -> Option<Branch> {
        (!self.children.is_empty()).then(|| self.remove(self.children.len() - 1))
    }

    /// Returns whether the bounds are in order.
    #[cfg(test)]
    pub(super) fn bounds_are_sorted(&self) -> bool {
        let tails = self.children.iter().map(|child| &child.tail);
        let bounds: Vec<_> = self.scores.iter().zip(tails).collect();
        bounds.is_sorted()
            && bounds
                .first()
                .is_none_or(|(score, tail)| **score == 0 && tail.is_empty())
    }
}
