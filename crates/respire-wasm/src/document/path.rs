//! Converts the position of a byte to a path, and back.

use super::Document;
use super::tree::{NONE, Tree, end};
use crate::tables::{NodeKind, ROLES, role_number};
use resp_codec::annotate::{Mode, Role};

impl Document {
    /// The path of a byte: `cmd[3].arg[1].len`, `reply[0][2].key.payload`; empty after the decoded
    /// bytes.
    ///
    /// A path begins with the frame. Then follows a step per level: `.arg[k]` in a request, `[k]`
    /// in an array, set or push, `[k].key` and `[k].value` in a map or attribute, `.chunk[k]` and
    /// `.end` in a streamed value, `.attr[k]` after a value for its attributes. Last comes the
    /// mark, by its role.
    #[must_use]
    pub fn path(&self, offset: usize) -> String {
        let frame = self.frame_at(offset);
        let made = self.with_tree(frame, |tree| {
            let mark = tree.mark_at(offset)?;
            let node = tree.node_path(tree.owner(mark));
            Some(format!(
                "{}{node}{}",
                self.frame_path(frame),
                tree.part(mark)
            ))
        });
        made.ok().flatten().unwrap_or_default()
    }

    /// The span that a path names: that of a mark, or of a value with its content.
    #[must_use]
    pub fn resolve(&self, path: &str) -> Option<(usize, usize)> {
        let prefix = self.frame_word();
        let rest = path.strip_prefix(prefix)?.strip_prefix('[')?;
        let (number, rest) = rest.split_once(']')?;
        let frame = number.parse().ok()?;
        let found = self.with_tree(frame, |tree| tree.resolve(rest));
        let (start, end) = found.ok()??;
        if rest.is_empty() {
            let frame = self.frames.get(frame)?;
            return Some((frame.start(), frame.end()));
        }
        Some((start, end))
    }

    pub(super) fn frame_path(&self, frame: usize) -> String {
        format!("{}[{frame}]", self.frame_word())
    }

    fn frame_word(&self) -> &'static str {
        match self.mode {
            Mode::Requests | Mode::BinaryRequests => "cmd",
            Mode::Replies | Mode::BinaryReplies => "reply",
        }
    }
}

impl Tree {
    /// The path of a node within its frame.
    pub(super) fn node_path(&self, node: usize) -> String {
        let mut steps: Vec<String> = self.around(node).map(|node| self.step(node)).collect();
        steps.reverse();
        steps.concat()
    }

    /// The step of a path from a node's parent to the node.
    fn step(&self, node: usize) -> String {
        let node = &self.nodes[node];
        let around = match node.parent {
            NONE => None,
            parent => Some(self.nodes[parent as usize].kind),
        };
        match node.kind {
            NodeKind::Attribute => {
                format!("{}.attr[{}]", value_step(around, node.place), node.index)
            }
            NodeKind::End => ".end".to_owned(),
            NodeKind::Chunk if around.is_some() => format!(".chunk[{}]", node.index),
            _ => value_step(around, node.index),
        }
    }

    /// The last step of a path, from a node to one of its own marks.
    fn part(&self, mark: usize) -> String {
        let (first, _) = self.nodes[self.owner(mark)].marks;
        let marks = &self.marks[(first as usize).min(mark)..=mark];
        let Some((this, before)) = marks.split_last() else {
            return String::new();
        };
        if this.role == Role::Crlf && before.last().is_some_and(|mark| is_length(mark.role)) {
            return ".len.crlf".to_owned();
        }
        let id = ROLES[role_number(this.role) as usize].id;
        let is_same = |(at, mark): &(usize, &resp_codec::annotate::Mark)| {
            let behind_length = *at > 0 && is_length(before[at - 1].role);
            role_number(mark.role) == role_number(this.role)
                && !(this.role == Role::Crlf && behind_length)
        };
        match before.iter().enumerate().filter(is_same).count() {
            0 => format!(".{id}"),
            ordinal => format!(".{id}[{ordinal}]"),
        }
    }

    /// The span that a path within the frame names.
    fn resolve(&self, path: &str) -> Option<(usize, usize)> {
        let (mut parent, mut rest) = (NONE, path);
        // The step of the top value is empty, unless the path names another one.
        let mut current = self.child(NONE, rest);
        if current.is_none() {
            current = self.first_top().map(|node| (node, rest));
        }
        while let Some((node, behind)) = current {
            (parent, rest) = (node as u32, behind);
            current = if rest.is_empty() {
                None
            } else {
                self.child(parent, rest)
            };
        }
        let node = self.nodes.get(parent as usize)?;
        if rest.is_empty() {
            return Some((node.start as usize, node.end as usize));
        }
        let (from, to) = node.marks;
        // The line end of an inline request belongs to its last word, wherever the path begins.
        (from as usize..to as usize)
            .find(|&mark| self.part(mark) == rest)
            .map(|mark| (self.marks[mark].at as usize, end(&self.marks[mark])))
    }

    fn first_top(&self) -> Option<usize> {
        let is_it = |node: &super::tree::Node| {
            node.parent == NONE && node.index == 0 && node.kind != NodeKind::Attribute
        };
        self.nodes.iter().position(is_it)
    }

    /// The child that the path's next step names, and the rest of the path.
    fn child<'p>(&self, parent: u32, path: &'p str) -> Option<(usize, &'p str)> {
        let from = if parent == NONE {
            0
        } else {
            parent as usize + 1
        };
        let stop = match self.nodes.get(parent as usize) {
            Some(around) => around.end,
            None => u32::MAX,
        };
        for (at, node) in self.nodes.iter().enumerate().skip(from) {
            if node.start >= stop {
                break;
            }
            if node.parent != parent {
                continue;
            }
            let step = self.step(at);
            if let Some(rest) = path.strip_prefix(step.as_str())
                && !step.is_empty()
            {
                return Some((at, rest));
            }
        }
        None
    }
}

/// The step to the value at `index` of an aggregate, or of the frame itself.
fn value_step(around: Option<NodeKind>, index: u32) -> String {
    match around {
        None if index == 0 => String::new(),
        None => format!(".line[{index}]"),
        Some(NodeKind::Command) => format!(".arg[{index}]"),
        Some(kind) if kind.is_paired() => {
            let side = if index.is_multiple_of(2) {
                "key"
            } else {
                "value"
            };
            format!("[{}].{side}", index / 2)
        }
        Some(_) => format!("[{index}]"),
    }
}

fn is_length(role: Role) -> bool {
    matches!(role, Role::Length | Role::StreamOpen | Role::StreamEnd)
}
