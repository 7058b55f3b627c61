//! What is known of the local variables of a script, block by block.

/// What an expression is, as far as its words show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'s> {
    /// A text in quotes, without escapes, or a number.
    Literal(&'s [u8]),
    /// `KEYS[...]`.
    Key,
    /// `ARGV[...]`.
    Argument,
    /// It is put together from other values: `KEYS[1] .. ':x'`.
    Computed,
    /// `redis.call` or `redis.pcall` itself.
    Caller,
    Unknown,
}

/// The local variables that can be seen at a place.
#[derive(Debug)]
pub(super) struct Names<'s> {
    /// Of each block, outermost first.
    blocks: Vec<Vec<(&'s [u8], Value<'s>)>>,
}

impl<'s> Names<'s> {
    pub(super) fn new() -> Self {
        Self {
            blocks: vec![Vec::new()],
        }
    }

    pub(super) fn begin_block(&mut self) {
        self.blocks.push(Vec::new());
    }

    pub(super) fn end_block(&mut self) {
        // The outermost stays, whatever the text.
        if self.blocks.len() > 1 {
            self.blocks.pop();
        }
    }

    pub(super) fn declare(&mut self, name: &'s [u8], value: Value<'s>) {
        if let Some(block) = self.blocks.last_mut() {
            block.push((name, value));
        }
    }

    /// The value of a variable that is assigned to is not known from then on: whether and when it is, is
    /// not looked at.
    pub(super) fn forget(&mut self, name: &[u8]) {
        if let Some((_, value)) = self.find(name) {
            *value = Value::Unknown;
        }
    }

    pub(super) fn get(&mut self, name: &[u8]) -> Value<'s> {
        self.find(name).map_or(Value::Unknown, |(_, value)| *value)
    }

    fn find(&mut self, name: &[u8]) -> Option<&mut (&'s [u8], Value<'s>)> {
        let mut all = self.blocks.iter_mut().rev();
        all.find_map(|block| block.iter_mut().rev().find(|(own, _)| *own == name))
    }
}
