//! Trims streams in steps, so that a key is not locked for long while entries are looked up in groups.

use super::access::{free, others_first};
use crate::Ctx;
use crate::notify;
use respire_store::{Edited, Slot, Stream, Trimmed, Trimming};

/// The look-ups of entries in groups, about, between which others are served.
const STEP_LOOKUPS_MAX: u64 = 512;

/// The number of look-ups of a step. Inside a section, all is done in one.
pub(super) fn lookups_max(ctx: &Ctx<'_>) -> u64 {
    match ctx.view.is_in_section() {
        true => u64::MAX,
        false => STEP_LOOKUPS_MAX,
    }
}

/// Does a step of a trim of a stream, if the key has one. The event is that of the first step that removes something.
pub(super) fn step(
    slot: &mut Slot<'_>,
    trimming: &mut Trimming,
    (lookups_max, is_told): (u64, bool),
) -> Result<Option<Trimmed>, respire_store::WrongType> {
    let trimmed = slot.edit_without_event(|stream: &mut Stream| {
        let trimmed = stream.trim_some(trimming, lookups_max);
        match trimmed.entries {
            0 => Edited::Unchanged(trimmed),
            _ => Edited::Changed(trimmed),
        }
    })?;
    if !is_told && trimmed.as_ref().is_some_and(|it| it.entries > 0) {
        slot.event(notify::XTRIM);
    }
    Ok(trimmed)
}

/// Frees what the first step of a trim removed, and does the other steps. Returns how many entries were removed.
pub(super) fn finish(
    ctx: &mut Ctx<'_>,
    key: &[u8],
    (mut trimming, first): (Trimming, Trimmed),
) -> u64 {
    let Trimmed { mut entries, parts } = first;
    free(ctx, parts);
    if trimming.is_over() {
        return entries;
    }
    let (mut long, lookups_max) = (ctx.long_work(), lookups_max(ctx));
    while !trimming.is_over() {
        others_first(ctx, key, (&mut long, lookups_max as usize));
        let is_told = entries > 0;
        let next = ctx.view.update(key, |slot| {
            step(slot, &mut trimming, (lookups_max, is_told))
        });
        // The stream may be gone, or something else by now.
        let Ok(Some(next)) = next else {
            break;
        };
        entries += next.entries;
        free(ctx, next.parts);
    }
    entries
}
