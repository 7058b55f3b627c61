//! Parts that were taken out of a stream and are not freed yet.

use std::sync::Arc;

use super::block::Block;
use super::group::StreamGroup;
use super::runs::Runs;

/// Parts that were taken out of a stream: blocks of entries, and groups. To free many takes long, so nobody should
/// hold the stream meanwhile; to drop this frees them all.
#[derive(Debug, Default)]
#[must_use = "it is freed without the lock of the stream"]
pub struct StreamParts {
    blocks: Option<Runs<Block>>,
    group: Option<Arc<StreamGroup>>,
}

/// About as many allocations are freed in a step.
const STEP_BUDGET: usize = 256;

impl StreamParts {
    pub(super) fn of_blocks(blocks: Runs<Block>) -> Self {
        Self {
            blocks: (blocks.len() > 0).then_some(blocks),
            group: None,
        }
    }

    pub(super) fn of_group(group: Arc<StreamGroup>) -> Self {
        Self {
            blocks: None,
            group: Some(group),
        }
    }

    /// Returns whether nothing is left. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_none() && self.group.is_none()
    }

    /// Frees a part that takes some ten microseconds. Does nothing if nothing is left.
    pub fn free_some(&mut self) {
        let mut budget = STEP_BUDGET;
        if let Some(blocks) = &mut self.blocks {
            if blocks.free_some(&mut budget) {
                self.blocks = None;
            }
        } else if let Some(group) = &mut self.group {
            // A snapshot frees what it shares.
            let is_freed = Arc::get_mut(group).is_none_or(|group| group.free_some(&mut budget));
            if is_freed {
                self.group = None;
            }
        }
    }
}
