//! Where the packer saw three bytes last, by the 16 bits they are mixed to.

/// One place for each slot; 0 is none.
pub(super) trait Seen {
    /// The place that a slot had; from now on it has `at`.
    fn replace(&mut self, slot: u16, at: u32) -> u32;
}

const SLOTS: usize = 1 << u16::BITS;

/// All slots side by side: clearing them costs as much as packing some thousand bytes.
pub(super) struct Whole(Box<[u32; SLOTS]>);

impl Whole {
    pub(super) fn new() -> Self {
        match vec![0; SLOTS].into_boxed_slice().try_into() {
            Ok(slots) => Self(slots),
            Err(_) => unreachable!("invariant: that many slots were made"),
        }
    }
}

impl Seen for Whole {
    #[inline(always)]
    fn replace(&mut self, slot: u16, at: u32) -> u32 {
        core::mem::replace(&mut self.0[usize::from(slot)], at)
    }
}

/// The slots of a page.
const PAGE: usize = 1 << 6;
const PAGES: usize = SLOTS / PAGE;

/// Slots in pages that are made when one of them is first used, for short data. Places are kept in
/// 16 bits.
pub(super) struct Paged {
    /// The number of each page, counted from 1; 0 is one that was not made.
    numbers: [u16; PAGES],
    pages: Vec<[u16; PAGE]>,
}

impl Paged {
    pub(super) fn new() -> Self {
        Self {
            numbers: [0; PAGES],
            pages: Vec::new(),
        }
    }
}

impl Seen for Paged {
    #[inline(always)]
    fn replace(&mut self, slot: u16, at: u32) -> u32 {
        let number = &mut self.numbers[usize::from(slot) / PAGE];
        if *number == 0 {
            self.pages.push([0; PAGE]);
            *number = self.pages.len() as u16;
        }
        let page = &mut self.pages[usize::from(*number) - 1];
        u32::from(core::mem::replace(
            &mut page[usize::from(slot) % PAGE],
            at as u16,
        ))
    }
}
