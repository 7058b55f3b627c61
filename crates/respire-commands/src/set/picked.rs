//! Members of a set that are picked from it, for a reply whose length must be known before its first member.

use super::read::{MEMBER_BYTES, Snapshot};
use crate::streamed::reply_parts;
use crate::value::reply_string;
use respire_engine::Reply;
use respire_store::{Elements, SetRef, StringRef};

/// Some members of a set, by their place in it: a bit each.
pub(super) struct Picked {
    /// `None` if all members are picked.
    bits: Option<Vec<u64>>,
    len: usize,
}

impl Picked {
    pub(super) fn all(set: SetRef<'_>) -> Self {
        Self {
            bits: None,
            len: set.len(),
        }
    }

    /// Picks the members for which `is_picked` returns `true`, and calls `step` for each member. O(members).
    pub(super) fn pick(
        set: SetRef<'_>,
        step: &mut dyn FnMut(),
        mut is_picked: impl FnMut(StringRef<'_>) -> bool,
    ) -> Self {
        let mut bits = vec![0; set.len().div_ceil(BITS)];
        let (mut at, mut len) = (0, 0);
        for part in 0..set.parts() {
            set.for_part(part, |member| {
                step();
                if is_picked(member) {
                    bits[at / BITS] |= 1 << (at % BITS);
                    len += 1;
                }
                at += 1;
            });
        }
        Self {
            bits: Some(bits),
            len,
        }
    }

    /// The number of members.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn has(&self, at: usize) -> bool {
        let bits = self.bits.as_ref();
        bits.is_none_or(|bits| bits[at / BITS] >> (at % BITS) & 1 != 0)
    }

    /// Calls `f` with each of them; the set is that from which they were picked.
    pub(super) fn for_each(&self, set: SetRef<'_>, mut f: impl FnMut(StringRef<'_>)) {
        let mut at = 0;
        for part in 0..set.parts() {
            self.for_part(set, part, &mut at, &mut f);
        }
    }

    /// Calls `f` with those in a part, whose first member has the number `at`; sets it to that of the next part.
    fn for_part(
        &self,
        set: SetRef<'_>,
        part: usize,
        at: &mut usize,
        mut f: impl FnMut(StringRef<'_>),
    ) {
        set.for_part(part, |member| {
            if self.has(*at) {
                f(member);
            }
            *at += 1;
        });
    }

    /// Writes the members, without their number, while the client reads them. The snapshot is that of the set from
    /// which they were picked.
    pub(super) fn reply(self, snapshot: Snapshot, reply: &mut Reply<'_>) {
        let (mut at, parts) = (0, snapshot.set().parts());
        reply_parts(
            reply,
            (self.len, MEMBER_BYTES),
            parts,
            move |part, reply| {
                let put = |member: StringRef<'_>| reply_string(reply, member);
                self.for_part(snapshot.set(), part, &mut at, put);
            },
        );
    }
}

const BITS: usize = u64::BITS as usize;
