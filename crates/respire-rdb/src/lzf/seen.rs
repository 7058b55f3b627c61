//! Records the last position of each three bytes that the packer has seen, by a hash of 16 bits.

/// One position for each slot; 0 means none.
pub(super) trait Seen {
    /// Sets the position of a slot to `at`; returns the previous one.
    fn replace(&mut self, slot: u16, at: u32) -> u32;
}

const SLOTS: usize = 1 << u16::BITS;

/// All slots in one array. Clearing it takes as long as packing some thousand bytes.
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

/// The number of slots in a page.
const PAGE: usize = 1 << 6;
const PAGES: usize = SLOTS / PAGE;

/// Slots in pages that are created on first use, for short data. Positions have 16 bits.
pub(super) struct Paged {
    /// The number of each page, counted from 1; 0 means that the page does not exist yet.
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
