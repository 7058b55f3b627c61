//! Changes of the tree: the way down to a leaf, and splits and merges on the way back.

use std::sync::Arc;

use super::Members;
use super::inner::{Branch, CHILDREN_MAX, CHILDREN_MIN, Inner, Node};
use super::leaf::{Entry, Key, LEAF_BYTES_MAX, LEAF_BYTES_MIN, Leaf, shortest_between};
use crate::types::allocated;

/// The tree's nodes above the leaves. A clone shares all of them.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub(super) root: Arc<Inner>,
    /// Bytes allocated for nodes above the leaves.
    pub(super) bytes: usize,
}

impl Default for Tree {
    fn default() -> Self {
        let root = Inner::default();
        Tree {
            bytes: root.heap_bytes(true),
            root: Arc::new(root),
        }
    }
}

/// The elements to be removed from one leaf.
#[derive(Clone, Copy)]
pub(super) enum Taken<'k> {
    /// The element at a place, if there is one.
    At(Key<'k>),
    /// Elements from a rank on, at most so many.
    From(usize, usize),
}

/// Hears of each element that is removed, with its leaf.
pub(super) type Hear<'f> = &'f mut dyn FnMut(&mut super::Lookup, u32, Entry<'_>);

impl Tree {
    /// Adds an element, which is not there, without its place in the index. Returns the leaf that has it.
    pub(super) fn put(&mut self, members: &mut Members, entry: &Entry<'_>) -> u32 {
        let mut bytes = self.bytes;
        let (leaf, split) = put(&mut self.root, members, &mut bytes, entry, true);
        if let Some(branch) = split {
            let left = core::mem::take(&mut self.root);
            let left = Branch::first(left.total(), Node::Inner(left));
            bytes += allocated(branch.tail.len());
            let root = Inner::new([left, branch].into_iter());
            bytes += root.heap_bytes(false);
            self.root = Arc::new(root);
        }
        self.bytes = bytes;
        leaf
    }

    /// Removes elements of one leaf, without their places in the index. Returns their number.
    pub(super) fn take(
        &mut self,
        members: &mut Members,
        taken: Taken<'_>,
        hear: Hear<'_>,
    ) -> usize {
        let mut bytes = self.bytes;
        let count = take(&mut self.root, members, &mut bytes, taken, hear);
        while self.root.len() == 1 {
            let Node::Inner(child) = self.root.node(0) else {
                break;
            };
            let child = Arc::clone(child);
            bytes -= self.root.heap_bytes(true);
            self.root = child;
        }
        self.bytes = bytes;
        count
    }
}

/// Adds an element below a node. Returns its leaf, and a new node behind this one if it was split.
fn put(
    node: &mut Arc<Inner>,
    members: &mut Members,
    bytes: &mut usize,
    entry: &Entry<'_>,
    is_last: bool,
) -> (u32, Option<Branch>) {
    let node = Arc::make_mut(node);
    let before = node.heap_bytes(false);
    if node.len() == 0 {
        let leaf = members.leaves.add(Leaf::new(&[]));
        node.insert(0, Branch::first(0, Node::Leaf(leaf)));
    }
    let at = node.child_of(entry.key());
    let is_last = is_last && at + 1 == node.len();
    let (leaf, split) = match node.node_mut(at) {
        Node::Leaf(leaf) => members.put_in_leaf(*leaf, entry, is_last),
        Node::Inner(child) => put(child, members, bytes, entry, is_last),
    };
    *node.count(at) += 1;
    let mut rest = None;
    if let Some(branch) = split {
        *node.count(at) -= branch.count;
        *bytes += allocated(branch.tail.len());
        node.insert(at + 1, branch);
        if node.len() > CHILDREN_MAX {
            // Elements that are added in their order fill the nodes.
            let cut = if is_last {
                node.len() - 1
            } else {
                node.len() / 2
            };
            rest = Some(node.split_off(cut));
        }
    }
    *bytes = *bytes - before + node.heap_bytes(false);
    let branch = rest.map(|(score, tail, inner)| {
        *bytes += inner.heap_bytes(false);
        *bytes -= allocated(tail.len());
        Branch {
            score,
            tail,
            count: inner.total(),
            node: Node::Inner(Arc::new(inner)),
        }
    });
    (leaf, branch)
}

/// Removes elements of one leaf below a node. Returns their number.
fn take(
    node: &mut Arc<Inner>,
    members: &mut Members,
    bytes: &mut usize,
    taken: Taken<'_>,
    hear: Hear<'_>,
) -> usize {
    let node = Arc::make_mut(node);
    if node.len() == 0 {
        return 0;
    }
    let (at, taken) = match taken {
        Taken::At(key) => (node.child_of(key), taken),
        Taken::From(rank, max) => {
            let (at, rank) = node.select(rank);
            (at, Taken::From(rank, max))
        }
    };
    let before = node.heap_bytes(false);
    let count = match node.node_mut(at) {
        Node::Leaf(leaf) => members.take_from_leaf(*leaf, taken, hear),
        Node::Inner(child) => take(child, members, bytes, taken, hear),
    };
    *node.count(at) -= count;
    if count > 0 {
        settle(node, at, members, bytes);
    }
    *bytes = *bytes - before + node.heap_bytes(false);
    count
}

/// Removes a child that has become empty, or merges one that has become small.
fn settle(node: &mut Inner, at: usize, members: &mut Members, bytes: &mut usize) {
    if *node.count(at) == 0 {
        let branch = node.remove(at);
        *bytes -= allocated(branch.tail.len());
        match branch.node {
            Node::Leaf(leaf) => members.leaves.free(leaf),
            Node::Inner(inner) => *bytes -= inner.heap_bytes(true),
        }
        return;
    }
    let is_small = match node.node(at) {
        Node::Leaf(leaf) => members.leaves.get(*leaf).entries().len() < LEAF_BYTES_MIN,
        Node::Inner(inner) => inner.len() < CHILDREN_MIN,
    };
    if is_small && !(at + 1 < node.len() && merge(node, at, members, bytes)) && at > 0 {
        merge(node, at - 1, members, bytes);
    }
}

/// Merges a child and the next one if together they leave room. Returns whether they did.
fn merge(node: &mut Inner, at: usize, members: &mut Members, bytes: &mut usize) -> bool {
    let leaves = match (node.node(at), node.node(at + 1)) {
        (Node::Leaf(left), Node::Leaf(right)) => Some((*left, *right)),
        (Node::Inner(left), Node::Inner(right)) => {
            if left.len() + right.len() > CHILDREN_MAX * 3 / 4 {
                return false;
            }
            None
        }
        _ => unreachable!("invariant: all leaves have the same depth"),
    };
    if let Some((left, right)) = leaves {
        let Some(kept) = members.merge_leaves(left, right) else {
            return false;
        };
        let next = node.remove(at + 1);
        *bytes -= allocated(next.tail.len());
        *node.count(at) += next.count;
        *node.node_mut(at) = Node::Leaf(kept);
        return true;
    }
    let next = node.remove(at + 1);
    *node.count(at) += next.count;
    if let (Node::Inner(left), Node::Inner(right)) = (node.node_mut(at), next.node) {
        let left = Arc::make_mut(left);
        *bytes -= left.heap_bytes(false) + right.heap_bytes(false);
        // The bound moves down, where it replaces one that is not used.
        left.append(next.score, next.tail, &right);
        *bytes += left.heap_bytes(false);
    }
    true
}

impl Members {
    /// Adds an entry to a leaf. Returns its leaf, and a new leaf behind this one if it was split.
    fn put_in_leaf(&mut self, id: u32, entry: &Entry<'_>, is_last: bool) -> (u32, Option<Branch>) {
        let mut new = core::mem::take(&mut self.scratch);
        new.clear();
        let leaf = self.leaves.get(id);
        let (entries, at) = (leaf.entries(), leaf.find(entry.key()).at);
        if entries.is_empty() || entries.len() + entry.packed_len() <= LEAF_BYTES_MAX {
            entry.write(&mut new);
            self.leaves.edit(id, |leaf| leaf.splice(at..at, &new));
            self.scratch = new;
            return (id, None);
        }
        new.extend_from_slice(&entries[..at]);
        entry.write(&mut new);
        let after = new.len();
        new.extend_from_slice(&entries[at..]);
        let appends = is_last && after == new.len();
        let cut = if appends { at } else { cut_of(&new) };
        let (left, right) = new.split_at(cut);
        let (branch, new_id) = self.split_leaf(id, left, right);
        let is_right = cut <= at;
        // The index has no place of the new element yet.
        let (before_new, rest) = right.split_at(if is_right { at - cut } else { 0 });
        let after_new = if is_right { &rest[after - at..] } else { rest };
        self.lookup.move_all(before_new, id, new_id);
        self.lookup.move_all(after_new, id, new_id);
        self.scratch = new;
        (if is_right { new_id } else { id }, Some(branch))
    }

    /// Keeps the left entries in a leaf, and moves the right ones to a new leaf.
    fn split_leaf(&mut self, id: u32, left: &[u8], right: &[u8]) -> (Branch, u32) {
        let entries = |bytes| super::leaf::Entries(bytes);
        let last = entries(left).last().map(|entry| entry.key());
        let first = entries(right).next().map(|entry| entry.key());
        let (Some(last), Some(first)) = (last, first) else {
            unreachable!("invariant: both halves have entries");
        };
        let tail = if last.score == first.score {
            shortest_between(last.member, first.member)
        } else {
            &[]
        };
        let new_id = self.leaves.add(Leaf::new(right));
        self.leaves.edit(id, |leaf| *leaf = Leaf::new(left));
        let branch = Branch {
            score: first.score,
            tail: tail.into(),
            count: entries(right).count(),
            node: Node::Leaf(new_id),
        };
        (branch, new_id)
    }

    /// Removes entries of a leaf. Returns their number.
    fn take_from_leaf(&mut self, id: u32, taken: Taken<'_>, hear: Hear<'_>) -> usize {
        let leaf = self.leaves.get(id);
        let (start, end, count) = match taken {
            Taken::At(key) => {
                let found = leaf.find(key);
                (found.at, found.at + found.len, usize::from(found.len > 0))
            }
            Taken::From(rank, max) => {
                let mut entries = leaf.iter();
                entries.by_ref().take(rank).for_each(drop);
                let start = leaf.entries().len() - entries.0.len();
                let count = entries.by_ref().take(max).count();
                (start, leaf.entries().len() - entries.0.len(), count)
            }
        };
        for entry in super::leaf::Entries(&leaf.entries()[start..end]) {
            hear(&mut self.lookup, id, entry);
        }
        if count > 0 {
            self.leaves.edit(id, |leaf| leaf.splice(start..end, &[]));
        }
        count
    }

    /// Merges two leaves if together they leave room. Returns the one that is kept.
    fn merge_leaves(&mut self, left: u32, right: u32) -> Option<u32> {
        let lens = [left, right].map(|id| self.leaves.get(id).entries().len());
        if lens[0] + lens[1] > LEAF_BYTES_MAX * 3 / 4 {
            return None;
        }
        let (from, to, at) = if lens[0] < lens[1] {
            (left, right, 0)
        } else {
            (right, left, lens[0])
        };
        let moved = self.leaves.get(from).clone();
        self.leaves
            .edit(to, |leaf| leaf.splice(at..at, moved.entries()));
        self.leaves.free(from);
        self.lookup.move_all(moved.entries(), from, to);
        Some(to)
    }
}

/// Returns the offset of the entry that is nearest to the middle of at least two entries, but not the first.
fn cut_of(entries: &[u8]) -> usize {
    let mut rest = super::leaf::Entries(entries);
    let mut cut = 0;
    while rest.next().is_some() && !rest.0.is_empty() {
        let at = entries.len() - rest.0.len();
        let distance = |at: usize| at.abs_diff(entries.len() / 2);
        if cut != 0 && distance(at) > distance(cut) {
            break;
        }
        cut = at;
    }
    cut
}
