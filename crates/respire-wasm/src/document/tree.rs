//! Builds the tree of a frame's values from the codec's marks.

use super::Document;
use super::index::Frame;
use crate::tables::{FrameStatus, NodeKind, error_number, role_number};
use resp_codec::Limits;
use resp_codec::annotate::{Mark, Mode, Role, annotate_frame};
use respire_engine::secret::is_secret;

/// The number of words in a row of [`Document::marks`].
pub const MARK_WORDS: usize = 6;

/// The number of words in a row of [`Document::nodes`].
pub const NODE_WORDS: usize = 7;

/// The parent of a node without parent, and the count of a node without count.
pub(super) const NONE: u32 = u32::MAX;

/// Flag: the size is not announced.
pub(super) const STREAMED: u8 = 1;
/// Flag: the frame ends within the node, or has an error there.
pub(super) const INCOMPLETE: u8 = 2;
/// Flag: the node is the key of a pair.
const KEY: u8 = 4;
/// Flag: the node is the value of a pair.
const VALUE: u8 = 8;
/// Flag: the node is a password.
pub(super) const SECRET: u8 = 16;

/// A value, an argument, or a part of one that is sent separately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) flags: u8,
    pub(super) start: u32,
    /// Offset after the type, the length and their line end, as far as they are there.
    pub(super) head: u32,
    /// Offset after all its content.
    pub(super) end: u32,
    pub(super) depth: u32,
    pub(super) parent: u32,
    /// Its index among its siblings; for an attribute, among those of the same value.
    pub(super) index: u32,
    /// The number of values before it.
    pub(super) place: u32,
    /// The announced number of elements, pairs or bytes.
    pub(super) count: u32,
    /// Its own marks.
    pub(super) marks: (u32, u32),
}

impl Node {
    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The number of values that it announces, if any.
    pub(super) fn values(&self) -> Option<u32> {
        match self.count {
            NONE => None,
            count if self.kind.is_paired() => Some(count.saturating_mul(2)),
            count => Some(count),
        }
    }

    /// Whether it contains values.
    pub(super) fn holds(&self) -> bool {
        let is_filled = !matches!(self.count, 0 | NONE);
        self.has(STREAMED) || (self.kind.is_aggregate() && is_filled)
    }
}

/// A frame's marks and nodes, in the order of their first bytes.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) marks: Vec<Mark>,
    pub(super) nodes: Vec<Node>,
    /// The node of each mark.
    owners: Vec<u32>,
}

impl Tree {
    /// The tree of a frame. O(n) in its length.
    pub(super) fn new(bytes: &[u8], frame: &Frame, mode: Mode, limits: &Limits) -> Self {
        let mut marks = Vec::new();
        // The index has the end of the frame: the bytes after an incomplete one are not decoded
        // yet.
        let bytes = if frame.is_bad() {
            bytes
        } else {
            &bytes[..frame.end()]
        };
        annotate_frame(bytes, frame.start(), mode, limits, &mut marks);
        let is_inline = mode == Mode::Requests && bytes[frame.start()] != b'*';
        let mut builder = Builder::new(bytes, mode, is_inline);
        if is_inline {
            builder.line(frame, marks.len());
        }
        for at in 0..marks.len() {
            builder.mark(&marks, at);
        }
        let mut tree = Self {
            marks,
            nodes: builder.nodes,
            owners: builder.owners,
        };
        if frame.is_torn() || frame.is_bad() {
            tree.find_incomplete();
        }
        if frame.kind() == NodeKind::Command {
            tree.find_secrets(bytes);
        }
        tree
    }

    /// The index of the mark that holds a byte.
    pub(super) fn mark_at(&self, offset: usize) -> Option<usize> {
        let after = self.marks.partition_point(|mark| end(mark) <= offset);
        let found = self.marks.get(after)?;
        (found.at as usize <= offset && found.len > 0).then_some(after)
    }

    /// The node a mark belongs to.
    pub(super) fn owner(&self, mark: usize) -> usize {
        self.owners[mark] as usize
    }

    /// The marks of a node itself, without those of the nodes within.
    pub(super) fn own_marks(&self, node: usize) -> &[Mark] {
        let (from, to) = self.nodes[node].marks;
        &self.marks[from as usize..to as usize]
    }

