//! Elements of a reply that came in steps.

use crate::streamed::reply_parts;
use respire_engine::Reply;

/// Elements in the order in which they came. Those of a step are freed as soon as they are written.
pub(super) struct Batches<T> {
    batches: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for Batches<T> {
    fn default() -> Self {
        Self {
            batches: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Send + 'static> Batches<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.batches.iter().flatten()
    }

    pub(super) fn push(&mut self, batch: Vec<T>) {
        if !batch.is_empty() {
            self.len += batch.len();
            self.batches.push(batch);
        }
    }

    /// Writes the elements of an aggregate that has begun, as the peer reads them. Each takes about so many bytes.
    pub(super) fn reply(
        mut self,
        reply: &mut Reply<'_>,
        element_bytes: usize,
        mut one: impl FnMut(&mut Reply<'_>, T) + Send + 'static,
    ) {
        let (len, parts) = (self.len, self.batches.len());
        reply_parts(reply, (len, element_bytes), parts, move |part, reply| {
            let batch = std::mem::take(&mut self.batches[part]);
            batch.into_iter().for_each(|element| one(reply, element));
        });
    }
}
