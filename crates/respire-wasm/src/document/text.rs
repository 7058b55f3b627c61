//! Formats a value as one line, and extracts the bytes that it stands for.

use super::Document;
use super::tree::{INCOMPLETE, NONE, Node, STREAMED, Tree};
use crate::quote::{push_text, quote};
use crate::tables::NodeKind;
use resp_codec::annotate::Mode;
use resp_codec::number::write_f64;
use resp_codec::{CommandDecoder, Step};

impl Document {
    /// A node as one line: `"value"`, `(integer) 3`, `array of 2`. Shows at most `max` bytes of a
    /// payload.
    ///
    /// # Errors
    /// If there is no such frame or node.
    pub fn text(&self, frame: usize, node: usize, max: usize) -> Result<String, String> {
        let payload = self.payload(frame, node)?;
        self.with_tree(frame, |tree| {
            let value = &tree.nodes[node];
            let quoted = |prefix: &str| format!("{prefix}{}", quote(&payload, max));
            let plain = |prefix: &str| {
                let mut line = prefix.to_owned();
                push_text(&mut line, &payload, max, None);
                line
            };
            match value.kind {
                NodeKind::Simple => plain(""),
                NodeKind::Error | NodeKind::BlobError => plain("(error) "),
                NodeKind::Int => plain("(integer) "),
                NodeKind::Double => plain("(double) "),
                NodeKind::BigNumber => plain("(big number) "),
                NodeKind::Bool if payload == b"t" => "(true)".to_owned(),
                NodeKind::Bool => "(false)".to_owned(),
                NodeKind::Null => "(nil)".to_owned(),
                NodeKind::Verbatim => quoted("(verbatim) "),
                NodeKind::Bulk | NodeKind::Chunk | NodeKind::Arg => quoted(""),
                NodeKind::End => "end".to_owned(),
                NodeKind::Unknown => "?".to_owned(),
                _ => summary(tree, node),
            }
        })
    }

    /// The bytes that a node stands for: the content of a string, joined if it is streamed and
    /// unescaped if it is a word; the text of a number.
    ///
    /// # Errors
    /// If there is no such frame or node.
    pub fn payload(&self, frame: usize, node: usize) -> Result<Vec<u8>, String> {
        let range = *self.frame(frame)?;
        self.with_tree(frame, |tree| {
            let value = tree.nodes.get(node);
            let value = value.ok_or_else(|| format!("there is no node {node} in frame {frame}"))?;
            if value.kind == NodeKind::Arg && range.is_inline() {
                let line = &self.bytes[range.start()..range.end()];
                return Ok(self.word(line, value.index as usize));
            }
            if value.has(STREAMED) && value.kind == NodeKind::Bulk {
                let chunks = tree.nodes[node..].iter().enumerate();
                let chunks = chunks.filter(|(_, chunk)| chunk.parent as usize == node);
                let payloads = chunks.map(|(at, _)| tree.string(&self.bytes, node + at));
                return Ok(payloads.collect::<Vec<_>>().concat());
            }
            Ok(match (self.mode, value.kind) {
                (Mode::BinaryReplies, NodeKind::Int | NodeKind::Double | NodeKind::Bool) => {
                    tree.field(&self.bytes, node)
                }
                _ if value.kind.is_aggregate() => Vec::new(),
                _ => tree.string(&self.bytes, node).to_vec(),
            })
        })?
    }

    /// A word of a line, as the server decodes it.
    fn word(&self, line: &[u8], index: usize) -> Vec<u8> {
        let mut decoder = CommandDecoder::new(self.limits);
        match decoder.decode(line) {
            Ok(Step::Ready { item, .. }) => item.get(index).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        }
    }
}

impl Tree {
    /// The bytes of a string or a line.
    fn string<'b>(&self, bytes: &'b [u8], node: usize) -> &'b [u8] {
        let value = &self.nodes[node];
        if value.kind == NodeKind::Null {
            return &[];
        }
        if value.count != NONE {
            let from = value.head as usize;
            let to = from.saturating_add(value.count as usize);
            return &bytes[from..to.min(value.end as usize).max(from)];
        }
        let (from, to) = self.payload(node);
        &bytes[from..to]
    }

    /// The text of a number of the binary protocol.
    fn field(&self, bytes: &[u8], node: usize) -> Vec<u8> {
        let (from, to) = self.payload(node);
        let field = &bytes[from..to];
        match (self.nodes[node].kind, field) {
            (NodeKind::Bool, [0]) => b"f".to_vec(),
            (NodeKind::Bool, [_]) => b"t".to_vec(),
            (kind, field) => match (kind, field.first_chunk()) {
                (NodeKind::Int, Some(eight)) => i64::from_le_bytes(*eight).to_string().into_bytes(),
                (_, Some(eight)) => {
                    let mut text = Vec::new();
                    write_f64(&mut text, f64::from_le_bytes(*eight));
                    text
                }
                (_, None) => Vec::new(),
            },
        }
    }
}

/// A short description of an aggregate.
fn summary(tree: &Tree, node: usize) -> String {
    let value: &Node = &tree.nodes[node];
    let label = value.kind.meaning().label;
    let torn = if value.has(INCOMPLETE) {
        ", not complete"
    } else {
        ""
    };
    let children = || {
        let inner = tree.nodes[node..].iter();
        inner.filter(|child| child.parent as usize == node).count()
    };
    match (value.count, value.kind) {
        (NONE, NodeKind::Command) => format!("{label} of {}{torn}", children()),
        (NONE, _) => format!("{label}, streamed{torn}"),
        (count, kind) if kind.is_paired() => {
            let s = if count == 1 { "" } else { "s" };
            format!("{label} of {count} pair{s}{torn}")
        }
        (count, _) => format!("{label} of {count}{torn}"),
    }
}