    /// The node, and those around it from the innermost on.
    pub(super) fn around(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(node), |&node| match self.nodes[node].parent {
            NONE => None,
            parent => Some(parent as usize),
        })
    }

    /// The span of a node's payload: the bytes of a string, or the text of a line.
    pub(super) fn payload(&self, node: usize) -> (usize, usize) {
        let marks = self.own_marks(node).iter();
        let mut inner = marks.filter(|mark| {
            !matches!(
                mark.role,
                Role::Type | Role::Length | Role::Crlf | Role::Space | Role::Missing | Role::Bad(_)
            )
        });
        let Some(first) = inner.next() else {
            let head = self.nodes[node].head as usize;
            return (head, head);
        };
        (first.at as usize, end(inner.next_back().unwrap_or(first)))
    }

    /// Flags the incomplete nodes, from the last value outwards.
    fn find_incomplete(&mut self) {
        let Some(last) = self.nodes.len().checked_sub(1) else {
            return;
        };
        let chain: Vec<usize> = self.around(last).collect();
        let mut inner: Option<usize> = None;
        for node in chain {
            if !self.is_complete(node, inner) {
                self.nodes[node].flags |= INCOMPLETE;
            }
            inner = Some(node);
        }
    }

    /// Whether a node with the last child `inner` is complete.
    fn is_complete(&self, node: usize, inner: Option<usize>) -> bool {
        let Node { kind, count, .. } = self.nodes[node];
        let own = self.own_marks(node);
        if own
            .iter()
            .any(|mark| matches!(mark.role, Role::Bad(_) | Role::Missing))
        {
            return false;
        }
        let Some(inner) = inner.map(|inner| &self.nodes[inner]) else {
            // Everything announced is there, or else the codec would have reported the rest as
            // missing.
            return !self.nodes[node].holds() && kind != NodeKind::Unknown;
        };
        if inner.has(INCOMPLETE) {
            return false;
        }
        match self.nodes[node].values() {
            _ if self.nodes[node].has(STREAMED) => {
                inner.kind == NodeKind::End || (inner.kind == NodeKind::Chunk && inner.count == 0)
            }
            Some(values) => inner.kind != NodeKind::Attribute && inner.index + 1 >= values,
            None => count == NONE && kind != NodeKind::Command,
        }
    }

    fn find_secrets(&mut self, bytes: &[u8]) {
        let args: Vec<usize> = (0..self.nodes.len())
            .filter(|&node| self.nodes[node].kind == NodeKind::Arg)
            .collect();
        let words: Vec<&[u8]> = args
            .iter()
            .map(|&node| self.payload(node))
            .map(|(from, to)| &bytes[from..to])
            .collect();
        let word = |index: usize| words.get(index).copied();
        for (index, &node) in args.iter().enumerate() {
            if is_secret(&word, words.len(), index) {
                self.nodes[node].flags |= SECRET;
            }
        }
    }
}

/// Where a mark ends.
pub(super) fn end(mark: &Mark) -> usize {
    (mark.at + mark.len) as usize
}

/// Builds nodes from marks.
struct Builder<'b> {
    bytes: &'b [u8],
    mode: Mode,
    is_inline: bool,
    nodes: Vec<Node>,
    owners: Vec<u32>,
    /// The codec's number of the current node.
    last: Option<u32>,
    /// The nodes around it, outermost first, and their numbers of children of each kind.
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    node: u32,
    values: u32,
    attributes: u32,
}

impl<'b> Builder<'b> {
    fn new(bytes: &'b [u8], mode: Mode, is_inline: bool) -> Self {
        let top = Open {
            node: NONE,
            ..Open::default()
        };
        Self {
            bytes,
            mode,
            is_inline,
            nodes: Vec::new(),
            owners: Vec::new(),
            last: None,
            open: vec![top],
        }
    }

    /// Adds the request of a line, which has no header; its words are the arguments.
    fn line(&mut self, frame: &Frame, marks: usize) {
        let mut line = self.node(NodeKind::Command, frame.start() as u32, 0);
        line.end = frame.end() as u32;
        line.marks = (marks as u32, marks as u32);
        self.add(line);
    }

