//! Elements one after another, in both directions.

use core::iter::FusedIterator;

use smallvec::SmallVec;

use super::Ranked;
use super::inner::{Inner, Node};
use super::leaf::{Entries, Entry, Leaf};
use super::leaves::Leaves;
use crate::visits::visited;

/// A way from the root to a leaf.
#[derive(Debug, Clone)]
struct Way<'t> {
    leaves: &'t Leaves,
    /// Each node on the way, and the child that the way takes.
    nodes: SmallVec<[(&'t Inner, usize); 6]>,
}

impl<'t> Way<'t> {
    /// Goes to the leaf with the element of this rank. Returns the leaf, and the rank in it.
    fn to_rank(set: &'t Ranked, mut rank: usize) -> (Self, Option<(&'t Leaf, usize)>) {
        let mut way = Way {
            leaves: &set.members.leaves,
            nodes: SmallVec::new(),
        };
        let mut node: &Inner = &set.tree.root;
        if rank >= set.len {
            return (way, None);
        }
        loop {
            let (at, rest) = node.select(rank);
            rank = rest;
            way.nodes.push((node, at));
            match node.node(at) {
                Node::Inner(child) => node = child,
                Node::Leaf(leaf) => {
                    let leaf = way.leaves.get(*leaf);
                    return (way, Some((leaf, rank)));
                }
            }
        }
    }

    /// Goes to the neighbour of the leaf: the next one, or the one before. `None` if there is none.
    fn step(&mut self, forward: bool) -> Option<&'t Leaf> {
        let mut depth = self.nodes.len();
        let mut node = loop {
            depth = depth.checked_sub(1)?;
            let (node, at) = &mut self.nodes[depth];
            let neighbour = if forward { *at + 1 } else { at.wrapping_sub(1) };
            if neighbour < node.len() {
                *at = neighbour;
                break node.node(neighbour);
            }
        };
        for depth in depth + 1..self.nodes.len() {
            let Node::Inner(inner) = node else {
                return None;
            };
            let at = if forward { 0 } else { inner.len() - 1 };
            self.nodes[depth] = (inner, at);
            node = inner.node(at);
        }
        let Node::Leaf(leaf) = node else { return None };
        self.warm_next(forward);
        Some(self.leaves.get(*leaf))
    }

    /// Begins to load the neighbour below the same node.
    fn warm_next(&self, forward: bool) {
        let Some((node, at)) = self.nodes.last() else {
            return;
        };
        let next = if forward { at + 1 } else { at.wrapping_sub(1) };
        if next < node.len()
            && let Node::Leaf(leaf) = node.node(next)
        {
            self.leaves.get(*leaf).prefetch();
        }
    }
}

/// Elements in their order.
#[derive(Debug, Clone)]
pub(super) struct Forward<'t> {
    way: Way<'t>,
    rest: Entries<'t>,
}

impl<'t> Forward<'t> {
    pub(super) fn new(set: &'t Ranked, rank: usize) -> Self {
        let (way, found) = Way::to_rank(set, rank);
        let mut rest = Entries(&[]);
        if let Some((leaf, rank)) = found {
            rest = leaf.iter();
            rest.skip_some(rank);
        }
        Forward { way, rest }
    }

    /// Calls `f` with so many elements, leaf by leaf.
    pub(super) fn for_some(mut self, count: usize, f: &mut dyn FnMut(&'t [u8], f64)) {
        let mut left = count;
        loop {
            for entry in self.rest.by_ref().take(left) {
                visited(1);
                f(entry.member, entry.score());
                left -= 1;
            }
            if left == 0 {
                return;
            }
            match self.way.step(true) {
                Some(leaf) => self.rest = leaf.iter(),
                None => return,
            }
        }
    }
}

impl<'t> Iterator for Forward<'t> {
    type Item = (&'t [u8], f64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.rest.next() {
                visited(1);
                return Some((entry.member, entry.score()));
            }
            self.rest = self.way.step(true)?.iter();
        }
    }
}

impl FusedIterator for Forward<'_> {}

/// Elements in the reverse order.
#[derive(Debug, Clone)]
pub(super) struct Back<'t> {
    way: Way<'t>,
    /// Entries of the leaf that have yet to come, in their order.
    left: SmallVec<[Entry<'t>; 4]>,
}

impl<'t> Back<'t> {
    pub(super) fn new(set: &'t Ranked, rank: usize) -> Self {
        let last = rank.min(set.len).checked_sub(1);
        let (way, found) = Way::to_rank(set, last.unwrap_or(usize::MAX));
        let mut left = SmallVec::new();
        if let Some((leaf, rank)) = found {
            left.extend(leaf.iter().take(rank + 1));
        }
        Back { way, left }
    }
}

impl<'t> Iterator for Back<'t> {
    type Item = (&'t [u8], f64);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(entry) = self.left.pop() {
                visited(1);
                return Some((entry.member, entry.score()));
            }
            self.left.extend(self.way.step(false)?.iter());
        }
    }
}

impl FusedIterator for Back<'_> {}