    /// Adds the next mark.
    fn mark(&mut self, marks: &[Mark], at: usize) {
        let mark = &marks[at];
        // The codec starts a node after the blanks of a line even if no word follows; and a mark of
        // missing bytes may belong to no value yet.
        let is_new = self.last != Some(mark.node) && (mark.len > 0 || self.nodes.is_empty());
        let is_stray = self.is_inline && matches!(mark.role, Role::Crlf);
        if is_new && !is_stray {
            self.last = Some(mark.node);
            self.begin(mark, at);
        }
        let owner = self.nodes.len() - 1;
        self.owners.push(owner as u32);
        let node = &mut self.nodes[owner];
        node.marks = (node.marks.0.min(at as u32), at as u32 + 1);
        let behind = mark.at + mark.len;
        for open in &self.open {
            if let Some(around) = self.nodes.get_mut(open.node as usize) {
                around.end = around.end.max(behind);
            }
        }
        let node = &mut self.nodes[owner];
        node.end = node.end.max(behind);
        self.head(owner, marks, at);
    }

    /// Begins the node of this mark.
    fn begin(&mut self, mark: &Mark, at: usize) {
        // Words, and the arguments of binary requests, are children of their request.
        let is_flat = self.is_inline || self.mode == Mode::BinaryRequests;
        let depth = match self.nodes.first() {
            Some(first) if is_flat && first.kind == NodeKind::Command => 1,
            _ => usize::from(mark.depth),
        };
        self.open.truncate(depth + 1);
        let kind = self.kind(mark, depth);
        let mut node = self.node(kind, mark.at, depth.min(self.open.len() - 1) as u32);
        node.marks = (at as u32, at as u32);
        self.add(node);
    }

    fn kind(&self, mark: &Mark, depth: usize) -> NodeKind {
        let byte = self.bytes.get(mark.at as usize).copied().unwrap_or(0);
        match (self.mode, mark.role) {
            (Mode::Requests | Mode::BinaryRequests, _) if depth > 0 => NodeKind::Arg,
            (Mode::Requests | Mode::BinaryRequests, Role::Type) => NodeKind::Command,
            (Mode::Requests, _) if self.is_inline => NodeKind::Arg,
            // An empty line is a request without words.
            (Mode::Requests, Role::Crlf) => NodeKind::Command,
            (_, Role::Type) => NodeKind::of_type_byte(byte),
            _ => NodeKind::Unknown,
        }
    }

    fn node(&self, kind: NodeKind, start: u32, depth: u32) -> Node {
        Node {
            kind,
            flags: 0,
            start,
            head: start,
            end: start,
            depth,
            parent: NONE,
            index: 0,
            place: 0,
            count: NONE,
            marks: (0, 0),
        }
    }

    /// Adds a node as a child of the innermost open one.
    fn add(&mut self, mut node: Node) {
        let number = self.nodes.len() as u32;
        if let Some(around) = self.open.last_mut() {
            node.parent = around.node;
            node.place = around.values;
            match node.kind {
                NodeKind::Attribute => {
                    node.index = around.attributes;
                    around.attributes += 1;
                }
                NodeKind::End => node.index = around.values,
                _ => {
                    node.index = around.values;
                    around.values += 1;
                    around.attributes = 0;
                }
            }
            let is_paired = self.nodes.get(around.node as usize);
            let is_value = !matches!(node.kind, NodeKind::Attribute | NodeKind::End);
            if is_value && is_paired.is_some_and(|around| around.kind.is_paired()) {
                node.flags |= if node.index.is_multiple_of(2) {
                    KEY
                } else {
                    VALUE
                };
            }
        }
        self.nodes.push(node);
        self.open.push(Open {
            node: number,
            ..Open::default()
        });
    }

    /// Takes from a mark of the header what the node announces.
    fn head(&mut self, owner: usize, marks: &[Mark], at: usize) {
        let mark = &marks[at];
        let behind = mark.at + mark.len;
        let binary = matches!(self.mode, Mode::BinaryRequests | Mode::BinaryReplies);
        let (start, own) = (self.nodes[owner].start as usize, self.nodes[owner].marks.0);
        let node = &mut self.nodes[owner];
        match mark.role {
            Role::Type => {
                node.head = behind;
                if binary && node.kind == NodeKind::Command {
                    node.count = match self.bytes[start] {
                        resp_codec::binary::SET => 2,
                        resp_codec::binary::CALL => NONE,
                        _ => 1,
                    };
                }
            }
            Role::Length if binary && mark.len == 4 => {
                let bytes = &self.bytes[mark.at as usize..];
                node.count = bytes
                    .first_chunk()
                    .map_or(NONE, |four| u32::from_le_bytes(*four));
                node.head = behind;
            }
            Role::Crlf if mark.len == 2 && at > own as usize => {
                let before = &marks[at - 1];
                if !matches!(
                    before.role,
                    Role::Length | Role::StreamOpen | Role::StreamEnd
                ) || node.head >= mark.at + 2
                {
                    return;
                }
                node.head = behind;
                if before.role == Role::StreamOpen {
                    node.flags |= STREAMED;
                }
                let digits = &self.bytes[before.at as usize..mark.at as usize];
                let is_negative = self.bytes.get(before.at as usize - 1) == Some(&b'-');
                match resp_codec::number::parse_i64(digits) {
                    Some(_) if is_negative => node.kind = NodeKind::Null,
                    Some(count) => node.count = u32::try_from(count).unwrap_or(NONE),
                    None => {}
                }
            }
            _ => {}
        }
    }
}

impl Document {
    /// The marks that touch the bytes from `from` up to `to`, [`MARK_WORDS`] words each: role and
    /// kind of error; start; end; depth; node; frame.
    #[must_use]
    pub fn marks(&self, from: usize, to: usize) -> Vec<u32> {
        let mut rows = Vec::new();
        let first = self.frames.partition_point(|frame| frame.end() <= from);
        for index in first..self.frames.len() {
            if self.frames[index].start() >= to {
                break;
            }
            let looked = self.with_tree(index, |tree| tree.rows(from, to, index as u32, &mut rows));
            debug_assert!(looked.is_ok(), "the frame is listed");
        }
        rows
    }

    /// The spans of passwords between `from` and `to`: pairs of start and end, ascending.
    /// Incomplete frames and those with errors are searched as far as they can be decoded.
    ///
    /// O(n) in the frames of the range; complete frames without a password only cost a look-up.
    #[must_use]
    pub fn secrets(&self, from: usize, to: usize) -> Vec<u32> {
        let mut spans = Vec::new();
        if !matches!(self.mode, Mode::Requests | Mode::BinaryRequests) {
            return spans;
        }
        let first = self.frames.partition_point(|frame| frame.end() <= from);
        let behind = self.frames.partition_point(|frame| frame.start() < to);
        for index in first..behind {
            let frame = &self.frames[index];
            if frame.status() == FrameStatus::Whole && !frame.has_secret() {
                continue;
            }
            let looked = self.with_tree(index, |tree| tree.secrets(from, to, &mut spans));
            debug_assert!(looked.is_ok(), "the frame is listed");
        }
        spans
    }

    /// The tree of a frame in pre-order, [`NODE_WORDS`] words per node: kind and flags; start; end;
    /// depth; parent; index among its siblings; announced count.
    ///
    /// # Errors
    /// If there is no such frame.
    pub fn nodes(&self, frame: usize) -> Result<Vec<u32>, String> {
        self.with_tree(frame, |tree| {
            let rows = tree.nodes.iter().map(|node| {
                let first = node.kind as u32 | u32::from(node.flags) << 8;
                let Node {
                    start, end, depth, ..
                } = *node;
                [
                    first,
                    start,
                    end,
                    depth,
                    node.parent,
                    node.index,
                    node.count,
                ]
            });
            rows.flatten().collect()
        })
    }
}

impl Tree {
    fn secrets(&self, from: usize, to: usize, spans: &mut Vec<u32>) {
        for (number, node) in self.nodes.iter().enumerate() {
            if !node.has(SECRET) {
                continue;
            }
            let (start, end) = self.payload(number);
            let (start, end) = (start.max(from), end.min(to));
            if start < end {
                spans.extend([start as u32, end as u32]);
            }
        }
    }

    fn rows(&self, from: usize, to: usize, frame: u32, rows: &mut Vec<u32>) {
        let first = self
            .marks
            .partition_point(|mark| end(mark) <= from && mark.len > 0);
        for (at, mark) in self.marks.iter().enumerate().skip(first) {
            if mark.at as usize >= to && mark.len > 0 {
                break;
            }
            let error = match mark.role {
                Role::Bad(kind) => error_number(kind),
                _ => 0,
            };
            let owner = self.owners[at];
            let depth = self.nodes[owner as usize].depth;
            let role = role_number(mark.role) | error << 8;
            rows.extend([role, mark.at, mark.at + mark.len, depth, owner, frame]);
        }
    }
}
